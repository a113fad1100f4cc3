/* levels.c -- SPEC section 9: the three levels as the ABI offers them.
 *
 * Idea: find_hsps, expand_and_extend and extend_anchors check their arguments and the state of the engine, fill in a call, and leave
 * the work to call.c.
 */
#include "oracle.h"

/* What the three levels have in common: a sink, a target, a query in the slot, a strand. */
static hspz_status call_prepare(hspz_engine *engine, uint32_t number, uint32_t strand, const hspz_sink *sink,
                                hspz__oracle_call *call, hspz_error *error)
{
    if (sink == NULL || sink->struct_size < sizeof *sink || sink->hsps == NULL)
        return hspz__oracle_fail(error, HSPZ_E_ARGUMENT, "the call needs a sink with a function");
    hspz_status status = hspz__oracle_check_slot(engine, number, error);
    if (status != HSPZ_OK)
        return status;
    if (strand > HSPZ_STRAND_MINUS)
        return hspz__oracle_fail(error, HSPZ_E_ARGUMENT, "strand %u is neither plus (0) nor minus (1)",
                                 strand);
    if (!engine->target_set)
        return hspz__oracle_fail(error, HSPZ_E_STATE, "no target is set");
    if (!engine->slots[number].set)
        return hspz__oracle_fail(error, HSPZ_E_STATE, "no query is set in slot %u", number);
    *call = (hspz__oracle_call){.host = &engine->host,
                                .rules = &engine->rules,
                                .target = &engine->target,
                                .index = &engine->index,
                                .query = &engine->slots[number].strand[strand],
                                .sink = sink,
                                .statistics = &engine->statistics,
                                .error = error};
    return HSPZ_OK;
}

static hspz_status find_hsps(hspz_engine *engine, const hspz_find_request *request, const hspz_sink *sink,
                             hspz_error *error)
{
    if (request == NULL || request->struct_size < sizeof *request)
        return hspz__oracle_fail(error, HSPZ_E_ARGUMENT, "find_hsps needs a request of %zu bytes",
                                 sizeof *request);
    if (request->batch_size < 1)
        return hspz__oracle_fail(error, HSPZ_E_ARGUMENT, "batch_size = 0 is out of range: 1..4294967295");
    if (request->end < request->begin)
        return hspz__oracle_fail(error, HSPZ_E_ARGUMENT,
                                 "the interval ends at %llu, before it begins at %llu",
                                 (unsigned long long)request->end, (unsigned long long)request->begin);
    hspz__oracle_call call;
    hspz_status status = call_prepare(engine, request->slot, request->strand, sink, &call, error);
    if (status != HSPZ_OK)
        return status;
    status = hspz__oracle_call_find(&call, request);
    hspz__oracle_call_free(&call);
    return status;
}

static hspz_status expand_and_extend(hspz_engine *engine, const hspz_seed_batch *batch, const hspz_sink *sink,
                                     hspz_error *error)
{
    if (batch == NULL || batch->struct_size < sizeof *batch || (batch->seeds == NULL && batch->count > 0))
        return hspz__oracle_fail(error, HSPZ_E_ARGUMENT, "expand_and_extend needs a batch with seeds");
    hspz__oracle_call call;
    hspz_status status = call_prepare(engine, batch->slot, batch->strand, sink, &call, error);
    if (status != HSPZ_OK)
        return status;
    status = hspz__oracle_call_expand(&call, batch);
    hspz__oracle_call_free(&call);
    return status;
}

static hspz_status extend_anchors(hspz_engine *engine, const hspz_anchor_batch *batch, const hspz_sink *sink,
                                  hspz_error *error)
{
    if (batch == NULL || batch->struct_size < sizeof *batch || (batch->anchors == NULL && batch->count > 0))
        return hspz__oracle_fail(error, HSPZ_E_ARGUMENT, "extend_anchors needs a batch with anchors");
    if (batch->stride < sizeof(hspz_anchor) || batch->stride % 4 != 0)
        return hspz__oracle_fail(error, HSPZ_E_ARGUMENT, "stride = %u must be a multiple of 4, at least 8",
                                 batch->stride);
    hspz__oracle_call call;
    hspz_status status = call_prepare(engine, batch->slot, batch->strand, sink, &call, error);
    if (status != HSPZ_OK)
        return status;
    status = hspz__oracle_call_extend(&call, batch);
    hspz__oracle_call_free(&call);
    return status;
}

hspz_status hspz__oracle_find_hsps(hspz_engine *engine, const hspz_find_request *request,
                                   const hspz_sink *sink, hspz_error *error)
{
    if (engine == NULL)
        return hspz__oracle_no_engine(error);
    double start = hspz__oracle_seconds();
    hspz_error own = {.struct_size = sizeof own};
    hspz_status status = find_hsps(engine, request, sink, &own);
    engine->statistics.seconds_total += hspz__oracle_seconds() - start;
    return hspz__oracle_finish(engine, error, &own, status);
}

hspz_status hspz__oracle_expand_and_extend(hspz_engine *engine, const hspz_seed_batch *batch,
                                           const hspz_sink *sink, hspz_error *error)
{
    if (engine == NULL)
        return hspz__oracle_no_engine(error);
    double start = hspz__oracle_seconds();
    hspz_error own = {.struct_size = sizeof own};
    hspz_status status = expand_and_extend(engine, batch, sink, &own);
    engine->statistics.seconds_total += hspz__oracle_seconds() - start;
    return hspz__oracle_finish(engine, error, &own, status);
}

hspz_status hspz__oracle_extend_anchors(hspz_engine *engine, const hspz_anchor_batch *batch,
                                        const hspz_sink *sink, hspz_error *error)
{
    if (engine == NULL)
        return hspz__oracle_no_engine(error);
    double start = hspz__oracle_seconds();
    hspz_error own = {.struct_size = sizeof own};
    hspz_status status = extend_anchors(engine, batch, sink, &own);
    engine->statistics.seconds_total += hspz__oracle_seconds() - start;
    return hspz__oracle_finish(engine, error, &own, status);
}
