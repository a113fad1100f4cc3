/* join.h -- the fast gate: query windows in word order meet target windows in word order (LEADS: join by word).
 *
 * Idea: both sides are sorted by seed word and carry their contexts (filter.h), so that nearly all reads are of neighbours.
 * Each hit is tried by the upper-bound filter; what it cannot reject becomes a candidate key, in any order. Batches and
 * chunks play no part here: they are labels that candidates get later from their positions.
 */
#ifndef HSPZ__CUDA_JOIN_H
#define HSPZ__CUDA_JOIN_H

#include "cuda_types.h"
#include "filter.h"
#include "marks.h"
#include "segments.h"

/* A part of a bucket too long for the warp that met it. */
typedef struct hspz__cuda_part {
    uint32_t first; /* index of a target position in word order */
    uint32_t count;
    uint32_t query; /* index of a query window in word order */
    uint32_t variant;
} hspz__cuda_part;

typedef struct hspz__cuda_join {
    hspz__cuda_strand target, query;
    hspz__cuda_word word;
    hspz__cuda_filter filter;
    hspz__cuda_index index;
    /* The slice of the index in work: words word_begin .. word_end - 1, whose positions start at `slice`;
     * target_contexts holds theirs. */
    uint32_t word_begin, word_end, slice;
    const uint32_t *target_contexts;
    /* Query windows in word order; counters->windows of them are valid. */
    const uint32_t *query_words, *query_windows, *query_contexts;
    /* Candidates: keys[0 .. capacity), counters->candidates counts on beyond; likewise parts. */
    uint64_t *keys;
    uint32_t capacity;
    hspz__cuda_part *parts;
    uint32_t part_capacity;
    hspz__cuda_counters *counters; /* `next` must be 0 at each launch */
    /* For the mark rule: records of all hits instead of keys, counters->written of them. There must be room for all;
     * counters->candidates counts those that may survive. */
    uint64_t *records;
    hspz__cuda_mark_layout layout;
    int keep_long; /* without records: hits whose right scan may read HSPZ__MARK_LONG bases or more are candidates too */
} hspz__cuda_join;

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of shared memory a block of `warps` warps needs, when marks = 1 with records. */
size_t hspz__cuda_join_shared(unsigned warps, int marks);
/* parts = 0: all but the heavy buckets of the slice, which are listed; parts = 1: those listed. Records when join->records is
 * not NULL. */
cudaError_t hspz__cuda_join_run(const hspz__cuda_join *join, int parts, unsigned blocks, unsigned warps,
                                cudaStream_t stream);
/* batch_hits[b] += hits of the query windows of batch b = (window - begin) / batch_size; then hits, most_hits, refused and
 * chunks of the counters. */
cudaError_t hspz__cuda_join_count(const hspz__cuda_join *join, uint32_t most_windows, uint32_t begin,
                                  uint32_t batch_size, uint32_t batches, uint64_t max_hits,
                                  unsigned long long *batch_hits, cudaStream_t stream);
/* hits[i] of the window begin + i, in text order. */
cudaError_t hspz__cuda_window_hits(const hspz__cuda_join *join, uint32_t begin, uint32_t count,
                                   uint32_t *hits, cudaStream_t stream);
/* The cuts of segments.h from `before`, the exclusive prefix sums of those hits modulo 2^32 (count + 1 of them). */
cudaError_t hspz__cuda_cuts(const hspz__cuda_join *join, uint32_t begin, uint32_t count, uint32_t batch_size,
                            uint32_t batches, uint64_t max_hits, const uint32_t *before,
                            const uint32_t *first_chunk, uint64_t *cuts, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
