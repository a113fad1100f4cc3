/* scan.cuh -- the exact x-drop scan of one anchor's side by a whole warp.
 *
 * Idea: most scans end within 64 bases, so the first two tiles have one base a lane. What goes on after that may go on for
 * hundreds of thousands of bases: from there a lane takes 16 bases at a time, sums them up in registers, and one prefix sum and one
 * prefix maximum over the lanes tell which lane the scan may stop in; only such a lane looks at its bases one by one.
 */
#ifndef HSPZ__SCAN_CUH
#define HSPZ__SCAN_CUH

#include "device.cuh"
#include "extend.h"

#include <limits.h>

struct hspz__scan_end {
    hspz__cuda_reach reach;
    uint32_t read; /* bases looked at, the one that ended the scan included */
};

struct hspz__scan_state {
    int64_t sum, best;
    uint32_t bases;
};

/* 16 classes from base i on, first base lowest. */
__device__ __forceinline__ uint64_t hspz__classes16(const uint32_t *classes, uint32_t i)
{
    const uint32_t a = classes[i >> 3], b = classes[(i >> 3) + 1], c = classes[(i >> 3) + 2];
    const unsigned shift = 4u * (i & 7u);
    return __funnelshift_r(a, b, shift) | (uint64_t)__funnelshift_r(b, c, shift) << 32;
}

/* Bases read by one side of at most `room` bases, up to `most`; most + 1 when it goes on. One thread. */
template <bool LEFT, typename V>
__device__ uint32_t hspz__short_read(const hspz__cuda_strand &target, const hspz__cuda_strand &query,
                                     const int32_t *scores, V xdrop, uint32_t r, uint32_t q, uint32_t room,
                                     uint32_t most)
{
    const uint32_t end = room < most ? room : most;
    V sum = 0, best = 0;
    for (uint32_t i = 0; i < end; i += 16) {
        const uint32_t n = end - i < 16 ? end - i : 16; /* left: the nearest in the highest place */
        const uint64_t t = hspz__classes16(target.classes, LEFT ? r - i - n : r + i),
                       u = hspz__classes16(query.classes, LEFT ? q - i - n : q + i);
        for (uint32_t k = 0; k < n; k++) {
            const unsigned shift = 4 * (LEFT ? n - 1 - k : k);
            sum += scores[(unsigned)(t >> shift & 15) * HSPZ__ROW + (unsigned)(u >> shift & 15)];
            best = sum > best ? sum : best;
            if (best - sum > xdrop)
                return i + k + 1;
        }
    }
    return room <= most ? room : most + 1;
}

template <typename V> __device__ __forceinline__ V hspz__warp_most(V v)
{
    for (int d = 16; d > 0; d >>= 1) {
        const V other = __shfl_xor_sync(HSPZ__FULL, v, d);
        v = other > v ? other : v;
    }
    return v;
}

/* Maximum over the lanes below this one, `before` for lane 0 and as a floor. */
template <typename V> __device__ __forceinline__ V hspz__warp_most_before(V v, V before)
{
    for (unsigned d = 1; d < 32; d <<= 1) {
        const V other = __shfl_up_sync(HSPZ__FULL, v, d);
        if (hspz__lane() >= d && other > v)
            v = other;
    }
    v = __shfl_up_sync(HSPZ__FULL, v, 1);
    return hspz__lane() == 0 || v < before ? before : v;
}

/* A tile of one base a lane. True when the scan stops in it; *read is set then. */
template <bool LEFT, typename V>
__device__ __forceinline__ bool hspz__scan_narrow(const hspz__cuda_strand &target,
                                                  const hspz__cuda_strand &query, const int32_t *scores,
                                                  V xdrop, uint32_t r, uint32_t q, uint32_t tile,
                                                  uint32_t room, hspz__scan_state *state, uint32_t *read)
{
    const unsigned lane = hspz__lane(), length = room - tile < 32 ? room - tile : 32;
    V score = 0;
    if (lane < length) {
        const uint32_t k = tile + lane, t = LEFT ? r - 1 - k : r + k, u = LEFT ? q - 1 - k : q + k;
        score = scores[hspz__class(target.classes, t) * HSPZ__ROW + hspz__class(query.classes, u)];
    }
    const V inclusive = hspz__warp_prefix(score), top = (V)(state->best - state->sum); /* at most xdrop */
    const V before = hspz__warp_most_before(inclusive, top), most = inclusive > before ? inclusive : before;
    const unsigned dropped = __ballot_sync(HSPZ__FULL, lane < length && most - inclusive > xdrop);
    const unsigned good = dropped != 0 ? (unsigned)__ffs(dropped) - 1 : length;
    const V winner = __shfl_sync(HSPZ__FULL, most, good > 0 ? good - 1 : 0);
    const unsigned at = __ballot_sync(HSPZ__FULL, lane < good && inclusive == winner);
    if (good > 0 && winner > top) {
        state->bases = tile + (unsigned)__ffs(at);
        state->best = state->sum + winner;
    }
    state->sum += __shfl_sync(HSPZ__FULL, inclusive, 31);
    *read = tile + good + 1;
    return dropped != 0;
}

/* A tile of 16 bases a lane, likewise. */
template <bool LEFT, typename V>
__device__ __forceinline__ bool hspz__scan_wide(const hspz__cuda_strand &target,
                                                const hspz__cuda_strand &query, const int32_t *scores,
                                                V xdrop, uint32_t r, uint32_t q, uint32_t tile, uint32_t room,
                                                hspz__scan_state *state, uint32_t *read)
{
    const V far = (V)1 << (sizeof(V) * 8 - 2);
    const uint64_t first = tile + 16ull * hspz__lane();
    const unsigned n = first >= room ? 0 : room - first < 16 ? (unsigned)(room - first) : 16u;
    uint64_t t = 0, u = 0;
    if (n > 0) { /* left: the n bases before r - first, the nearest in the highest place */
        t = hspz__classes16(target.classes, LEFT ? r - (uint32_t)first - n : r + (uint32_t)first);
        u = hspz__classes16(query.classes, LEFT ? q - (uint32_t)first - n : q + (uint32_t)first);
    }
    V own = 0, most = -far, least = far, fall = 0;
    unsigned at = 0;
    for (unsigned k = 0; k < n; k++) {
        const unsigned shift = 4 * (LEFT ? n - 1 - k : k);
        own += scores[(unsigned)(t >> shift & 15) * HSPZ__ROW + (unsigned)(u >> shift & 15)];
        if (own > most) {
            most = own;
            at = k + 1;
        }
        fall = most - own > fall ? most - own : fall;
        least = own < least ? own : least;
    }
    const V start = hspz__warp_prefix(own) - own, top = (V)(state->best - state->sum);
    const V before = hspz__warp_most_before(n > 0 ? start + most : -far, top);
    V value = n > 0 ? start + most : -far; /* this lane's best; before a stop, if it stops here */
    unsigned stop = 16;
    if (n > 0 && (before - (start + least) > xdrop || fall > xdrop)) {
        V now = before, s = start;
        value = -far;
        for (unsigned k = 0; k < n && stop == 16; k++) {
            const unsigned shift = 4 * (LEFT ? n - 1 - k : k);
            s += scores[(unsigned)(t >> shift & 15) * HSPZ__ROW + (unsigned)(u >> shift & 15)];
            if (s > now) {
                now = s;
                value = s;
                at = k + 1;
            } else if (now - s > xdrop) {
                stop = k;
            }
        }
    }
    const unsigned dropped = __ballot_sync(HSPZ__FULL, stop < 16);
    const unsigned last = dropped != 0 ? (unsigned)__ffs(dropped) - 1 : 31;
    if (hspz__lane() > last)
        value = -far;
    const V winner = hspz__warp_most(value);
    const unsigned who = (unsigned)__ffs(__ballot_sync(HSPZ__FULL, value == winner)) - 1;
    const unsigned place = __shfl_sync(HSPZ__FULL, at, who);
    if (winner > top) {
        state->bases = tile + 16 * who + place;
        state->best = state->sum + winner;
    }
    state->sum += __shfl_sync(HSPZ__FULL, start + own, 31);
    *read = tile + 16 * last + __shfl_sync(HSPZ__FULL, stop, last) + 1;
    return dropped != 0;
}

/* The whole side, over at most `room` bases. */
template <bool LEFT, typename V>
__device__ hspz__scan_end hspz__warp_scan(const hspz__cuda_strand &target, const hspz__cuda_strand &query,
                                          const int32_t *scores, V xdrop, uint32_t r, uint32_t q,
                                          uint32_t room)
{
    hspz__scan_state state = {0, 0, 0};
    uint32_t read = 0;
    bool stopped = false;
    uint64_t tile = 0;
    for (; tile < 64 && tile < room && !stopped; tile += 32)
        stopped = hspz__scan_narrow<LEFT, V>(target, query, scores, xdrop, r, q, (uint32_t)tile, room, &state,
                                             &read);
    for (; tile < room && !stopped; tile += 512)
        stopped =
            hspz__scan_wide<LEFT, V>(target, query, scores, xdrop, r, q, (uint32_t)tile, room, &state, &read);
    const hspz__scan_end end = {{state.bases, state.best > INT32_MAX ? INT32_MAX : (int32_t)state.best, -1},
                                stopped ? read : room};
    return end;
}

#endif
