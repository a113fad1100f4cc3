/* gate.h -- the score gate of seed text 001: raw anchors to flags, and what survives to sort keys.
 *
 * Anchors are target << 32 | query, in raw order.
 */
#ifndef HSPZ__CUDA_GATE_H
#define HSPZ__CUDA_GATE_H

#include "cuda_types.h"
#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* flags[id] = 1 if the total of the anchor reaches rules->keep_total, else 0, where id = ids[i], or i when ids is NULL:
 * every slot of flags[0..count) is written. One warp takes 32 anchors. */
cudaError_t hspz__cuda_gate(const uint64_t *anchors, const uint32_t *ids, uint32_t count,
                            const hspz__cuda_strand *target, const hspz__cuda_strand *query,
                            const hspz__cuda_rules *rules, uint32_t *flags, cudaStream_t stream);
/* The same by the upper-bound filter, one thread an anchor: flags[id] = 0 only where the total cannot reach the threshold; what is
 * flagged is decided by the exact extension. Needs HSPZ__FILTER_ENTRIES words of shared memory. */
cudaError_t hspz__cuda_screen(const uint64_t *anchors, const uint32_t *ids, uint32_t count,
                              const hspz__cuda_strand *target, const hspz__cuda_strand *query,
                              const hspz__cuda_filter *filter, unsigned blocks, uint32_t *flags,
                              cudaStream_t stream);
/* ids[i] = i. */
cudaError_t hspz__cuda_number(uint32_t *ids, uint32_t count, cudaStream_t stream);
/* Stable compaction: before = exclusive prefix sums of flags. Sort keys and raw ranks (first_rank + i) of the survivors go to
 * keys[already ..], ranks[already ..] up to `capacity`; *total = already + survivors. */
cudaError_t hspz__cuda_emit(const uint64_t *anchors, const uint32_t *flags, const uint32_t *before,
                            uint32_t count, uint32_t query_length, uint32_t first_rank, uint32_t already,
                            uint32_t capacity, uint64_t *keys, uint32_t *ranks, unsigned long long *total,
                            cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
