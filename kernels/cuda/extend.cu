/* extend.cu -- see extend.h for the idea.
 *
 * A warp works on 32 bases at a time (a tile). A suffix scan over the tile tells, for a start at any of its boundaries, the
 * earliest maximum, the minimum and the deepest fall that follow; with these a lane moves its anchor across the tile in one
 * step. Only where a fall exceeds x-drop, or where the function of the stretch needs the order of rises and falls, does a lane
 * walk the tile boundary by boundary. Sums are relative to the tile or to the anchor, so 32 bits do for usual scores;
 * V = int64_t serves the rest.
 */
#include "device.cuh"
#include "extend.h"

#include <limits.h>

#define WARPS 4 /* a block */

/* True where a group starts. */
__device__ __forceinline__ bool is_head(const uint64_t *keys, uint32_t i, uint32_t query_length, uint32_t gap)
{
    if (i % 32 == 0)
        return true;
    const uint64_t key = keys[i], previous = keys[i - 1];
    return !hspz__same_diagonal(key, previous, query_length) || (uint32_t)key - (uint32_t)previous > gap;
}

__global__ void group_heads_kernel(const uint64_t *keys, uint32_t count, uint32_t query_length, uint32_t gap,
                                   uint32_t *heads)
{
    for (uint64_t i = hspz__thread(); i < count; i += hspz__threads())
        heads[i] = is_head(keys, (uint32_t)i, query_length, gap);
}

cudaError_t hspz__cuda_group_heads(const uint64_t *keys, uint32_t count, uint32_t query_length, uint32_t gap,
                                   uint32_t *heads, cudaStream_t stream)
{
    return HSPZ__LAUNCH(group_heads_kernel, hspz__grid(count, 256, 1u << 20), 256, 0, stream, keys, count,
                        query_length, gap, heads);
}

__global__ void group_starts_kernel(const uint64_t *keys, uint32_t count, uint32_t query_length, uint32_t gap,
                                    uint32_t *before, uint32_t *starts, uint32_t *groups)
{
    for (uint64_t i = hspz__thread(); i < count; i += hspz__threads()) {
        const bool head = is_head(keys, (uint32_t)i, query_length, gap);
        const uint32_t group = before[i] + head - 1;
        before[i] = group;
        if (head)
            starts[group] = (uint32_t)i;
        if (i + 1 == count)
            *groups = group + 1;
    }
}

cudaError_t hspz__cuda_group_starts(const uint64_t *keys, uint32_t count, uint32_t query_length, uint32_t gap,
                                    uint32_t *before, uint32_t *starts, uint32_t *groups, cudaStream_t stream)
{
    return HSPZ__LAUNCH(group_starts_kernel, hspz__grid(count, 256, 1u << 20), 256, 0, stream, keys, count,
                        query_length, gap, before, starts, groups);
}

/* The stretch a warp scans: base k of it is target base r + k (right) or r - 1 - k (left), likewise for the query. */
struct stretch {
    const uint32_t *target, *query;
    uint32_t r, q;
    uint32_t limit; /* bases up to the next group's first anchor, or to the end of a sequence */
    bool chained;   /* limit is the next group's first anchor */
};

template <bool LEFT>
__device__ __forceinline__ int32_t base_score(const stretch &s, const int32_t *scores, uint32_t k)
{
    const uint32_t t = LEFT ? s.r - 1 - k : s.r + k, q = LEFT ? s.q - 1 - k : s.q + k;
    return scores[hspz__class(s.target, t) * HSPZ__ROW + hspz__class(s.query, q)];
}

template <bool LEFT>
__device__ __forceinline__ stretch make_stretch(const uint64_t *keys, uint32_t count, uint32_t first,
                                                uint32_t end, const hspz__cuda_strand &target,
                                                const hspz__cuda_strand &query)
{
    const uint64_t key = keys[LEFT ? end - 1 : first];
    stretch s;
    s.target = target.classes;
    s.query = query.classes;
    s.r = (uint32_t)key;
    s.q = hspz__key_query(key, query.length);
    const uint32_t t_room = LEFT ? s.r : target.length - s.r, q_room = LEFT ? s.q : query.length - s.q;
    s.limit = t_room < q_room ? t_room : q_room;
    s.chained = false;
    if (LEFT ? first > 0 : end < count) {
        const uint64_t next = keys[LEFT ? first - 1 : end];
        if (hspz__same_diagonal(key, next, query.length)) {
            s.limit = LEFT ? s.r - (uint32_t)next : (uint32_t)next - s.r;
            s.chained = true;
        }
    }
    return s;
}

/* What follows boundary `lane` within the tile: over the boundaries lane + 1 .. 32. */
template <typename V> struct suffix {
    V most, least, fall; /* fall: deepest descent between two of them */
    unsigned most_at;    /* earliest */
};

template <typename V> __device__ __forceinline__ suffix<V> suffix_scan(V inclusive, bool inside)
{
    const V far = (V)1 << (sizeof(V) * 8 - 3);
    suffix<V> s;
    s.most = inside ? inclusive : -far;
    s.least = inside ? inclusive : far;
    s.fall = 0;
    s.most_at = hspz__lane() + 1;
    for (unsigned d = 1; d < 32; d <<= 1) {
        const V most = __shfl_down_sync(HSPZ__FULL, s.most, d),
                least = __shfl_down_sync(HSPZ__FULL, s.least, d);
        const V fall = __shfl_down_sync(HSPZ__FULL, s.fall, d);
        const unsigned at = __shfl_down_sync(HSPZ__FULL, s.most_at, d);
        if (hspz__lane() + d < 32) {
            const V across = s.most - least;
            s.fall = fall > s.fall ? fall : s.fall;
            s.fall = across > s.fall ? across : s.fall;
            s.least = least < s.least ? least : s.least;
            if (most > s.most) {
                s.most = most;
                s.most_at = at;
            }
        }
    }
    return s;
}

/* One anchor: a lane's. `offset` is its distance from the start of the stretch. */
template <typename V> struct anchor {
    uint32_t offset;
    bool dead;
    V lead;
    uint32_t bases;
    int64_t gain, origin; /* maximum over the anchor's own boundary; sum at that boundary */
};

/* What lane 0 learns of the stretch's function; s is the sum at the start of the tile. */
template <typename V> struct learner {
    V most, least, merge, s;
    bool settled; /* most > least + xdrop: no lead merges any more, none survives */
};

/* Walks the tile from boundary `from` on; for lane 0 with the learner. */
template <typename V>
__device__ void walk(const V *sums, unsigned from, unsigned length, uint32_t tile, int64_t tile_sum, V xdrop,
                     V top, anchor<V> *a, learner<V> *learn)
{
    for (unsigned k = from + 1; k <= length; k++) {
        const V v = sums[k];
        if (v > top) {
            if (learn != NULL && !learn->settled) {
                const V s = learn->s + v, merge = s - 1 < learn->least + xdrop ? s - 1 : learn->least + xdrop;
                learn->merge = merge > learn->merge ? merge : learn->merge;
                learn->most = s;
            }
            top = v;
            a->bases = tile + k - a->offset;
            a->gain = tile_sum + v - a->origin;
        } else if (top - v > xdrop) {
            a->dead = true;
            return;
        }
        if (learn != NULL && !learn->settled && learn->s + v < learn->least)
            learn->least = learn->s + v;
    }
    a->lead = top - sums[length];
}

/* Moves the lane's anchor, which is active in the tile, to the tile's end. */
template <typename V>
__device__ __forceinline__ void cross_tile(const V *sums, unsigned from, unsigned length, uint32_t tile,
                                           int64_t tile_sum, V xdrop, V start, V total, const suffix<V> &rest,
                                           anchor<V> *a, learner<V> *learn)
{
    const V top = start + a->lead;
    bool plain = top - rest.least <= xdrop && rest.fall <= xdrop;
    if (learn != NULL && !learn->settled) {
        const V most = learn->s + rest.most > learn->most ? learn->s + rest.most : learn->most;
        const V least = learn->s + rest.least < learn->least ? learn->s + rest.least : learn->least;
        if (plain && least + xdrop >= most) { /* whatever the order, every lead below `most` merges */
            learn->most = most;
            learn->least = least;
            learn->merge = most - 1;
        } else {
            plain = false;
        }
    }
    if (!plain) {
        walk(sums, from, length, tile, tile_sum, xdrop, top, a, learn);
    } else if (rest.most > top) {
        a->bases = tile + rest.most_at - a->offset;
        a->gain = tile_sum + rest.most - a->origin;
        a->lead = rest.most - total;
    } else {
        a->lead = top - total;
    }
    if (learn != NULL)
        learn->settled = learn->settled || learn->most > learn->least + xdrop;
}

__device__ __forceinline__ int32_t saturate(int64_t v)
{
    return v > INT32_MAX ? INT32_MAX : (int32_t)v;
}

template <typename V>
__device__ hspz__cuda_step make_step(const anchor<V> &a, const learner<V> &learn, const stretch &s, bool open,
                                     V xdrop, bool left)
{
    hspz__cuda_step step;
    step.merge = (int32_t)learn.merge;
    step.survive = step.merge;
    step.sum = 0;
    step.lead = -1;
    step.gain = a.gain;
    step.place = left ? s.r - a.bases : s.r + a.bases;
    step.unused = 0;
    if (open && !a.dead) {
        step.lead = (int32_t)a.lead;
        if (!learn.settled) {
            step.survive = (int32_t)(learn.least + xdrop);
            step.sum = (int32_t)learn.s;
        }
    }
    return step;
}

template <bool LEFT, typename V>
__device__ void scan_group(const stretch &s, const int32_t *scores, V *sums, V xdrop, anchor<V> *a,
                           learner<V> *learn)
{
    const unsigned lane = hspz__lane();
    uint32_t tile = 0;
    int64_t tile_sum = 0;
    while (tile < s.limit && !__all_sync(HSPZ__FULL, a->dead)) {
        const unsigned length = s.limit - tile < 32 ? s.limit - tile : 32;
        const V score = lane < length ? (V)base_score<LEFT>(s, scores, tile + lane) : 0;
        const V inclusive = hspz__warp_prefix(score);
        const suffix<V> mine = suffix_scan(inclusive, lane < length);
        __syncwarp();
        sums[lane + 1] = inclusive;
        if (lane == 0)
            sums[0] = 0;
        __syncwarp();
        const V total = sums[length];
        const bool starts = !a->dead && a->offset >= tile && a->offset < tile + length;
        const bool active = starts || (!a->dead && a->offset < tile);
        const unsigned from = starts ? a->offset - tile : 0;
        suffix<V> rest;
        rest.most = __shfl_sync(HSPZ__FULL, mine.most, from);
        rest.least = __shfl_sync(HSPZ__FULL, mine.least, from);
        rest.fall = __shfl_sync(HSPZ__FULL, mine.fall, from);
        rest.most_at = __shfl_sync(HSPZ__FULL, mine.most_at, from);
        if (starts) {
            a->lead = 0;
            a->origin = tile_sum + sums[from];
        }
        if (active) {
            cross_tile(sums, from, length, tile, tile_sum, xdrop, sums[from], total, rest, a,
                       lane == 0 ? learn : NULL);
            if (lane == 0 && !learn->settled)
                learn->s += total;
        }
        tile_sum += total;
        tile += length;
        const uint32_t next = hspz__warp_min(a->dead || a->offset < tile ? 0xffffffffu : a->offset);
        if (!__any_sync(HSPZ__FULL, !a->dead && a->offset < tile) && next > tile && next != 0xffffffffu)
            tile = next < s.limit ? next : s.limit; /* nobody is alive before the next anchor */
    }
}

template <bool LEFT, typename V>
__global__ void __launch_bounds__(32 * WARPS)
    scan_groups_kernel(const uint64_t *keys, uint32_t count, const uint32_t *starts, uint32_t groups,
                       hspz__cuda_strand target, hspz__cuda_strand query, hspz__cuda_rules rules,
                       hspz__cuda_reach *reaches, hspz__cuda_step *steps)
{
    __shared__ int32_t scores[HSPZ__CLASSES * HSPZ__ROW];
    __shared__ V all_sums[WARPS][34];
    for (unsigned i = threadIdx.x; i < HSPZ__CLASSES * HSPZ__ROW; i += blockDim.x)
        scores[i] = rules.scores[i];
    __syncthreads();
    V *const sums = all_sums[threadIdx.x / 32];
    const unsigned lane = hspz__lane();
    const V xdrop = rules.xdrop;
    for (uint64_t group = hspz__thread() / 32; group < groups; group += hspz__threads() / 32) {
        const uint32_t first = starts[group], end = group + 1 < groups ? starts[group + 1] : count;
        const stretch s = make_stretch<LEFT>(keys, count, first, end, target, query);
        const bool mine = lane < end - first;
        const uint32_t at = LEFT ? end - 1 - lane : first + lane;
        anchor<V> a = {0xffffffffu, !mine, 0, 0, 0, 0};
        if (mine)
            a.offset = LEFT ? s.r - (uint32_t)keys[at] : (uint32_t)keys[at] - s.r;
        learner<V> learn = {0, 0, -1, 0, false};
        scan_group<LEFT, V>(s, scores, sums, xdrop, &a, &learn);
        const bool open = s.chained && !a.dead;
        if (mine) {
            reaches[at].bases = a.bases;
            reaches[at].score = saturate(a.gain);
            reaches[at].lead = open ? (int32_t)a.lead : -1;
        }
        if (lane == 0)
            steps[LEFT ? group : groups - 1 - group] = make_step(a, learn, s, s.chained, xdrop, LEFT);
    }
}

template <bool LEFT, typename V>
static cudaError_t scan_groups(const uint64_t *keys, uint32_t count, const uint32_t *starts, uint32_t groups,
                               const hspz__cuda_strand &target, const hspz__cuda_strand &query,
                               const hspz__cuda_rules &rules, hspz__cuda_reach *reaches,
                               hspz__cuda_step *steps, cudaStream_t stream)
{
    return HSPZ__LAUNCH((scan_groups_kernel<LEFT, V>), hspz__grid(groups, WARPS, 1u << 20), 32 * WARPS, 0,
                        stream, keys, count, starts, groups, target, query, rules, reaches, steps);
}

cudaError_t hspz__cuda_scan_groups(const uint64_t *keys, uint32_t count, const uint32_t *starts,
                                   uint32_t groups, const hspz__cuda_strand *target,
                                   const hspz__cuda_strand *query, const hspz__cuda_rules *rules, int left,
                                   hspz__cuda_reach *reaches, hspz__cuda_step *steps, cudaStream_t stream)
{
    if (rules->wide)
        return left ? scan_groups<true, int64_t>(keys, count, starts, groups, *target, *query, *rules,
                                                 reaches, steps, stream)
                    : scan_groups<false, int64_t>(keys, count, starts, groups, *target, *query, *rules,
                                                  reaches, steps, stream);
    return left ? scan_groups<true, int32_t>(keys, count, starts, groups, *target, *query, *rules, reaches,
                                             steps, stream)
                : scan_groups<false, int32_t>(keys, count, starts, groups, *target, *query, *rules, reaches,
                                              steps, stream);
}

__global__ void settle_kernel(const uint64_t *keys, uint32_t count, const uint32_t *group_of, uint32_t groups,
                              bool left, const hspz__cuda_step *steps, hspz__cuda_reach *reaches)
{
    for (uint64_t i = hspz__thread(); i < count; i += hspz__threads()) {
        const hspz__cuda_reach reach = reaches[i];
        if (reach.lead < 0)
            continue;
        /* The function of all that lies beyond this group: left, group - 1; right, group + 1, stored from the end. */
        const uint32_t group = group_of[i], at = left ? group - 1 : groups - 2 - group;
        const hspz__cuda_step beyond = steps[at];
        if (reach.lead <= beyond.merge) {
            const uint32_t r = (uint32_t)keys[i];
            reaches[i].bases = left ? r - beyond.place : beyond.place - r;
            reaches[i].score = saturate((int64_t)reach.score - reach.lead + beyond.gain);
        }
        reaches[i].lead = -1;
    }
}

cudaError_t hspz__cuda_settle(const uint64_t *keys, uint32_t count, const uint32_t *group_of, uint32_t groups,
                              int left, const hspz__cuda_step *steps, hspz__cuda_reach *reaches,
                              cudaStream_t stream)
{
    return HSPZ__LAUNCH(settle_kernel, hspz__grid(count, 256, 1u << 20), 256, 0, stream, keys, count,
                        group_of, groups, left != 0, steps, reaches);
}

/* ---- the plain way (seed text 002): one warp an anchor */

template <bool LEFT, typename V>
__device__ hspz__cuda_reach extend_side(const stretch &s, const int32_t *scores, V xdrop)
{
    const unsigned lane = hspz__lane();
    int64_t sum = 0, best = 0; /* at the end of the last tile; so far */
    uint32_t bases = 0;
    for (uint32_t tile = 0; tile < s.limit; tile += 32) {
        const unsigned length = s.limit - tile < 32 ? s.limit - tile : 32;
        const V score = lane < length ? (V)base_score<LEFT>(s, scores, tile + lane) : 0;
        const V inclusive = hspz__warp_prefix(score);
        /* Running maximum before and with this base, over the tile and what came before it. */
        const V top = (V)(best - sum); /* at most xdrop */
        V most = inclusive > top ? inclusive : top;
        for (unsigned d = 1; d < 32; d <<= 1) {
            const V other = __shfl_up_sync(HSPZ__FULL, most, d);
            if (lane >= d && other > most)
                most = other;
        }
        const unsigned dropped = __ballot_sync(HSPZ__FULL, lane < length && most - inclusive > xdrop);
        const unsigned good =
            dropped != 0 ? (unsigned)__ffs(dropped) - 1 : length; /* bases before the stop */
        const V winner = __shfl_sync(HSPZ__FULL, most, good > 0 ? good - 1 : 0);
        if (good > 0 && winner > top) {
            const unsigned at = __ballot_sync(HSPZ__FULL, lane < good && inclusive == winner);
            bases = tile + (unsigned)__ffs(at);
            best = sum + winner;
        }
        sum += __shfl_sync(HSPZ__FULL, inclusive, 31);
        if (dropped != 0)
            break;
    }
    const hspz__cuda_reach reach = {bases, saturate(best), -1};
    return reach;
}

template <typename V>
__global__ void __launch_bounds__(32 * WARPS)
    materialize_kernel(const uint64_t *keys, uint32_t count, hspz__cuda_strand target,
                       hspz__cuda_strand query, hspz__cuda_rules rules, hspz__cuda_reach *right,
                       hspz__cuda_reach *left)
{
    __shared__ int32_t scores[HSPZ__CLASSES * HSPZ__ROW];
    for (unsigned i = threadIdx.x; i < HSPZ__CLASSES * HSPZ__ROW; i += blockDim.x)
        scores[i] = rules.scores[i];
    __syncthreads();
    for (uint64_t i = hspz__thread() / 32; i < count; i += hspz__threads() / 32) {
        const stretch to_right = make_stretch<false>(keys + i, 1, 0, 1, target, query);
        const hspz__cuda_reach r = extend_side<false, V>(to_right, scores, rules.xdrop);
        const stretch to_left = make_stretch<true>(keys + i, 1, 0, 1, target, query);
        const hspz__cuda_reach l = extend_side<true, V>(to_left, scores, rules.xdrop);
        if (hspz__lane() == 0) {
            right[i] = r;
            left[i] = l;
        }
    }
}

cudaError_t hspz__cuda_materialize(const uint64_t *keys, uint32_t count, const hspz__cuda_strand *target,
                                   const hspz__cuda_strand *query, const hspz__cuda_rules *rules,
                                   hspz__cuda_reach *right, hspz__cuda_reach *left, cudaStream_t stream)
{
    const hspz__cuda_strand t = *target, q = *query;
    const hspz__cuda_rules u = *rules;
    const unsigned grid = hspz__grid(count, WARPS, 1u << 20);
    if (rules->wide)
        return HSPZ__LAUNCH(materialize_kernel<int64_t>, grid, 32 * WARPS, 0, stream, keys, count, t, q, u,
                            right, left);
    return HSPZ__LAUNCH(materialize_kernel<int32_t>, grid, 32 * WARPS, 0, stream, keys, count, t, q, u, right,
                        left);
}
