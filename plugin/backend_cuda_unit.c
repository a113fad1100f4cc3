/* backend_cuda_unit.c -- see backend_cuda_unit.h. */
#include "backend_cuda_unit.h"

#include "../kernels/cuda/index.h"
#include "../kernels/cuda/primitives.h"

#include <string.h>

#define DO(what, step) HSPZ__TRY(hspz__cuda_check((step), (what), call->error))

uint32_t hspz__cuda_join_warps(const hspz__cuda *cuda)
{
    for (uint32_t warps = 32; warps >= 4; warps -= 4)
        if (hspz__cuda_join_shared(warps, cuda->plan->dedup == HSPZ_DEDUP_LASTZ) <=
            cuda->properties.sharedMemPerBlockOptin)
            return warps;
    return 0;
}

/* ---- buffers */

static void take_unit(hspz__cuda_arena *arena, hspz__cuda_unit *u, uint32_t capacity)
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
    for (int k = 0; k < 2; k++)
        u->records[k] = hspz__cuda_take(arena, u->record_capacity, sizeof(uint64_t));
    u->list = hspz__cuda_take(arena, u->record_capacity, sizeof(uint32_t));
    u->slot_ends = hspz__cuda_take(arena, u->record_capacity > 0 ? HSPZ__MARK_SLOTS : 0, sizeof(uint32_t));
    hspz__cuda_take_candidates(arena, capacity, &u->candidates);
}

/* Scratch for the sorts of windows and of candidates. */
static hspz_status size_temp(hspz__cuda_unit *u, uint32_t capacity)
{
    hspz__cuda_call *call = u->call;
    size_t windows = 0, scan = 0, records = 0;
    int second;
    u->candidates.temp_bytes = 0;
    HSPZ__TRY(hspz__cuda_temp_bytes(call->cuda, capacity, &u->candidates.temp_bytes, call->error));
    DO("sizing device scratch",
       hspz__cuda_sort_u32_u32(NULL, &windows, NULL, NULL, NULL, NULL, u->count, 0,
                               (int)call->cuda->word.bits + 1, &second, call->cuda->stream));
    DO("sizing device scratch",
       hspz__cuda_scan_u32(NULL, &scan, NULL, NULL, (uint64_t)u->count + 1, call->cuda->stream));
    if (u->record_capacity > 0)
        DO("sizing device scratch", hspz__cuda_sort_u64(NULL, &records, NULL, NULL, u->record_capacity, 0, 64,
                                                        &second, call->cuda->stream));
    if (records > u->candidates.temp_bytes)
        u->candidates.temp_bytes = records + (1 << 18);
    if (windows > u->candidates.temp_bytes)
        u->candidates.temp_bytes = windows;
    if (scan > u->candidates.temp_bytes)
        u->candidates.temp_bytes = scan;
    return HSPZ_OK;
}

hspz_status hspz__unit_reserve(hspz__cuda_unit *u, uint32_t capacity)
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

static void describe(hspz__cuda_unit *u, int second)
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
        .records = u->record_capacity > 0 ? u->records[0] : NULL,
    };
}

/* Query windows in word order with their contexts. */
hspz_status hspz__unit_sort(hspz__cuda_unit *u)
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

static hspz_status join_slice(hspz__cuda_unit *u)
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
hspz_status hspz__unit_join(hspz__cuda_unit *u, uint64_t *parts)
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
hspz_status hspz__unit_count(hspz__cuda_unit *u)
{
    hspz__cuda_call *call = u->call;
    hspz__cuda *cuda = call->cuda;
    DO("counting hits", cudaMemsetAsync(u->batch_hits, 0, u->batches * sizeof *u->batch_hits, cuda->stream));
    DO("counting hits", hspz__cuda_join_count(&u->join, u->count, u->begin, u->batch_size, u->batches,
                                              cuda->plan->max_hits, u->batch_hits, cuda->stream));
    return HSPZ_OK;
}

hspz_status hspz__unit_refuse(const hspz__cuda_unit *u, uint64_t batch)
{
    const hspz__cuda_call *call = u->call;
    return hspz__fail(
        call->error, HSPZ_E_TOO_MANY_HITS,
        "the batch at %llu of %llu has 2^32 or more seed hits; use a smaller --wga-chunk-size, or mask "
        "repeats",
        (unsigned long long)(call->done + batch * u->batch_size), (unsigned long long)call->total);
}

void hspz__unit_note(const hspz__cuda_unit *u, const hspz__cuda_counters *found)
{
    hspz_statistics *statistics = u->call->output->statistics;
    statistics->query_positions += found->windows;
    statistics->seeds += found->windows * u->call->cuda->word.variant_count;
    statistics->hits += found->hits;
}

uint32_t hspz__unit_first_capacity(const hspz__cuda_unit *u)
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

uint64_t hspz__unit_first_parts(const hspz__cuda_unit *u)
{
    const uint64_t most = hspz__cuda_budget(u->call->cuda) / 16 / sizeof(hspz__cuda_part);
    return most < HSPZ__PARTS ? most : HSPZ__PARTS;
}

uint64_t hspz__unit_most_capacity(const hspz__cuda_unit *u)
{
    hspz__cuda *cuda = u->call->cuda;
    const uint64_t others = (uint64_t)u->count * 56 + u->record_capacity * 20 +
                            u->part_capacity * sizeof(hspz__cuda_part) +
                            (uint64_t)cuda->target.slice_most * 32 + ((uint64_t)64 << 20);
    const uint64_t budget = hspz__cuda_budget(cuda);
    const uint64_t most = budget > others ? (budget - others) / HSPZ__CANDIDATE_BYTES : 0;
    return most < UINT32_MAX - 64 ? most : UINT32_MAX - 64;
}

uint64_t hspz__unit_windows(hspz__cuda *cuda, uint64_t batch_size)
{
    uint64_t most = cuda->knobs.unit_windows > 0 ? (uint64_t)cuda->knobs.unit_windows : HSPZ__UNIT_WINDOWS;
    const uint64_t budget = hspz__cuda_budget(cuda);
    if (cuda->knobs.unit_windows == 0 && most > budget / 4 / 64)
        most = budget / 4 / 64;
    const uint64_t whole = most / batch_size * batch_size;
    return whole > 0 ? whole : most > 0 ? most : 1;
}
