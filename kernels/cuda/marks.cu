/* marks.cu -- see marks.h. */
#include "marks.h"
#include "scan.cuh"

#define BLOCK 256
#define WALK_BLOCK 64

__global__ void ends_kernel(const uint64_t *records, uint32_t count, uint32_t *ends)
{
    const uint32_t slot = (uint32_t)hspz__thread();
    uint32_t low = 0, high = count; /* the first record of a later slot */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (records[middle] >> 48 <= slot)
            low = middle + 1;
        else
            high = middle;
    }
    ends[slot] = low;
}

cudaError_t hspz__cuda_mark_ends(const uint64_t *records, uint32_t count, uint32_t *ends, cudaStream_t stream)
{
    return HSPZ__LAUNCH(ends_kernel, HSPZ__MARK_SLOTS / BLOCK, BLOCK, 0, stream, records, count, ends);
}

/* Whether the next record of the slot starts before the bound of this one ends. Where there is no bound the read is wanted anyway:
 * the walk would have to find it. */
__device__ __forceinline__ bool is_close(const hspz__cuda_mark_layout &l, uint64_t record, uint64_t next)
{
    const uint32_t read = hspz__mark_read(record);
    if (read == HSPZ__MARK_LONG)
        return (record & 1u) == 0; /* what the filter could not reject is extended in full */
    return record >> 48 == next >> 48 &&
           hspz__mark_query(&l, next) < hspz__mark_query(&l, record) + read + l.window;
}

#define ROUNDS 8 /* records a thread looks at: one atomic for BLOCK x ROUNDS records */

__global__ void close_kernel(hspz__cuda_mark_layout layout, const uint64_t *records, uint32_t count,
                             uint32_t *list, uint32_t capacity, unsigned long long *listed)
{
    __shared__ unsigned of_warp[BLOCK / 32];
    __shared__ unsigned long long base;
    const unsigned lane = hspz__lane(), warp = threadIdx.x / 32;
    const uint64_t first = ((uint64_t)blockIdx.x * (BLOCK / 32) + warp) * 32 * ROUNDS + lane;
    unsigned close = 0, found = 0; /* bit k: record of round k; in the warp so far */
    unsigned who[ROUNDS];
#pragma unroll
    for (unsigned k = 0; k < ROUNDS; k++) {
        const uint64_t i = first + 32 * k;
        const bool yes =
            i < count && is_close(layout, records[i], i + 1 < count ? records[i + 1] : ~records[i]);
        who[k] = __ballot_sync(HSPZ__FULL, yes);
        close |= (unsigned)yes << k;
        found += __popc(who[k]);
    }
    if (lane == 0)
        of_warp[warp] = found;
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned sum = 0;
        for (unsigned w = 0; w < BLOCK / 32; w++)
            sum += of_warp[w];
        base = sum > 0 ? atomicAdd(listed, (unsigned long long)sum) : 0;
    }
    __syncthreads();
    unsigned long long at = base;
    for (unsigned w = 0; w < warp; w++)
        at += of_warp[w];
#pragma unroll
    for (unsigned k = 0; k < ROUNDS; k++) {
        const unsigned long long place = at + __popc(who[k] & hspz__lanes_below());
        if ((close >> k & 1u) != 0 && place < capacity)
            list[place] = (uint32_t)(first + 32 * k);
        at += __popc(who[k]);
    }
}

cudaError_t hspz__cuda_mark_close(const hspz__cuda_mark_layout *layout, const uint64_t *records,
                                  uint32_t count, uint32_t *list, uint32_t capacity,
                                  unsigned long long *listed, cudaStream_t stream)
{
    const hspz__cuda_mark_layout l = *layout;
    return HSPZ__LAUNCH(close_kernel, hspz__grid(count, BLOCK * ROUNDS, 1u << 30), BLOCK, 0, stream, l,
                        records, count, list, capacity, listed);
}

/* ---- the last bits of the order */

/* Sorts records[0 .. n): Shell's method, by one thread. */
__device__ void sort_few(uint64_t *records, uint32_t n)
{
    uint32_t gap = 1;
    while (gap < n / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (uint32_t i = gap; i < n; i++) {
            const uint64_t record = records[i];
            uint32_t k = i;
            for (; k >= gap && records[k - gap] > record; k -= gap)
                records[k] = records[k - gap];
            records[k] = record;
        }
}

__global__ void order_kernel(uint64_t *records, uint32_t count, uint32_t shift, uint32_t most,
                             unsigned long long *longer)
{
    for (uint64_t i = hspz__thread(); i < count; i += hspz__threads()) {
        const uint64_t run = records[i] >> shift;
        if (i + 1 >= count || records[i + 1] >> shift != run || (i > 0 && records[i - 1] >> shift == run))
            continue; /* alone, or not the first */
        uint32_t n = 2;
        while (n <= most && i + n < count && records[i + n] >> shift == run)
            n++;
        if (n > most)
            atomicAdd(longer, 1ull);
        else
            sort_few(records + i, n);
    }
}

cudaError_t hspz__cuda_mark_order(uint64_t *records, uint32_t count, uint32_t shift, uint32_t most,
                                  unsigned long long *longer, cudaStream_t stream)
{
    return HSPZ__LAUNCH(order_kernel, hspz__grid(count, BLOCK, 1u << 30), BLOCK, 0, stream, records, count,
                        shift, most, longer);
}

/* Bases read by the right scan, up to `most`; most + 1 when it goes on. One thread. */
template <typename V>
__device__ uint32_t short_read(const hspz__cuda_strand &target, const hspz__cuda_strand &query,
                               const int32_t *scores, V xdrop, uint32_t r, uint32_t q, uint32_t most)
{
    const uint32_t t_room = target.length - r, q_room = query.length - q,
                   room = t_room < q_room ? t_room : q_room;
    const uint32_t end = room < most ? room : most;
    V sum = 0, best = 0;
    for (uint32_t i = 0; i < end; i += 16) {
        const uint64_t t = hspz__classes16(target.classes, r + i), u = hspz__classes16(query.classes, q + i);
        const uint32_t here = end - i < 16 ? end - i : 16;
        for (uint32_t k = 0; k < here; k++) {
            sum += scores[(unsigned)(t >> (4 * k) & 15) * HSPZ__ROW + (unsigned)(u >> (4 * k) & 15)];
            best = sum > best ? sum : best;
            if (best - sum > xdrop)
                return i + k + 1;
        }
    }
    return room <= most ? room : most + 1;
}

template <typename V>
__global__ void reads_kernel(hspz__cuda_mark_layout layout, uint64_t *records, const uint32_t *list,
                             uint32_t most, const unsigned long long *listed, hspz__cuda_strand target,
                             hspz__cuda_strand query, hspz__cuda_rules rules)
{
    __shared__ int32_t scores[HSPZ__CLASSES * HSPZ__ROW];
    for (unsigned i = threadIdx.x; i < HSPZ__CLASSES * HSPZ__ROW; i += blockDim.x)
        scores[i] = rules.scores[i];
    __syncthreads();
    const uint64_t count = *listed < most ? *listed : most;
    for (uint64_t i = hspz__thread(); i < count; i += hspz__threads()) {
        const uint64_t record = records[list[i]];
        const uint32_t read =
            short_read<V>(target, query, scores, rules.xdrop, hspz__mark_target(&layout, record),
                          hspz__mark_query(&layout, record), HSPZ__MARK_LONG - 1);
        records[list[i]] = (record & ~(uint64_t)(127u << 2)) | read << 2 | 2u; /* 127 is HSPZ__MARK_LONG */
    }
}

cudaError_t hspz__cuda_mark_reads(const hspz__cuda_mark_layout *layout, uint64_t *records,
                                  const uint32_t *list, uint32_t most, const unsigned long long *listed,
                                  const hspz__cuda_strand *target, const hspz__cuda_strand *query,
                                  const hspz__cuda_rules *rules, cudaStream_t stream)
{
    const hspz__cuda_mark_layout l = *layout;
    const hspz__cuda_strand t = *target, q = *query;
    const hspz__cuda_rules u = *rules;
    const unsigned grid = hspz__grid(most, BLOCK, 1u << 16);
    if (rules->wide)
        return HSPZ__LAUNCH(reads_kernel<int64_t>, grid, BLOCK, 0, stream, l, records, list, most, listed, t,
                            q, u);
    return HSPZ__LAUNCH(reads_kernel<int32_t>, grid, BLOCK, 0, stream, l, records, list, most, listed, t, q,
                        u);
}

/* ---- the walk */

struct walk_output {
    uint64_t *keys;
    hspz__cuda_reach *right, *left;
    uint32_t capacity;
    hspz__cuda_counters *counters;
};

/* The state of a slot: the last hit that was not skipped set the mark to q + read; read may be a bound only. */
struct slot_state {
    uint32_t mark;
    uint64_t last; /* its record */
    bool exact;
};

template <typename V>
__device__ uint32_t right_read(const hspz__cuda_strand &target, const hspz__cuda_strand &query,
                               const int32_t *scores, V xdrop, uint32_t r, uint32_t q)
{
    const uint32_t t_room = target.length - r, q_room = query.length - q;
    return hspz__warp_scan<false, V>(target, query, scores, xdrop, r, q, t_room < q_room ? t_room : q_room)
        .read;
}

/* One lane's hit in full, by all lanes. The new mark is the answer. `floor`: the mark so far. */
template <typename V>
__device__ uint32_t extend_hit(const hspz__cuda_strand &target, const hspz__cuda_strand &query,
                               const int32_t *scores, const hspz__cuda_rules &rules, uint32_t r, uint32_t q,
                               uint32_t floor, bool maybe, const walk_output &out)
{
    const uint32_t t_room = target.length - r, q_room = query.length - q;
    const hspz__scan_end right = hspz__warp_scan<false, V>(target, query, scores, rules.xdrop, r, q,
                                                           t_room < q_room ? t_room : q_room);
    const uint32_t reached = q + right.read, mark = reached > floor ? reached : floor;
    if (!maybe)
        return mark;
    const uint32_t back = q > floor ? q - floor : 0;
    const hspz__scan_end left =
        hspz__warp_scan<true, V>(target, query, scores, rules.xdrop, r, q, r < back ? r : back);
    if (hspz__lane() == 0 && (int64_t)left.reach.score + right.reach.score >= rules.keep_total) {
        const unsigned long long at = atomicAdd(&out.counters->candidates, 1ull);
        if (at < out.capacity) {
            out.keys[at] = HSPZ__CUDA_KEY(r, q, query.length);
            out.right[at] = right.reach;
            out.left[at] = left.reach;
        }
    }
    return mark;
}

/* The record that comes first in raw order among those of one slot and query window; *next is the one after them. Ties are
 * rare and not sorted. */
__device__ __forceinline__ uint64_t first_of_ties(const uint64_t *records, uint32_t at, uint32_t end,
                                                  uint32_t shift, uint32_t *next)
{
    uint64_t record = records[at];
    uint32_t k = at + 1;
    while (k < end && records[k] >> shift == record >> shift) {
        record = records[k] < record ? records[k] : record;
        k++;
    }
    *next = k;
    return record;
}

template <typename V>
__global__ void __launch_bounds__(WALK_BLOCK)
    walk_kernel(hspz__cuda_mark_layout layout, const uint64_t *records, const uint32_t *ends,
                hspz__cuda_strand target, hspz__cuda_strand query, hspz__cuda_rules rules, uint32_t *marks,
                walk_output out)
{
    __shared__ int32_t scores[HSPZ__CLASSES * HSPZ__ROW];
    for (unsigned i = threadIdx.x; i < HSPZ__CLASSES * HSPZ__ROW; i += blockDim.x)
        scores[i] = rules.scores[i];
    __syncthreads();
    const uint32_t slot = (uint32_t)hspz__thread();
    const uint32_t end = ends[slot], shift = layout.target_bits + HSPZ__MARK_LOW_BITS;
    uint32_t at = slot > 0 ? ends[slot - 1] : 0;
    slot_state state = {marks[slot], 0, true};
    unsigned long long skipped = 0;
    while (__any_sync(HSPZ__FULL, at < end)) {
        /* Each lane goes on to its next hit that needs a full extension. */
        uint64_t record = 0;
        bool wants = false;
        while (at < end && !wants) {
            uint32_t next;
            record = first_of_ties(records, at, end, shift, &next);
            const uint32_t q = hspz__mark_query(&layout, record), read = hspz__mark_read(record);
            skipped += next - at;
            at = next;
            if ((int64_t)state.mark > (int64_t)q - layout.window)
                continue;
            skipped--; /* the first of the ties is not skipped, the others lie behind the mark it sets */
            wants = (record & 1u) != 0 || read == HSPZ__MARK_LONG;
            if (!wants) {
                state.mark = q + read;
                state.last = record;
                state.exact = (record & 2u) != 0;
            }
        }
        for (unsigned todo = __ballot_sync(HSPZ__FULL, wants); todo != 0; todo &= todo - 1) {
            const unsigned who = (unsigned)__ffs(todo) - 1;
            const uint64_t hit = __shfl_sync(HSPZ__FULL, record, who);
            uint32_t floor = __shfl_sync(HSPZ__FULL, state.mark, who);
            if ((hit & 1u) != 0 && !__shfl_sync(HSPZ__FULL, (int)state.exact, who)) {
                /* The left scan must not read below the exact mark. */
                const uint64_t last = __shfl_sync(HSPZ__FULL, state.last, who);
                const uint32_t q = hspz__mark_query(&layout, last);
                floor = q + right_read<V>(target, query, scores, rules.xdrop,
                                          hspz__mark_target(&layout, last), q);
            }
            const uint32_t mark = extend_hit<V>(target, query, scores, rules, hspz__mark_target(&layout, hit),
                                                hspz__mark_query(&layout, hit), floor, (hit & 1u) != 0, out);
            if (hspz__lane() == who) {
                state.mark = mark;
                state.exact = true;
            }
        }
    }
    /* A bound may stand as the slot's mark at the end of the unit: the next unit needs it exact. */
    for (unsigned todo = __ballot_sync(HSPZ__FULL, !state.exact); todo != 0; todo &= todo - 1) {
        const unsigned who = (unsigned)__ffs(todo) - 1;
        const uint64_t last = __shfl_sync(HSPZ__FULL, state.last, who);
        const uint32_t q = hspz__mark_query(&layout, last);
        const uint32_t read =
            right_read<V>(target, query, scores, rules.xdrop, hspz__mark_target(&layout, last), q);
        if (hspz__lane() == who)
            state.mark = q + read;
    }
    marks[slot] = state.mark;
    if (skipped > 0)
        atomicAdd(&out.counters->skipped, skipped);
}

cudaError_t hspz__cuda_mark_walk(const hspz__cuda_mark_layout *layout, const uint64_t *records,
                                 const uint32_t *ends, const hspz__cuda_strand *target,
                                 const hspz__cuda_strand *query, const hspz__cuda_rules *rules,
                                 uint32_t *marks, uint64_t *keys, hspz__cuda_reach *right,
                                 hspz__cuda_reach *left, uint32_t capacity, hspz__cuda_counters *counters,
                                 cudaStream_t stream)
{
    const hspz__cuda_mark_layout l = *layout;
    const hspz__cuda_strand t = *target, q = *query;
    const hspz__cuda_rules u = *rules;
    const walk_output out = {keys, right, left, capacity, counters};
    const unsigned grid = HSPZ__MARK_SLOTS / WALK_BLOCK;
    if (rules->wide)
        return HSPZ__LAUNCH(walk_kernel<int64_t>, grid, WALK_BLOCK, 0, stream, l, records, ends, t, q, u,
                            marks, out);
    return HSPZ__LAUNCH(walk_kernel<int32_t>, grid, WALK_BLOCK, 0, stream, l, records, ends, t, q, u, marks,
                        out);
}
