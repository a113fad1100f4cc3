/* compact.h -- the bucket table of seed words that occur, for patterns with far more words than the target has (SPEC section 10).
 *
 * Idea: a bitmap says which words occur, a rank for each 64 of its bits how many occur before them; the bucket of the word
 * of rank k is positions[starts[k] .. starts[k + 1]). That is 1.5 bits a word and 4 bytes a word that occurs, where the direct table
 * takes 32 bits a word; most lookups end in the bitmap, which the L2 cache holds.
 */
#ifndef HSPZ__CUDA_COMPACT_H
#define HSPZ__CUDA_COMPACT_H

#include "cuda_types.h"

#define HSPZ__COMPACT_BLOCK 64u /* words a rank stands for; a pattern has at least 2^8 words */

#ifdef __cplusplus
extern "C" {
#endif

/* heads[i] = 1 where the ascending words[i] differs from the one before it, i < count. */
cudaError_t hspz__cuda_compact_heads(const uint32_t *words, uint32_t count, uint32_t *heads,
                                     cudaStream_t stream);
/* The table of `count` >= 1 ascending words below 2^bits, `distinct` of them different; before = exclusive prefix sums of heads.
 * bitmap is zero: 2^bits / 64 of it and of ranks, distinct + 1 starts, all of which are written. */
cudaError_t hspz__cuda_compact_table(const uint32_t *words, const uint32_t *heads, const uint32_t *before,
                                     uint32_t count, uint32_t distinct, uint32_t bits, uint64_t *bitmap,
                                     uint32_t *ranks, uint32_t *starts, cudaStream_t stream);
/* ends[i] = number of positions of the words below (i + 1) << shift, i < samples, for an index of either form. */
cudaError_t hspz__cuda_index_samples(const hspz__cuda_index *index, uint32_t shift, uint32_t samples,
                                     uint32_t *ends, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
