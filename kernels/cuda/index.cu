/* index.cu -- see index.h.
 *
 * Idea: words and positions are made by one thread a window and sorted by the caller (stable, so positions ascend within a
 * bucket as SPEC asks). The bucket table is found by binary search, one thread a word; a block first narrows the range
 * for its 256 words, which leaves a few steps in cached memory and does not care how sparse the words are.
 */
#include "device.cuh"
#include "index.h"

__global__ void words_kernel(hspz__cuda_strand strand, hspz__cuda_word word, uint32_t first, uint32_t step,
                             uint32_t count, uint32_t *words, uint32_t *positions, unsigned long long *valid)
{
    __shared__ unsigned found;
    if (threadIdx.x == 0)
        found = 0;
    __syncthreads();
    unsigned mine = 0;
    for (uint64_t i = hspz__thread(); i < count; i += hspz__threads()) {
        const uint32_t at = first + (uint32_t)i * step;
        const bool good = hspz__window_valid(strand.classes, at, word.window);
        words[i] = good ? hspz__word_at(word, strand.codes, at) : 1u << word.bits;
        positions[i] = at;
        mine += good;
    }
    mine = hspz__warp_sum(mine);
    if (hspz__lane() == 0)
        atomicAdd(&found, mine);
    __syncthreads();
    if (threadIdx.x == 0 && found > 0)
        atomicAdd(valid, (unsigned long long)found);
}

cudaError_t hspz__cuda_words(const hspz__cuda_strand *strand, const hspz__cuda_word *word, uint32_t first,
                             uint32_t step, uint32_t count, uint32_t *words, uint32_t *positions,
                             unsigned long long *valid, cudaStream_t stream)
{
    const hspz__cuda_strand s = *strand;
    const hspz__cuda_word w = *word;
    return HSPZ__LAUNCH(words_kernel, hspz__grid(count, 256, 4096), 256, 0, stream, s, w, first, step, count,
                        words, positions, valid);
}

/* Number of the words in [low, high) that are <= w, plus low. */
__device__ uint32_t upper_bound(const uint32_t *words, uint32_t low, uint32_t high, uint32_t w)
{
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (words[middle] <= w)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__global__ void bucket_ends_kernel(const uint32_t *words, uint32_t count, uint64_t all, uint32_t *ends)
{
    __shared__ uint32_t range[2];
    for (uint64_t base = (uint64_t)blockIdx.x * 256; base < all; base += (uint64_t)gridDim.x * 256) {
        const uint64_t last = base + 255 < all ? base + 255 : all - 1;
        if (threadIdx.x < 2)
            range[threadIdx.x] = upper_bound(words, 0, count, (uint32_t)(threadIdx.x == 0 ? base : last));
        __syncthreads();
        const uint64_t w = base + threadIdx.x;
        if (w < all)
            ends[w] = upper_bound(words, range[0], range[1], (uint32_t)w);
        __syncthreads();
    }
}

cudaError_t hspz__cuda_bucket_ends(const uint32_t *words, uint32_t count, uint32_t bits, uint32_t *ends,
                                   cudaStream_t stream)
{
    const uint64_t all = (uint64_t)1 << bits;
    return HSPZ__LAUNCH(bucket_ends_kernel, hspz__grid(all, 256, 1u << 20), 256, 0, stream, words, count, all,
                        ends);
}

__device__ __forceinline__ uint32_t block_at(const uint32_t *codes, int64_t i)
{
    return hspz__codes(codes, i) & (HSPZ__FILTER_ENTRIES - 1);
}

__global__ void contexts_kernel(hspz__cuda_strand strand, hspz__cuda_word word, hspz__cuda_filter filter,
                                const uint32_t *positions, uint32_t count,
                                const unsigned long long *count_on_device, uint32_t flag, uint4 *contexts)
{
    if (count_on_device != NULL && *count_on_device < count)
        count = (uint32_t)*count_on_device;
    const int64_t side = HSPZ__FILTER_SIDE * HSPZ__FILTER_BLOCK;
    for (uint64_t i = hspz__thread(); i < count; i += hspz__threads()) {
        const int64_t p = positions[i], r = p + word.window;
        uint32_t field[16], out[8];
        uint32_t inner[2] = {0, 0};
        for (uint32_t k = 0; k < filter.dont_care; k++) {
            const uint32_t code = hspz__codes(strand.codes, p + filter.dont_care_offset[k]) & 3u;
            inner[k / 7] |= code << (2 * (k % 7));
        }
        field[0] = inner[0];
        field[1] = inner[1];
#pragma unroll
        for (int k = 0; k < 7; k++) {
            field[2 + k] = block_at(strand.codes, r + 7 * k);
            field[9 + k] = hspz__reverse_block(block_at(strand.codes, p - 7 * k - 7));
        }
#pragma unroll
        for (int k = 0; k < 8; k++)
            out[k] = field[2 * k] << 2 | field[2 * k + 1] << 18;
        if (strand.odd != NULL && hspz__any_odd(strand.odd, p - side, r + side, strand.length))
            out[0] |= flag;
        contexts[2 * i] = make_uint4(out[0], out[1], out[2], out[3]);
        contexts[2 * i + 1] = make_uint4(out[4], out[5], out[6], out[7]);
    }
}

cudaError_t hspz__cuda_contexts(const hspz__cuda_strand *strand, const hspz__cuda_word *word,
                                const hspz__cuda_filter *filter, const uint32_t *positions, uint32_t count,
                                const unsigned long long *count_on_device, uint32_t flag, uint32_t *contexts,
                                cudaStream_t stream)
{
    const hspz__cuda_strand s = *strand;
    const hspz__cuda_word w = *word;
    const hspz__cuda_filter f = *filter;
    return HSPZ__LAUNCH(contexts_kernel, hspz__grid(count, 256, 1u << 20), 256, 0, stream, s, w, f, positions,
                        count, count_on_device, flag, (uint4 *)contexts);
}
