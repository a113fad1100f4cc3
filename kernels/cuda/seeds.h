/* seeds.h -- hit discovery as the seed text 000 describes it: seeds, counts, two-level prefix, expansion (SPEC sections 4, 5).
 *
 * A seed is word << 32 | query window. Prefixes are inclusive and 32 bits wide: the caller refuses batches of 2^32 hits
 * when it has the block sums, before offsets are added.
 */
#ifndef HSPZ__CUDA_SEEDS_H
#define HSPZ__CUDA_SEEDS_H

#include "cuda_types.h"

#define HSPZ__SEED_BLOCK 256u /* counts a block sum stands for */
#define HSPZ__NO_SEED UINT64_MAX

#ifdef __cplusplus
extern "C" {
#endif

/* seeds[i * variants + v] of the windows first + i, i < count, in the order of emission; HSPZ__NO_SEED for invalid windows.
 * *valid grows by the number of valid windows. */
cudaError_t hspz__cuda_seeds(const hspz__cuda_strand *query, const hspz__cuda_word *word, uint32_t first,
                             uint32_t count, uint64_t *seeds, unsigned long long *valid, cudaStream_t stream);
/* Step C.1 and the first level of C.2: prefix[i] within its block of HSPZ__SEED_BLOCK seeds, sums[block]. */
cudaError_t hspz__cuda_count_hits(const uint64_t *seeds, uint64_t count, const hspz__cuda_index *index,
                                  uint32_t *prefix, unsigned long long *sums, cudaStream_t stream);
/* The second level: prefix[i] += offsets[block]. */
cudaError_t hspz__cuda_add_offsets(uint32_t *prefix, uint64_t count, const uint32_t *offsets,
                                   cudaStream_t stream);
/* Step C.5 for the hits first_hit .. end_hit - 1 of the batch, which belong to seeds first_seed .. end_seed - 1: anchors
 * (target << 32 | query, positions just after the window) to their slot less first_hit. warp_per_seed: the other
 * mapping, same result. */
cudaError_t hspz__cuda_expand(const uint64_t *seeds, const uint32_t *prefix, uint64_t first_seed,
                              uint64_t end_seed, uint32_t first_hit, uint32_t end_hit,
                              const hspz__cuda_index *index, uint32_t window, int warp_per_seed,
                              uint64_t *anchors, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
