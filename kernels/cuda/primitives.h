/* primitives.h -- radix sorts and scans, the only users of CUB.
 *
 * Each function takes `temp` and *temp_bytes as CUB does: with temp NULL it only sets *temp_bytes. Sorts are stable and work
 * between two buffers; *second tells whether the result is in b (and d) rather than a (and c).
 */
#ifndef HSPZ__CUDA_PRIMITIVES_H
#define HSPZ__CUDA_PRIMITIVES_H

#include "cuda_types.h"
#include "extend.h"

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t hspz__cuda_sort_u64(void *temp, size_t *temp_bytes, uint64_t *a, uint64_t *b, uint64_t count,
                                int low_bit, int high_bit, int *second, cudaStream_t stream);
cudaError_t hspz__cuda_sort_u64_u32(void *temp, size_t *temp_bytes, uint64_t *a, uint64_t *b, uint32_t *c,
                                    uint32_t *d, uint64_t count, int low_bit, int high_bit, int *second,
                                    cudaStream_t stream);
cudaError_t hspz__cuda_sort_u32_u32(void *temp, size_t *temp_bytes, uint32_t *a, uint32_t *b, uint32_t *c,
                                    uint32_t *d, uint64_t count, int low_bit, int high_bit, int *second,
                                    cudaStream_t stream);
/* out[i] = in[0] + ... + in[i-1]; in place allowed. */
cudaError_t hspz__cuda_scan_u32(void *temp, size_t *temp_bytes, const uint32_t *in, uint32_t *out,
                                uint64_t count, cudaStream_t stream);
/* steps[i] becomes the composition of steps i, i-1, ..., 0: `i` nearest to the anchor. In place. */
cudaError_t hspz__cuda_scan_steps(void *temp, size_t *temp_bytes, hspz__cuda_step *steps, uint64_t count,
                                  cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
