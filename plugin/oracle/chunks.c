/* chunks.c -- SPEC section 5: hit discovery, steps C.1 to C.5.
 *
 * Idea: count the hits of each seed, sum them up to an inclusive prefix, cut the batch into chunks at MAX_HITS, and walk the hits of
 * each chunk in raw order. The specification gives anchor j of a seed the slot prefix - 1 - chunk_start - j: read by ascending slot,
 * that is seed after seed and each bucket from its last position to its first, so the hits can be worked in that order
 * without an array of anchors. The hits of host anchors (level c) are a batch of seeds with one hit each.
 */
#include "oracle.h"

#include <string.h>

/* A batch: seeds, or anchors, and its inclusive prefix of hits. */
typedef struct batch {
    const uint64_t *seeds;
    const unsigned char *anchors;
    uint32_t stride;
    uint64_t count;
    uint32_t *prefix;
    uint64_t hits;
} batch;

/* C.1 and C.2. The prefix is 32 bits wide; a batch that does not fit is refused, never wrapped. */
static hspz_status count_hits(hspz__oracle_call *call, batch *b)
{
    b->prefix = hspz__oracle_alloc(call->host, b->count, sizeof *b->prefix);
    if (b->prefix == NULL)
        return hspz__oracle_fail(call->error, HSPZ_E_MEMORY, "no memory to count the hits of %llu seeds",
                                 (unsigned long long)b->count);
    for (uint64_t i = 0; i < b->count; i++) {
        uint64_t first;
        b->hits +=
            b->seeds != NULL ? hspz__oracle_bucket(call->index, (uint32_t)(b->seeds[i] >> 32), &first) : 1;
        if (b->hits > UINT32_MAX)
            return hspz__oracle_fail(call->error, HSPZ_E_TOO_MANY_HITS,
                                     "the batch at %llu of %llu has 2^32 or more seed hits; use a smaller "
                                     "--wga-chunk-size, or mask repeats",
                                     (unsigned long long)call->pulse.done,
                                     (unsigned long long)call->pulse.total);
        b->prefix[i] = (uint32_t)b->hits;
        hspz_status status = hspz__oracle_pulse_beat(&call->pulse, 32, call->error);
        if (status != HSPZ_OK)
            return status;
    }
    return HSPZ_OK;
}

/* C.3: where the chunk that starts at seed `first` ends (exclusive): before the first seed whose prefix reaches `limit`. Where
 * that leaves no hit, because one bucket reaches the limit by itself, the chunk is that one seed (and the hitless ones
 * before it). */
static uint64_t chunk_end(const batch *b, uint64_t first, uint64_t limit)
{
    uint64_t low = first;
    uint64_t high = b->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (b->prefix[middle] < limit)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == b->count)
        return low;
    uint32_t before = first > 0 ? b->prefix[first - 1] : 0;
    bool has_hits = low > first && b->prefix[low - 1] > before;
    return has_hits ? low : low + 1;
}

/* C.5: the hits of one seed, backwards through its bucket. */
static hspz_status expand_seed(hspz__oracle_call *call, uint64_t seed)
{
    const uint32_t window = call->rules->window;
    uint64_t first;
    uint64_t hits = hspz__oracle_bucket(call->index, (uint32_t)(seed >> 32), &first);
    uint64_t q = (seed & UINT32_MAX) + window;
    for (uint64_t j = hits; j-- > 0;) {
        uint64_t r = (call->index->entries[first + j] & UINT32_MAX) + window;
        hspz_status status = hspz__oracle_hit(call, r, q);
        if (status != HSPZ_OK)
            return status;
    }
    return HSPZ_OK;
}

static hspz_status expand_anchor(hspz__oracle_call *call, const unsigned char *at)
{
    hspz_anchor anchor;
    memcpy(&anchor, at, sizeof anchor);
    return hspz__oracle_hit(call, anchor.target_end, anchor.query_end);
}

static hspz_status work_chunk(hspz__oracle_call *call, const batch *b, uint64_t first, uint64_t end)
{
    double start = hspz__oracle_seconds();
    hspz_status status = HSPZ_OK;
    for (uint64_t i = first; i < end && status == HSPZ_OK; i++) {
        if (b->seeds == NULL)
            status = expand_anchor(call, b->anchors + i * b->stride);
        else if (b->prefix[i] > (i > 0 ? b->prefix[i - 1] : 0))
            status = expand_seed(call, b->seeds[i]);
    }
    double middle = hspz__oracle_seconds();
    call->statistics->seconds_gate += middle - start;
    if (status == HSPZ_OK)
        status = hspz__oracle_chunk_end(call);
    call->statistics->seconds_dedup += hspz__oracle_seconds() - middle;
    return status;
}

/* With H hits there are H / M + 1 chunks: all but the last are cut at the limit, the last takes the rest. */
static hspz_status work_batch(hspz__oracle_call *call, batch *b)
{
    const uint64_t max_hits = call->rules->params.max_hits;
    uint64_t chunks = b->hits / max_hits + 1;
    uint64_t first = 0;
    uint64_t limit = max_hits;
    hspz_status status = HSPZ_OK;
    for (uint64_t chunk = 1; first < b->count && status == HSPZ_OK; chunk++) {
        uint64_t end = chunk < chunks ? chunk_end(b, first, limit) : b->count;
        status = work_chunk(call, b, first, end);
        limit = b->prefix[end - 1] + max_hits;
        first = end;
    }
    call->statistics->batches++;
    call->statistics->chunks += chunks;
    call->statistics->hits += b->hits;
    return status;
}

static hspz_status run_batch(hspz__oracle_call *call, batch *b)
{
    double start = hspz__oracle_seconds();
    hspz_status status = count_hits(call, b);
    call->statistics->seconds_expand += hspz__oracle_seconds() - start;
    if (status == HSPZ_OK)
        status = work_batch(call, b);
    hspz__oracle_free(call->host, b->prefix);
    return status;
}

hspz_status hspz__oracle_batch_of_seeds(hspz__oracle_call *call, const uint64_t *seeds, uint64_t count)
{
    batch b = {.seeds = seeds, .count = count};
    call->statistics->seeds += count;
    return run_batch(call, &b);
}

hspz_status hspz__oracle_batch_of_anchors(hspz__oracle_call *call, const hspz_anchor_batch *anchors)
{
    batch b = {.anchors = (const unsigned char *)anchors->anchors,
               .stride = anchors->stride,
               .count = anchors->count};
    return run_batch(call, &b);
}
