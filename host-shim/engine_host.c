/* engine_host.c -- see engine_host.h */
#include "engine_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Results ---------------------------------------------------------------------------------------- */

void hspz_hsps_free(hspz_hsps *hsps)
{
    free(hsps->items);
    memset(hsps, 0, sizeof *hsps);
}

static int32_t append(void *ctx, const hspz_hsp *records, uint64_t count, uint32_t stride)
{
    hspz_hsps *hsps = ctx;
    if (stride < sizeof(hspz_hsp) || count > (SIZE_MAX / sizeof(hspz_hsp) / 2) - hsps->count)
        return 1;
    if (count > hsps->capacity - hsps->count) {
        uint64_t capacity = hsps->capacity + hsps->capacity / 2 + 256;
        if (capacity < hsps->count + count)
            capacity = hsps->count + count;
        hspz_hsp *grown = realloc(hsps->items, capacity * sizeof *grown);
        if (grown == NULL)
            return 1;
        hsps->items = grown;
        hsps->capacity = capacity;
    }
    hspz_hsp *out = hsps->items + hsps->count;
    if (stride == sizeof(hspz_hsp)) {
        memcpy(out, records, count * sizeof *out);
    } else {
        const unsigned char *in = (const unsigned char *)records;
        for (uint64_t i = 0; i < count; i++)
            memcpy(&out[i], in + i * stride, sizeof *out);
    }
    hsps->count += count;
    return 0;
}

hspz_sink hspz_hsps_sink(hspz_hsps *hsps)
{
    return (hspz_sink){.struct_size = sizeof(hspz_sink), .ctx = hsps, .hsps = append};
}

/* Services --------------------------------------------------------------------------------------- */

static void service_log(void *ctx, uint32_t level, const char *text)
{
    hspz_engine_host *host = ctx;
    hspz_log_say(host->log, level, "%s", text != NULL ? text : "");
}

static int32_t service_progress(void *ctx, uint64_t done, uint64_t total)
{
    hspz_engine_host *host = ctx;
    atomic_store_explicit(&host->call_total, total, memory_order_relaxed);
    atomic_store_explicit(&host->call_done, done < total ? done : total, memory_order_relaxed);
    return (host->stop != NULL && *host->stop != 0) ||
           atomic_load_explicit(&host->abandoned, memory_order_relaxed);
}

static const char *service_config(void *ctx, const char *key)
{
    hspz_engine_host *host = ctx;
    return key != NULL ? hspz_options_knob(host->options, key) : NULL;
}

/* Devices ---------------------------------------------------------------------------------------- */

int hspz_devices_list(const hspz_library *library, hspz_device_info **devices, uint32_t *count,
                      hspz_failure *failure)
{
    hspz_error error = {.struct_size = sizeof error};
    *devices = NULL;
    *count = 0;
    uint32_t rows = 0;
    hspz_status status = library->table.device_count(&rows, &error);
    if (status != HSPZ_OK)
        return hspz_plugin_failed(library, status, &error, "its devices cannot be counted", failure);
    if (rows == 0)
        return hspz_failed(failure, HSPZ_EXIT_PLUGIN, "%s: the plugin's device list is empty", library->path);
    hspz_device_info *list = calloc(rows, sizeof *list);
    if (list == NULL)
        return hspz_failed_memory(failure, "the device list", (unsigned long long)rows * sizeof *list);
    for (uint32_t i = 0; i < rows; i++) {
        list[i].struct_size = sizeof *list;
        status = library->table.device_info(i, &list[i], &error);
        if (status != HSPZ_OK) {
            free(list);
            return hspz_plugin_failed(library, status, &error, "a device cannot be described", failure);
        }
        list[i].name[sizeof list[i].name - 1] = '\0';
        list[i].detail[sizeof list[i].detail - 1] = '\0';
    }
    *devices = list;
    *count = rows;
    return 0;
}

void hspz_device_label(const hspz_device_info *device, char *text, size_t size)
{
    if (device->kind == HSPZ_DEVICE_CPU)
        snprintf(text, size, "cpu");
    else
        snprintf(text, size, "%s:%u", device->kind == HSPZ_DEVICE_CUDA ? "cuda" : "device", device->ordinal);
}

/* What the options ask for, in words. */
static void wanted_text(const hspz_options *options, char *text, size_t size)
{
    if (options->device == HSPZ_BACKEND_CPU)
        snprintf(text, size, "cpu");
    else if (options->device_index == HSPZ_DEVICE_INDEX_ALL)
        snprintf(text, size, "cuda:all");
    else if (options->device_index >= 0)
        snprintf(text, size, "cuda:%lld", (long long)options->device_index);
    else
        snprintf(text, size, "cuda");
}

/* Does row `device` answer the request? */
static bool matches(const hspz_options *options, const hspz_device_info *device)
{
    if (options->device == HSPZ_BACKEND_CPU)
        return device->kind == HSPZ_DEVICE_CPU;
    return device->kind == HSPZ_DEVICE_CUDA &&
           (options->device_index < 0 || device->ordinal == (uint64_t)options->device_index);
}

/* The rows that serve the request, into chosen[]; 0 rows with the reason in `failure` otherwise. */
static uint32_t choose(const hspz_library *library, const hspz_options *options,
                       const hspz_device_info *devices, uint32_t count, uint32_t *chosen,
                       hspz_failure *failure)
{
    const hspz_device_info *refused = NULL;
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!matches(options, &devices[i]))
            continue;
        if (devices[i].score == 0)
            refused = &devices[i];
        else if (found == 0 || options->device_index == HSPZ_DEVICE_INDEX_ALL)
            chosen[found++] = i;
        else if (devices[i].score > devices[chosen[0]].score)
            chosen[0] = i;
    }
    if (found == 0) {
        char wanted[64];
        wanted_text(options, wanted, sizeof wanted);
        hspz_failed(failure, HSPZ_EXIT_PLUGIN, "device %s cannot be used with %s: %s", wanted, library->path,
                    refused != NULL && refused->detail[0] != '\0' ? refused->detail
                    : refused != NULL ? library->table.status_text(refused->status)
                                      : "the plugin lists no such device");
    }
    return found;
}

/* Engines ---------------------------------------------------------------------------------------- */

static int create_one(hspz_engine_host *host, const hspz_engine_params *params,
                      const hspz_device_info *devices, uint32_t device_count, hspz_failure *failure)
{
    hspz_error error = {.struct_size = sizeof error};
    host->services = (hspz_host_services){.struct_size = sizeof host->services,
                                          .ctx = host,
                                          .log = service_log,
                                          .progress = service_progress,
                                          .config_get = service_config};
    const hspz_plugin *plugin = &host->library->table;
    hspz_status status = plugin->engine_create(params, &host->services, &host->engine, &error);
    if (status == HSPZ_OK && host->engine == NULL)
        status = HSPZ_E_INTERNAL;
    if (status != HSPZ_OK)
        return hspz_plugin_failed(host->library, status, &error, "no engine could be made", failure);
    host->info.struct_size = sizeof host->info;
    status = plugin->engine_info(host->engine, &host->info, &error);
    if (status != HSPZ_OK)
        return hspz_plugin_failed(host->library, status, &error, "the engine does not describe itself",
                                  failure);
    host->info.backend[sizeof host->info.backend - 1] = '\0';
    host->info.variant[sizeof host->info.variant - 1] = '\0';
    host->info.notice[sizeof host->info.notice - 1] = '\0';
    if (host->info.device < device_count)
        host->device = devices[host->info.device];
    if (host->info.notice[0] != '\0')
        hspz_log_say(host->log, HSPZ_LOG_WARN, "%s", host->info.notice);
    return 0;
}

/* Refusals that need no engine: what the capabilities already say. */
static int check_capabilities(const hspz_library *library, const hspz_options *options, hspz_failure *failure)
{
    const hspz_plugin *plugin = &library->table;
    if (!(plugin->capabilities & HSPZ_CAP_FIND))
        return hspz_failed(failure, HSPZ_EXIT_PLUGIN,
                           "%s (%s %s) does not offer find_hsps, level (a) of the ABI", library->path,
                           plugin->name, plugin->version);
    if (!(plugin->capabilities & HSPZ_CAP_DEDUP((uint32_t)options->dedup)))
        return hspz_failed(failure, HSPZ_EXIT_PLUGIN, "%s (%s %s) does not offer --dedup %s", library->path,
                           plugin->name, plugin->version, hspz_dedup_name((uint32_t)options->dedup));
    return 0;
}

int hspz_engines_create(hspz_library *library, const hspz_options *options, uint32_t slots, hspz_log *log,
                        const volatile sig_atomic_t *stop, hspz_engine_host **engines, uint32_t *count,
                        hspz_failure *failure)
{
    hspz_device_info *devices = NULL;
    hspz_engine_host *hosts = NULL;
    uint32_t rows = 0, wanted = 1, *chosen = NULL;
    *engines = NULL;
    *count = 0;
    int code = check_capabilities(library, options, failure);
    if (code != 0 || (code = hspz_devices_list(library, &devices, &rows, failure)) != 0)
        return code;
    chosen = calloc((size_t)rows + 1, sizeof *chosen); /* the list has at least one row */
    hosts = calloc((size_t)rows + 1, sizeof *hosts);
    if (chosen == NULL || hosts == NULL) {
        code = hspz_failed_memory(failure, "the engines", (unsigned long long)rows * sizeof *hosts);
        goto done;
    }
    chosen[0] = HSPZ_DEVICE_AUTO;
    if (options->device != HSPZ_BACKEND_AUTO &&
        (wanted = choose(library, options, devices, rows, chosen, failure)) == 0) {
        code = HSPZ_EXIT_PLUGIN;
        goto done;
    }
    hspz_engine_params params = {.struct_size = sizeof params};
    hspz_options_engine_params(options, &params);
    params.query_slots = slots;
    for (uint32_t i = 0; i < wanted && code == 0; i++) {
        hosts[i].library = library;
        hosts[i].options = options;
        hosts[i].log = log;
        hosts[i].stop = stop;
        params.device = chosen[i];
        code = create_one(&hosts[i], &params, devices, rows, failure);
        if (hosts[i].engine != NULL && hosts[i].device.kind == HSPZ_DEVICE_CUDA)
            library->stays_mapped = true;
    }
    if (code == 0) {
        *engines = hosts;
        *count = wanted;
        hosts = NULL;
    }
done:
    hspz_engines_destroy(hosts, hosts != NULL ? rows : 0);
    free(chosen);
    free(devices);
    return code;
}

void hspz_engines_destroy(hspz_engine_host *engines, uint32_t count)
{
    if (engines == NULL)
        return;
    for (uint32_t i = 0; i < count; i++)
        if (engines[i].engine != NULL)
            engines[i].library->table.engine_destroy(engines[i].engine);
    free(engines);
}
