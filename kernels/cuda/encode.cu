/* encode.cu -- see encode.h.
 *
 * Idea: a thread makes 32 bases of a strand, so that every word it writes is its own. The minus strand reads the same bytes
 * from the end and complements A, C, G, T (3 - code); all other classes are their own complement. Symbols that are no
 * plain base get pseudo-random codes: long runs of them must not look alike to the upper-bound filter.
 */
#include "device.cuh"
#include "encode.h"

__device__ __forceinline__ uint32_t random_code(uint32_t i, uint32_t salt)
{
    uint32_t x = i * 0x9e3779b1u + salt;
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    x ^= x >> 16;
    return x & 3u;
}

/* 32 bases from `first` on, which may lie outside the sequence: only codes are made there. */
__device__ void encode_group(const uint8_t *ascii, uint32_t length, const uint8_t *class_of,
                             uint32_t odd_classes, uint32_t salt, bool reverse, int64_t first,
                             const hspz__cuda_strand &out, unsigned long long *notes)
{
    uint32_t classes[4] = {0, 0, 0, 0}, codes[2] = {0, 0}, odd = 0;
#pragma unroll
    for (int k = 0; k < 32; k++) {
        const int64_t i = first + k;
        uint32_t symbol = HSPZ__SEPARATOR;
        if (i >= 0 && i < (int64_t)length) {
            const int64_t from = reverse ? (int64_t)length - 1 - i : i;
            symbol = class_of[ascii[from]];
            if (symbol == 0xff) {
                atomicMin(&notes[0], (unsigned long long)from);
                symbol = HSPZ__SEPARATOR;
            }
            if (reverse && symbol <= HSPZ__T)
                symbol = 3u - symbol;
            odd |= ((odd_classes >> symbol) & 1u) << k;
        }
        classes[k / 8] |= symbol << (4 * (k % 8));
        const uint32_t code = symbol <= HSPZ__T ? symbol : random_code((uint32_t)i, salt);
        codes[k / 16] |= code << (2 * (k % 16));
    }
    const int64_t group = first / 32; /* exact: `first` is a multiple of 32 */
    out.codes[2 * group] = codes[0];
    out.codes[2 * group + 1] = codes[1];
    if (first < 0 || first >= (int64_t)length)
        return;
    for (int k = 0; k < 4; k++)
        out.classes[4 * group + k] = classes[k];
    if (out.odd != NULL)
        out.odd[group] = odd;
    if (odd != 0)
        atomicMin(&notes[1], (unsigned long long)first);
}

__global__ void encode_kernel(const uint8_t *ascii, uint32_t length, const uint8_t *class_of,
                              uint32_t odd_classes, uint32_t salt, hspz__cuda_strand plus,
                              hspz__cuda_strand minus, bool both, unsigned long long *notes)
{
    __shared__ uint8_t table[256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
        table[i] = class_of[i];
    __syncthreads();
    const int64_t pad = HSPZ__CUDA_PAD / 32, groups = ((int64_t)length + 31) / 32 + 2 * pad;
    for (int64_t g = (int64_t)hspz__thread(); g < groups; g += (int64_t)hspz__threads()) {
        const int64_t first = 32 * (g - pad);
        encode_group(ascii, length, table, odd_classes, salt, false, first, plus, notes);
        if (both)
            encode_group(ascii, length, table, odd_classes, salt ^ 0x5bd1e995u, true, first, minus, notes);
    }
}

cudaError_t hspz__cuda_encode(const uint8_t *ascii, uint32_t length, const uint8_t *class_of,
                              uint32_t odd_classes, uint32_t salt, const hspz__cuda_strand *plus,
                              const hspz__cuda_strand *minus, unsigned long long *notes, cudaStream_t stream)
{
    const unsigned grid = hspz__grid((uint64_t)length / 32 + 1 + 2 * (HSPZ__CUDA_PAD / 32), 128, 1u << 20);
    const hspz__cuda_strand a = *plus, b = minus != NULL ? *minus : *plus;
    const bool both = minus != NULL;
    return HSPZ__LAUNCH(encode_kernel, grid, 128, 0, stream, ascii, length, class_of, odd_classes, salt, a, b,
                        both, notes);
}
