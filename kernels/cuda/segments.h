/* segments.h -- from extended anchors to final HSPs: gate, entropy, dedup, order (SPEC sections 6 and 7).
 *
 * Idea: anchors come sorted by (diagonal, target position). Along a diagonal both ends of the segments of ascending anchors
 * never go back, so equal segments are neighbours and collapse at once, the segments of one chunk and diagonal are already in the
 * order of the chunk rule, and containment only ever concerns neighbours. What is left is sorted once for output.
 * Entropy is judged on the device only where no rounding could change the decision or the score; the rest goes to the host.
 */
#ifndef HSPZ__CUDA_SEGMENTS_H
#define HSPZ__CUDA_SEGMENTS_H

#include "cuda_types.h"
#include "extend.h"

/* Which MAX_HITS chunk a hit of the call belongs to. batch = (query window - begin) / batch_size; with `first_chunk` NULL each batch
 * is one chunk and the label is `first_label` + batch. Otherwise the chunks of a batch are first_chunk[batch] ..
 * first_chunk[batch + 1] - 1, and cuts[c] is the first seed of chunk c + 1, as query window << 4 | variant. batch_size 0:
 * one label for all. */
typedef struct hspz__cuda_labels {
    uint32_t begin;
    uint32_t batch_size;
    const uint32_t *first_chunk;
    const uint64_t *cuts;
    hspz__cuda_word word;
} hspz__cuda_labels;

typedef struct hspz__cuda_segments {
    const uint64_t *keys;
    const uint32_t *ranks; /* raw rank of each anchor, or NULL: derived from the anchor */
    uint32_t count;
    const hspz__cuda_reach *right, *left;
    hspz__cuda_strand target, query;
    hspz__cuda_labels labels;
    int32_t keep_total, hspthresh, entropy;
    double ln4;   /* the rule's own: (double)logf(4.0f), or log(4.0) under HSPZ_DEDUP_LASTZ */
    uint32_t raw; /* 1: nothing collapses, `order` is the raw order; 0: `order` is the label */
} hspz__cuda_segments;

/* Counters of a call, on the device; the host reads them between passes. */
typedef struct hspz__cuda_counters {
    unsigned long long survivors; /* anchors that pass the gate */
    unsigned long long records;   /* after collapsing */
    unsigned long long uncertain; /* records for the host to judge */
    unsigned long long accepted;  /* records */
    unsigned long long accepted_hits;
    unsigned long long kept;
    unsigned long long candidates; /* anchors that the filter lets through, stored or not */
    unsigned long long parts;      /* of heavy buckets, stored or not */
    unsigned long long next;       /* work distribution */
    unsigned long long written;    /* mark records */
    unsigned long long listed;     /* mark records whose read must be exact */
    unsigned long long extended;   /* survivors of the mark rule */
    unsigned long long longer;     /* runs of mark records too long to be put in order by one thread */
    unsigned long long requests;   /* places before which a slot's hits must be complete, see near.h */
    unsigned long long lost;       /* hits whose mark before the unit is not known */
    unsigned long long windows;    /* valid query windows */
    unsigned long long bad;        /* offset of the first byte that is no symbol */
    unsigned long long hits;
    unsigned long long skipped;
    unsigned long long most_hits; /* of a batch */
    unsigned long long refused;   /* first batch with 2^32 or more hits, or UINT64_MAX */
    unsigned long long chunks;
    unsigned groups;
    unsigned unused;
} hspz__cuda_counters;

/* A record that the host judges. */
typedef struct hspz__cuda_uncertain {
    uint32_t record;
    int32_t total; /* afterwards the score, INT32_MIN: not accepted */
    uint32_t extent;
    uint32_t matches[4];
    uint32_t unused;
} hspz__cuda_uncertain;

#ifdef __cplusplus
extern "C" {
#endif

/* heads[i] = 1 where anchor i survives and its segment is not that of anchor i - 1. */
cudaError_t hspz__cuda_mark_heads(const hspz__cuda_segments *s, uint32_t *heads,
                                  hspz__cuda_counters *counters, cudaStream_t stream);
/* Records of the heads; before = exclusive prefix sums of heads. score is the total still. */
cudaError_t hspz__cuda_make_records(const hspz__cuda_segments *s, const uint32_t *heads,
                                    const uint32_t *before, hspz_hsp *records, uint64_t *order,
                                    hspz__cuda_counters *counters, cudaStream_t stream);
/* accepted[i] = 1 or 0, score final; what is uncertain is listed (accepted 0 until hspz__cuda_apply). */
cudaError_t hspz__cuda_judge(const hspz__cuda_segments *s, hspz_hsp *records, uint32_t count,
                             uint32_t *accepted, hspz__cuda_uncertain *uncertain,
                             hspz__cuda_counters *counters, cudaStream_t stream);
cudaError_t hspz__cuda_apply(const hspz__cuda_uncertain *judged, uint32_t count, hspz_hsp *records,
                             uint32_t *accepted, cudaStream_t stream);
/* counters->accepted_hits += survivors whose record is accepted. */
cudaError_t hspz__cuda_count_accepted(const hspz__cuda_segments *s, const uint32_t *heads,
                                      const uint32_t *before, const uint32_t *accepted,
                                      hspz__cuda_counters *counters, cudaStream_t stream);
/* Stable compaction of what is flagged; `before` = exclusive prefix sums of flags; *total = how many. */
cudaError_t hspz__cuda_compact(const hspz_hsp *records, const uint64_t *order, const uint32_t *flags,
                               const uint32_t *before, uint32_t count, hspz_hsp *out, uint64_t *out_order,
                               unsigned long long *total, cudaStream_t stream);
/* keep[i] = 1 or 0 for records in diagonal order. rule: HSPZ_DEDUP_CHUNK, HSPZ_DEDUP_MAXIMAL, or HSPZ_DEDUP_INTERVAL, which
 * drops a record equal to the one before. */
cudaError_t hspz__cuda_dedup(const hspz_hsp *records, const uint64_t *order, uint32_t count, uint32_t rule,
                             uint32_t *keep, cudaStream_t stream);
/* Sort keys for output and places[i] = i: `order` itself when raw, else order << (query_bits + target_bits) | query_start <<
 * target_bits | target_start. */
cudaError_t hspz__cuda_output_keys(const hspz_hsp *records, const uint64_t *order, uint32_t count,
                                   uint32_t raw, uint32_t query_bits, uint32_t target_bits, uint64_t *keys,
                                   uint32_t *places, cudaStream_t stream);
/* keys[i] = order[places[i]]: the second sort when one key cannot hold everything. */
cudaError_t hspz__cuda_order_keys(const uint64_t *order, const uint32_t *places, uint32_t count,
                                  uint64_t *keys, cudaStream_t stream);
cudaError_t hspz__cuda_gather(const hspz_hsp *records, const uint32_t *places, uint32_t count, hspz_hsp *out,
                              cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
