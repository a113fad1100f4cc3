/* seeds.cu -- see seeds.h. */
#include "device.cuh"
#include "seeds.h"

__global__ void seeds_kernel(hspz__cuda_strand query, hspz__cuda_word word, uint32_t first, uint32_t count,
                             uint64_t *seeds, unsigned long long *valid)
{
    __shared__ unsigned found;
    if (threadIdx.x == 0)
        found = 0;
    __syncthreads();
    unsigned mine = 0;
    for (uint64_t i = hspz__thread(); i < count; i += hspz__threads()) {
        const uint32_t at = first + (uint32_t)i;
        const bool good = hspz__window_valid(query.classes, at, word.window);
        const uint32_t exact = good ? hspz__word_at(word, query.codes, at) : 0;
        for (uint32_t v = 0; v < word.variant_count; v++)
            seeds[i * word.variant_count + v] =
                good ? (uint64_t)(exact ^ word.variant_mask[v]) << 32 | at : HSPZ__NO_SEED;
        mine += good;
    }
    mine = hspz__warp_sum(mine);
    if (hspz__lane() == 0)
        atomicAdd(&found, mine);
    __syncthreads();
    if (threadIdx.x == 0 && found > 0)
        atomicAdd(valid, (unsigned long long)found);
}

cudaError_t hspz__cuda_seeds(const hspz__cuda_strand *query, const hspz__cuda_word *word, uint32_t first,
                             uint32_t count, uint64_t *seeds, unsigned long long *valid, cudaStream_t stream)
{
    const hspz__cuda_strand q = *query;
    const hspz__cuda_word w = *word;
    return HSPZ__LAUNCH(seeds_kernel, hspz__grid(count, 256, 4096), 256, 0, stream, q, w, first, count, seeds,
                        valid);
}

/* A block of threads is a block of seeds. Within it the sum may pass 2^32: it is kept in 64 bits, and the prefix is only used
 * once the caller has found that the whole batch stays below. */
__global__ void count_hits_kernel(const uint64_t *seeds, uint64_t count, hspz__cuda_index index,
                                  uint32_t *prefix, unsigned long long *sums)
{
    __shared__ unsigned long long of_warp[HSPZ__SEED_BLOCK / 32];
    const uint64_t i = hspz__thread();
    unsigned long long hits = 0;
    if (i < count && seeds[i] != HSPZ__NO_SEED) {
        uint32_t first;
        hits = hspz__bucket(index, (uint32_t)(seeds[i] >> 32), &first);
    }
    hits = hspz__warp_prefix(hits);
    if (hspz__lane() == 31)
        of_warp[threadIdx.x / 32] = hits;
    __syncthreads();
    for (unsigned w = 0; w < threadIdx.x / 32; w++)
        hits += of_warp[w];
    if (i < count)
        prefix[i] = (uint32_t)hits;
    if (threadIdx.x == HSPZ__SEED_BLOCK - 1)
        sums[blockIdx.x] = hits;
}

cudaError_t hspz__cuda_count_hits(const uint64_t *seeds, uint64_t count, const hspz__cuda_index *index,
                                  uint32_t *prefix, unsigned long long *sums, cudaStream_t stream)
{
    const hspz__cuda_index x = *index;
    const unsigned blocks = (unsigned)((count + HSPZ__SEED_BLOCK - 1) / HSPZ__SEED_BLOCK);
    return HSPZ__LAUNCH(count_hits_kernel, blocks, HSPZ__SEED_BLOCK, 0, stream, seeds, count, x, prefix,
                        sums);
}

__global__ void add_offsets_kernel(uint32_t *prefix, uint64_t count, const uint32_t *offsets)
{
    for (uint64_t i = hspz__thread(); i < count; i += hspz__threads())
        prefix[i] += offsets[i / HSPZ__SEED_BLOCK];
}

cudaError_t hspz__cuda_add_offsets(uint32_t *prefix, uint64_t count, const uint32_t *offsets,
                                   cudaStream_t stream)
{
    return HSPZ__LAUNCH(add_offsets_kernel, hspz__grid(count, 256, 1u << 20), 256, 0, stream, prefix, count,
                        offsets);
}

/* Slots low .. high - 1 of one seed, by `lanes` threads of which this is number `lane`. */
__device__ __forceinline__ void expand_seed(const uint64_t *seeds, const uint32_t *prefix, uint64_t s,
                                            uint32_t first_hit, uint32_t end_hit,
                                            const hspz__cuda_index &index, uint32_t window, unsigned lane,
                                            unsigned lanes, uint64_t *anchors)
{
    const uint32_t end = prefix[s], start = s > 0 ? prefix[s - 1] : 0;
    const uint32_t low = start > first_hit ? start : first_hit, high = end < end_hit ? end : end_hit;
    if (low >= high)
        return;
    const uint64_t seed = seeds[s];
    uint32_t bucket;
    hspz__bucket(index, (uint32_t)(seed >> 32), &bucket);
    const uint64_t query = (uint32_t)seed + window;
    for (uint64_t slot = (uint64_t)low + lane; slot < high; slot += lanes) {
        const uint32_t j = end - 1 - (uint32_t)slot; /* backwards from the seed's prefix */
        anchors[slot - first_hit] = (uint64_t)(index.positions[bucket + j] + window) << 32 | query;
    }
}

__global__ void expand_threads_kernel(const uint64_t *seeds, const uint32_t *prefix, uint64_t first_seed,
                                      uint64_t end_seed, uint32_t first_hit, uint32_t end_hit,
                                      hspz__cuda_index index, uint32_t window, uint64_t *anchors)
{
    for (uint64_t s = first_seed + hspz__thread(); s < end_seed; s += hspz__threads())
        expand_seed(seeds, prefix, s, first_hit, end_hit, index, window, 0, 1, anchors);
}

__global__ void expand_warps_kernel(const uint64_t *seeds, const uint32_t *prefix, uint64_t first_seed,
                                    uint64_t end_seed, uint32_t first_hit, uint32_t end_hit,
                                    hspz__cuda_index index, uint32_t window, uint64_t *anchors)
{
    for (uint64_t s = first_seed + hspz__thread() / 32; s < end_seed; s += hspz__threads() / 32)
        expand_seed(seeds, prefix, s, first_hit, end_hit, index, window, hspz__lane(), 32, anchors);
}

cudaError_t hspz__cuda_expand(const uint64_t *seeds, const uint32_t *prefix, uint64_t first_seed,
                              uint64_t end_seed, uint32_t first_hit, uint32_t end_hit,
                              const hspz__cuda_index *index, uint32_t window, int warp_per_seed,
                              uint64_t *anchors, cudaStream_t stream)
{
    const hspz__cuda_index x = *index;
    const uint64_t count = end_seed - first_seed;
    if (warp_per_seed)
        return HSPZ__LAUNCH(expand_warps_kernel, hspz__grid(count * 32, 256, 1u << 20), 256, 0, stream, seeds,
                            prefix, first_seed, end_seed, first_hit, end_hit, x, window, anchors);
    return HSPZ__LAUNCH(expand_threads_kernel, hspz__grid(count, 256, 1u << 20), 256, 0, stream, seeds,
                        prefix, first_seed, end_seed, first_hit, end_hit, x, window, anchors);
}
