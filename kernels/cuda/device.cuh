/* device.cuh -- small device functions that several kernels share.
 *
 * Idea: kernels are written against the few macros and warp functions below, all of them full-warp, so that they build with
 * nvcc and, for tests on machines without a GPU, as plain C++ under the emulator of tests/gpu/emulator.
 */
#ifndef HSPZ__DEVICE_CUH
#define HSPZ__DEVICE_CUH

#include "cuda_types.h"

#include <cuda_runtime.h>

#ifdef HSPZ_EMULATE
#include "emulate.h"
#else
#define HSPZ__LAUNCH(kernel, grid, block, shared, stream, ...)                                               \
    (kernel<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__), cudaGetLastError())
#define HSPZ__DYNAMIC_SHARED(name) extern __shared__ __align__(16) unsigned char name[]
#define HSPZ__RAISE_SHARED(kernel, bytes)                                                                    \
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)(bytes))
#endif

#define HSPZ__FULL 0xffffffffu

static inline unsigned hspz__grid(uint64_t items, unsigned block, unsigned most)
{
    uint64_t blocks = (items + block - 1) / block;
    if (blocks < 1)
        blocks = 1;
    return blocks < most ? (unsigned)blocks : most;
}

__device__ __forceinline__ uint64_t hspz__thread()
{
    return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ uint64_t hspz__threads()
{
    return (uint64_t)gridDim.x * blockDim.x;
}

__device__ __forceinline__ unsigned hspz__lane()
{
    return threadIdx.x & 31u;
}

/* Lanes below this one; this one and those below. */
__device__ __forceinline__ unsigned hspz__lanes_below()
{
    return (1u << hspz__lane()) - 1u;
}

__device__ __forceinline__ unsigned hspz__lanes_upto()
{
    return 0xffffffffu >> (31u - hspz__lane());
}

/* Reductions over the whole warp; one instruction from sm_80 on. */
__device__ __forceinline__ unsigned hspz__warp_or(unsigned v)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_or_sync(HSPZ__FULL, v);
#else
    for (int d = 16; d > 0; d >>= 1)
        v |= __shfl_xor_sync(HSPZ__FULL, v, d);
    return v;
#endif
}

__device__ __forceinline__ unsigned hspz__warp_min(unsigned v)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_min_sync(HSPZ__FULL, v);
#else
    for (int d = 16; d > 0; d >>= 1) {
        unsigned other = __shfl_xor_sync(HSPZ__FULL, v, d);
        v = other < v ? other : v;
    }
    return v;
#endif
}

__device__ __forceinline__ unsigned hspz__warp_sum(unsigned v)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_add_sync(HSPZ__FULL, v);
#else
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_xor_sync(HSPZ__FULL, v, d);
    return v;
#endif
}

/* Inclusive prefix sum over the warp. */
template <typename V> __device__ __forceinline__ V hspz__warp_prefix(V v)
{
    for (unsigned d = 1; d < 32; d <<= 1) {
        V other = __shfl_up_sync(HSPZ__FULL, v, d);
        if (hspz__lane() >= d)
            v += other;
    }
    return v;
}

/* Class of base i. */
__device__ __forceinline__ unsigned hspz__class(const uint32_t *classes, uint32_t i)
{
    return (((const uint8_t *)classes)[i >> 1] >> ((i & 1u) * 4)) & 15u;
}

/* 16 bases from base i on as 32 bits, first base lowest; i may lie HSPZ__CUDA_PAD outside the sequence. */
__device__ __forceinline__ uint32_t hspz__codes(const uint32_t *codes, int64_t i)
{
    const int64_t at = i >> 4;
    return __funnelshift_r(codes[at], codes[at + 1], 2u * (unsigned)(i & 15));
}

/* The seed word of the window at i; only for valid windows. */
__device__ __forceinline__ uint32_t hspz__word_at(const hspz__cuda_word &word, const uint32_t *codes,
                                                  uint32_t i)
{
    const uint64_t low = hspz__codes(codes, i), high = hspz__codes(codes, (int64_t)i + 16);
    const uint64_t bases = low | high << 32;
    uint32_t value = 0;
    for (uint32_t k = 0; k < word.care_count; k++) {
        const uint32_t base = (uint32_t)(bases >> (2 * word.care_offset[k])) & 3u;
        value |= (word.care_bits[k] == 2 ? base : base & 1u) << word.care_shift[k];
    }
    return value;
}

/* True when all symbols of the window at i are A, C, G or T. */
__device__ __forceinline__ bool hspz__window_valid(const uint32_t *classes, uint32_t i, uint32_t window)
{
    uint32_t at = i >> 3, skip = i & 7u, left = window;
    while (left > 0) {
        const uint32_t take = left < 8u - skip ? left : 8u - skip;
        uint32_t bits = (classes[at] & 0xccccccccu) >> (4 * skip);
        if (take < 8)
            bits &= (1u << (4 * take)) - 1u;
        if (bits != 0)
            return false;
        left -= take;
        skip = 0;
        at++;
    }
    return true;
}

/* True when a bit of `odd` is set among the bases from .. to - 1, as far as they exist. */
__device__ __forceinline__ bool hspz__any_odd(const uint32_t *odd, int64_t from, int64_t to, uint32_t length)
{
    from = from < 0 ? 0 : from;
    to = to > (int64_t)length ? (int64_t)length : to;
    for (int64_t word = from >> 5; word << 5 < to; word++) {
        uint32_t bits = odd[word];
        if (word << 5 < from)
            bits &= 0xffffffffu << (from & 31);
        if ((word + 1) << 5 > to)
            bits &= (1u << (to & 31)) - 1u;
        if (bits != 0)
            return true;
    }
    return false;
}

/* Positions of a word: their number, and the place of the first if there are any. */
template <bool COMPACT>
__device__ __forceinline__ uint32_t hspz__bucket_of(const hspz__cuda_index &index, uint32_t word,
                                                    uint32_t *first)
{
    if (!COMPACT) {
        *first = word > 0 ? index.ends[word - 1] : 0;
        return index.ends[word] - *first;
    }
    const uint64_t bits = index.bitmap[word >> 6], bit = (uint64_t)1 << (word & 63u);
    *first = 0;
    if ((bits & bit) == 0)
        return 0;
    const uint32_t rank = index.ranks[word >> 6] + (uint32_t)__popcll(bits & (bit - 1));
    *first = index.starts[rank];
    return index.starts[rank + 1] - *first;
}

/* The same where the form is not known at compile time. */
__device__ __forceinline__ uint32_t hspz__bucket(const hspz__cuda_index &index, uint32_t word,
                                                 uint32_t *first)
{
    return index.ends != NULL ? hspz__bucket_of<false>(index, word, first)
                              : hspz__bucket_of<true>(index, word, first);
}

/* Query position of a sort key. */
__device__ __forceinline__ uint32_t hspz__key_query(uint64_t key, uint32_t query_length)
{
    return (uint32_t)key - (uint32_t)(key >> 32) + query_length;
}

/* Two keys on one true diagonal: equal modulo 2^32 is not enough for blocks that together exceed 2^32. */
__device__ __forceinline__ bool hspz__same_diagonal(uint64_t a, uint64_t b, uint32_t query_length)
{
    return (a >> 32) == (b >> 32) && ((uint32_t)a < hspz__key_query(a, query_length)) ==
                                         ((uint32_t)b < hspz__key_query(b, query_length));
}

#endif
