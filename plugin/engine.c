/* engine.c -- making an engine, telling what it is, its statistics and its errors */
#include "engine.h"
#include "engine_state.h"

#include <stdio.h>
#include <string.h>

void hspz__engine_call_begin(hspz__engine_call *c)
{
    memset(c, 0, sizeof *c);
    c->error.struct_size = sizeof c->error;
    c->statistics.struct_size = sizeof c->statistics;
    c->start = hspz__seconds();
}

void hspz__give(void *to, const void *from, uint32_t size)
{
    uint32_t given;
    memcpy(&given, to, sizeof given);
    if (given < size)
        size = given;
    memcpy(to, from, size);
    memcpy(to, &size, sizeof size);
}

static void add_statistics(hspz_statistics *sum, const hspz_statistics *part)
{
    sum->target_positions += part->target_positions;
    sum->query_positions += part->query_positions;
    sum->seeds += part->seeds;
    sum->hits += part->hits;
    sum->batches += part->batches;
    sum->chunks += part->chunks;
    sum->gate_survivors += part->gate_survivors;
    sum->skipped += part->skipped;
    sum->accepted += part->accepted;
    sum->kept += part->kept;
    sum->seconds_index += part->seconds_index;
    sum->seconds_query += part->seconds_query;
    sum->seconds_expand += part->seconds_expand;
    sum->seconds_gate += part->seconds_gate;
    sum->seconds_extend += part->seconds_extend;
    sum->seconds_dedup += part->seconds_dedup;
    sum->seconds_transfer += part->seconds_transfer;
    sum->seconds_total += part->seconds_total;
    if (part->device_memory_peak > sum->device_memory_peak)
        sum->device_memory_peak = part->device_memory_peak;
}

hspz_status hspz__engine_call_finish(hspz_engine *engine, hspz__engine_call *c, hspz_status status,
                                     hspz_error *error)
{
    c->statistics.seconds_total = hspz__seconds() - c->start;
    if (status != HSPZ_OK && c->error.status == HSPZ_OK) /* a path that gave no sentence of its own */
        hspz__fail(&c->error, status, "status %d", status);
    pthread_mutex_lock(&engine->lock);
    add_statistics(&engine->statistics, &c->statistics);
    memcpy(engine->error_text, status == HSPZ_OK ? "" : c->error.text,
           status == HSPZ_OK ? 1 : sizeof engine->error_text);
    pthread_mutex_unlock(&engine->lock);
    return status == HSPZ_OK ? status : hspz__fail_as(error, &c->error);
}

/* ---- create: which device, then its backend */

static hspz_status open_device(hspz_engine *engine, uint32_t index, uint64_t max_hits, hspz_error *error)
{
    uint32_t row = 0;
    hspz_device_info info;
    const hspz__backend *backend = hspz__device_row(index, &row);
    if (backend == NULL)
        return hspz__fail(error, HSPZ_E_NO_DEVICE, "device %u does not exist", index);
    hspz__device_describe(backend, row, &info);
    if (info.score == 0)
        return hspz__fail(error, info.status, "%s: %s", info.name, info.detail);
    engine->plan.max_hits = max_hits;
    if (max_hits == HSPZ_MAX_HITS_DEVICE) { /* KegAlign: 4,194,304 hits a GiB */
        engine->plan.max_hits = info.memory_total / 256;
        if (engine->plan.max_hits < 1)
            engine->plan.max_hits = 1;
        if (engine->plan.max_hits > UINT32_MAX)
            engine->plan.max_hits = UINT32_MAX;
    }
    engine->device = index;
    engine->backend = backend;
    return backend->create(&engine->plan, &engine->host, row, &engine->state, error);
}

static int32_t class_of(hspz_status status)
{
    switch (status) {
#define ROW(name, number, cls, text)                                                                         \
    case number:                                                                                             \
        return cls;
        HSPZ_STATUS_TABLE(ROW)
#undef ROW
    default:
        return HSPZ_CLASS_FATAL;
    }
}

static hspz_status choose_and_open(hspz_engine *engine, const hspz_engine_params *params, hspz_error *error)
{
    const uint64_t max_hits = engine->plan.max_hits;
    uint32_t choice = 0, device = HSPZ_DEVICE_AUTO;
    hspz_status status = hspz__knob_choice(&engine->host, "backend", hspz__backend_names, 0, &choice, error);
    if (status != HSPZ_OK)
        return status;
    if (HSPZ_HAS_FIELD(hspz_engine_params, params, device))
        device = params->device;
    hspz_device_info info;
    if (device != HSPZ_DEVICE_AUTO) {
        uint32_t row = 0;
        const hspz__backend *backend = hspz__device_row(device, &row);
        if (backend != NULL && choice != 0 && strcmp(backend->name, hspz__backend_names[choice]) != 0)
            return hspz__fail(error, HSPZ_E_CONFIG, "backend = %s, but device %u belongs to %s",
                              hspz__backend_names[choice], device, backend->name);
        return open_device(engine, device, max_hits, error);
    }
    device = hspz__device_best(choice, &info);
    status = open_device(engine, device, max_hits, error);
    if (status == HSPZ_OK || choice != 0 || info.kind == HSPZ_DEVICE_CPU)
        return status;
    if (class_of(status) != HSPZ_CLASS_USE_CPU && status != HSPZ_E_DEVICE_MEMORY && status != HSPZ_E_DEVICE)
        return status;
    snprintf(engine->notice, sizeof engine->notice, "%.60s cannot be used (%.150s): the CPU does the work",
             info.name, error != NULL ? error->text : "");
    device = hspz__device_best(1, &info);
    return open_device(engine, device, max_hits, error);
}

hspz_status hspz__engine_create(const hspz_engine_params *params, const hspz_host_services *services,
                                hspz_engine **out, hspz_error *error)
{
    if (out == NULL)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "engine_create needs a place for the engine");
    *out = NULL;
    if (params == NULL || !HSPZ_HAS_FIELD(hspz_engine_params, params, seed_pattern))
        return hspz__fail(error, HSPZ_E_ARGUMENT, "engine_create needs parameters with their size set");
    hspz_error detail = {.struct_size = sizeof detail};
    hspz__host host;
    hspz__host_init(&host, services);
    hspz_engine *engine = hspz__alloc(&host, 1, sizeof *engine);
    hspz_status status = HSPZ_OK;
    if (engine == NULL) {
        status = hspz__fail(&detail, HSPZ_E_MEMORY, "no memory for an engine");
        return hspz__fail_as(error, &detail);
    }
    memset(engine, 0, sizeof *engine);
    hspz__host_init(&engine->host, services);
    pthread_mutex_init(&engine->lock, NULL);
    engine->statistics.struct_size = sizeof engine->statistics;
    engine->target_length = HSPZ__UNSET;
    for (uint32_t slot = 0; slot < HSPZ__SLOTS_MAX; slot++)
        engine->query_length[slot] = HSPZ__UNSET;
    status = hspz__plan_init(&engine->plan, params, &detail);
    if (status == HSPZ_OK)
        status = choose_and_open(engine, params, &detail);
    if (status != HSPZ_OK) {
        engine->state = NULL;
        hspz__engine_destroy(engine);
        return hspz__fail_as(error, &detail);
    }
    *out = engine;
    return HSPZ_OK;
}

void hspz__engine_destroy(hspz_engine *engine)
{
    if (engine == NULL)
        return;
    if (engine->state != NULL)
        engine->backend->destroy(engine->state);
    pthread_mutex_destroy(&engine->lock);
    hspz__host host; /* the engine is gone before its own count of bytes could be used */
    hspz__host_init(&host, &engine->host.services);
    hspz__free(&host, engine);
}

hspz_status hspz__engine_info(hspz_engine *engine, hspz_engine_info *info, hspz_error *error)
{
    if (engine == NULL)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "engine_info needs an engine");
    hspz__engine_call c;
    hspz__engine_call_begin(&c);
    if (info == NULL || info->struct_size < sizeof(uint32_t)) {
        hspz_status status =
            hspz__fail(&c.error, HSPZ_E_ARGUMENT, "engine_info needs a struct with its size set");
        return hspz__engine_call_finish(engine, &c, status, error);
    }
    hspz_engine_info full = {.struct_size = sizeof full, .threads = 1};
    full.device = engine->device;
    full.max_hits = engine->plan.max_hits;
    engine->backend->info(engine->state, &full);
    if (engine->notice[0] != '\0')
        snprintf(full.notice, sizeof full.notice, "%s", engine->notice);
    hspz__give(info, &full, sizeof full);
    return HSPZ_OK;
}

/* ---- statistics */

hspz_status hspz__get_statistics(hspz_engine *engine, hspz_statistics *statistics, hspz_error *error)
{
    if (engine == NULL)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "get_statistics needs an engine");
    if (statistics == NULL || statistics->struct_size < sizeof(uint32_t)) {
        hspz__engine_call c;
        hspz__engine_call_begin(&c);
        hspz_status status =
            hspz__fail(&c.error, HSPZ_E_ARGUMENT, "get_statistics needs a struct with its size set");
        return hspz__engine_call_finish(engine, &c, status, error);
    }
    pthread_mutex_lock(&engine->lock);
    hspz_statistics full = engine->statistics;
    pthread_mutex_unlock(&engine->lock);
    full.host_memory_peak = atomic_load(&engine->host.bytes_peak);
    hspz__give(statistics, &full, sizeof full);
    return HSPZ_OK;
}

hspz_status hspz__reset_statistics(hspz_engine *engine, hspz_error *error)
{
    if (engine == NULL)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "reset_statistics needs an engine");
    pthread_mutex_lock(&engine->lock);
    memset(&engine->statistics, 0, sizeof engine->statistics);
    engine->statistics.struct_size = sizeof engine->statistics;
    pthread_mutex_unlock(&engine->lock);
    return HSPZ_OK;
}

const char *hspz__last_error(hspz_engine *engine)
{
    return engine != NULL ? engine->error_text : "";
}
