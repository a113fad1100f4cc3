/* stream.c -- hits in raw order: the host's seeds (level b), the host's anchors (level c), and level (a) over a host's own index.
 *
 * Idea: one batch at a time. The hits of each seed are counted, chunk boundaries follow from the counts (SPEC section 5, C.1-C.3), and
 * chunk by chunk the seeds are expanded, 64 hits at a time gathered into contexts and filtered. Under `none` a single thread screens, which keeps
 * survivors in raw order; the exact stage is parallel always.
 */
#include "stream.h"

#include <string.h>

/* ---- counting */

static hspz_status count_hits(hspz__stream *s)
{
    hspz__call *call = s->call;
    atomic_store(&s->hits, s->anchors != NULL ? s->count : 0);
    if (s->anchors == NULL) {
        s->sizes = hspz__scratch_get(&call->cpu->contexts, call->cpu->host, s->count, 2 * sizeof *s->sizes);
        s->firsts = s->sizes != NULL ? s->sizes + s->count : NULL;
        if (s->sizes == NULL)
            return hspz__fail(call->error, HSPZ_E_MEMORY, "no memory to count the hits of %llu seeds",
                              (unsigned long long)s->count);
        hspz_status status =
            hspz__pool_run(call->cpu->pool, (s->count + HSPZ__SEEDS_AN_ITEM - 1) / HSPZ__SEEDS_AN_ITEM,
                           hspz__stream_look_up, s, &call->pulse);
        if (status != HSPZ_OK)
            return status;
    }
    const uint64_t hits = atomic_load(&s->hits);
    if (hits > UINT32_MAX)
        return hspz__fail(
            call->error, HSPZ_E_TOO_MANY_HITS,
            "the batch has %llu seed hits, 2^32 or more; use a smaller --wga-chunk-size, or mask "
            "repeats",
            (unsigned long long)hits);
    return HSPZ_OK;
}

static uint64_t size_of(const hspz__stream *s, uint64_t i)
{
    return s->sizes != NULL ? s->sizes[i] : 1;
}

/* ---- one chunk */

/* The segment of an anchor in a list sorted by label. */
static const hspz__found *find_label(const hspz__found_list *found, const hspz_anchor *anchor)
{
    const uint64_t label = (uint64_t)anchor->target_end << 32 | anchor->query_end;
    uint64_t low = 0, high = found->count;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (found->items[middle].label <= label)
            low = middle;
        else
            high = middle;
    }
    return found->items[low].label == label ? &found->items[low] : NULL;
}

/* none: the found segments, one an anchor, back into the raw order of the survivors. */
static hspz_status order_raw(hspz__stream *s)
{
    hspz__found_list *found = &s->result.found;
    hspz_status status = hspz__found_sort(found, s->call->cpu->host, HSPZ__ORDER_LABEL);
    hspz__found_list ordered = {0};
    if (status == HSPZ_OK)
        status =
            hspz__found_reserve(&ordered, s->call->cpu->host, s->raw.count); /* an anchor may come twice */
    for (const hspz__anchor_block *block = s->raw.first;
         block != NULL && status == HSPZ_OK && found->count > 0; block = block->next)
        for (uint64_t i = 0; i < block->count; i++) {
            const hspz__found *item = find_label(found, &block->items[i]);
            if (item != NULL)
                ordered.items[ordered.count++] = *item;
        }
    hspz__found_free(found, s->call->cpu->host);
    *found = ordered;
    return status;
}

static hspz_status extend_chunk(hspz__stream *s)
{
    hspz__host *host = s->call->cpu->host;
    const uint32_t threads = hspz__pool_threads(s->call->cpu->pool);
    const bool raw = s->call->cpu->plan->dedup == HSPZ_DEDUP_NONE;
    hspz__extension how = {.kind = raw ? HSPZ__LABEL_ANCHOR : HSPZ__LABEL_CONSTANT, .constant = s->chunk};
    hspz__anchors *lists = hspz__alloc(host, threads, sizeof *lists);
    hspz_status status = lists != NULL ? HSPZ_OK : HSPZ_E_MEMORY;
    if (status == HSPZ_OK && raw) {
        hspz__anchors_cut(&s->raw, 0);
        for (const hspz__anchor_block *block = s->workers[0].screen.survivors.first; block != NULL;
             block = block->next)
            for (uint64_t i = 0; i < block->count && status == HSPZ_OK; i++)
                status = hspz__anchors_add(&s->raw, host, block->items[i]);
    }
    if (status != HSPZ_OK) {
        hspz__free(host, lists);
        return hspz__fail(s->call->error, status, "no memory for the surviving hits");
    }
    for (uint32_t i = 0; i < threads; i++)
        lists[i] = s->workers[i].screen.survivors;
    status = hspz__extend(s->call, lists, threads, &how, &s->result.found);
    for (uint32_t i = 0; i < threads; i++)
        s->workers[i].screen.survivors = lists[i];
    hspz__free(host, lists);
    if (status == HSPZ_OK && raw) {
        status = order_raw(s);
        if (status == HSPZ_OK)
            status = hspz__result_give(&s->result);
    }
    return status;
}

static hspz_status work_chunk(hspz__stream *s)
{
    hspz__cpu *cpu = s->call->cpu;
    const uint32_t threads = hspz__pool_threads(cpu->pool);
    const uint64_t items = (s->end - s->first + HSPZ__SEEDS_AN_ITEM - 1) / HSPZ__SEEDS_AN_ITEM;
    const double start = hspz__seconds();
    hspz_status status = HSPZ_OK;
    if (cpu->plan->dedup == HSPZ_DEDUP_NONE)
        for (uint64_t i = 0; i < items && status == HSPZ_OK; i++)
            status = hspz__stream_expand(s, 0, i);
    else
        status = hspz__pool_run(cpu->pool, items, hspz__stream_expand, s, &s->call->pulse);
    for (uint32_t i = 0; i < threads && status == HSPZ_OK; i++)
        status = hspz__stream_settle(s, &s->workers[i]);
    s->call->output->statistics->seconds_expand += hspz__seconds() - start;
    if (status == HSPZ_E_MEMORY)
        return hspz__fail(s->call->error, status, "no memory for the surviving hits");
    if (status == HSPZ_OK)
        status = extend_chunk(s);
    s->chunk++;
    return status;
}

/* ---- one batch */

static hspz_status work_batch(hspz__stream *s)
{
    hspz_statistics *statistics = s->call->output->statistics;
    const uint64_t max_hits = s->call->cpu->plan->max_hits;
    hspz_status status = count_hits(s);
    if (status != HSPZ_OK)
        return status;
    const uint64_t hits = atomic_load(&s->hits), chunks = hits / max_hits + 1;
    statistics->batches++;
    statistics->chunks += chunks;
    statistics->hits += hits;
    uint64_t prefix = 0, i = 0;
    s->first = 0;
    for (uint64_t chunk = 1; s->first < s->count && status == HSPZ_OK; chunk++) {
        const uint64_t before = prefix;
        if (chunk <
            chunks) { /* up to the seed whose prefix reaches the limit; that seed too when it is the first with hits */
            while (i < s->count && prefix + size_of(s, i) < before + max_hits)
                prefix += size_of(s, i++);
            if (prefix == before && i < s->count)
                prefix += size_of(s, i++);
        } else {
            i = s->count;
        }
        s->end = i;
        status = work_chunk(s);
        s->first = i;
    }
    return status;
}

static hspz_status start_stream(hspz__stream *s, hspz__call *call)
{
    const uint32_t threads = hspz__pool_threads(call->cpu->pool);
    memset(s, 0, sizeof *s);
    s->call = call;
    hspz__result_init(&s->result, call);
    s->workers = hspz__alloc(call->cpu->host, threads, sizeof *s->workers);
    if (s->workers == NULL)
        return hspz__fail(call->error, HSPZ_E_MEMORY, "no memory for %u threads", threads);
    memset(s->workers, 0, threads * sizeof *s->workers);
    for (uint32_t i = 0; i < threads; i++) {
        s->workers[i].screen.call = call;
        s->workers[i].number = i;
    }
    return HSPZ_OK;
}

static hspz_status end_batch(hspz__stream *s, hspz_status status)
{
    if (status == HSPZ_OK && s->call->cpu->plan->dedup != HSPZ_DEDUP_NONE)
        status = hspz__result_scope_end(&s->result);
    return status;
}

static hspz_status end_stream(hspz__stream *s, hspz_status status)
{
    hspz__host *host = s->call->cpu->host;
    status = hspz__result_end(&s->result, status);
    for (uint32_t i = 0; s->workers != NULL && i < hspz__pool_threads(s->call->cpu->pool); i++)
        hspz__anchors_free(&s->workers[i].screen.survivors, host);
    hspz__free(host, s->workers);
    hspz__anchors_free(&s->raw, host);
    return status;
}

/* ---- the levels */

hspz_status hspz__stream_seeds(hspz__call *call, const uint64_t *seeds, uint64_t count)
{
    hspz_statistics *statistics = call->output->statistics;
    uint64_t previous = UINT64_MAX;
    for (uint64_t i = 0; i < count; i++) {
        statistics->query_positions += (seeds[i] & UINT32_MAX) != previous;
        previous = seeds[i] & UINT32_MAX;
    }
    statistics->seeds += count;
    if (call->cpu->plan->dedup == HSPZ_DEDUP_LASTZ)
        return hspz__marks_seeds(call, seeds, count);
    hspz__stream s;
    hspz_status status = start_stream(&s, call);
    if (status == HSPZ_OK) {
        s.seeds = seeds;
        s.count = count;
        status = end_batch(&s, work_batch(&s));
    }
    return end_stream(&s, status);
}

hspz_status hspz__stream_anchors(hspz__call *call, const hspz_anchor_batch *batch)
{
    if (call->cpu->plan->dedup == HSPZ_DEDUP_LASTZ)
        return hspz__marks_anchors(call, batch);
    hspz__stream s;
    hspz_status status = start_stream(&s, call);
    if (status == HSPZ_OK) {
        s.anchors = (const uint8_t *)batch->anchors;
        s.stride = batch->stride;
        s.count = batch->count;
        status = end_batch(&s, work_batch(&s));
    }
    return end_stream(&s, status);
}

uint64_t hspz__query_seeds(const hspz__call *call, uint64_t begin, uint64_t end, uint64_t *seeds)
{
    const hspz__plan *plan = call->cpu->plan;
    uint64_t count = 0;
    for (uint64_t p = begin; p < end; p++) {
        const uint64_t valid = hspz__valid_windows(call->query, plan->pattern_length, p & ~UINT64_C(63));
        if ((valid >> (p & 63) & 1) == 0)
            continue;
        const uint64_t window = hspz__packed_word(call->query->packed, p + HSPZ__PACKED_MARGIN);
        uint64_t word = 0;
        for (uint32_t i = 0; i < plan->care_count; i++)
            word |= (window >> (2 * plan->care_offset[i]) & ((1u << plan->care_bits[i]) - 1))
                    << plan->care_shift[i];
        for (uint32_t v = 0; v < plan->variant_count; v++)
            seeds[count++] = (word ^ plan->variant_mask[v]) << 32 | p;
    }
    return count;
}

hspz_status hspz__stream_find(hspz__call *call, uint64_t begin, uint64_t end, uint64_t batch_size)
{
    hspz__cpu *cpu = call->cpu;
    const uint64_t most = end - begin < batch_size ? end - begin : batch_size;
    uint64_t *seeds = hspz__alloc(cpu->host, most * cpu->plan->variant_count, sizeof *seeds);
    if (seeds == NULL)
        return hspz__fail(call->error, HSPZ_E_MEMORY, "no memory for the seeds of %llu positions",
                          (unsigned long long)most);
    hspz__stream s;
    hspz_status status = start_stream(&s, call);
    for (uint64_t at = begin; at < end && status == HSPZ_OK; at += batch_size) {
        s.seeds = seeds;
        s.count = hspz__query_seeds(call, at, end - at < batch_size ? end : at + batch_size, seeds);
        call->output->statistics->query_positions += s.count / cpu->plan->variant_count;
        call->output->statistics->seeds += s.count;
        call->pulse.done = at - begin;
        status = end_batch(&s, work_batch(&s));
    }
    status = end_stream(&s, status);
    hspz__free(cpu->host, seeds);
    return status;
}
