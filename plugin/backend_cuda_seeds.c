/* backend_cuda_seeds.c -- the pipeline of seed texts 000 and 001: seeds, counts, prefix, chunk walk, expansion, gate; see
 * backend_cuda.h.
 *
 * Idea: it serves all three levels, a host's own index, the `lastz` rule, and gate = warp. A batch is worked off in parts
 * (of seeds) and pieces (of hits) that fit the buffers; all borders are hit numbers within the batch, so that neither shows in the
 * result. Where a MAX_HITS chunk ends, the candidates gathered so far go to hspz__cuda_finish; a chunk with more of them than the
 * buffers hold goes there in several turns, and what they leave is merged when it ends.
 *
 *   part    up to PART_SEEDS seeds with their prefix
 *   piece   up to piece_hits anchors, expanded, gated, compacted
 */
#include "backend_cuda_seeds.h"

#include "../kernels/cuda/primitives.h"

#include <string.h>

#define PART_SEEDS ((uint64_t)1 << 24)
#define PIECE_HITS ((uint64_t)1 << 23)
#define PIECE_BYTES 40u /* of the arrays of a piece, per hit */
#define MOST_CANDIDATES ((uint64_t)1 << 25)
#define LEAST_HITS                                                                                           \
    ((uint64_t)1 << 12) /* of a piece, candidates, seeds of a part: less saves no memory worth naming */

#define DO(what, step) HSPZ__TRY(hspz__cuda_check((step), (what), call->error))

/* ---- buffers */

static void take_run(hspz__cuda_arena *arena, hspz__seed_run *run, uint32_t capacity)
{
    const uint64_t seeds = run->part_seeds, piece = run->piece_hits,
                   blocks = hspz__cuda_blocks(seeds, HSPZ__SEED_BLOCK);
    run->seeds = hspz__cuda_take(arena, seeds, sizeof(uint64_t));
    run->prefix = hspz__cuda_take(arena, seeds, sizeof(uint32_t));
    run->sums = hspz__cuda_take(arena, blocks, sizeof *run->sums);
    run->offsets = hspz__cuda_take(arena, blocks, sizeof(uint32_t));
    run->anchors = hspz__cuda_take(arena, piece, sizeof(uint64_t));
    run->sorted = hspz__cuda_take(arena, piece, sizeof(uint64_t));
    run->flags = hspz__cuda_take(arena, piece, sizeof(uint32_t));
    run->before = hspz__cuda_take(arena, piece, sizeof(uint32_t));
    for (int k = 0; k < 2; k++) {
        run->ids[k] = hspz__cuda_take(arena, piece, sizeof(uint32_t));
        run->slots[k] = hspz__cuda_take(arena, piece, sizeof(uint32_t));
    }
    run->slot_ends = hspz__cuda_take(arena, (uint64_t)1 << HSPZ__SLOT_BITS, sizeof(uint32_t));
    run->marks = hspz__cuda_take(arena, (uint64_t)1 << HSPZ__SLOT_BITS, sizeof(uint32_t));
    hspz__cuda_take_candidates(arena, capacity, &run->candidates);
}

/* Sizes that the request can use and the budget allows. */
static void plan_sizes(hspz__seed_run *run, uint64_t most_seeds, uint64_t *capacity)
{
    const hspz__cuda_knobs *knobs = &run->call->cuda->knobs;
    const uint64_t budget = hspz__cuda_budget(run->call->cuda);
    *capacity = knobs->candidates > 0 ? (uint64_t)knobs->candidates : MOST_CANDIDATES;
    run->piece_hits = knobs->piece_hits > 0 ? (uint64_t)knobs->piece_hits : PIECE_HITS;
    if (knobs->candidates > 0 && knobs->piece_hits == 0 && run->piece_hits > *capacity)
        run->piece_hits = *capacity;
    if (knobs->piece_hits == 0)
        while (run->piece_hits > LEAST_HITS &&
               run->piece_hits * (HSPZ__CANDIDATE_BYTES + PIECE_BYTES) > budget / 4)
            run->piece_hits /= 2;
    if (knobs->candidates == 0)
        while (*capacity > LEAST_HITS && *capacity * HSPZ__CANDIDATE_BYTES > budget / 2)
            *capacity /= 2;
    run->part_seeds = most_seeds < PART_SEEDS ? most_seeds : PART_SEEDS;
    if (run->part_seeds > budget / 8 / 16)
        run->part_seeds = budget / 8 / 16;
}

/* No less than what makes sense: the survivors of a piece fit, a part has whole windows. */
static void settle_sizes(hspz__seed_run *run, uint64_t *capacity)
{
    const uint64_t unit = run->from.windows ? run->call->cuda->word.variant_count : 1;
    if (*capacity < run->piece_hits)
        *capacity = run->piece_hits;
    if (run->part_seeds < LEAST_HITS)
        run->part_seeds = LEAST_HITS;
    run->part_seeds = run->part_seeds / unit * unit;
}

static hspz_status reserve_device(hspz__seed_run *run, uint32_t capacity, hspz_error *error)
{
    hspz__cuda *cuda = run->call->cuda;
    size_t pairs = 0;
    int second;
    HSPZ__TRY(hspz__cuda_temp_bytes(cuda, capacity, &run->candidates.temp_bytes, error));
    HSPZ__TRY(hspz__cuda_check(
        hspz__cuda_sort_u32_u32(NULL, &pairs, NULL, NULL, NULL, NULL, capacity, 0, 16, &second, cuda->stream),
        "sizing device scratch", error));
    if (pairs > run->candidates.temp_bytes)
        run->candidates.temp_bytes = pairs;
    hspz__cuda_arena measure = {0};
    take_run(&measure, run, capacity);
    HSPZ__TRY(hspz__cuda_reserve(cuda, &cuda->arena, measure.used, "the work buffers", error));
    hspz__cuda_arena arena = hspz__cuda_arena_of(cuda);
    take_run(&arena, run, capacity);
    return HSPZ_OK;
}

/* Halves the sizes for as long as the memory for them is not to be had: another engine, or another program, may have taken it. */
static hspz_status reserve(hspz__seed_run *run, uint64_t most_seeds, hspz_error *error)
{
    hspz__cuda *cuda = run->call->cuda;
    uint64_t capacity = 0;
    plan_sizes(run, most_seeds, &capacity);
    for (;;) {
        settle_sizes(run, &capacity);
        const hspz_status status = reserve_device(run, (uint32_t)capacity, error);
        if (status == HSPZ_OK)
            break;
        if (status != HSPZ_E_DEVICE_MEMORY || capacity <= LEAST_HITS)
            return status;
        hspz__cuda_forget(error);
        capacity = capacity / 2 > LEAST_HITS ? capacity / 2 : LEAST_HITS;
        run->piece_hits = run->piece_hits < capacity ? run->piece_hits : capacity;
        run->part_seeds /= 2;
    }
    const uint64_t blocks = hspz__cuda_blocks(run->part_seeds, HSPZ__SEED_BLOCK);
    run->host_sums = hspz__alloc(cuda->host, blocks, sizeof *run->host_sums);
    run->host_offsets = hspz__alloc(cuda->host, blocks, sizeof *run->host_offsets);
    const bool whole = cuda->knobs.walk_full || cuda->plan->dedup == HSPZ_DEDUP_LASTZ;
    run->host_prefix =
        hspz__alloc(cuda->host, whole ? run->part_seeds : HSPZ__SEED_BLOCK, sizeof *run->host_prefix);
    if (run->host_sums == NULL || run->host_offsets == NULL || run->host_prefix == NULL)
        return hspz__fail(error, HSPZ_E_MEMORY, "no memory for %llu block sums", (unsigned long long)blocks);
    return HSPZ_OK;
}

static void release(hspz__seed_run *run)
{
    hspz__host *host = run->call->cuda->host;
    hspz__free(host, run->host_sums);
    hspz__free(host, run->host_offsets);
    hspz__free(host, run->host_prefix);
}

/* ---- steps C.1 and C.2: the seeds of a part, their counts and prefix */

static hspz_status load_seeds(hspz__seed_run *run, int first_time)
{
    hspz__cuda_call *call = run->call;
    hspz__cuda *cuda = call->cuda;
    const hspz__seed_part *p = &run->now;
    if (run->from.seeds != NULL) {
        DO("copying seeds",
           cudaMemcpyAsync(run->seeds, run->from.seeds + p->first, p->count * sizeof *run->seeds,
                           cudaMemcpyHostToDevice, cuda->stream));
        return HSPZ_OK;
    }
    const uint32_t variants = cuda->word.variant_count;
    HSPZ__TRY(hspz__cuda_clear_counters(cuda, call->error));
    DO("making query seeds",
       hspz__cuda_seeds(&call->strand, &cuda->word, run->from.first + (uint32_t)(p->first / variants),
                        (uint32_t)(p->count / variants), run->seeds, &cuda->counters->windows, cuda->stream));
    if (first_time) {
        unsigned long long windows = 0;
        HSPZ__TRY(hspz__cuda_download(cuda, &windows, &cuda->counters->windows, sizeof windows, call->error));
        call->output->statistics->query_positions += windows;
        call->output->statistics->seeds += windows * variants;
    }
    return HSPZ_OK;
}

/* Sets now.hits and the host's block offsets; the prefix on the device is complete when the hits stay below 2^32. */
static hspz_status count_part(hspz__seed_run *run, uint64_t first, uint64_t count, uint64_t base,
                              int first_time)
{
    hspz__cuda_call *call = run->call;
    hspz__cuda *cuda = call->cuda;
    run->now = (hspz__seed_part){.first = first, .count = count, .base = base, .hits = count};
    if (run->from.anchors != NULL)
        return HSPZ_OK; /* one hit a seed: the prefix is known */
    HSPZ__TRY(load_seeds(run, first_time));
    DO("counting hits",
       hspz__cuda_count_hits(run->seeds, count, &cuda->target.index, run->prefix, run->sums, cuda->stream));
    const uint64_t blocks = hspz__cuda_blocks(count, HSPZ__SEED_BLOCK);
    HSPZ__TRY(
        hspz__cuda_download(cuda, run->host_sums, run->sums, blocks * sizeof *run->host_sums, call->error));
    uint64_t sum = base;
    for (uint64_t b = 0; b < blocks; b++) {
        run->host_offsets[b] = (uint32_t)sum;
        sum += run->host_sums[b];
    }
    run->now.hits = sum - base;
    if (sum > UINT32_MAX)
        return HSPZ_OK; /* refused by the caller */
    DO("summing hits", cudaMemcpyAsync(run->offsets, run->host_offsets, blocks * sizeof *run->host_offsets,
                                       cudaMemcpyHostToDevice, cuda->stream));
    DO("summing hits", hspz__cuda_add_offsets(run->prefix, count, run->offsets, cuda->stream));
    if (cuda->knobs.walk_full)
        HSPZ__TRY(hspz__cuda_download(cuda, run->host_prefix, run->prefix, count * sizeof *run->host_prefix,
                                      call->error));
    return hspz__cuda_check(cudaStreamSynchronize(cuda->stream), "summing hits", call->error);
}

/* ---- step C.3: where a chunk ends */

/* Inclusive prefix of seed i of the part and of the one before it. */
static hspz_status prefix_pair(hspz__seed_run *run, uint64_t i, uint64_t *before, uint64_t *with)
{
    hspz__cuda *cuda = run->call->cuda;
    const uint64_t block = i / HSPZ__SEED_BLOCK, first = block * HSPZ__SEED_BLOCK;
    if (cuda->knobs.walk_full) {
        *with = run->host_prefix[i];
        *before = i > 0 ? run->host_prefix[i - 1] : run->now.base;
        return HSPZ_OK;
    }
    *with = run->host_prefix[i - first];
    *before = i > first ? run->host_prefix[i - first - 1] : run->host_offsets[block];
    return HSPZ_OK;
}

/* The first seed of the part whose prefix reaches `limit`; there is one. */
static hspz_status find_limit(hspz__seed_run *run, uint64_t limit, uint64_t *seed)
{
    hspz__cuda_call *call = run->call;
    const uint64_t blocks = hspz__cuda_blocks(run->now.count, HSPZ__SEED_BLOCK);
    uint64_t low = 0, high = blocks - 1; /* the first block whose last prefix reaches it */
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (run->host_offsets[middle] + run->host_sums[middle] < limit)
            low = middle + 1;
        else
            high = middle;
    }
    const uint64_t first = low * HSPZ__SEED_BLOCK;
    const uint64_t length =
        run->now.count - first < HSPZ__SEED_BLOCK ? run->now.count - first : HSPZ__SEED_BLOCK;
    const uint32_t *prefix = run->host_prefix + first;
    if (!call->cuda->knobs.walk_full) { /* only the block that holds the boundary crosses the bus */
        HSPZ__TRY(hspz__cuda_download(call->cuda, run->host_prefix, run->prefix + first,
                                      length * sizeof *run->host_prefix, call->error));
        prefix = run->host_prefix;
    }
    uint64_t i = 0;
    while (i + 1 < length && prefix[i] < limit)
        i++;
    *seed = first + i;
    return HSPZ_OK;
}

/* Hit number at which the chunk that began at hit `begun` ends, or UINT64_MAX when not in this part. */
static hspz_status chunk_end(hspz__seed_run *run, uint64_t begun, uint64_t limit, uint64_t *end)
{
    *end = UINT64_MAX;
    if (run->now.base + run->now.hits < limit)
        return HSPZ_OK;
    if (run->from.anchors != NULL) {
        *end = limit - 1 > begun ? limit - 1 : limit;
        return HSPZ_OK;
    }
    uint64_t seed = 0, before = 0, with = 0;
    HSPZ__TRY(find_limit(run, limit, &seed));
    HSPZ__TRY(prefix_pair(run, seed, &before, &with));
    *end = before > begun ? before : with;
    return HSPZ_OK;
}

/* ---- a batch */

typedef struct walk_state {
    uint64_t begun, limit; /* hits before the chunk; prefix that ends it */
    uint64_t chunk, chunks;
} walk_state;

static hspz_status work_part(hspz__seed_run *run, walk_state *walk)
{
    const uint64_t part_end = run->now.base + run->now.hits;
    uint64_t at = run->now.base;
    while (at < part_end) {
        uint64_t end = UINT64_MAX;
        if (walk->chunk + 1 < walk->chunks)
            HSPZ__TRY(chunk_end(run, walk->begun, walk->limit, &end));
        HSPZ__TRY(hspz__seeds_work_hits(run, at, end < part_end ? end : part_end));
        if (end > part_end)
            return HSPZ_OK; /* the chunk goes on in the next part */
        if (run->call->cuda->plan->dedup != HSPZ_DEDUP_MAXIMAL)
            HSPZ__TRY(hspz__seeds_finish(run));
        walk->chunk++;
        walk->begun = end;
        walk->limit = end + run->call->cuda->plan->max_hits;
        at = end;
    }
    return HSPZ_OK;
}

/* Hits of the whole batch; leaves the last part loaded. */
static hspz_status count_batch(hspz__seed_run *run, uint64_t *hits)
{
    hspz__cuda_call *call = run->call;
    *hits = 0;
    for (uint64_t first = 0; first < run->from.count; first += run->part_seeds) {
        const uint64_t left = run->from.count - first;
        HSPZ__TRY(count_part(run, first, left < run->part_seeds ? left : run->part_seeds, *hits, 1));
        *hits += run->now.hits;
        if (*hits > UINT32_MAX)
            return hspz__fail(
                call->error, HSPZ_E_TOO_MANY_HITS,
                "the batch at %llu of %llu has 2^32 or more seed hits; use a smaller --wga-chunk-size, or "
                "mask repeats",
                (unsigned long long)call->done, (unsigned long long)call->total);
    }
    return HSPZ_OK;
}

static hspz_status work_batch(hspz__seed_run *run)
{
    hspz__cuda_call *call = run->call;
    hspz_statistics *statistics = call->output->statistics;
    const uint64_t max_hits = call->cuda->plan->max_hits;
    uint64_t hits = 0;
    double start = hspz__seconds();
    HSPZ__TRY(count_batch(run, &hits));
    statistics->seconds_expand += hspz__seconds() - start;
    walk_state walk = {.limit = max_hits, .chunks = hits / max_hits + 1};
    if (call->cuda->plan->dedup == HSPZ_DEDUP_LASTZ)
        walk.chunks = 1; /* chunks do not show */
    const int one_part = run->from.count <= run->part_seeds;
    uint64_t base = 0;
    for (uint64_t first = 0; first < run->from.count; first += run->part_seeds) {
        const uint64_t left = run->from.count - first;
        start = hspz__seconds();
        if (!one_part)
            HSPZ__TRY(count_part(run, first, left < run->part_seeds ? left : run->part_seeds, base, 0));
        statistics->seconds_expand += hspz__seconds() - start;
        HSPZ__TRY(work_part(run, &walk));
        base += run->now.hits;
    }
    if (call->cuda->plan->dedup != HSPZ_DEDUP_MAXIMAL)
        HSPZ__TRY(hspz__seeds_finish(run)); /* the last chunk */
    statistics->batches++;
    statistics->chunks += hits / max_hits + 1;
    statistics->hits += hits;
    return HSPZ_OK;
}

/* ---- the three levels */

static hspz_status start_run(hspz__seed_run *run, uint64_t most_seeds)
{
    hspz__cuda_call *call = run->call;
    HSPZ__TRY(reserve(run, most_seeds, call->error));
    return hspz__cuda_check(
        cudaMemsetAsync(run->marks, 0, sizeof(uint32_t) << HSPZ__SLOT_BITS, call->cuda->stream),
        "clearing marks", call->error);
}

static hspz_status find_batches(hspz__seed_run *run, const hspz_find_request *request, uint64_t first,
                                uint64_t end)
{
    hspz__cuda_call *call = run->call;
    const uint64_t size = request->batch_size, variants = call->cuda->word.variant_count;
    HSPZ__TRY(start_run(run, (end - first < size ? end - first : size) * variants));
    for (uint64_t at = first; at < end; at += size) {
        call->done = at - request->begin;
        if (hspz__cancelled(call->cuda->host, call->done, call->total))
            return hspz__fail(call->error, HSPZ_E_CANCELLED, "cancelled by the host");
        run->from.first = (uint32_t)at;
        run->from.count = (end - at < size ? end - at : size) * variants;
        HSPZ__TRY(work_batch(run));
    }
    return hspz__seeds_finish(run); /* `maximal` */
}

hspz_status hspz__cuda_find_by_seeds(hspz__cuda_call *call, const hspz_find_request *request, uint64_t first,
                                     uint64_t end)
{
    hspz__seed_run run = {.call = call, .from = {.windows = 1}};
    const hspz_status status = find_batches(&run, request, first, end);
    release(&run);
    return status;
}

static hspz_status run_batch(hspz__seed_run *run)
{
    HSPZ__TRY(start_run(run, run->from.count));
    HSPZ__TRY(work_batch(run));
    return hspz__seeds_finish(run);
}

/* Levels (b) and (c) under `lastz`: marks are cleared whenever a hit lies in another record than the hit before. Seeds are cut where
 * that happens; in between they are batches of their own as far as the mark rule is concerned. A hit's place is the last base of
 * its window; the record of a place ends with the first separator at or after it. */
static void record_at(const hspz__cuda_call *call, uint64_t place, uint64_t *begin, uint64_t *end)
{
    const uint32_t *ends = call->query->record_ends[call->strand_number];
    uint64_t low = 0, high = call->query->records - 1;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (ends[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    *begin = low > 0 ? (uint64_t)ends[low - 1] + 1 : 0;
    *end = (uint64_t)ends[low] + 1; /* the separator counts to the record before it */
}

static uint64_t place_of(const hspz__seed_run *run, uint64_t i)
{
    uint64_t end;
    if (run->from.seeds != NULL) {
        end = (run->from.seeds[i] & UINT32_MAX) + run->call->cuda->word.window;
    } else {
        hspz_anchor a;
        memcpy(&a, (const unsigned char *)run->from.anchors->anchors + i * run->from.anchors->stride,
               sizeof a);
        end = a.query_end;
    }
    return end > 0 ? end - 1 : 0;
}

/* Hits first .. end - 1 of the part, all of one record. */
static hspz_status work_record(hspz__seed_run *run, uint64_t first, uint64_t end)
{
    return first < end ? hspz__seeds_work_hits(run, first, end) : HSPZ_OK;
}

/* The part's hits, with cleared marks wherever the record changes. Seeds without hits change nothing. */
static hspz_status work_records(hspz__seed_run *run)
{
    hspz__cuda_call *call = run->call;
    const hspz__seed_part *p = &run->now;
    uint64_t first = p->base, before = p->base;
    if (run->from.seeds != NULL)
        HSPZ__TRY(hspz__cuda_download(call->cuda, run->host_prefix, run->prefix,
                                      p->count * sizeof *run->host_prefix, call->error));
    for (uint64_t i = 0; i < p->count; i++) {
        const uint64_t end = run->from.seeds != NULL ? run->host_prefix[i] : p->base + i + 1;
        const uint64_t place = end > before ? place_of(run, p->first + i) : 0;
        if (end > before && (place < run->record_begin || place >= run->record_end)) {
            HSPZ__TRY(work_record(run, first, before));
            DO("clearing marks",
               cudaMemsetAsync(run->marks, 0, sizeof(uint32_t) << HSPZ__SLOT_BITS, call->cuda->stream));
            record_at(call, place, &run->record_begin, &run->record_end);
            first = before;
        }
        before = end;
    }
    return work_record(run, first, before);
}

static hspz_status run_records(hspz__seed_run *run)
{
    hspz__cuda_call *call = run->call;
    hspz_statistics *statistics = call->output->statistics;
    uint64_t hits = 0, base = 0;
    HSPZ__TRY(start_run(run, run->from.count));
    HSPZ__TRY(count_batch(run, &hits));
    for (uint64_t first = 0; first < run->from.count; first += run->part_seeds) {
        const uint64_t left = run->from.count - first;
        if (run->from.count > run->part_seeds) /* else it is loaded */
            HSPZ__TRY(count_part(run, first, left < run->part_seeds ? left : run->part_seeds, base, 0));
        HSPZ__TRY(work_records(run));
        base += run->now.hits;
    }
    statistics->batches++;
    statistics->chunks += hits / call->cuda->plan->max_hits + 1;
    statistics->hits += hits;
    return HSPZ_OK;
}

hspz_status hspz__cuda_expand_batch(hspz__cuda_call *call, const hspz_seed_batch *batch)
{
    hspz_statistics *statistics = call->output->statistics;
    hspz__seed_run run = {.call = call, .from = {.seeds = batch->seeds, .count = batch->count}};
    uint64_t previous = UINT64_MAX;
    for (uint64_t i = 0; i < batch->count; i++) {
        const uint64_t position = batch->seeds[i] & UINT32_MAX;
        statistics->query_positions += position != previous;
        previous = position;
    }
    statistics->seeds += batch->count;
    const hspz_status status =
        call->cuda->plan->dedup == HSPZ_DEDUP_LASTZ && call->query->records > 0 && batch->count > 0
            ? run_records(&run)
            : run_batch(&run);
    release(&run);
    return status;
}

hspz_status hspz__cuda_extend_batch(hspz__cuda_call *call, const hspz_anchor_batch *batch)
{
    hspz__seed_run run = {.call = call, .from = {.anchors = batch, .count = batch->count}};
    const hspz_status status =
        call->cuda->plan->dedup == HSPZ_DEDUP_LASTZ && call->query->records > 0 && batch->count > 0
            ? run_records(&run)
            : run_batch(&run);
    release(&run);
    return status;
}
