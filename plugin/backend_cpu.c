/* backend_cpu.c -- the backend that needs nothing but a processor. */
#include "backend.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

static uint32_t allowed_threads(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? (uint32_t)count : 1;
}

static uint32_t device_count(void)
{
    return 1;
}

static void device_info(uint32_t row, hspz_device_info *info)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    info->kind = HSPZ_DEVICE_CPU;
    info->ordinal = row;
    info->score = 1;
    info->units = allowed_threads();
    info->memory_total = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
    snprintf(info->name, sizeof info->name, "CPU");
}

static hspz_status create(const hspz__plan *plan, hspz__host *host, uint32_t row, void **state,
                          hspz_error *error)
{
    (void)plan;
    (void)host;
    (void)row;
    *state = NULL;
    return hspz__fail(error, HSPZ_E_UNSUPPORTED, "the CPU backend is being built");
}

const hspz__backend hspz__backend_cpu = {
    .name = "cpu",
    .kind = HSPZ_DEVICE_CPU,
    .device_count = device_count,
    .device_info = device_info,
    .create = create,
};
