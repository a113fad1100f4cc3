/* index.h -- seed words of windows, the bucket table, and contexts (SPEC section 3; LEADS: contexts beside positions). */
#ifndef HSPZ__CUDA_INDEX_H
#define HSPZ__CUDA_INDEX_H

#include "cuda_types.h"
#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* words[i], positions[i] for the windows first + i * step, i < count; an invalid window gets the word 2^bits, which sorts
 * last. *valid grows by the number of valid windows. */
cudaError_t hspz__cuda_words(const hspz__cuda_strand *strand, const hspz__cuda_word *word, uint32_t first,
                             uint32_t step, uint32_t count, uint32_t *words, uint32_t *positions,
                             unsigned long long *valid, cudaStream_t stream);

/* ends[w] = number of the `count` ascending words that are <= w, for all 2^bits words. */
cudaError_t hspz__cuda_bucket_ends(const uint32_t *words, uint32_t count, uint32_t bits, uint32_t *ends,
                                   cudaStream_t stream);

/* The context of each window positions[i], eight words each; see filter.h. `flag` (1 target, 2 query) marks contexts with
 * an odd symbol. At most *count_on_device of `count` are made when that pointer is not NULL. */
cudaError_t hspz__cuda_contexts(const hspz__cuda_strand *strand, const hspz__cuda_word *word,
                                const hspz__cuda_filter *filter, const uint32_t *positions, uint32_t count,
                                const unsigned long long *count_on_device, uint32_t flag, uint32_t *contexts,
                                cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
