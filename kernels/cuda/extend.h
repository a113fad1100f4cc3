/* extend.h -- exact extension of anchors sorted by diagonal, at a cost that does not depend on how many share an HSP.
 *
 * Idea (SPEC section 11 (c)): let P be the running sum along a diagonal. The right scan of anchor a stops at the first x with
 * max P[a..x] - P(x) > xdrop and wins at the earliest maximum before. Once the scan of a has passed a later anchor b, all that
 * it remembers is its lead: max P[a..b] - P(b), between 0 and xdrop. What lies right of b can therefore be said once for all
 * anchors left of it, as a function of the lead:
 *
 *     lead <= merge             a new maximum comes before the lead is lost: from there on the scan is that of b itself
 *     merge < lead <= survive   no new maximum, not stopped: at the end of the stretch the lead is lead - sum
 *     survive < lead            stopped, the old maximum stands
 *
 * Such functions compose (hspz__step_compose) and composition is associative. So: anchors of a diagonal are cut into groups
 * of at most 32 neighbours; one warp scans from the first anchor of its group to the first of the next, and finds what
 * becomes of its anchors on that stretch as well as the stretch's function; a scan over all groups composes the functions; each
 * anchor that left its group alive looks up its fate. Every base of a diagonal is read once, whatever the number of anchors.
 * The left scan is the mirror image. A "boundary" is the place before a base: anchor position r is a boundary.
 *
 * All results are pure functions of (diagonal, anchor): grouping, order and buffer sizes do not show.
 */
#ifndef HSPZ__CUDA_EXTEND_H
#define HSPZ__CUDA_EXTEND_H

#include "cuda_types.h"

#ifdef __CUDACC__
#define HSPZ__ANYWHERE __host__ __device__ __forceinline__
#else
#define HSPZ__ANYWHERE static inline
#endif

/* What a stretch does to a lead. */
typedef struct hspz__cuda_step {
    int32_t merge;   /* -1: no lead merges */
    int32_t survive; /* >= merge; equal: none survives */
    int32_t sum;     /* score of the stretch; only read when some lead survives */
    int32_t lead;    /* of the merged scan at the end of the stretch; -1: it has ended */
    int64_t gain;    /* score from the start of the stretch to the merged scan's maximum */
    uint32_t place;  /* target boundary of that maximum */
    uint32_t unused;
} hspz__cuda_step;

/* First `near`, then `far`. */
HSPZ__ANYWHERE hspz__cuda_step hspz__step_compose(hspz__cuda_step near, hspz__cuda_step far)
{
    hspz__cuda_step both = near;
    if (near.survive > near.merge) {
        int64_t merge = (int64_t)far.merge + near.sum, survive = (int64_t)far.survive + near.sum;
        merge = merge > near.survive ? near.survive : merge;
        survive = survive > near.survive ? near.survive : survive;
        both.merge = merge > near.merge ? (int32_t)merge : near.merge;
        both.survive = survive > both.merge ? (int32_t)survive : both.merge;
        both.sum = both.survive > both.merge ? (int32_t)((int64_t)near.sum + far.sum) : 0;
    } else {
        both.survive = both.merge;
        both.sum = 0;
    }
    if (near.lead < 0)
        return both;
    if (near.lead <= far.merge) {
        both.gain = near.gain - near.lead + far.gain;
        both.place = far.place;
        both.lead = far.lead;
    } else {
        both.lead = near.lead <= far.survive ? near.lead - far.sum : -1;
    }
    return both;
}

/* Per anchor and side. Between the passes `lead` is >= 0 where the scan left its group alive. */
typedef struct hspz__cuda_reach {
    uint32_t bases; /* scanned up to the earliest maximum, 0 if none is positive */
    int32_t score;  /* the maximum, at most INT32_MAX */
    int32_t lead;   /* -1: final */
} hspz__cuda_reach;

#ifdef __cplusplus
extern "C" {
#endif

/* heads[i] = 1 where a group starts: new diagonal, distance over `gap`, or every 32nd anchor. keys ascend. */
cudaError_t hspz__cuda_group_heads(const uint64_t *keys, uint32_t count, uint32_t query_length, uint32_t gap,
                                   uint32_t *heads, cudaStream_t stream);
/* starts[g] of each group, from the exclusive prefix sums of the heads; *groups is their number. `before` becomes
 * each anchor's group. */
cudaError_t hspz__cuda_group_starts(const uint64_t *keys, uint32_t count, uint32_t query_length, uint32_t gap,
                                    uint32_t *before, uint32_t *starts, uint32_t *groups,
                                    cudaStream_t stream);
/* One side (left = 0 or 1) of all anchors: reaches[count], steps[groups]; steps are stored farthest first, ready for
 * hspz__cuda_scan_steps. */
cudaError_t hspz__cuda_scan_groups(const uint64_t *keys, uint32_t count, const uint32_t *starts,
                                   uint32_t groups, const hspz__cuda_strand *target,
                                   const hspz__cuda_strand *query, const hspz__cuda_rules *rules, int left,
                                   hspz__cuda_reach *reaches, hspz__cuda_step *steps, cudaStream_t stream);
/* Settles the anchors that left their group alive. */
cudaError_t hspz__cuda_settle(const uint64_t *keys, uint32_t count, const uint32_t *group_of, uint32_t groups,
                              int left, const hspz__cuda_step *steps, hspz__cuda_reach *reaches,
                              cudaStream_t stream);

/* The same result the plain way (seed text 002): one warp an anchor, both sides. */
cudaError_t hspz__cuda_materialize(const uint64_t *keys, uint32_t count, const hspz__cuda_strand *target,
                                   const hspz__cuda_strand *query, const hspz__cuda_rules *rules,
                                   hspz__cuda_reach *right, hspz__cuda_reach *left, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
