/* encode.h -- ASCII to packed classes and codes, both strands in one pass (SPEC section 2). */
#ifndef HSPZ__CUDA_ENCODE_H
#define HSPZ__CUDA_ENCODE_H

#include "cuda_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Words of the arrays of a strand of `length` bases. Codes start HSPZ__CUDA_PAD / 16 words into their allocation. */
#define HSPZ__CUDA_CLASS_WORDS(length) (4 * (((uint64_t)(length) + 31) / 32) + 8)
#define HSPZ__CUDA_CODE_WORDS(length) (2 * (((uint64_t)(length) + 31) / 32) + 2 * (HSPZ__CUDA_PAD / 16) + 4)
#define HSPZ__CUDA_ODD_WORDS(length) (((uint64_t)(length) + 31) / 32 + 2)

/* Encodes ascii[0..length) into `plus` and, unless NULL, its reverse complement into `minus`. class_of: 256 bytes, 0xff for
 * what is no symbol. notes[0] (UINT64_MAX before) becomes the first such offset, notes[1] (likewise) that of the first odd
 * symbol. Bit c of `odd_classes`: class c goes into
 * `odd`. `salt` makes the pseudo-random codes of different sequences independent. */
cudaError_t hspz__cuda_encode(const uint8_t *ascii, uint32_t length, const uint8_t *class_of,
                              uint32_t odd_classes, uint32_t salt, const hspz__cuda_strand *plus,
                              const hspz__cuda_strand *minus, unsigned long long *notes, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
