/* join_counts.cu -- hits of batches and windows, and where MAX_HITS chunks begin; see join.h.
 *
 * Idea: counts need no expansion: a window's hits are the sizes of its variants' buckets. Chunk borders are looked up per batch from
 * the prefix sums over windows, and only inside one window by variant.
 */
#include "device.cuh"
#include "join.h"

template <bool COMPACT>
__device__ __forceinline__ unsigned long long hits_of_word(const hspz__cuda_join &j, uint32_t word)
{
    unsigned long long hits = 0;
    for (uint32_t v = 0; v < j.word.variant_count; v++) {
        uint32_t first;
        hits += hspz__bucket_of<COMPACT>(j.index, word ^ j.word.variant_mask[v], &first);
    }
    return hits;
}

#define LOCAL_BATCHES 1024u

template <bool COMPACT>
__global__ void count_kernel(hspz__cuda_join j, uint32_t begin, uint32_t batch_size, uint32_t batches,
                             unsigned long long *batch_hits)
{
    __shared__ unsigned long long local[LOCAL_BATCHES];
    const bool few = batches <= LOCAL_BATCHES;
    for (unsigned i = threadIdx.x; few && i < batches; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    const uint64_t windows = j.counters->windows;
    for (uint64_t i = hspz__thread(); i < windows; i += hspz__threads()) {
        const unsigned long long hits = hits_of_word<COMPACT>(j, j.query_words[i]);
        const uint32_t batch = (j.query_windows[i] - begin) / batch_size;
        if (hits > 0)
            atomicAdd(few ? &local[batch] : &batch_hits[batch], hits);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; few && i < batches; i += blockDim.x)
        if (local[i] > 0)
            atomicAdd(&batch_hits[i], local[i]);
}

__global__ void summary_kernel(const unsigned long long *batch_hits, uint32_t batches, uint64_t max_hits,
                               hspz__cuda_counters *counters)
{
    for (uint64_t i = hspz__thread(); i < batches; i += hspz__threads()) {
        const unsigned long long hits = batch_hits[i];
        atomicAdd(&counters->hits, hits);
        atomicMax(&counters->most_hits, hits);
        if (hits >> 32 != 0)
            atomicMin(&counters->refused, (unsigned long long)i);
        atomicAdd(&counters->chunks, hits / max_hits + 1);
    }
}

cudaError_t hspz__cuda_join_count(const hspz__cuda_join *join, uint32_t most_windows, uint32_t begin,
                                  uint32_t batch_size, uint32_t batches, uint64_t max_hits,
                                  unsigned long long *batch_hits, cudaStream_t stream)
{
    const hspz__cuda_join j = *join;
    const unsigned grid = hspz__grid(most_windows, 256, 2048);
    const cudaError_t error = j.index.ends != NULL ? HSPZ__LAUNCH(count_kernel<false>, grid, 256, 0, stream,
                                                                  j, begin, batch_size, batches, batch_hits)
                                                   : HSPZ__LAUNCH(count_kernel<true>, grid, 256, 0, stream, j,
                                                                  begin, batch_size, batches, batch_hits);
    if (error != cudaSuccess)
        return error;
    hspz__cuda_counters *const counters = j.counters;
    return HSPZ__LAUNCH(summary_kernel, hspz__grid(batches, 256, 1024), 256, 0, stream, batch_hits, batches,
                        max_hits, counters);
}

__global__ void window_hits_kernel(hspz__cuda_join j, uint32_t begin, uint32_t count, uint32_t *hits)
{
    for (uint64_t i = hspz__thread(); i < count; i += hspz__threads()) {
        const uint32_t at = begin + (uint32_t)i;
        const bool valid = hspz__window_valid(j.query.classes, at, j.word.window);
        uint32_t word = valid ? hspz__word_at(j.word, j.query.codes, at) : 0;
        hits[i] = !valid                 ? 0
                  : j.index.ends != NULL ? (uint32_t)hits_of_word<false>(j, word)
                                         : (uint32_t)hits_of_word<true>(j, word);
    }
}

cudaError_t hspz__cuda_window_hits(const hspz__cuda_join *join, uint32_t begin, uint32_t count,
                                   uint32_t *hits, cudaStream_t stream)
{
    const hspz__cuda_join j = *join;
    return HSPZ__LAUNCH(window_hits_kernel, hspz__grid(count, 256, 1u << 20), 256, 0, stream, j, begin, count,
                        hits);
}

/* SPEC section 5, step 3, for one batch: windows first .. end - 1 (counted from `begin`). */
__device__ void cut_batch(const hspz__cuda_join &j, uint32_t begin, uint32_t first, uint32_t end,
                          uint64_t max_hits, const uint32_t *before, uint64_t *cuts, uint32_t chunks)
{
    uint64_t done = 0, limit = max_hits; /* hits of the batch before the chunk; where it ends */
    uint32_t from = first;
    for (uint32_t c = 0; c + 1 < chunks; c++) {
        uint32_t low = from, high = end; /* the first window whose inclusive prefix reaches the limit */
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if ((uint32_t)(before[middle + 1] - before[first]) < limit)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == end) {
            for (; c + 1 < chunks; c++)
                cuts[c] = UINT64_MAX;
            return;
        }
        const uint32_t word = hspz__word_at(j.word, j.query.codes, begin + low);
        uint64_t previous = 0, sum = (uint32_t)(before[low] - before[first]);
        uint32_t v = 0;
        for (; v < j.word.variant_count; v++) {
            uint32_t unused;
            previous = sum;
            sum += hspz__bucket(j.index, word ^ j.word.variant_mask[v], &unused);
            if (sum >= limit)
                break;
        }
        const uint64_t seed = (uint64_t)(begin + low) << 4 | v;
        const bool has_hits =
            previous > done; /* else one bucket reaches the limit by itself: the chunk is that seed */
        cuts[c] = has_hits ? seed : seed + 1;
        done = has_hits ? previous : sum;
        limit = done + max_hits;
        from = low;
    }
}

__global__ void cuts_kernel(hspz__cuda_join j, uint32_t begin, uint32_t count, uint32_t batch_size,
                            uint32_t batches, uint64_t max_hits, const uint32_t *before,
                            const uint32_t *first_chunk, uint64_t *cuts)
{
    const uint64_t b = hspz__thread();
    if (b >= batches)
        return;
    const uint64_t first = b * batch_size, end = first + batch_size < count ? first + batch_size : count;
    cut_batch(j, begin, (uint32_t)first, (uint32_t)end, max_hits, before, cuts + first_chunk[b],
              first_chunk[b + 1] - first_chunk[b]);
}

cudaError_t hspz__cuda_cuts(const hspz__cuda_join *join, uint32_t begin, uint32_t count, uint32_t batch_size,
                            uint32_t batches, uint64_t max_hits, const uint32_t *before,
                            const uint32_t *first_chunk, uint64_t *cuts, cudaStream_t stream)
{
    const hspz__cuda_join j = *join;
    return HSPZ__LAUNCH(cuts_kernel, hspz__grid(batches, 32, 1u << 30), 32, 0, stream, j, begin, count,
                        batch_size, batches, max_hits, before, first_chunk, cuts);
}
