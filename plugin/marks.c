/* marks.c -- the mark rule on hits that come in raw order, one after the other: levels (b), (c) and a host's index.
 *
 * Idea: marks belong to one query record, told by the base before the anchor; whenever a hit lies in another record than the hit before,
 * the table is cleared. The table itself is small; what costs is the extension of each hit that is not skipped.
 */
#include "marks.h"

#include <limits.h>
#include <string.h>

#define SLOTS 65536u

typedef struct marker {
    hspz__call *call;
    uint32_t *marks;
    uint64_t record_begin, record_end;
    hspz__result result;
    uint32_t worked;
} marker;

static void enter_record(marker *m, uint64_t at)
{
    if (at >= m->record_begin && at < m->record_end)
        return;
    const hspz__sequence *query = m->call->query;
    m->record_begin = at;
    while (m->record_begin > 0 && hspz__symbol_at(query, m->record_begin - 1) != HSPZ__SEPARATOR)
        m->record_begin--;
    m->record_end = at;
    while (m->record_end < query->length && hspz__symbol_at(query, m->record_end) != HSPZ__SEPARATOR)
        m->record_end++;
    m->record_end++; /* the separator counts to the record before it */
    memset(m->marks, 0, SLOTS * sizeof *m->marks);
}

static hspz_status mark_hit(marker *m, uint32_t r, uint32_t q)
{
    const hspz__plan *plan = m->call->cpu->plan;
    hspz_statistics *statistics = m->call->output->statistics;
    if (++m->worked % 4096 == 0 && hspz__pulse_stop(&m->call->pulse, m->call->pulse.done))
        return HSPZ_E_CANCELLED;
    enter_record(m, q > 0 ? q - 1 : 0);
    uint32_t *mark = &m->marks[(r - q) % SLOTS];
    if ((int64_t)*mark > (int64_t)q - (int64_t)plan->pattern_length) {
        statistics->skipped++;
        return HSPZ_OK;
    }
    const hspz__side left = hspz__extend_left(m->call, r, q, *mark);
    const hspz__side right = hspz__extend_right(m->call, r, q);
    if (q + right.read > *mark)
        *mark = (uint32_t)(q + right.read);
    statistics->gate_survivors++;
    const int32_t total = hspz__total(left.score, right.score);
    if (total < plan->keep_total)
        return HSPZ_OK;
    hspz_hsp hsp = {.target_start = r - (uint32_t)left.extent,
                    .query_start = q - (uint32_t)left.extent,
                    .extent = (uint32_t)(left.extent + right.extent)};
    hsp.score = hspz__accept(m->call, hsp.target_start, hsp.query_start, hsp.extent, total);
    if (hsp.score == INT32_MIN)
        return HSPZ_OK;
    statistics->accepted++;
    hspz_status status = hspz__found_reserve(&m->result.found, m->call->cpu->host, 1);
    if (status != HSPZ_OK)
        return hspz__fail(m->call->error, status, "no memory for %llu segments",
                          (unsigned long long)m->result.found.count);
    m->result.found.items[m->result.found.count++] = (hspz__found){.hsp = hsp};
    return m->result.found.count < 65536 ? HSPZ_OK : hspz__result_give(&m->result);
}

static hspz_status start(marker *m, hspz__call *call)
{
    memset(m, 0, sizeof *m);
    m->call = call;
    hspz__result_init(&m->result, call);
    m->marks = hspz__alloc(call->cpu->host, SLOTS, sizeof *m->marks);
    if (m->marks == NULL)
        return hspz__fail(call->error, HSPZ_E_MEMORY, "no memory for %u marks", SLOTS);
    return HSPZ_OK;
}

static hspz_status finish(marker *m, hspz_status status)
{
    if (status == HSPZ_OK)
        status = hspz__result_give(&m->result);
    hspz__free(m->call->cpu->host, m->marks);
    return hspz__result_end(&m->result, status);
}

static hspz_status count_batch(marker *m, uint64_t hits)
{
    hspz_statistics *statistics = m->call->output->statistics;
    if (hits > UINT32_MAX)
        return hspz__fail(
            m->call->error, HSPZ_E_TOO_MANY_HITS,
            "the batch has %llu seed hits, 2^32 or more; use a smaller --wga-chunk-size, or mask "
            "repeats",
            (unsigned long long)hits);
    statistics->batches++;
    statistics->chunks += hits / m->call->cpu->plan->max_hits + 1;
    statistics->hits += hits;
    return HSPZ_OK;
}

static hspz_status mark_seeds(marker *m, const uint64_t *seeds, uint64_t count)
{
    const hspz__cpu *cpu = m->call->cpu;
    const uint32_t w = cpu->plan->pattern_length;
    uint64_t hits = 0;
    uint32_t first;
    for (uint64_t i = 0; i < count; i++)
        hits += hspz__words_bucket(&cpu->index, hspz__key_of_word(&cpu->keys, (uint32_t)(seeds[i] >> 32)),
                                   &first);
    hspz_status status = count_batch(m, hits);
    for (uint64_t i = 0; i < count && status == HSPZ_OK; i++) {
        const uint32_t key = hspz__key_of_word(&cpu->keys, (uint32_t)(seeds[i] >> 32));
        const uint32_t size = hspz__words_bucket(&cpu->index, key, &first);
        for (uint32_t j = size; j-- > 0 && status == HSPZ_OK;)
            status = mark_hit(m, cpu->index.positions[first + j] + w, (uint32_t)seeds[i] + w);
    }
    return status;
}

hspz_status hspz__marks_seeds(hspz__call *call, const uint64_t *seeds, uint64_t count)
{
    marker m;
    hspz_status status = start(&m, call);
    if (status == HSPZ_OK)
        status = mark_seeds(&m, seeds, count);
    return finish(&m, status);
}

hspz_status hspz__marks_anchors(hspz__call *call, const hspz_anchor_batch *batch)
{
    marker m;
    hspz_status status = start(&m, call);
    if (status == HSPZ_OK)
        status = count_batch(&m, batch->count);
    for (uint64_t i = 0; i < batch->count && status == HSPZ_OK; i++) {
        const hspz_anchor a = hspz__anchor_at((const uint8_t *)batch->anchors, batch->stride, i);
        status = mark_hit(&m, a.target_end, a.query_end);
    }
    return finish(&m, status);
}

hspz_status hspz__marks_find_host(hspz__call *call, uint64_t begin, uint64_t end, uint64_t batch_size)
{
    hspz__cpu *cpu = call->cpu;
    const uint64_t most = end - begin < batch_size ? end - begin : batch_size;
    uint64_t *seeds = hspz__alloc(cpu->host, most * cpu->plan->variant_count, sizeof *seeds);
    if (seeds == NULL)
        return hspz__fail(call->error, HSPZ_E_MEMORY, "no memory for the seeds of %llu positions",
                          (unsigned long long)most);
    marker m;
    hspz_status status = start(&m, call);
    for (uint64_t at = begin; at < end && status == HSPZ_OK; at += batch_size) {
        const uint64_t count =
            hspz__query_seeds(call, at, end - at < batch_size ? end : at + batch_size, seeds);
        call->output->statistics->query_positions += count / cpu->plan->variant_count;
        call->output->statistics->seeds += count;
        call->pulse.done = at - begin;
        status = mark_seeds(&m, seeds, count);
    }
    status = finish(&m, status);
    hspz__free(cpu->host, seeds);
    return status;
}
