/* entry.c -- the one symbol of hspz_oracle.so and the calls that need no engine.
 *
 * Idea: a loader judges the const object before it calls any code, so everything it says is data. The device list has one
 * row: this processor, one thread, plain C.
 */
#include "oracle.h"

#include <string.h>
#include <unistd.h>

hspz_status hspz__oracle_report(hspz_error *caller, const hspz_error *own, hspz_status status)
{
    if (status == HSPZ_OK || caller == NULL || caller->struct_size <= sizeof caller->struct_size)
        return status;
    uint32_t size = caller->struct_size;
    memcpy((char *)caller + sizeof size, (const char *)own + sizeof size,
           (size < sizeof *own ? size : sizeof *own) - sizeof size);
    if (size > offsetof(hspz_error, text) && size < sizeof *own)
        ((char *)caller)[size - 1] = '\0';
    return status;
}

hspz_status hspz__oracle_give(void *to, const void *from, uint32_t own_size, const char *name,
                              hspz_error *error)
{
    uint32_t size = 0;
    if (to != NULL)
        memcpy(&size, to, sizeof size);
    if (size < sizeof size)
        return hspz__oracle_fail(error, HSPZ_E_ARGUMENT, "%s is NULL or has no struct_size", name);
    uint32_t copied = size < own_size ? size : own_size;
    memcpy((char *)to + sizeof size, (const char *)from + sizeof size, copied - sizeof size);
    return HSPZ_OK;
}

uint64_t hspz__oracle_memory_total(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes : 1;
}

static hspz_status negotiate(uint32_t host_min_minor, uint32_t host_max_minor, uint32_t *agreed,
                             hspz_error *error)
{
    hspz_error own = {.struct_size = sizeof own};
    if (agreed == NULL || host_min_minor > host_max_minor)
        return hspz__oracle_report(
            error, &own,
            hspz__oracle_fail(&own, HSPZ_E_ARGUMENT,
                              "negotiate needs a range of minor versions and a result"));
    /* This plugin speaks every minor from 0 to its own, so only a host that demands a later one is refused. */
    if (host_min_minor > HSPZ_ABI_MINOR)
        return hspz__oracle_report(
            error, &own,
            hspz__oracle_fail(&own, HSPZ_E_VERSION,
                              "the host speaks ABI %u.%u to %u.%u, the oracle %u.0 to %u.%u", HSPZ_ABI_MAJOR,
                              host_min_minor, HSPZ_ABI_MAJOR, host_max_minor, HSPZ_ABI_MAJOR, HSPZ_ABI_MAJOR,
                              HSPZ_ABI_MINOR));
    const uint32_t own_max_minor = HSPZ_ABI_MINOR;
    *agreed = host_max_minor < own_max_minor ? host_max_minor : own_max_minor;
    return HSPZ_OK;
}

static const char *status_text(hspz_status status)
{
    switch (status) {
#define SENTENCE(name, number, cls, text)                                                                    \
    case number:                                                                                             \
        return text;
        HSPZ_STATUS_TABLE(SENTENCE)
#undef SENTENCE
    default:
        return "unknown status";
    }
}

static hspz_status device_count(uint32_t *count, hspz_error *error)
{
    hspz_error own = {.struct_size = sizeof own};
    if (count == NULL)
        return hspz__oracle_report(error, &own,
                                   hspz__oracle_fail(&own, HSPZ_E_ARGUMENT, "device_count needs a result"));
    *count = 1;
    return HSPZ_OK;
}

static hspz_status device_info(uint32_t index, hspz_device_info *info, hspz_error *error)
{
    hspz_error own = {.struct_size = sizeof own};
    if (index != 0)
        return hspz__oracle_report(
            error, &own,
            hspz__oracle_fail(&own, HSPZ_E_NO_DEVICE, "device %u does not exist: the oracle has one", index));
    hspz_device_info row = {.struct_size = sizeof row,
                            .kind = HSPZ_DEVICE_CPU,
                            .ordinal = 0,
                            .score = 1,
                            .status = HSPZ_OK,
                            .units = 1,
                            .memory_total = hspz__oracle_memory_total(),
                            .name = "oracle, sequential C",
                            .detail = "the reference: one thread, no SIMD, every rule as specified"};
    return hspz__oracle_report(error, &own, hspz__oracle_give(info, &row, sizeof row, "info", &own));
}

const hspz_plugin hspz_plugin_v1 = {
    .magic = HSPZ_MAGIC,
    .struct_size = sizeof(hspz_plugin),
    .abi_major = HSPZ_ABI_MAJOR,
    .abi_minor = HSPZ_ABI_MINOR,
    .name = "hspz oracle",
    .version = "0.1.0",
    .build = "C compiler " __VERSION__,
    .capabilities = HSPZ_CAP_FIND | HSPZ_CAP_EXPAND | HSPZ_CAP_ANCHORS | HSPZ_CAP_HOST_INDEX |
                    HSPZ_CAP_DEDUP(HSPZ_DEDUP_CHUNK) | HSPZ_CAP_DEDUP(HSPZ_DEDUP_INTERVAL) |
                    HSPZ_CAP_DEDUP(HSPZ_DEDUP_MAXIMAL) | HSPZ_CAP_DEDUP(HSPZ_DEDUP_LASTZ) |
                    HSPZ_CAP_DEDUP(HSPZ_DEDUP_NONE),
    .negotiate = negotiate,
    .status_text = status_text,
    .device_count = device_count,
    .device_info = device_info,
    .engine_create = hspz__oracle_engine_create,
    .engine_destroy = hspz__oracle_engine_destroy,
    .engine_info = hspz__oracle_engine_info,
    .set_target = hspz__oracle_set_target,
    .clear_target = hspz__oracle_clear_target,
    .set_query = hspz__oracle_set_query,
    .clear_query = hspz__oracle_clear_query,
    .find_hsps = hspz__oracle_find_hsps,
    .expand_and_extend = hspz__oracle_expand_and_extend,
    .extend_anchors = hspz__oracle_extend_anchors,
    .get_statistics = hspz__oracle_get_statistics,
    .reset_statistics = hspz__oracle_reset_statistics,
    .last_error = hspz__oracle_last_error,
    .get_extension = hspz__oracle_extension,
};
