/* backend_cuda_unit.h -- query windows in word order, joined with the target: what the fast gate and the mark rule share.
 *
 * Idea: a unit is a stretch of query windows that is worked off at once. Its windows are sorted by word and get their contexts, their
 * hits are counted per batch, and one launch a slice of the target index runs the filter over all hits.
 */
#ifndef HSPZ__BACKEND_CUDA_UNIT_H
#define HSPZ__BACKEND_CUDA_UNIT_H

#include "../kernels/cuda/join.h"
#include "backend_cuda.h"

#define HSPZ__UNIT_WINDOWS ((uint64_t)1 << 25)
#define HSPZ__PARTS ((uint64_t)1 << 18)
#define HSPZ__RECORD_BYTES 20u /* of the arrays for a mark record */

typedef struct hspz__cuda_unit {
    hspz__cuda_call *call;
    uint32_t begin, count; /* windows */
    uint32_t batch_size, batches;
    uint32_t windows_capacity; /* of the arrays below */
    uint32_t *words[2], *windows[2], *contexts;
    uint32_t *slice_contexts;
    uint32_t *window_hits, *first_chunk;
    unsigned long long *batch_hits;
    uint64_t *cuts;
    hspz__cuda_part *parts;
    uint64_t part_capacity;
    hspz__cuda_candidates candidates;
    hspz__cuda_join join;
    uint64_t record_capacity; /* for the mark rule: hits, 0 without it */
    uint64_t *records[2];
    uint32_t *list, *slot_ends;
} hspz__cuda_unit;

/* Takes the arrays for `capacity` candidates from the device's arena, which is made large enough. */
hspz_status hspz__unit_reserve(hspz__cuda_unit *u, uint32_t capacity);
/* Query windows in word order with their contexts; clears the counters. */
hspz_status hspz__unit_sort(hspz__cuda_unit *u);
/* Hits of each batch and their summary, in the counters. */
hspz_status hspz__unit_count(hspz__cuda_unit *u);
/* Runs the join over all slices and reads the counters; *parts becomes the largest number of parts of a slice. */
hspz_status hspz__unit_join(hspz__cuda_unit *u, uint64_t *parts);
/* HSPZ_E_TOO_MANY_HITS for a batch of the unit. */
hspz_status hspz__unit_refuse(const hspz__cuda_unit *u, uint64_t batch);
/* Counts of the unit but for batches and chunks. */
void hspz__unit_note(const hspz__cuda_unit *u, const hspz__cuda_counters *found);
/* Room for candidates to start with, and the most there can be beside the unit's other arrays. */
uint32_t hspz__unit_first_capacity(const hspz__cuda_unit *u);
uint64_t hspz__unit_most_capacity(const hspz__cuda_unit *u);
/* Room for parts of heavy buckets to start with. */
uint64_t hspz__unit_first_parts(const hspz__cuda_unit *u);
/* Windows of a unit: whole batches, or part of one that is longer than a unit. */
uint64_t hspz__unit_windows(hspz__cuda *cuda, uint64_t batch_size);

#endif
