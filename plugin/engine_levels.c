/* engine_levels.c -- the three levels of work: arguments checked, then the backend */
#include "engine.h"
#include "engine_state.h"

#include <string.h>

static hspz_status check_call(const hspz_engine *engine, uint32_t slot, uint32_t strand,
                              const hspz_sink *sink, hspz_error *error)
{
    hspz_status status = hspz__check_slot(engine, slot, error);
    if (status != HSPZ_OK)
        return status;
    if (strand > HSPZ_STRAND_MINUS)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "strand = %u is neither plus (0) nor minus (1)", strand);
    if (sink == NULL || !HSPZ_HAS_FIELD(hspz_sink, sink, hsps) || sink->hsps == NULL)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "a sink with its size and its function set is needed");
    if (engine->target_length == HSPZ__UNSET)
        return hspz__fail(error, HSPZ_E_STATE, "no target is set");
    if (engine->query_length[slot] == HSPZ__UNSET)
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
    hspz__engine_call c;
    hspz__engine_call_begin(&c);
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
    return hspz__engine_call_finish(engine, &c, status, error);
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
    hspz__engine_call c;
    hspz__engine_call_begin(&c);
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
    return hspz__engine_call_finish(engine, &c, status, error);
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
    hspz__engine_call c;
    hspz__engine_call_begin(&c);
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
    return hspz__engine_call_finish(engine, &c, status, error);
}
