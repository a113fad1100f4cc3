/* gate.cu -- see gate.h.
 *
 * Idea: nearly every anchor ends here, and most scans stop within some dozens of bases, so a warp scores 128 bases of a side
 * at once, four a lane. One ballot marks the lanes in which the scan would stop; the first of them holds the maximum before
 * the stop. An edge of a block counts as a stop. A side that has enough for the threshold ends the scan: only the decision
 * is wanted. Integers throughout; V = int64_t where scores or x-drop are large.
 */
#include "filter.cuh"
#include "gate.h"

/* 8 classes from base i on, which must not be negative. */
__device__ __forceinline__ uint32_t classes_from(const uint32_t *classes, uint32_t i)
{
    return __funnelshift_r(classes[i >> 3], classes[(i >> 3) + 1], 4u * (i & 7u));
}

/* Scores of bases first .. first + 3 of a side; an edge scores below any x-drop. */
template <bool LEFT>
__device__ __forceinline__ void four_scores(const hspz__cuda_strand &target, const hspz__cuda_strand &query,
                                            uint32_t r, uint32_t q, uint32_t first, uint32_t room,
                                            const int32_t *scores, int32_t edge, int32_t out[4])
{
    if (first >= room) {
        for (int k = 0; k < 4; k++)
            out[k] = edge;
        return;
    }
    uint32_t t_classes, q_classes;
    if (!LEFT) {
        t_classes = classes_from(target.classes, r + first);
        q_classes = classes_from(query.classes, q + first);
    } else if (first + 4 <= room) {
        t_classes = classes_from(target.classes, r - first - 4);
        q_classes = classes_from(query.classes, q - first - 4);
    } else { /* fewer than four bases are left before the start of a block */
        t_classes = classes_from(target.classes, r - room) << (4 * (4 - (room - first)));
        q_classes = classes_from(query.classes, q - room) << (4 * (4 - (room - first)));
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const int shift = LEFT ? 4 * (3 - k) : 4 * k;
        out[k] = first + k < room
                     ? scores[(t_classes >> shift & 15u) * HSPZ__ROW + (q_classes >> shift & 15u)]
                     : edge;
    }
}

/* The side's maximum, or any value >= enough once it has that. */
template <bool LEFT, typename V>
__device__ int64_t side_score(const hspz__cuda_strand &target, const hspz__cuda_strand &query, uint32_t r,
                              uint32_t q, const int32_t *scores, V xdrop, int64_t enough)
{
    const unsigned lane = hspz__lane();
    const uint32_t t_room = LEFT ? r : target.length - r, q_room = LEFT ? q : query.length - q;
    const uint32_t room = t_room < q_room ? t_room : q_room;
    int64_t sum = 0, best = 0;
    for (uint64_t tile = 0; best < enough; tile += 128) {
        int32_t score[4];
        const uint64_t first = tile + 4 * lane;
        four_scores<LEFT>(target, query, r, q, first < room ? (uint32_t)first : room, room, scores,
                          (int32_t)(-(int64_t)xdrop - 1), score);
        const V own = (V)score[0] + score[1] + score[2] + score[3];
        V s = hspz__warp_prefix(own) - own;
        V run = s + score[0], top = run; /* maximum of the prefixes within this lane, then up to it */
        for (int k = 1; k < 4; k++) {
            run += score[k];
            top = run > top ? run : top;
        }
        for (unsigned d = 1; d < 32; d <<= 1) {
            const V other = __shfl_up_sync(HSPZ__FULL, top, d);
            if (lane >= d && other > top)
                top = other;
        }
        V most = __shfl_up_sync(HSPZ__FULL, top, 1);
        const V before = (V)(best - sum);
        most = lane == 0 || most < before ? before : most;
        bool stopped = false;
        for (int k = 0; k < 4 && !stopped; k++) {
            s += score[k];
            if (s > most)
                most = s;
            else if (most - s > xdrop)
                stopped = true;
        }
        const unsigned stops = __ballot_sync(HSPZ__FULL, stopped);
        const V value = __shfl_sync(HSPZ__FULL, most, stops != 0 ? __ffs(stops) - 1 : 31);
        best = sum + value;
        if (stops != 0)
            break;
        sum += __shfl_sync(HSPZ__FULL, s, 31);
    }
    return best;
}

template <typename V>
__global__ void gate_kernel(const uint64_t *anchors, const uint32_t *ids, uint32_t count,
                            hspz__cuda_strand target, hspz__cuda_strand query, hspz__cuda_rules rules,
                            uint32_t *flags)
{
    __shared__ int32_t scores[HSPZ__CLASSES * HSPZ__ROW];
    for (unsigned i = threadIdx.x; i < HSPZ__CLASSES * HSPZ__ROW; i += blockDim.x)
        scores[i] = rules.scores[i];
    __syncthreads();
    const unsigned lane = hspz__lane();
    for (uint64_t base = hspz__thread() / 32 * 32; base < count; base += hspz__threads()) {
        const unsigned here = count - base < 32 ? (unsigned)(count - base) : 32u;
        const uint64_t mine = lane < here ? anchors[base + lane] : 0;
        const uint32_t id = lane < here ? (ids != NULL ? ids[base + lane] : (uint32_t)base + lane) : 0;
        bool keep = false;
        for (unsigned k = 0; k < here; k++) {
            const uint64_t anchor = __shfl_sync(HSPZ__FULL, mine, k);
            const uint32_t r = (uint32_t)(anchor >> 32), q = (uint32_t)anchor;
            int64_t total = side_score<false, V>(target, query, r, q, scores, rules.xdrop, rules.keep_total);
            if (total < rules.keep_total)
                total +=
                    side_score<true, V>(target, query, r, q, scores, rules.xdrop, rules.keep_total - total);
            if (lane == k)
                keep = total >= rules.keep_total;
        }
        if (lane < here)
            flags[id] = keep;
    }
}

cudaError_t hspz__cuda_gate(const uint64_t *anchors, const uint32_t *ids, uint32_t count,
                            const hspz__cuda_strand *target, const hspz__cuda_strand *query,
                            const hspz__cuda_rules *rules, uint32_t *flags, cudaStream_t stream)
{
    const hspz__cuda_strand t = *target, q = *query;
    const hspz__cuda_rules u = *rules;
    const unsigned grid = hspz__grid(count, 128, 1u << 20);
    if (rules->wide)
        return HSPZ__LAUNCH(gate_kernel<int64_t>, grid, 128, 0, stream, anchors, ids, count, t, q, u, flags);
    return HSPZ__LAUNCH(gate_kernel<int32_t>, grid, 128, 0, stream, anchors, ids, count, t, q, u, flags);
}

/* ---- the filter, a thread an anchor */

#define SCREEN_THREADS 512

__global__ void __launch_bounds__(SCREEN_THREADS)
    screen_kernel(const uint64_t *anchors, const uint32_t *ids, uint32_t count, hspz__cuda_strand target,
                  hspz__cuda_strand query, hspz__cuda_filter filter, uint32_t *flags)
{
    HSPZ__DYNAMIC_SHARED(shared);
    uint32_t *const table = (uint32_t *)shared;
    for (unsigned i = threadIdx.x; i < HSPZ__FILTER_ENTRIES; i += blockDim.x)
        table[i] = filter.table[i];
    __syncthreads();
    for (uint64_t i = hspz__thread(); i < count; i += hspz__threads()) {
        const uint32_t r = (uint32_t)(anchors[i] >> 32), q = (uint32_t)anchors[i];
        hspz__side right = {0, filter.headroom}, left = {0, filter.headroom};
        bool keep = false;
        for (uint32_t off = 0; !keep && (right.h >= 0 || left.h >= 0); off += 14) {
            if (right.h >= 0)
                keep = hspz__filter_on<false>(target, query, table, filter.headroom, &right, r, q, off);
            if (left.h >= 0)
                keep = hspz__filter_on<true>(target, query, table, filter.headroom, &left, r, q, off) || keep;
            keep = keep || right.m + left.m >= filter.keep;
        }
        flags[ids != NULL ? ids[i] : (uint32_t)i] = keep;
    }
}

cudaError_t hspz__cuda_screen(const uint64_t *anchors, const uint32_t *ids, uint32_t count,
                              const hspz__cuda_strand *target, const hspz__cuda_strand *query,
                              const hspz__cuda_filter *filter, unsigned blocks, uint32_t *flags,
                              cudaStream_t stream)
{
    const hspz__cuda_strand t = *target, q = *query;
    const hspz__cuda_filter f = *filter;
    const size_t shared = HSPZ__FILTER_ENTRIES * sizeof(uint32_t);
    const cudaError_t error = HSPZ__RAISE_SHARED(screen_kernel, shared);
    if (error != cudaSuccess)
        return error;
    return HSPZ__LAUNCH(screen_kernel, hspz__grid(count, SCREEN_THREADS, blocks), SCREEN_THREADS, shared,
                        stream, anchors, ids, count, t, q, f, flags);
}

__global__ void number_kernel(uint32_t *ids, uint32_t count)
{
    for (uint64_t i = hspz__thread(); i < count; i += hspz__threads())
        ids[i] = (uint32_t)i;
}

cudaError_t hspz__cuda_number(uint32_t *ids, uint32_t count, cudaStream_t stream)
{
    return HSPZ__LAUNCH(number_kernel, hspz__grid(count, 256, 1u << 20), 256, 0, stream, ids, count);
}

__global__ void emit_kernel(const uint64_t *anchors, const uint32_t *flags, const uint32_t *before,
                            uint32_t count, uint32_t query_length, uint32_t first_rank, uint32_t already,
                            uint32_t capacity, uint64_t *keys, uint32_t *ranks, unsigned long long *total)
{
    for (uint64_t i = hspz__thread(); i < count; i += hspz__threads()) {
        if (i + 1 == count)
            *total = (unsigned long long)already + before[i] + flags[i];
        const uint64_t at = (uint64_t)already + before[i];
        if (!flags[i] || at >= capacity)
            continue;
        const uint32_t r = (uint32_t)(anchors[i] >> 32), q = (uint32_t)anchors[i];
        keys[at] = HSPZ__CUDA_KEY(r, q, query_length);
        ranks[at] = first_rank + (uint32_t)i;
    }
}

cudaError_t hspz__cuda_emit(const uint64_t *anchors, const uint32_t *flags, const uint32_t *before,
                            uint32_t count, uint32_t query_length, uint32_t first_rank, uint32_t already,
                            uint32_t capacity, uint64_t *keys, uint32_t *ranks, unsigned long long *total,
                            cudaStream_t stream)
{
    return HSPZ__LAUNCH(emit_kernel, hspz__grid(count, 256, 1u << 20), 256, 0, stream, anchors, flags, before,
                        count, query_length, first_rank, already, capacity, keys, ranks, total);
}
