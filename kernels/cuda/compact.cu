/* compact.cu -- see compact.h.
 *
 * Idea: in sorted words the first of each bucket is a head; the prefix sum of heads is its rank. Heads write their start and their
 * bit. A block's rank is that of the first word at or above it, found by binary search; threads that are neighbours search
 * neighbouring places, so that their reads meet in the caches.
 */
#include "compact.h"
#include "device.cuh"

__global__ void compact_heads_kernel(const uint32_t *words, uint32_t count, uint32_t *heads)
{
    for (uint64_t i = hspz__thread(); i < count; i += hspz__threads())
        heads[i] = i == 0 || words[i] != words[i - 1];
}

cudaError_t hspz__cuda_compact_heads(const uint32_t *words, uint32_t count, uint32_t *heads,
                                     cudaStream_t stream)
{
    return HSPZ__LAUNCH(compact_heads_kernel, hspz__grid(count, 256, 1u << 20), 256, 0, stream, words, count,
                        heads);
}

__global__ void compact_starts_kernel(const uint32_t *words, const uint32_t *heads, const uint32_t *before,
                                      uint32_t count, uint32_t distinct, uint32_t *bitmap, uint32_t *starts)
{
    for (uint64_t i = hspz__thread(); i < count; i += hspz__threads()) {
        if (i + 1 == count)
            starts[distinct] = count;
        if (!heads[i])
            continue;
        starts[before[i]] = (uint32_t)i;
        atomicOr(&bitmap[words[i] >> 5], 1u << (words[i] & 31u)); /* low half of 64 bits first */
    }
}

__global__ void compact_ranks_kernel(const uint32_t *words, const uint32_t *before, uint32_t count,
                                     uint32_t distinct, uint64_t blocks, uint32_t *ranks)
{
    for (uint64_t b = hspz__thread(); b < blocks; b += hspz__threads()) {
        const uint32_t word = (uint32_t)b * HSPZ__COMPACT_BLOCK;
        uint32_t low = 0, high = count;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (words[middle] < word)
                low = middle + 1;
            else
                high = middle;
        }
        ranks[b] = low < count ? before[low] : distinct;
    }
}

cudaError_t hspz__cuda_compact_table(const uint32_t *words, const uint32_t *heads, const uint32_t *before,
                                     uint32_t count, uint32_t distinct, uint32_t bits, uint64_t *bitmap,
                                     uint32_t *ranks, uint32_t *starts, cudaStream_t stream)
{
    uint32_t *const halves = (uint32_t *)bitmap;
    const cudaError_t error = HSPZ__LAUNCH(compact_starts_kernel, hspz__grid(count, 256, 1u << 20), 256, 0,
                                           stream, words, heads, before, count, distinct, halves, starts);
    if (error != cudaSuccess)
        return error;
    const uint64_t blocks = ((uint64_t)1 << bits) / HSPZ__COMPACT_BLOCK;
    return HSPZ__LAUNCH(compact_ranks_kernel, hspz__grid(blocks, 256, 1u << 20), 256, 0, stream, words,
                        before, count, distinct, blocks, ranks);
}

__global__ void index_samples_kernel(hspz__cuda_index index, uint32_t shift, uint32_t samples, uint32_t *ends)
{
    const uint64_t i = hspz__thread();
    if (i >= samples)
        return;
    const uint32_t last = (uint32_t)(((i + 1) << shift) - 1);
    if (index.ends != NULL) {
        ends[i] = index.ends[last];
        return;
    }
    const uint64_t upto = ~UINT64_C(0) >> (63u - (last & 63u));
    ends[i] = index.starts[index.ranks[last >> 6] + __popcll(index.bitmap[last >> 6] & upto)];
}

cudaError_t hspz__cuda_index_samples(const hspz__cuda_index *index, uint32_t shift, uint32_t samples,
                                     uint32_t *ends, cudaStream_t stream)
{
    const hspz__cuda_index x = *index;
    return HSPZ__LAUNCH(index_samples_kernel, hspz__grid(samples, 256, 1u << 20), 256, 0, stream, x, shift,
                        samples, ends);
}
