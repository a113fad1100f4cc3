/* call.c -- SPEC section 9: the three levels, put together from the stages.
 *
 * Idea: level (a) cuts an interval into batches and makes their seeds (section 4); level (b) gets the seeds, level (c) the hits.
 * From there on all are one stream: hits -> extension and gate -> entropy -> dedup -> sink.
 */
#include "oracle.h"

#include <string.h>

/* Hands what the chunk (or the call) left to the sink. */
static hspz_status give(hspz__oracle_call *call)
{
    hspz__oracle_list *found = &call->found;
    if (found->count == 0)
        return HSPZ_OK;
    int32_t refused =
        call->sink->hsps(call->sink->ctx, found->items, found->count, (uint32_t)sizeof *found->items);
    if (refused != 0)
        return hspz__oracle_fail(call->error, HSPZ_E_SINK, "the host's sink refused %llu HSPs with code %d",
                                 (unsigned long long)found->count, refused);
    call->statistics->kept += found->count;
    found->count = 0;
    return HSPZ_OK;
}

/* `maximal` judges the whole call; now and then the list is thinned out, which does not change the result. */
static hspz_status thin_out(hspz__oracle_call *call)
{
    if (call->found.count < 2 * call->pruned + 65536)
        return HSPZ_OK;
    hspz_status status = hspz__oracle_dedup_maximal(call, &call->found);
    call->pruned = call->found.count;
    return status;
}

hspz_status hspz__oracle_chunk_end(hspz__oracle_call *call)
{
    const uint32_t dedup = call->rules->params.dedup;
    if (dedup == HSPZ_DEDUP_MAXIMAL)
        return thin_out(call);
    hspz_status status = HSPZ_OK;
    if (dedup == HSPZ_DEDUP_CHUNK || dedup == HSPZ_DEDUP_INTERVAL)
        status = hspz__oracle_dedup_chunk(call, &call->found);
    if (status == HSPZ_OK && dedup == HSPZ_DEDUP_INTERVAL)
        status = hspz__oracle_dedup_interval(call, &call->found);
    return status == HSPZ_OK ? give(call) : status;
}

static hspz_status call_begin(hspz__oracle_call *call, uint64_t total)
{
    hspz__oracle_pulse_init(&call->pulse, call->host, total);
    return hspz__oracle_marks_init(call);
}

static hspz_status call_end(hspz__oracle_call *call)
{
    if (call->rules->params.dedup != HSPZ_DEDUP_MAXIMAL)
        return HSPZ_OK;
    double start = hspz__oracle_seconds();
    hspz_status status = hspz__oracle_dedup_maximal(call, &call->found);
    if (status == HSPZ_OK)
        status = give(call);
    call->statistics->seconds_dedup += hspz__oracle_seconds() - start;
    return status;
}

void hspz__oracle_call_free(hspz__oracle_call *call)
{
    hspz__oracle_list_free(call->host, &call->found);
    hspz__oracle_seen_free(call->host, &call->seen);
    hspz__oracle_marks_free(call);
}

/* Extension of one hit; false when the mark rule skips it. */
static bool extend(hspz__oracle_call *call, uint64_t r, uint64_t q, hspz__oracle_segment *segment)
{
    if (call->rules->params.dedup == HSPZ_DEDUP_LASTZ)
        return hspz__oracle_marks_extend(call, r, q, segment);
    hspz__oracle_side left = hspz__oracle_left(call->rules, call->target, call->query, r, q, 0);
    hspz__oracle_side right = hspz__oracle_right(call->rules, call->target, call->query, r, q);
    call->pulse.work += left.read + right.read;
    *segment = hspz__oracle_join(r, q, &left, &right);
    return true;
}

hspz_status hspz__oracle_hit(hspz__oracle_call *call, uint64_t r, uint64_t q)
{
    hspz_statistics *statistics = call->statistics;
    hspz__oracle_segment segment;
    if (!extend(call, r, q, &segment)) {
        statistics->skipped++;
        return hspz__oracle_pulse_beat(&call->pulse, 8, call->error);
    }
    bool lastz = call->rules->params.dedup == HSPZ_DEDUP_LASTZ;
    bool passes = segment.total >= call->rules->keep_total;
    statistics->gate_survivors += lastz || passes;
    int32_t score;
    if (passes && hspz__oracle_accept(call->rules, call->target, call->query, &segment, &score)) {
        hspz_hsp hsp = {segment.target_start, segment.query_start, segment.extent, score};
        statistics->accepted++;
        hspz_status status = hspz__oracle_list_add(call, &call->found, &hsp);
        if (status != HSPZ_OK)
            return status;
    }
    return hspz__oracle_pulse_beat(&call->pulse, 32, call->error);
}

/* Level (a). Section 4: batches start at begin, begin + C, ... and cover [i, min(i + C, end + 1)), position `end` included; window
 * starts beyond Q - w do not exist. */
static hspz_status find_in(hspz__oracle_call *call, const hspz_find_request *request, uint64_t end)
{
    const uint64_t variants = call->rules->variant_count;
    uint64_t most = end - request->begin < request->batch_size ? end - request->begin : request->batch_size;
    uint64_t *seeds = hspz__oracle_alloc(call->host, most * variants, sizeof *seeds);
    if (seeds == NULL)
        return hspz__oracle_fail(call->error, HSPZ_E_MEMORY, "no memory for the seeds of %llu positions",
                                 (unsigned long long)most);
    hspz_status status = HSPZ_OK;
    for (uint64_t i = request->begin; i < end && status == HSPZ_OK; i += request->batch_size) {
        uint64_t stop = end - i < request->batch_size ? end : i + request->batch_size;
        double start = hspz__oracle_seconds();
        uint64_t count =
            hspz__oracle_seeds(call->rules, call->query, i, stop, seeds, &call->statistics->query_positions);
        call->statistics->seconds_query += hspz__oracle_seconds() - start;
        call->pulse.done = i - request->begin;
        status = hspz__oracle_batch_of_seeds(call, seeds, count);
    }
    hspz__oracle_free(call->host, seeds);
    return status;
}

hspz_status hspz__oracle_call_find(hspz__oracle_call *call, const hspz_find_request *request)
{
    uint64_t window = call->rules->window;
    uint64_t beyond = call->query->length >= window ? call->query->length - window + 1 : 0;
    uint64_t end = request->end < beyond ? request->end + 1 : beyond;
    if (request->begin >= end)
        return HSPZ_OK;
    hspz_status status = call_begin(call, end - request->begin);
    if (status == HSPZ_OK)
        status = find_in(call, request, end);
    return status == HSPZ_OK ? call_end(call) : status;
}

/* Level (b): every seed must name a word and a window that exist. */
static hspz_status check_seeds(hspz__oracle_call *call, const hspz_seed_batch *batch)
{
    const hspz__oracle_rules *rules = call->rules;
    uint64_t previous = UINT64_MAX;
    for (uint64_t i = 0; i < batch->count; i++) {
        uint64_t word = batch->seeds[i] >> 32;
        uint64_t position = batch->seeds[i] & UINT32_MAX;
        if (word >> rules->word_bits != 0 || position + rules->window > call->query->length)
            return hspz__oracle_fail(
                call->error, HSPZ_E_ARGUMENT,
                "seed %llu (word %llu, position %llu) is out of range: words have %u bits, "
                "windows of %u bases must fit a query of %llu bases",
                (unsigned long long)i, (unsigned long long)word, (unsigned long long)position,
                rules->word_bits, rules->window, (unsigned long long)call->query->length);
        call->statistics->query_positions += position != previous;
        previous = position;
    }
    return HSPZ_OK;
}

hspz_status hspz__oracle_call_expand(hspz__oracle_call *call, const hspz_seed_batch *batch)
{
    hspz_status status = check_seeds(call, batch);
    if (status == HSPZ_OK)
        status = call_begin(call, batch->count);
    if (status == HSPZ_OK)
        status = hspz__oracle_batch_of_seeds(call, batch->seeds, batch->count);
    return status == HSPZ_OK ? call_end(call) : status;
}

/* Level (c): an anchor is a position just after a window, so the length of a block is the largest. */
static hspz_status check_anchors(hspz__oracle_call *call, const hspz_anchor_batch *batch)
{
    const unsigned char *at = (const unsigned char *)batch->anchors;
    for (uint64_t i = 0; i < batch->count; i++, at += batch->stride) {
        hspz_anchor anchor;
        memcpy(&anchor, at, sizeof anchor);
        if (anchor.target_end > call->target->length || anchor.query_end > call->query->length)
            return hspz__oracle_fail(
                call->error, HSPZ_E_ARGUMENT,
                "anchor %llu (%u, %u) lies outside a target of %llu and a query of %llu bases",
                (unsigned long long)i, anchor.target_end, anchor.query_end,
                (unsigned long long)call->target->length, (unsigned long long)call->query->length);
    }
    return HSPZ_OK;
}

hspz_status hspz__oracle_call_extend(hspz__oracle_call *call, const hspz_anchor_batch *batch)
{
    hspz_status status = check_anchors(call, batch);
    if (status == HSPZ_OK)
        status = call_begin(call, batch->count);
    if (status == HSPZ_OK)
        status = hspz__oracle_batch_of_anchors(call, batch);
    return status == HSPZ_OK ? call_end(call) : status;
}
