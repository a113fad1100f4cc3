/* device_list.c -- the device list: rows of the backends, one after the other */
#include "engine.h"
#include "engine_state.h"

#include <string.h>

static const hspz__backend *const backends[] = {&hspz__backend_cpu, &hspz__backend_cuda};
#define BACKENDS (sizeof backends / sizeof backends[0])

const char *const hspz__backend_names[] = {"auto", "cpu", "cuda", NULL};

const hspz__backend *hspz__device_row(uint32_t index, uint32_t *row)
{
    for (size_t b = 0; b < BACKENDS; b++) {
        uint32_t rows = backends[b]->device_count();
        if (index < rows) {
            *row = index;
            return backends[b];
        }
        index -= rows;
    }
    return NULL;
}

void hspz__device_describe(const hspz__backend *backend, uint32_t row, hspz_device_info *info)
{
    memset(info, 0, sizeof *info);
    info->struct_size = sizeof *info;
    backend->device_info(row, info);
}

hspz_status hspz__device_count(uint32_t *count, hspz_error *error)
{
    if (count == NULL)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "device_count needs a place for the count");
    *count = 0;
    for (size_t b = 0; b < BACKENDS; b++)
        *count += backends[b]->device_count();
    return HSPZ_OK;
}

hspz_status hspz__device_info(uint32_t index, hspz_device_info *info, hspz_error *error)
{
    if (info == NULL || info->struct_size < 2 * sizeof(uint32_t))
        return hspz__fail(error, HSPZ_E_ARGUMENT, "device_info needs a struct with its size set");
    uint32_t row = 0;
    const hspz__backend *backend = hspz__device_row(index, &row);
    if (backend == NULL)
        return hspz__fail(error, HSPZ_E_NO_DEVICE, "device %u does not exist", index);
    hspz_device_info full;
    hspz__device_describe(backend, row, &full);
    hspz__give(info, &full, sizeof full);
    return HSPZ_OK;
}

uint32_t hspz__device_best(uint32_t choice, hspz_device_info *best)
{
    uint32_t index = 0, found = 0;
    bool any = false;
    for (size_t b = 0; b < BACKENDS; b++) {
        const uint32_t rows = backends[b]->device_count();
        for (uint32_t row = 0; row < rows; row++, index++) {
            if (choice != 0 && strcmp(backends[b]->name, hspz__backend_names[choice]) != 0)
                continue;
            hspz_device_info info;
            hspz__device_describe(backends[b], row, &info);
            if (any && info.score <= best->score)
                continue;
            *best = info;
            found = index;
            any = true;
        }
    }
    return found;
}
