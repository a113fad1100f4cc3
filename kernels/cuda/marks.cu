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

/* Whether the next record of the slot starts before the bound of this one ends. Where there is no bound, and for hits that may
 * survive, the read is wanted anyway. */
__device__ __forceinline__ bool is_close(const hspz__cuda_mark_layout &l, uint64_t record, uint64_t next)
{
    const uint32_t read = hspz__mark_read(record);
    if (read == HSPZ__MARK_LONG || (record & 1u) != 0)
        return true;
    return record >> 48 == next >> 48 &&
           hspz__mark_query(&l, next) < hspz__mark_query(&l, record) + read + l.window;
}

#define ROUNDS 8 /* records a thread looks at */

/* The records of ROUNDS times 32 neighbours from `first` on, 32 apart in a lane; `all` ones beyond the end. */
__device__ __forceinline__ void load_rounds(const uint64_t *records, uint64_t first, uint32_t count,
                                            uint64_t own[ROUNDS])
{
#pragma unroll
    for (unsigned k = 0; k < ROUNDS; k++) {
        const uint64_t i = first + 32 * k + hspz__lane();
        own[k] = i < count ? records[i] : UINT64_MAX;
    }
}

/* The record after own[k]: the next lane's, or the first of the next round. */
__device__ __forceinline__ uint64_t next_record(const uint64_t own[ROUNDS], unsigned k, uint64_t after)
{
    const uint64_t beside = __shfl_down_sync(HSPZ__FULL, own[k], 1);
    const uint64_t ahead =
        k + 1 < ROUNDS ? __shfl_sync(HSPZ__FULL, own[k + 1 < ROUNDS ? k + 1 : k], 0) : after;
    return hspz__lane() < 31 ? beside : ahead;
}

__global__ void close_kernel(hspz__cuda_mark_layout layout, const uint64_t *records, uint32_t count,
                             uint32_t *list, uint32_t capacity, unsigned long long *listed)
{
    __shared__ unsigned of_warp[BLOCK / 32];
    __shared__ unsigned long long base;
    const unsigned lane = hspz__lane(), warp = threadIdx.x / 32;
    const uint64_t first = ((uint64_t)blockIdx.x * (BLOCK / 32) + warp) * 32 * ROUNDS;
    uint64_t own[ROUNDS];
    load_rounds(records, first, count, own);
    const uint64_t after = first + 32 * ROUNDS < count ? records[first + 32 * ROUNDS] : UINT64_MAX;
    unsigned close = 0, found = 0; /* bit k: record of round k; in the warp so far */
    unsigned who[ROUNDS];
#pragma unroll
    for (unsigned k = 0; k < ROUNDS; k++) {
        const uint64_t i = first + 32 * k + lane, next = next_record(own, k, after);
        const bool yes = i < count && is_close(layout, own[k], i + 1 < count ? next : ~own[k]);
        who[k] = __ballot_sync(HSPZ__FULL, yes);
        close |= (unsigned)yes << k;
        found += __popc(who[k]);
    }
    if (lane == 0)
        of_warp[warp] = found;
    __syncthreads();
    if (threadIdx.x == 0) { /* one atomic for BLOCK x ROUNDS records */
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
            list[place] = (uint32_t)(first + 32 * k + lane);
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

/* While one thread sorts a run others may read its records: the bits above `shift` stay what they are. */
__global__ void order_kernel(uint64_t *records, uint32_t count, uint32_t shift, uint32_t most,
                             unsigned long long *longer)
{
    const uint64_t first = (hspz__thread() / 32) * 32 * ROUNDS;
    uint64_t own[ROUNDS];
    load_rounds(records, first, count, own);
    const uint64_t after = first + 32 * ROUNDS < count ? records[first + 32 * ROUNDS] : UINT64_MAX;
    uint64_t previous = first > 0 && first <= count ? records[first - 1] : UINT64_MAX; /* of lane 0 */
    bool starts[ROUNDS];
#pragma unroll
    for (unsigned k = 0; k < ROUNDS; k++) {
        const uint64_t i = first + 32 * k + hspz__lane(), next = next_record(own, k, after);
        const uint64_t beside = __shfl_up_sync(HSPZ__FULL, own[k], 1),
                       before = hspz__lane() > 0 ? beside : previous;
        previous = __shfl_sync(HSPZ__FULL, own[k], 31);
        starts[k] = i + 1 < count && next >> shift == own[k] >> shift &&
                    (i == 0 || before >> shift != own[k] >> shift);
    }
#pragma unroll
    for (unsigned k = 0; k < ROUNDS; k++) {
        if (!starts[k])
            continue;
        const uint64_t i = first + 32 * k + hspz__lane(), run = own[k] >> shift;
        if (i + 2 >= count || records[i + 2] >> shift != run) { /* nearly always two */
            const uint64_t next = records[i + 1];
            if (next < own[k]) {
                records[i] = next;
                records[i + 1] = own[k];
            }
            continue;
        }
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
    return HSPZ__LAUNCH(order_kernel, hspz__grid(count, BLOCK * ROUNDS, 1u << 30), BLOCK, 0, stream, records,
                        count, shift, most, longer);
}

template <typename V>
__device__ __forceinline__ uint32_t short_read(const hspz__cuda_strand &target,
                                               const hspz__cuda_strand &query, const int32_t *scores, V xdrop,
                                               uint32_t r, uint32_t q, uint32_t most)
{
    const uint32_t t_room = target.length - r, q_room = query.length - q;
    return hspz__short_read<false, V>(target, query, scores, xdrop, r, q, t_room < q_room ? t_room : q_room,
                                      most);
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

/* The state of a slot: the last hit that was not skipped set the mark to q + read; read may be a bound only. */
struct slot_state {
    uint32_t mark;
    uint64_t last; /* its record */
    bool exact;
};

#define THREAD_READ 512u /* bases that a thread scans by itself */

/* The next record of the slot whose window is not before `mark`: the skipped ones may be very many. */
__device__ uint32_t after_mark(const hspz__cuda_mark_layout &l, const uint64_t *records, uint32_t at,
                               uint32_t end, uint32_t mark)
{
    uint32_t low = at, step = 1; /* records before low are skipped */
    while (low + step < end &&
           (int64_t)mark > (int64_t)hspz__mark_query(&l, records[low + step]) - l.window) {
        low += step;
        step *= 2;
    }
    uint32_t high = low + step < end ? low + step : end;
    low++;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if ((int64_t)mark > (int64_t)hspz__mark_query(&l, records[middle]) - l.window)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where the walk puts hits to extend: their keys, and the mark below which the left scan must not read, or, when only a bound of it is
 * known, HSPZ__MARK_OF_LAST and the record of the hit that set it. */
struct hit_list {
    uint64_t *keys, *last;
    uint32_t *floors;
    uint32_t capacity;
    hspz__cuda_counters *counters;
};

__device__ __forceinline__ void list_hit(const hit_list &list, uint64_t key, const slot_state &state)
{
    const unsigned long long at = atomicAdd(&list.counters->candidates, 1ull);
    if (at >= list.capacity)
        return;
    list.keys[at] = key;
    list.floors[at] = state.exact ? state.mark : HSPZ__MARK_OF_LAST;
    list.last[at] = state.last;
}

#define RUN 128 /* records a lane goes on at most before lanes that have to scan do so together */

/* Goes on along the slot's records: true when the right scan of *record, which is not skipped, has to be looked up. */
__device__ bool next_event(const hspz__cuda_mark_layout &l, const uint64_t *records, uint32_t *at,
                           uint32_t end, uint32_t query_length, slot_state *state, uint64_t *record,
                           unsigned long long *skipped, const hit_list &list)
{
    const uint32_t shift = l.target_bits + HSPZ__MARK_LOW_BITS;
    for (int left = RUN; left > 0 && *at < end; left--) {
        const uint64_t now = records[*at];
        const uint32_t q = hspz__mark_query(&l, now), read = hspz__mark_read(now);
        if ((int64_t)state->mark > (int64_t)q - l.window) {
            const uint32_t next = after_mark(l, records, *at, end, state->mark);
            *skipped += next - *at;
            *at = next;
            continue;
        }
        /* Others of the same window come later in raw order and lie behind the mark that this one sets. */
        ++*at;
        while (*at < end && records[*at] >> shift == now >> shift) {
            ++*skipped;
            ++*at;
        }
        if ((now & 1u) != 0)
            list_hit(list, HSPZ__CUDA_KEY(hspz__mark_target(&l, now), q, query_length), *state);
        state->mark = q + read; /* not yet when the read is not known */
        state->last = now;
        state->exact = (now & 2u) != 0;
        if (read == HSPZ__MARK_LONG) {
            *record = now;
            return true;
        }
    }
    return false;
}

template <typename V>
__global__ void __launch_bounds__(WALK_BLOCK)
    walk_kernel(hspz__cuda_mark_layout layout, const uint64_t *records, const uint32_t *ends,
                hspz__cuda_strand target, hspz__cuda_strand query, hspz__cuda_rules rules, uint32_t *marks,
                hit_list list)
{
    __shared__ int32_t scores[HSPZ__CLASSES * HSPZ__ROW];
    for (unsigned i = threadIdx.x; i < HSPZ__CLASSES * HSPZ__ROW; i += blockDim.x)
        scores[i] = rules.scores[i];
    __syncthreads();
    const uint32_t slot = (uint32_t)hspz__thread(), end = ends[slot];
    uint32_t at = slot > 0 ? ends[slot - 1] : 0;
    slot_state state = {marks[slot], 0, true};
    unsigned long long skipped = 0;
    bool more = true;
    while (more) {
        uint64_t record = 0;
        const bool wants =
            next_event(layout, records, &at, end, query.length, &state, &record, &skipped, list);
        const uint32_t r = hspz__mark_target(&layout, record), q = hspz__mark_query(&layout, record);
        uint32_t read = 0;
        if (wants)
            read = short_read<V>(target, query, scores, rules.xdrop, r, q, THREAD_READ);
        for (unsigned todo = __ballot_sync(HSPZ__FULL, wants && read > THREAD_READ); todo != 0;
             todo &= todo - 1) {
            const unsigned who = (unsigned)__ffs(todo) - 1;
            const uint32_t r_who = __shfl_sync(HSPZ__FULL, r, who), q_who = __shfl_sync(HSPZ__FULL, q, who);
            const uint32_t t_room = target.length - r_who, q_room = query.length - q_who;
            const uint32_t whole = hspz__warp_scan<false, V>(target, query, scores, rules.xdrop, r_who, q_who,
                                                             t_room < q_room ? t_room : q_room)
                                       .read;
            read = hspz__lane() == who ? whole : read;
        }
        if (wants) {
            state.mark = q + read;
            state.exact = true;
        }
        more = __any_sync(HSPZ__FULL, at < end);
    }
    if (!state.exact) { /* the next unit needs it exact */
        const uint32_t q = hspz__mark_query(&layout, state.last);
        state.mark = q + short_read<V>(target, query, scores, rules.xdrop,
                                       hspz__mark_target(&layout, state.last), q, HSPZ__MARK_LONG - 1);
    }
    marks[slot] = state.mark;
    if (skipped > 0)
        atomicAdd(&list.counters->skipped, skipped);
}

cudaError_t hspz__cuda_mark_walk(const hspz__cuda_mark_layout *layout, const uint64_t *records,
                                 const uint32_t *ends, const hspz__cuda_strand *target,
                                 const hspz__cuda_strand *query, const hspz__cuda_rules *rules,
                                 uint32_t *marks, uint64_t *keys, uint32_t *floors, uint64_t *last,
                                 uint32_t capacity, hspz__cuda_counters *counters, cudaStream_t stream)
{
    const hspz__cuda_mark_layout l = *layout;
    const hspz__cuda_strand t = *target, q = *query;
    const hspz__cuda_rules u = *rules;
    const hit_list list = {keys, last, floors, capacity, counters};
    const unsigned grid = HSPZ__MARK_SLOTS / WALK_BLOCK;
    if (rules->wide)
        return HSPZ__LAUNCH(walk_kernel<int64_t>, grid, WALK_BLOCK, 0, stream, l, records, ends, t, q, u,
                            marks, list);
    return HSPZ__LAUNCH(walk_kernel<int32_t>, grid, WALK_BLOCK, 0, stream, l, records, ends, t, q, u, marks,
                        list);
}

template <typename V>
__global__ void extend_kernel(hspz__cuda_mark_layout layout, const uint64_t *keys, const uint32_t *floors,
                              const uint64_t *last, uint32_t capacity, hspz__cuda_strand target,
                              hspz__cuda_strand query, hspz__cuda_rules rules, uint64_t *out_keys,
                              hspz__cuda_reach *right, hspz__cuda_reach *left, hspz__cuda_counters *counters)
{
    __shared__ int32_t scores[HSPZ__CLASSES * HSPZ__ROW];
    for (unsigned i = threadIdx.x; i < HSPZ__CLASSES * HSPZ__ROW; i += blockDim.x)
        scores[i] = rules.scores[i];
    __syncthreads();
    const uint64_t count = counters->candidates < capacity ? counters->candidates : capacity;
    for (uint64_t i = hspz__thread() / 32; i < count; i += hspz__threads() / 32) {
        const uint64_t key = keys[i];
        const uint32_t r = (uint32_t)key, q = hspz__key_query(key, query.length);
        uint32_t floor = floors[i];
        if (floor == HSPZ__MARK_OF_LAST) {
            const uint32_t r_last = hspz__mark_target(&layout, last[i]),
                           q_last = hspz__mark_query(&layout, last[i]);
            const uint32_t t_left = target.length - r_last, q_left = query.length - q_last;
            floor = q_last + hspz__warp_scan<false, V>(target, query, scores, rules.xdrop, r_last, q_last,
                                                       t_left < q_left ? t_left : q_left)
                                 .read;
        }
        const uint32_t t_room = target.length - r, q_room = query.length - q,
                       back = q > floor ? q - floor : 0;
        const hspz__scan_end on = hspz__warp_scan<false, V>(target, query, scores, rules.xdrop, r, q,
                                                            t_room < q_room ? t_room : q_room);
        const hspz__scan_end before =
            hspz__warp_scan<true, V>(target, query, scores, rules.xdrop, r, q, r < back ? r : back);
        if (hspz__lane() == 0 && (int64_t)on.reach.score + before.reach.score >= rules.keep_total) {
            const unsigned long long at = atomicAdd(&counters->extended, 1ull); /* at most `count` */
            out_keys[at] = key;
            right[at] = on.reach;
            left[at] = before.reach;
        }
    }
}

cudaError_t hspz__cuda_mark_extend(const hspz__cuda_mark_layout *layout, const uint64_t *keys,
                                   const uint32_t *floors, const uint64_t *last, uint32_t capacity,
                                   const hspz__cuda_strand *target, const hspz__cuda_strand *query,
                                   const hspz__cuda_rules *rules, uint64_t *out_keys, hspz__cuda_reach *right,
                                   hspz__cuda_reach *left, hspz__cuda_counters *counters, cudaStream_t stream)
{
    const hspz__cuda_mark_layout l = *layout;
    const hspz__cuda_strand t = *target, q = *query;
    const hspz__cuda_rules u = *rules;
    const unsigned grid = hspz__grid((uint64_t)capacity * 32, 128, 8192);
    if (rules->wide)
        return HSPZ__LAUNCH(extend_kernel<int64_t>, grid, 128, 0, stream, l, keys, floors, last, capacity, t,
                            q, u, out_keys, right, left, counters);
    return HSPZ__LAUNCH(extend_kernel<int32_t>, grid, 128, 0, stream, l, keys, floors, last, capacity, t, q,
                        u, out_keys, right, left, counters);
}
