/* entry.c -- the one symbol of the fast plugin: what it is, said as data, and the functions behind it. */
#include "engine.h"
#include "host_services.h"

#ifndef HSPZ_VERSION
#define HSPZ_VERSION "0.1.0"
#endif

static hspz_status negotiate(uint32_t host_min_minor, uint32_t host_max_minor, uint32_t *agreed,
                             hspz_error *error)
{
    if (agreed == NULL || host_min_minor > host_max_minor)
        return hspz__fail(error, HSPZ_E_ARGUMENT,
                          "negotiate needs a place for the answer and a range, not %u..%u", host_min_minor,
                          host_max_minor);
    const uint32_t own = HSPZ_ABI_MINOR;
    *agreed = host_max_minor < own ? host_max_minor : own;
    if (host_min_minor > own)
        return hspz__fail(error, HSPZ_E_VERSION,
                          "this plugin speaks ABI %u.0..%u.%u, the host %u.%u..%u.%u: no version in common",
                          HSPZ_ABI_MAJOR, HSPZ_ABI_MAJOR, HSPZ_ABI_MINOR, HSPZ_ABI_MAJOR, host_min_minor,
                          HSPZ_ABI_MAJOR, host_max_minor);
    return HSPZ_OK;
}

static const char *status_text(hspz_status status)
{
    switch (status) {
#define ROW(name, number, cls, text)                                                                         \
    case number:                                                                                             \
        return text;
        HSPZ_STATUS_TABLE(ROW)
#undef ROW
    default:
        return "unknown status";
    }
}

HSPZ_EXPORT const hspz_plugin hspz_plugin_v1 = {
    .magic = HSPZ_MAGIC,
    .struct_size = sizeof(hspz_plugin),
    .abi_major = HSPZ_ABI_MAJOR,
    .abi_minor = HSPZ_ABI_MINOR,
    .name = "hspz",
    .version = HSPZ_VERSION,
#ifdef HSPZ_WITH_CUDA
    .build = "C compiler " __VERSION__ ", backends cpu and cuda",
#else
    .build = "C compiler " __VERSION__ ", backend cpu",
#endif
    .capabilities = HSPZ_CAP_FIND | HSPZ_CAP_EXPAND | HSPZ_CAP_ANCHORS | HSPZ_CAP_HOST_INDEX |
                    HSPZ_CAP_THREADS |
#ifdef HSPZ_WITH_CUDA
                    HSPZ_CAP_CUDA |
#endif
                    HSPZ_CAP_DEDUP(HSPZ_DEDUP_CHUNK) | HSPZ_CAP_DEDUP(HSPZ_DEDUP_INTERVAL) |
                    HSPZ_CAP_DEDUP(HSPZ_DEDUP_MAXIMAL) | HSPZ_CAP_DEDUP(HSPZ_DEDUP_LASTZ) |
                    HSPZ_CAP_DEDUP(HSPZ_DEDUP_NONE),
    .negotiate = negotiate,
    .status_text = status_text,
    .device_count = hspz__device_count,
    .device_info = hspz__device_info,
    .engine_create = hspz__engine_create,
    .engine_destroy = hspz__engine_destroy,
    .engine_info = hspz__engine_info,
    .set_target = hspz__set_target,
    .clear_target = hspz__clear_target,
    .set_query = hspz__set_query,
    .clear_query = hspz__clear_query,
    .find_hsps = hspz__find_hsps,
    .expand_and_extend = hspz__expand_and_extend,
    .extend_anchors = hspz__extend_anchors,
    .get_statistics = hspz__get_statistics,
    .reset_statistics = hspz__reset_statistics,
    .last_error = hspz__last_error,
    .get_extension = hspz__get_extension,
};
