/* engine.c -- the border between a host and a backend: arguments checked, statistics kept, errors told.
 *
 * Idea: each call passes one gate (begin) that sets up a private error and private statistics, then the backend, then one exit
 * (finish) that adds the statistics and stores the error text under a lock. Backends therefore never see unchecked input,
 * and set_query may run beside a find on another slot.
 */
#include "engine.h"

#include "backend.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const hspz__backend *const backends[] = {&hspz__backend_cpu, &hspz__backend_cuda};
#define BACKENDS (sizeof backends / sizeof backends[0])
#define UNSET UINT64_MAX

struct hspz_engine {
    hspz__host host;
    hspz__plan plan;
    const hspz__backend *backend;
    void *state;
    uint32_t device;
    char notice[256];
    uint64_t target_length; /* UNSET while no target is set */
    uint64_t query_length[16];
    pthread_mutex_t lock; /* over the two below */
    hspz_statistics statistics;
    char error_text[HSPZ_ERROR_TEXT];
};

/* ---- the device list: rows of the backends, one after the other */

static const hspz__backend *backend_of_row(uint32_t index, uint32_t *row)
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

static void describe(const hspz__backend *backend, uint32_t row, hspz_device_info *info)
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
    const hspz__backend *backend = backend_of_row(index, &row);
    if (backend == NULL)
        return hspz__fail(error, HSPZ_E_NO_DEVICE, "device %u does not exist", index);
    hspz_device_info full;
    describe(backend, row, &full);
    uint32_t size = info->struct_size < sizeof full ? info->struct_size : (uint32_t)sizeof full;
    memcpy(info, &full, size);
    info->struct_size = size;
    return HSPZ_OK;
}

/* ---- errors and statistics */

static double now(void)
{
    struct timespec t;
    if (clock_gettime(CLOCK_MONOTONIC, &t) != 0)
        return 0.0;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct call {
    double start;
    hspz_error error;
    hspz_statistics statistics;
} call;

static void begin(call *c)
{
    memset(c, 0, sizeof *c);
    c->error.struct_size = sizeof c->error;
    c->statistics.struct_size = sizeof c->statistics;
    c->start = now();
}

static void give_error(const hspz_error *from, hspz_error *to)
{
    if (to == NULL || to->struct_size < sizeof(uint32_t))
        return;
    uint32_t size = to->struct_size < sizeof *from ? to->struct_size : (uint32_t)sizeof *from;
    memcpy(to, from, size);
    to->struct_size = size;
    if (size > offsetof(hspz_error, text)) /* a shorter struct ends inside the text */
        ((char *)to)[size - 1] = '\0';
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

static hspz_status finish(hspz_engine *engine, call *c, hspz_status status, hspz_error *error)
{
    c->statistics.seconds_total = now() - c->start;
    if (status != HSPZ_OK && c->error.status == HSPZ_OK) /* a path that gave no sentence of its own */
        hspz__fail(&c->error, status, "status %d", status);
    pthread_mutex_lock(&engine->lock);
    add_statistics(&engine->statistics, &c->statistics);
    memcpy(engine->error_text, status == HSPZ_OK ? "" : c->error.text,
           status == HSPZ_OK ? 1 : sizeof engine->error_text);
    pthread_mutex_unlock(&engine->lock);
    if (status != HSPZ_OK)
        give_error(&c->error, error);
    return status;
}

/* ---- create: which device, then its backend */

static const char *const backend_names[] = {"auto", "cpu", "cuda", NULL};

/* The usable device of the highest score among the backends that `choice` allows, or one that says why there is none. */
static uint32_t best_device(uint32_t choice, hspz_device_info *best)
{
    uint32_t index = 0, found = 0;
    bool any = false;
    for (size_t b = 0; b < BACKENDS; b++) {
        const uint32_t rows = backends[b]->device_count();
        for (uint32_t row = 0; row < rows; row++, index++) {
            if (choice != 0 && strcmp(backends[b]->name, backend_names[choice]) != 0)
                continue;
            hspz_device_info info;
            describe(backends[b], row, &info);
            if (any && info.score <= best->score)
                continue;
            *best = info;
            found = index;
            any = true;
        }
    }
    return found;
}

static hspz_status open_device(hspz_engine *engine, uint32_t index, uint64_t max_hits, hspz_error *error)
{
    uint32_t row = 0;
    hspz_device_info info;
    const hspz__backend *backend = backend_of_row(index, &row);
    if (backend == NULL)
        return hspz__fail(error, HSPZ_E_NO_DEVICE, "device %u does not exist", index);
    describe(backend, row, &info);
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
    hspz_status status = hspz__knob_choice(&engine->host, "backend", backend_names, 0, &choice, error);
    if (status != HSPZ_OK)
        return status;
    if (HSPZ_HAS_FIELD(hspz_engine_params, params, device))
        device = params->device;
    hspz_device_info info;
    if (device != HSPZ_DEVICE_AUTO) {
        uint32_t row = 0;
        const hspz__backend *backend = backend_of_row(device, &row);
        if (backend != NULL && choice != 0 && strcmp(backend->name, backend_names[choice]) != 0)
            return hspz__fail(error, HSPZ_E_CONFIG, "backend = %s, but device %u belongs to %s",
                              backend_names[choice], device, backend->name);
        return open_device(engine, device, max_hits, error);
    }
    device = best_device(choice, &info);
    status = open_device(engine, device, max_hits, error);
    if (status == HSPZ_OK || choice != 0 || info.kind == HSPZ_DEVICE_CPU)
        return status;
    if (class_of(status) != HSPZ_CLASS_USE_CPU && status != HSPZ_E_DEVICE_MEMORY && status != HSPZ_E_DEVICE)
        return status;
    snprintf(engine->notice, sizeof engine->notice, "%.60s cannot be used (%.150s): the CPU does the work",
             info.name, error != NULL ? error->text : "");
    device = best_device(1, &info);
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
        give_error(&detail, error);
        return status;
    }
    memset(engine, 0, sizeof *engine);
    hspz__host_init(&engine->host, services);
    pthread_mutex_init(&engine->lock, NULL);
    engine->statistics.struct_size = sizeof engine->statistics;
    engine->target_length = UNSET;
    for (uint32_t slot = 0; slot < 16; slot++)
        engine->query_length[slot] = UNSET;
    status = hspz__plan_init(&engine->plan, params, &detail);
    if (status == HSPZ_OK)
        status = choose_and_open(engine, params, &detail);
    if (status != HSPZ_OK) {
        engine->state = NULL;
        hspz__engine_destroy(engine);
        give_error(&detail, error);
        return status;
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
    if (engine == NULL || info == NULL || info->struct_size < sizeof(uint32_t))
        return hspz__fail(error, HSPZ_E_ARGUMENT,
                          "engine_info needs an engine and a struct with its size set");
    hspz_engine_info full = {.struct_size = sizeof full, .threads = 1};
    full.device = engine->device;
    full.max_hits = engine->plan.max_hits;
    engine->backend->info(engine->state, &full);
    if (engine->notice[0] != '\0')
        snprintf(full.notice, sizeof full.notice, "%s", engine->notice);
    uint32_t size = info->struct_size < sizeof full ? info->struct_size : (uint32_t)sizeof full;
    memcpy(info, &full, size);
    info->struct_size = size;
    return HSPZ_OK;
}

/* ---- sequences */

static hspz_status check_block(const char *name, const void *bases, uint64_t length, hspz_error *error)
{
    if (bases == NULL && length > 0)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "the %s has a length but no bases", name);
    if (length > UINT32_MAX - 1)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "the %s has %llu bases; a block holds at most 4294967294",
                          name, (unsigned long long)length);
    return HSPZ_OK;
}

static hspz_status check_index(const hspz_engine *engine, const hspz_target *t, hspz_error *error)
{
    if (t->index_table == NULL && t->positions != NULL)
        return hspz__fail(error, HSPZ_E_ARGUMENT,
                          "the target comes with positions but without an index table");
    if (t->index_table == NULL)
        return HSPZ_OK;
    const uint64_t words = UINT64_C(1) << engine->plan.word_bits;
    if (t->index_entries != words)
        return hspz__fail(error, HSPZ_E_ARGUMENT,
                          "the index table has %llu entries; this seed has %llu words",
                          (unsigned long long)t->index_entries, (unsigned long long)words);
    if (t->positions == NULL && t->position_count > 0)
        return hspz__fail(error, HSPZ_E_ARGUMENT,
                          "the target comes with an index table but without positions");
    uint32_t begin = 0;
    for (uint64_t word = 0; word < words; word++) {
        const uint32_t end = t->index_table[word];
        if (end < begin || end > t->position_count)
            return hspz__fail(error, HSPZ_E_ARGUMENT,
                              "the index table descends or passes %llu positions at word %llu",
                              (unsigned long long)t->position_count, (unsigned long long)word);
        for (uint32_t i = begin; i < end; i++) {
            if ((uint64_t)t->positions[i] + engine->plan.pattern_length > t->length)
                return hspz__fail(error, HSPZ_E_ARGUMENT,
                                  "indexed position %u is no window start of a target of %llu bases",
                                  t->positions[i], (unsigned long long)t->length);
            if (i > begin && t->positions[i] <= t->positions[i - 1])
                return hspz__fail(error, HSPZ_E_ARGUMENT, "indexed position %u does not ascend in its bucket",
                                  t->positions[i]);
        }
        begin = end;
    }
    if (begin != t->position_count)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "the index table ends at %u, but there are %llu positions",
                          begin, (unsigned long long)t->position_count);
    return HSPZ_OK;
}

hspz_status hspz__set_target(hspz_engine *engine, const hspz_target *target, hspz_error *error)
{
    if (engine == NULL)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "set_target needs an engine");
    call c;
    begin(&c);
    hspz_target t = {.struct_size = sizeof t};
    hspz_status status = HSPZ_OK;
    engine->target_length = UNSET;
    engine->backend->clear_target(engine->state);
    if (target == NULL || !HSPZ_HAS_FIELD(hspz_target, target, length))
        status = hspz__fail(&c.error, HSPZ_E_ARGUMENT, "set_target needs a target with its size set");
    if (status == HSPZ_OK) {
        memcpy(&t, target, target->struct_size < sizeof t ? target->struct_size : sizeof t);
        status = check_block("target", t.bases, t.length, &c.error);
    }
    if (status == HSPZ_OK)
        status = check_index(engine, &t, &c.error);
    if (status == HSPZ_OK)
        status = engine->backend->set_target(engine->state, &t, &c.statistics, &c.error);
    if (status == HSPZ_OK)
        engine->target_length = t.length;
    return finish(engine, &c, status, error);
}

hspz_status hspz__clear_target(hspz_engine *engine, hspz_error *error)
{
    if (engine == NULL)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "clear_target needs an engine");
    engine->target_length = UNSET;
    engine->backend->clear_target(engine->state);
    return HSPZ_OK;
}

static hspz_status check_slot(const hspz_engine *engine, uint32_t slot, hspz_error *error)
{
    if (slot < engine->plan.query_slots)
        return HSPZ_OK;
    return hspz__fail(error, HSPZ_E_ARGUMENT, "query slot %u does not exist: this engine has %u", slot,
                      engine->plan.query_slots);
}

hspz_status hspz__set_query(hspz_engine *engine, uint32_t slot, const hspz_query *query, hspz_error *error)
{
    if (engine == NULL)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "set_query needs an engine");
    call c;
    begin(&c);
    hspz_status status = check_slot(engine, slot, &c.error);
    if (status != HSPZ_OK)
        return finish(engine, &c, status, error);
    engine->query_length[slot] = UNSET;
    engine->backend->clear_query(engine->state, slot);
    if (query == NULL || !HSPZ_HAS_FIELD(hspz_query, query, length))
        status = hspz__fail(&c.error, HSPZ_E_ARGUMENT, "set_query needs a query with its size set");
    if (status == HSPZ_OK)
        status = check_block("query", query->bases, query->length, &c.error);
    if (status == HSPZ_OK)
        status = engine->backend->set_query(engine->state, slot, query, &c.statistics, &c.error);
    if (status == HSPZ_OK)
        engine->query_length[slot] = query->length;
    return finish(engine, &c, status, error);
}

hspz_status hspz__clear_query(hspz_engine *engine, uint32_t slot, hspz_error *error)
{
    if (engine == NULL)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "clear_query needs an engine");
    hspz_status status = check_slot(engine, slot, error);
    if (status != HSPZ_OK)
        return status;
    engine->query_length[slot] = UNSET;
    engine->backend->clear_query(engine->state, slot);
    return HSPZ_OK;
}

/* ---- the three levels */

static hspz_status check_call(const hspz_engine *engine, uint32_t slot, uint32_t strand,
                              const hspz_sink *sink, hspz_error *error)
{
    hspz_status status = check_slot(engine, slot, error);
    if (status != HSPZ_OK)
        return status;
    if (strand > HSPZ_STRAND_MINUS)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "strand = %u is neither plus (0) nor minus (1)", strand);
    if (sink == NULL || !HSPZ_HAS_FIELD(hspz_sink, sink, hsps) || sink->hsps == NULL)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "a sink with its size and its function set is needed");
    if (engine->target_length == UNSET)
        return hspz__fail(error, HSPZ_E_STATE, "no target is set");
    if (engine->query_length[slot] == UNSET)
        return hspz__fail(error, HSPZ_E_STATE, "no query is set in slot %u", slot);
    return HSPZ_OK;
}

hspz_status hspz__output_hsps(const hspz__output *output, const hspz_hsp *hsps, uint64_t count,
                              hspz_error *error)
{
    if (count == 0)
        return HSPZ_OK;
    if (output->sink->hsps(output->sink->ctx, hsps, count, sizeof *hsps) != 0)
        return hspz__fail(error, HSPZ_E_SINK, "the host's sink refused %llu HSPs", (unsigned long long)count);
    output->statistics->kept += count;
    return HSPZ_OK;
}

hspz_status hspz__find_hsps(hspz_engine *engine, const hspz_find_request *request, const hspz_sink *sink,
                            hspz_error *error)
{
    if (engine == NULL)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "find_hsps needs an engine");
    call c;
    begin(&c);
    hspz_status status = HSPZ_OK;
    if (request == NULL || !HSPZ_HAS_FIELD(hspz_find_request, request, end))
        status = hspz__fail(&c.error, HSPZ_E_ARGUMENT, "find_hsps needs a request with its size set");
    if (status == HSPZ_OK)
        status = check_call(engine, request->slot, request->strand, sink, &c.error);
    if (status == HSPZ_OK && request->batch_size < 1)
        status = hspz__fail(&c.error, HSPZ_E_ARGUMENT, "batch_size = 0; a batch has at least one position");
    if (status == HSPZ_OK && request->end < request->begin)
        status = hspz__fail(&c.error, HSPZ_E_ARGUMENT, "the interval [%llu, %llu] ends before it begins",
                            (unsigned long long)request->begin, (unsigned long long)request->end);
    if (status == HSPZ_OK) {
        hspz__output output = {.sink = sink, .statistics = &c.statistics};
        status = engine->backend->find_hsps(engine->state, request, &output, &c.error);
    }
    return finish(engine, &c, status, error);
}

/* Seeds whose word or window does not exist would read outside the tables. */
static hspz_status check_seeds(const hspz_engine *engine, const hspz_seed_batch *batch, hspz_error *error)
{
    if (batch->seeds == NULL && batch->count > 0)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "the batch counts seeds but holds none");
    const uint64_t words = UINT64_C(1) << engine->plan.word_bits;
    const uint64_t length = engine->query_length[batch->slot];
    for (uint64_t i = 0; i < batch->count; i++) {
        const uint64_t word = batch->seeds[i] >> 32, position = batch->seeds[i] & UINT32_MAX;
        if (word >= words || position + engine->plan.pattern_length > length)
            return hspz__fail(error, HSPZ_E_ARGUMENT,
                              "seed %llu (word %llu, position %llu) lies outside the words or the query",
                              (unsigned long long)i, (unsigned long long)word, (unsigned long long)position);
    }
    return HSPZ_OK;
}

hspz_status hspz__expand_and_extend(hspz_engine *engine, const hspz_seed_batch *batch, const hspz_sink *sink,
                                    hspz_error *error)
{
    if (engine == NULL)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "expand_and_extend needs an engine");
    call c;
    begin(&c);
    hspz_status status = HSPZ_OK;
    if (batch == NULL || !HSPZ_HAS_FIELD(hspz_seed_batch, batch, count))
        status = hspz__fail(&c.error, HSPZ_E_ARGUMENT, "expand_and_extend needs a batch with its size set");
    if (status == HSPZ_OK)
        status = check_call(engine, batch->slot, batch->strand, sink, &c.error);
    if (status == HSPZ_OK)
        status = check_seeds(engine, batch, &c.error);
    if (status == HSPZ_OK) {
        hspz__output output = {.sink = sink, .statistics = &c.statistics};
        status = engine->backend->expand_and_extend(engine->state, batch, &output, &c.error);
    }
    return finish(engine, &c, status, error);
}

static hspz_status check_anchors(const hspz_engine *engine, const hspz_anchor_batch *batch, hspz_error *error)
{
    if (batch->anchors == NULL && batch->count > 0)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "the batch counts anchors but holds none");
    if (batch->stride < sizeof(hspz_anchor) || batch->stride % 4 != 0)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "stride = %u is not a multiple of 4 from 8 up",
                          batch->stride);
    const uint64_t target_length = engine->target_length, query_length = engine->query_length[batch->slot];
    for (uint64_t i = 0; i < batch->count; i++) {
        hspz_anchor a;
        memcpy(&a, (const uint8_t *)batch->anchors + i * batch->stride, sizeof a);
        if (a.target_end > target_length || a.query_end > query_length)
            return hspz__fail(error, HSPZ_E_ARGUMENT,
                              "anchor %llu (%u, %u) lies outside the target or the query",
                              (unsigned long long)i, a.target_end, a.query_end);
    }
    return HSPZ_OK;
}

hspz_status hspz__extend_anchors(hspz_engine *engine, const hspz_anchor_batch *batch, const hspz_sink *sink,
                                 hspz_error *error)
{
    if (engine == NULL)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "extend_anchors needs an engine");
    call c;
    begin(&c);
    hspz_status status = HSPZ_OK;
    if (batch == NULL || !HSPZ_HAS_FIELD(hspz_anchor_batch, batch, count))
        status = hspz__fail(&c.error, HSPZ_E_ARGUMENT, "extend_anchors needs a batch with its size set");
    if (status == HSPZ_OK)
        status = check_call(engine, batch->slot, batch->strand, sink, &c.error);
    if (status == HSPZ_OK)
        status = check_anchors(engine, batch, &c.error);
    if (status == HSPZ_OK) {
        hspz__output output = {.sink = sink, .statistics = &c.statistics};
        status = engine->backend->extend_anchors(engine->state, batch, &output, &c.error);
    }
    return finish(engine, &c, status, error);
}

/* ---- statistics */

hspz_status hspz__get_statistics(hspz_engine *engine, hspz_statistics *statistics, hspz_error *error)
{
    if (engine == NULL || statistics == NULL || statistics->struct_size < sizeof(uint32_t))
        return hspz__fail(error, HSPZ_E_ARGUMENT,
                          "get_statistics needs an engine and a struct with its size set");
    pthread_mutex_lock(&engine->lock);
    hspz_statistics full = engine->statistics;
    pthread_mutex_unlock(&engine->lock);
    full.host_memory_peak = atomic_load(&engine->host.bytes_peak);
    uint32_t size = statistics->struct_size < sizeof full ? statistics->struct_size : (uint32_t)sizeof full;
    full.struct_size = size;
    memcpy(statistics, &full, size);
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
