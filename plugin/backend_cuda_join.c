/* backend_cuda_join.c -- level (a) by word join; see backend_cuda.h and kernels/cuda/join.h.
 *
 * Idea: the request is worked off in units of whole batches, as many query windows as the buffers hold. A unit's windows are sorted by
 * word and get their contexts; one launch over all hits leaves the candidates. Batches and MAX_HITS chunks are labels: the
 * counts per batch tell how many chunks each has, and only where a batch has several are their borders looked up. A unit
 * whose candidates do not fit is done again with more room, or in halves.
 */
#include "backend_cuda.h"

#include "../kernels/cuda/index.h"
#include "../kernels/cuda/join.h"
#include "../kernels/cuda/primitives.h"

#include <string.h>
#include <time.h>

#define UNIT_WINDOWS ((uint64_t)1 << 25)
#define MOST_UNIT_WINDOWS ((uint64_t)1 << 28) /* the raw order has 28 bits for them */
#define PARTS ((uint64_t)1 << 18)
#define MOST_CHUNKS ((uint64_t)1 << 22) /* of a unit; more are left to the seed pipeline */

#define DO(what, step) HSPZ__TRY(hspz__cuda_check((step), (what), call->error))

static double now(void)
{
    struct timespec t;
    if (clock_gettime(CLOCK_MONOTONIC, &t) != 0)
        return 0.0;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct unit {
    hspz__cuda_call *call;
    uint32_t begin, count; /* windows */
    uint32_t batch_size, batches;
    uint32_t windows_capacity; /* of the arrays below */
    uint32_t *words[2], *windows[2], *contexts;
    uint32_t *slice_contexts;
    uint32_t *window_hits, *first_chunk;
    unsigned long long *batch_hits;
    uint64_t *cuts;
    hspz__cuda_part *parts;
    uint64_t part_capacity;
    hspz__cuda_candidates candidates;
    hspz__cuda_join join;
} unit;

uint32_t hspz__cuda_join_warps(const hspz__cuda *cuda)
{
    for (uint32_t warps = 24; warps >= 4; warps -= 4)
        if (hspz__cuda_join_shared(warps) <= cuda->properties.sharedMemPerBlockOptin)
            return warps;
    return 0;
}

/* ---- buffers */

static void take_unit(hspz__cuda_arena *arena, unit *u, uint32_t capacity)
{
    const uint64_t n = u->count, word = sizeof(uint32_t);
    const hspz__cuda_target *target = &u->call->cuda->target;
    for (int k = 0; k < 2; k++) {
        u->words[k] = hspz__cuda_take(arena, n, word);
        u->windows[k] = hspz__cuda_take(arena, n, word);
    }
    u->contexts = hspz__cuda_take(arena, n * HSPZ__CONTEXT_WORDS, word);
    u->window_hits = hspz__cuda_take(arena, n + 1, word);
    u->first_chunk = hspz__cuda_take(arena, (uint64_t)u->batches + 1, word);
    u->batch_hits = hspz__cuda_take(arena, u->batches, sizeof *u->batch_hits);
    u->parts = hspz__cuda_take(arena, u->part_capacity, sizeof *u->parts);
    u->slice_contexts = hspz__cuda_take(arena, (uint64_t)target->slice_most * HSPZ__CONTEXT_WORDS, word);
    hspz__cuda_take_candidates(arena, capacity, &u->candidates);
}

/* Scratch for the sorts of windows and of candidates. */
static hspz_status size_temp(unit *u, uint32_t capacity)
{
    hspz__cuda_call *call = u->call;
    size_t windows = 0, scan = 0;
    int second;
    u->candidates.temp_bytes = 0;
    HSPZ__TRY(hspz__cuda_temp_bytes(call->cuda, capacity, &u->candidates.temp_bytes, call->error));
    DO("sizing device scratch",
       hspz__cuda_sort_u32_u32(NULL, &windows, NULL, NULL, NULL, NULL, u->count, 0,
                               (int)call->cuda->word.bits + 1, &second, call->cuda->stream));
    DO("sizing device scratch",
       hspz__cuda_scan_u32(NULL, &scan, NULL, NULL, (uint64_t)u->count + 1, call->cuda->stream));
    if (windows > u->candidates.temp_bytes)
        u->candidates.temp_bytes = windows;
    if (scan > u->candidates.temp_bytes)
        u->candidates.temp_bytes = scan;
    return HSPZ_OK;
}

static hspz_status reserve(unit *u, uint32_t capacity)
{
    hspz__cuda *cuda = u->call->cuda;
    HSPZ__TRY(size_temp(u, capacity));
    hspz__cuda_arena measure = {0};
    take_unit(&measure, u, capacity);
    HSPZ__TRY(hspz__cuda_reserve(cuda, &cuda->arena, measure.used, "the work buffers", u->call->error));
    hspz__cuda_arena arena = hspz__cuda_arena_of(cuda);
    take_unit(&arena, u, capacity);
    return HSPZ_OK;
}

/* ---- the join */

static void describe(unit *u, int second)
{
    const hspz__cuda *cuda = u->call->cuda;
    u->join = (hspz__cuda_join){
        .target = u->call->target,
        .query = u->call->strand,
        .word = cuda->word,
        .filter = cuda->filter,
        .index = cuda->target.index,
        .query_words = u->words[second],
        .query_windows = u->windows[second],
        .query_contexts = u->contexts,
        .keys = u->candidates.keys[0],
        .capacity = u->candidates.capacity,
        .parts = u->parts,
        .part_capacity = (uint32_t)u->part_capacity,
        .counters = cuda->counters,
    };
}

/* Query windows in word order with their contexts. */
static hspz_status sort_windows(unit *u)
{
    hspz__cuda_call *call = u->call;
    hspz__cuda *cuda = call->cuda;
    int second = 0;
    HSPZ__TRY(hspz__cuda_clear_counters(cuda, call->error));
    DO("making query words", hspz__cuda_words(&call->strand, &cuda->word, u->begin, 1, u->count, u->words[0],
                                              u->windows[0], &cuda->counters->windows, cuda->stream));
    DO("sorting query words",
       hspz__cuda_sort_u32_u32(u->candidates.temp, &u->candidates.temp_bytes, u->words[0], u->words[1],
                               u->windows[0], u->windows[1], u->count, 0, (int)cuda->word.bits + 1, &second,
                               cuda->stream));
    DO("making query contexts",
       hspz__cuda_contexts(&call->strand, &cuda->word, &cuda->filter, u->windows[second], u->count,
                           &cuda->counters->windows, 2, u->contexts, cuda->stream));
    describe(u, second);
    return HSPZ_OK;
}

static hspz_status join_slice(unit *u)
{
    hspz__cuda_call *call = u->call;
    hspz__cuda *cuda = call->cuda;
    const unsigned blocks = (unsigned)cuda->properties.multiProcessorCount,
                   warps = hspz__cuda_join_warps(cuda);
    hspz__cuda_counters *counters = cuda->counters;
    DO("joining words", cudaMemsetAsync(&counters->parts, 0, 2 * sizeof counters->parts, cuda->stream));
    DO("joining words", hspz__cuda_join_run(&u->join, 0, blocks, warps, cuda->stream));
    DO("joining words", cudaMemsetAsync(&counters->next, 0, sizeof counters->next, cuda->stream));
    DO("joining words", hspz__cuda_join_run(&u->join, 1, blocks, warps, cuda->stream));
    return HSPZ_OK;
}

/* *parts becomes the largest number of parts of a slice. */
static hspz_status join_slices(unit *u, uint64_t *parts)
{
    hspz__cuda_call *call = u->call;
    hspz__cuda *cuda = call->cuda;
    const hspz__cuda_target *target = &cuda->target;
    *parts = 0;
    if (target->slices == 0) {
        u->join.word_end = 1u << cuda->word.bits;
        u->join.target_contexts = target->contexts.start;
        HSPZ__TRY(join_slice(u));
        HSPZ__TRY(hspz__cuda_read_counters(call));
        *parts = cuda->host_counters->parts;
        return HSPZ_OK;
    }
    for (uint32_t s = 0; s < target->slices; s++) {
        const uint32_t first = target->slice_position[s], count = target->slice_position[s + 1] - first;
        if (count == 0)
            continue;
        DO("making target contexts",
           hspz__cuda_contexts(&call->target, &cuda->word, &cuda->filter, target->index.positions + first,
                               count, NULL, 1, u->slice_contexts, cuda->stream));
        u->join.word_begin = target->slice_word[s];
        u->join.word_end = target->slice_word[s + 1];
        u->join.slice = first;
        u->join.target_contexts = u->slice_contexts;
        HSPZ__TRY(join_slice(u));
        HSPZ__TRY(hspz__cuda_read_counters(call));
        if (cuda->host_counters->parts > *parts)
            *parts = cuda->host_counters->parts;
    }
    return HSPZ_OK;
}

/* Hits of each batch and their summary. */
static hspz_status count_batches(unit *u)
{
    hspz__cuda_call *call = u->call;
    hspz__cuda *cuda = call->cuda;
    DO("counting hits", cudaMemsetAsync(u->batch_hits, 0, u->batches * sizeof *u->batch_hits, cuda->stream));
    DO("counting hits", hspz__cuda_join_count(&u->join, u->count, u->begin, u->batch_size, u->batches,
                                              cuda->plan->max_hits, u->batch_hits, cuda->stream));
    return HSPZ_OK;
}

/* ---- labels */

/* First label of each batch on the device, and the borders of chunks within batches. */
static hspz_status cut_chunks(unit *u, uint64_t chunks)
{
    hspz__cuda_call *call = u->call;
    hspz__cuda *cuda = call->cuda;
    hspz__cuda_candidates *c = &u->candidates;
    unsigned long long *hits = hspz__alloc(cuda->host, u->batches, sizeof *hits);
    uint32_t *first = hspz__alloc(cuda->host, (uint64_t)u->batches + 1, sizeof *first);
    hspz_status status = HSPZ_OK;
    if (hits == NULL || first == NULL)
        status = hspz__fail(call->error, HSPZ_E_MEMORY, "no memory to label %u batches", u->batches);
    if (status == HSPZ_OK)
        status = hspz__cuda_download(cuda, hits, u->batch_hits, u->batches * sizeof *hits, call->error);
    if (status == HSPZ_OK) {
        first[0] = 0;
        for (uint32_t b = 0; b < u->batches; b++)
            first[b + 1] = first[b] + (uint32_t)(hits[b] / cuda->plan->max_hits + 1);
        status = hspz__cuda_check(cudaMemcpyAsync(u->first_chunk, first,
                                                  ((uint64_t)u->batches + 1) * sizeof *first,
                                                  cudaMemcpyHostToDevice, cuda->stream),
                                  "labelling chunks", call->error);
    }
    if (status == HSPZ_OK)
        status = hspz__cuda_check(cudaStreamSynchronize(cuda->stream), "labelling chunks", call->error);
    hspz__free(cuda->host, hits);
    hspz__free(cuda->host, first);
    HSPZ__TRY(status);

    /* The query contexts have done their work: their memory, 32 bytes a window, takes the borders. */
    u->cuts = (uint64_t *)(void *)u->contexts;
    if (chunks > (uint64_t)u->count * 4)
        return hspz__fail(call->error, HSPZ_E_INTERNAL, "more chunks than room for their borders");
    DO("labelling chunks", cudaMemsetAsync(u->window_hits + u->count, 0, sizeof(uint32_t), cuda->stream));
    DO("labelling chunks",
       hspz__cuda_window_hits(&u->join, u->begin, u->count, u->window_hits, cuda->stream));
    DO("labelling chunks", hspz__cuda_scan_u32(c->temp, &c->temp_bytes, u->window_hits, u->window_hits,
                                               (uint64_t)u->count + 1, cuda->stream));
    DO("labelling chunks",
       hspz__cuda_cuts(&u->join, u->begin, u->count, u->batch_size, u->batches, cuda->plan->max_hits,
                       u->window_hits, u->first_chunk, u->cuts, cuda->stream));
    return HSPZ_OK;
}

static hspz_status finish_unit(unit *u, const hspz__cuda_counters *found)
{
    hspz__cuda_call *call = u->call;
    const hspz__plan *plan = call->cuda->plan;
    const bool scoped = plan->dedup == HSPZ_DEDUP_CHUNK || plan->dedup == HSPZ_DEDUP_INTERVAL;
    hspz__cuda_finish_plan finish = {.count = (uint32_t)found->candidates,
                                     .labels = {.begin = u->begin, .word = call->cuda->word}};
    if (scoped && u->batches > 1) {
        finish.labels.batch_size = u->batch_size;
        finish.most_label = u->batches - 1;
    }
    if (scoped && found->most_hits >= plan->max_hits) {
        HSPZ__TRY(cut_chunks(u, found->chunks));
        finish.labels.batch_size = u->batch_size;
        finish.labels.first_chunk = u->first_chunk;
        finish.labels.cuts = u->cuts;
        finish.most_label = (uint32_t)found->chunks;
    }
    u->candidates.second = 0;
    return hspz__cuda_finish(call, &u->candidates, &finish);
}

/* ---- units */

enum { DONE, DECLINED, TOO_LARGE };

static hspz_status refuse(const unit *u, uint64_t batch)
{
    const hspz__cuda_call *call = u->call;
    return hspz__fail(
        call->error, HSPZ_E_TOO_MANY_HITS,
        "the batch at %llu of %llu has 2^32 or more seed hits; use a smaller --wga-chunk-size, or mask "
        "repeats",
        (unsigned long long)(call->done + batch * u->batch_size), (unsigned long long)call->total);
}

static void count_unit(const unit *u, const hspz__cuda_counters *found)
{
    hspz_statistics *statistics = u->call->output->statistics;
    statistics->query_positions += found->windows;
    statistics->seeds += found->windows * u->call->cuda->word.variant_count;
    statistics->hits += found->hits;
    statistics->batches += u->batches;
    statistics->chunks += found->chunks;
}

/* The counts come before the join so that a hopeless batch is refused before it costs anything. */
static hspz_status run_unit(unit *u, uint32_t capacity, uint64_t *candidates, uint64_t *parts, int *outcome)
{
    hspz__cuda_call *call = u->call;
    hspz__cuda *cuda = call->cuda;
    hspz_statistics *statistics = call->output->statistics;
    *outcome = TOO_LARGE;
    HSPZ__TRY(reserve(u, capacity));
    double start = now();
    HSPZ__TRY(sort_windows(u));
    HSPZ__TRY(count_batches(u));
    HSPZ__TRY(hspz__cuda_read_counters(call));
    statistics->seconds_query += now() - start;
    start = now();
    if (cuda->host_counters->refused != UINT64_MAX)
        return refuse(u, cuda->host_counters->refused);
    const bool scoped = cuda->plan->dedup == HSPZ_DEDUP_CHUNK || cuda->plan->dedup == HSPZ_DEDUP_INTERVAL;
    if (scoped && cuda->host_counters->most_hits >= cuda->plan->max_hits &&
        (cuda->host_counters->chunks > MOST_CHUNKS || cuda->host_counters->chunks > (uint64_t)u->count * 4)) {
        *outcome = DECLINED;
        return HSPZ_OK;
    }
    HSPZ__TRY(join_slices(u, parts));
    statistics->seconds_gate += now() - start;
    const hspz__cuda_counters found = *cuda->host_counters;
    *candidates = found.candidates;
    if (*parts > u->part_capacity || found.candidates > u->candidates.capacity)
        return HSPZ_OK;
    *outcome = DONE;
    count_unit(u, &found);
    return finish_unit(u, &found);
}

/* Room for candidates to start with, within the budget beside the unit's other arrays. */
static uint32_t first_capacity(const unit *u)
{
    hspz__cuda *cuda = u->call->cuda;
    if (cuda->knobs.candidates > 0)
        return (uint32_t)cuda->knobs.candidates;
    uint64_t capacity = 2 * (uint64_t)u->count + ((uint64_t)1 << 20);
    const uint64_t budget = hspz__cuda_budget(cuda);
    while (capacity > 1 << 16 && capacity * HSPZ__CANDIDATE_BYTES > budget / 2)
        capacity /= 2;
    return (uint32_t)capacity;
}

static uint64_t most_capacity(const unit *u)
{
    hspz__cuda *cuda = u->call->cuda;
    const uint64_t others = (uint64_t)u->count * 56 + u->part_capacity * sizeof(hspz__cuda_part) +
                            (uint64_t)cuda->target.slice_most * 32 + ((uint64_t)64 << 20);
    const uint64_t budget = hspz__cuda_budget(cuda);
    const uint64_t most = budget > others ? (budget - others) / HSPZ__CANDIDATE_BYTES : 0;
    return most < UINT32_MAX - 64 ? most : UINT32_MAX - 64;
}

/* Windows begin .. begin + count - 1: done, declined, or too large for the memory there is. */
static hspz_status try_unit(unit *u, int *outcome)
{
    uint64_t capacity = first_capacity(u);
    u->part_capacity = PARTS;
    for (;;) {
        uint64_t candidates = 0, parts = 0;
        HSPZ__TRY(run_unit(u, (uint32_t)capacity, &candidates, &parts, outcome));
        if (*outcome != TOO_LARGE)
            return HSPZ_OK;
        if (parts > u->part_capacity)
            u->part_capacity = parts + parts / 8;
        if (candidates > capacity)
            capacity = candidates + candidates / 8;
        if (capacity > most_capacity(u) ||
            (u->part_capacity * sizeof(hspz__cuda_part) > hspz__cuda_budget(u->call->cuda) / 4))
            return HSPZ_OK;
    }
}

static uint64_t unit_windows(const hspz__cuda *cuda, uint32_t batch_size)
{
    uint64_t most = cuda->knobs.unit_windows > 0 ? (uint64_t)cuda->knobs.unit_windows : UNIT_WINDOWS;
    const uint64_t budget = hspz__cuda_budget((hspz__cuda *)(uintptr_t)cuda);
    if (cuda->knobs.unit_windows == 0 && most > budget / 4 / 64)
        most = budget / 4 / 64;
    most = most / batch_size * batch_size;
    return most > 0 ? most : batch_size;
}

hspz_status hspz__cuda_find_by_join(hspz__cuda_call *call, const hspz_find_request *request, uint64_t end,
                                    int *declined, uint64_t *next)
{
    hspz__cuda *cuda = call->cuda;
    /* A batch longer than the request is as long as the request. */
    const uint64_t size =
        request->batch_size < end - request->begin ? request->batch_size : end - request->begin;
    uint64_t most = unit_windows(cuda, (uint32_t)size);
    *next = request->begin;
    *declined = 0;
    if (most > MOST_UNIT_WINDOWS) { /* a batch of more windows than a unit may have */
        *declined = 1;
        return HSPZ_OK;
    }
    while (*next < end) {
        const uint64_t count = end - *next < most ? end - *next : most;
        unit u = {
            .call = call, .begin = (uint32_t)*next, .count = (uint32_t)count, .batch_size = (uint32_t)size};
        u.batches = (uint32_t)((count + size - 1) / size);
        call->done = *next - request->begin;
        if (hspz__cancelled(cuda->host, call->done, call->total))
            return hspz__fail(call->error, HSPZ_E_CANCELLED, "cancelled by the host");
        call->whole = count == end - request->begin;
        int outcome = DONE;
        HSPZ__TRY(try_unit(&u, &outcome));
        call->whole = 0;
        if (outcome == DONE) {
            *next += count;
            continue;
        }
        if (outcome == DECLINED || count <= size) { /* the seed pipeline needs less memory */
            *declined = 1;
            return HSPZ_OK;
        }
        most = (count / size + 1) / 2 * size;
    }
    return HSPZ_OK;
}
