/* join_list.cuh -- the hits of some query windows as a list that a warp works off, 32 hits at a time.
 *
 * Idea: query windows are in word order, so a warp takes HSPZ__LIST_WINDOWS neighbours, looks up the buckets of all their variants and
 * notes where each begins in the sequence of all their hits. Buckets too long for one warp are cut into parts for a second launch.
 *
 * A space S in shared memory, one a warp, has start[] (first hit of the entry in the list) and delta[] (index of a hit's target
 * position less the hit's number), HSPZ__LIST_ENTRIES each, and note_entry(join, space, at, query, variant), which
 * keeps the rest; query counts from the list's first window.
 */
#ifndef HSPZ__JOIN_LIST_CUH
#define HSPZ__JOIN_LIST_CUH

#include "device.cuh"
#include "join.h"

#define HSPZ__LIST_WINDOWS 8u
#define HSPZ__LIST_ENTRIES 128u /* HSPZ__LIST_WINDOWS x HSPZ__VARIANTS_MAX */
#define HSPZ__LIST_HEAVY 16384u /* a longer bucket is cut into parts */

struct hspz__list {
    uint32_t entries, hits;
};

/* Cuts a heavy bucket into parts for the second launch. */
__device__ __forceinline__ void hspz__list_parts(const hspz__cuda_join &j, uint32_t first, uint32_t length,
                                                 uint32_t query, uint32_t variant)
{
    const uint32_t heavy = HSPZ__LIST_HEAVY, parts = (length + heavy - 1) / heavy;
    const unsigned long long at = atomicAdd(&j.counters->parts, (unsigned long long)parts);
    for (uint32_t k = 0; k < parts && at + k < j.part_capacity; k++) {
        const hspz__cuda_part part = {first + k * heavy, k + 1 < parts ? heavy : length - k * heavy, query,
                                      variant};
        j.parts[at + k] = part;
    }
}

/* The non-empty buckets of the list's windows from `base` on: a quarter of a warp a variant. */
template <typename S>
__device__ hspz__list hspz__make_list(const hspz__cuda_join &j, uint32_t base, uint32_t windows, S *space)
{
    const unsigned lane = hspz__lane(), mine = lane % HSPZ__LIST_WINDOWS, part = lane / HSPZ__LIST_WINDOWS;
    const bool have = base + mine < windows;
    const uint32_t word = have ? j.query_words[base + mine] : 0;
    hspz__list l = {0, 0};
    __syncwarp();
    for (uint32_t v0 = 0; v0 < j.word.variant_count; v0 += 32 / HSPZ__LIST_WINDOWS) {
        const uint32_t v = v0 + part;
        uint32_t length = 0, first = 0;
        if (have && v < j.word.variant_count) {
            const uint32_t other = word ^ j.word.variant_mask[v];
            if (other >= j.word_begin && other < j.word_end)
                length = hspz__bucket(j.index, other, &first);
            if (length > HSPZ__LIST_HEAVY) {
                hspz__list_parts(j, first, length, base + mine, v);
                length = 0;
            }
        }
        const unsigned full = __ballot_sync(HSPZ__FULL, length > 0);
        const uint32_t end = l.hits + hspz__warp_prefix(length);
        if (length > 0) {
            const unsigned at = l.entries + __popc(full & hspz__lanes_below());
            space->start[at] = end - length;
            space->delta[at] = first - (end - length);
            note_entry(j, space, at, mine, v);
        }
        l.entries += __popc(full);
        l.hits = __shfl_sync(HSPZ__FULL, end, 31);
    }
    __syncwarp();
    return l;
}

/* The next piece of work, whose queries count from *base: false when there is none. */
template <bool PARTS, typename S>
__device__ bool hspz__next_list(const hspz__cuda_join &j, uint32_t windows, S *space, hspz__list *l,
                                uint32_t *base)
{
    unsigned long long turn = 0;
    if (hspz__lane() == 0)
        turn = atomicAdd(&j.counters->next, 1ull);
    turn = __shfl_sync(HSPZ__FULL, turn, 0);
    if (!PARTS) {
        if (turn * HSPZ__LIST_WINDOWS >= windows)
            return false;
        *base = (uint32_t)turn * HSPZ__LIST_WINDOWS;
        *l = hspz__make_list(j, *base, windows, space);
        return true;
    }
    if (turn >= j.counters->parts || turn >= j.part_capacity)
        return false;
    const hspz__cuda_part part = j.parts[turn];
    __syncwarp();
    if (hspz__lane() == 0) {
        space->start[0] = 0;
        space->delta[0] = part.first;
        note_entry(j, space, 0, 0, part.variant);
    }
    __syncwarp();
    l->entries = 1;
    l->hits = part.count;
    *base = part.query;
    return true;
}

#endif
