/* lastz.h -- the mark rule of LASTZ (SPEC section 7), slot by slot.
 *
 * Idea: the 65,536 slots are independent. A piece of hits in raw order is sorted stably by slot; one thread walks the hits of
 * its slot in order and carries the slot's mark from piece to piece. Hits that pass the gate are appended, with both
 * sides, for the record stages; their raw rank gives the order.
 */
#ifndef HSPZ__CUDA_LASTZ_H
#define HSPZ__CUDA_LASTZ_H

#include "cuda_types.h"
#include "extend.h"

#define HSPZ__SLOT_BITS 16

#ifdef __cplusplus
extern "C" {
#endif

/* slots[i] of anchors (target << 32 | query); ids[i] = i. */
cudaError_t hspz__cuda_slots(const uint64_t *anchors, uint32_t count, uint32_t *slots, uint32_t *ids,
                             cudaStream_t stream);
/* ids in slot order, slot_ends as hspz__cuda_bucket_ends makes them. Survivors go to the four arrays from *total on
 * (counted on beyond capacity); *skipped grows by the hits that a mark forbids. */
cudaError_t hspz__cuda_walk_slots(const uint64_t *anchors, const uint32_t *ids, const uint32_t *slot_ends,
                                  uint32_t first_rank, const hspz__cuda_strand *target,
                                  const hspz__cuda_strand *query, const hspz__cuda_rules *rules,
                                  uint32_t window, uint32_t *marks, uint64_t *keys, uint32_t *ranks,
                                  hspz__cuda_reach *right, hspz__cuda_reach *left, uint32_t capacity,
                                  unsigned long long *total, unsigned long long *skipped,
                                  cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
