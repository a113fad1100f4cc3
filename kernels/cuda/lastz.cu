/* lastz.cu -- see lastz.h. */
#include "device.cuh"
#include "lastz.h"

#include <limits.h>

__global__ void slots_kernel(const uint64_t *anchors, uint32_t count, uint32_t *slots, uint32_t *ids)
{
    for (uint64_t i = hspz__thread(); i < count; i += hspz__threads()) {
        slots[i] = ((uint32_t)(anchors[i] >> 32) - (uint32_t)anchors[i]) & ((1u << HSPZ__SLOT_BITS) - 1);
        ids[i] = (uint32_t)i;
    }
}

cudaError_t hspz__cuda_slots(const uint64_t *anchors, uint32_t count, uint32_t *slots, uint32_t *ids,
                             cudaStream_t stream)
{
    return HSPZ__LAUNCH(slots_kernel, hspz__grid(count, 256, 1u << 20), 256, 0, stream, anchors, count, slots,
                        ids);
}

struct scan_end {
    hspz__cuda_reach reach;
    uint32_t read; /* bases looked at, the one that ended the scan included */
};

/* The sequential scan of SPEC section 6 by one thread, over at most `room` bases. */
template <bool LEFT>
__device__ scan_end scan_side(const hspz__cuda_strand &target, const hspz__cuda_strand &query,
                              const int32_t *scores, int32_t xdrop, uint32_t r, uint32_t q, uint32_t room)
{
    int64_t sum = 0, best = 0;
    uint32_t bases = 0, i = 0;
    while (i < room) {
        const uint32_t t = LEFT ? r - 1 - i : r + i, u = LEFT ? q - 1 - i : q + i;
        sum += scores[hspz__class(target.classes, t) * HSPZ__ROW + hspz__class(query.classes, u)];
        i++;
        if (sum > best) {
            best = sum;
            bases = i;
        } else if (best - sum > xdrop) {
            break;
        }
    }
    const scan_end end = {{bases, best > INT32_MAX ? INT32_MAX : (int32_t)best, -1}, i};
    return end;
}

__global__ void walk_slots_kernel(const uint64_t *anchors, const uint32_t *ids, const uint32_t *slot_ends,
                                  uint32_t first_rank, hspz__cuda_strand target, hspz__cuda_strand query,
                                  hspz__cuda_rules rules, uint32_t window, uint32_t *marks, uint64_t *keys,
                                  uint32_t *ranks, hspz__cuda_reach *right, hspz__cuda_reach *left,
                                  uint32_t capacity, unsigned long long *total, unsigned long long *skipped)
{
    __shared__ int32_t scores[HSPZ__CLASSES * HSPZ__ROW];
    for (unsigned i = threadIdx.x; i < HSPZ__CLASSES * HSPZ__ROW; i += blockDim.x)
        scores[i] = rules.scores[i];
    __syncthreads();
    const uint32_t slot = (uint32_t)hspz__thread();
    uint32_t mark = marks[slot];
    unsigned long long passed_over = 0;
    for (uint32_t k = slot > 0 ? slot_ends[slot - 1] : 0; k < slot_ends[slot]; k++) {
        const uint32_t id = ids[k];
        const uint32_t r = (uint32_t)(anchors[id] >> 32), q = (uint32_t)anchors[id];
        if ((int64_t)mark > (int64_t)q - window) {
            passed_over++;
            continue;
        }
        const uint32_t t_room = target.length - r, q_room = query.length - q,
                       q_back = q > mark ? q - mark : 0;
        const scan_end back =
            scan_side<true>(target, query, scores, rules.xdrop, r, q, r < q_back ? r : q_back);
        const scan_end on =
            scan_side<false>(target, query, scores, rules.xdrop, r, q, t_room < q_room ? t_room : q_room);
        if (q + on.read > mark)
            mark = q + on.read;
        if ((int64_t)back.reach.score + on.reach.score < rules.keep_total)
            continue;
        const unsigned long long at = atomicAdd(total, 1ull);
        if (at < capacity) {
            keys[at] = HSPZ__CUDA_KEY(r, q, query.length);
            ranks[at] = first_rank + id;
            right[at] = on.reach;
            left[at] = back.reach;
        }
    }
    marks[slot] = mark;
    if (passed_over > 0)
        atomicAdd(skipped, passed_over);
}

cudaError_t hspz__cuda_walk_slots(const uint64_t *anchors, const uint32_t *ids, const uint32_t *slot_ends,
                                  uint32_t first_rank, const hspz__cuda_strand *target,
                                  const hspz__cuda_strand *query, const hspz__cuda_rules *rules,
                                  uint32_t window, uint32_t *marks, uint64_t *keys, uint32_t *ranks,
                                  hspz__cuda_reach *right, hspz__cuda_reach *left, uint32_t capacity,
                                  unsigned long long *total, unsigned long long *skipped, cudaStream_t stream)
{
    const hspz__cuda_strand t = *target, q = *query;
    const hspz__cuda_rules u = *rules;
    return HSPZ__LAUNCH(walk_slots_kernel, (1u << HSPZ__SLOT_BITS) / 64, 64, 0, stream, anchors, ids,
                        slot_ends, first_rank, t, q, u, window, marks, keys, ranks, right, left, capacity,
                        total, skipped);
}
