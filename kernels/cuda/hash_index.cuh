/* hash_index.cuh -- device side of the hash index: slots, counters and the tables of spans that kernels get by value.
 *
 * Idea: a launch serves up to HSPZ__SPANS spans, passed in the kernel's parameters, so that nothing has to be copied to the
 * device and a captured launch is complete in itself. A block takes tiles of HSPZ__TILE rows; no tile crosses a span.
 */
#ifndef HSPZ__HASH_INDEX_CUH
#define HSPZ__HASH_INDEX_CUH

#include "../../plugin/companions.h"
#include "device.cuh"

#define HSPZ__SPANS 36u /* keeps kernel parameters below 4 KiB */
#define HSPZ__BLOCK 256u
#define HSPZ__ITEMS 4u /* rows of a thread in a tile: that many memory accesses are in flight */
#define HSPZ__TILE (HSPZ__BLOCK * HSPZ__ITEMS)
#define HSPZ__NO_ROW 0xffffffffu

/* Spans of one launch. Tile t of the launch belongs to the first span whose tile_end exceeds t. */
template <typename Span> struct hspz__span_table {
    uint32_t count;
    uint32_t tile_end[HSPZ__SPANS];
    Span span[HSPZ__SPANS];
};

template <typename Span>
__device__ __forceinline__ uint32_t hspz__span_of(const hspz__span_table<Span> &spans, uint32_t tile)
{
    uint32_t low = 0, high = spans.count - 1;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (spans.tile_end[middle] > tile)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* First row of a tile within its span. */
template <typename Span>
__device__ __forceinline__ uint32_t hspz__tile_row(const hspz__span_table<Span> &spans, uint32_t s,
                                                   uint32_t tile)
{
    return (tile - (s > 0 ? spans.tile_end[s - 1] : 0)) * HSPZ__TILE;
}

__device__ __forceinline__ unsigned hspz__warp_most(unsigned v)
{
    return ~hspz__warp_min(~v);
}

/* Adds a warp's counters to the statistics; the last one is a maximum. A warp's sum stays below 2^32 because the whole
 * call's does. */
template <uint32_t COUNTERS>
__device__ __forceinline__ void hspz__publish(uint32_t *statistics, const uint32_t (&counts)[COUNTERS])
{
    __shared__ uint32_t block_counts[COUNTERS];
    __syncthreads();
    if (threadIdx.x < COUNTERS)
        block_counts[threadIdx.x] = 0;
    __syncthreads();
    for (uint32_t i = 0; i + 1 < COUNTERS; i++) {
        uint32_t sum = hspz__warp_sum(counts[i]);
        if (hspz__lane() == 0 && sum != 0)
            atomicAdd(&block_counts[i], sum);
    }
    uint32_t most = hspz__warp_most(counts[COUNTERS - 1]);
    if (hspz__lane() == 0)
        atomicMax(&block_counts[COUNTERS - 1], most);
    __syncthreads();
    if (threadIdx.x + 1 < COUNTERS && block_counts[threadIdx.x] != 0)
        atomicAdd(&statistics[threadIdx.x], block_counts[threadIdx.x]);
    if (threadIdx.x + 1 == COUNTERS && block_counts[threadIdx.x] != 0)
        atomicMax(&statistics[threadIdx.x], block_counts[threadIdx.x]);
}

/* Key and value of a slot as far as one memory access brings them: with pairs both, else the key alone. */
template <uint32_t STRIDE>
__device__ __forceinline__ uint2 hspz__load_slot(const hspz__slots &t, uint32_t slot)
{
    if (STRIDE == 2)
        return __ldg((const uint2 *)t.keys + slot);
    return make_uint2(__ldg(t.keys + slot), 0);
}

/* Looks HSPZ__ITEMS keys up. The first probes of all of them are under way together, so are the values. */
template <uint32_t STRIDE>
__device__ __forceinline__ void hspz__look_up(const hspz__slots &t, const uint32_t (&key)[HSPZ__ITEMS],
                                              uint32_t (&value)[HSPZ__ITEMS], uint32_t (&probes)[HSPZ__ITEMS],
                                              bool (&found)[HSPZ__ITEMS])
{
    uint32_t slot[HSPZ__ITEMS];
    uint2 there[HSPZ__ITEMS];
#pragma unroll
    for (uint32_t i = 0; i < HSPZ__ITEMS; i++) {
        slot[i] = hspz_hash_slot(key[i], t.capacity);
        there[i] = make_uint2(HSPZ_HASH_EMPTY_KEY, 0);
        if (key[i] != HSPZ_HASH_EMPTY_KEY)
            there[i] = hspz__load_slot<STRIDE>(t, slot[i]);
    }
#pragma unroll
    for (uint32_t i = 0; i < HSPZ__ITEMS; i++) {
        probes[i] = key[i] != HSPZ_HASH_EMPTY_KEY;
        while (there[i].x != key[i] && there[i].x != HSPZ_HASH_EMPTY_KEY && probes[i] < t.max_probe) {
            slot[i] = (slot[i] + 1) & (t.capacity - 1);
            there[i] = hspz__load_slot<STRIDE>(t, slot[i]);
            probes[i]++;
        }
        found[i] = key[i] != HSPZ_HASH_EMPTY_KEY && there[i].x == key[i];
    }
#pragma unroll
    for (uint32_t i = 0; i < HSPZ__ITEMS; i++) {
        value[i] = HSPZ_HASH_NO_VALUE;
        if (found[i])
            value[i] = STRIDE == 2 ? there[i].y : __ldg(t.values + slot[i]);
    }
}

/* Copies up to HSPZ__SPANS spans from `next` on into a table; answers how many. */
template <typename Span>
static inline uint32_t hspz__fill_table(hspz__span_table<Span> *table, const Span *spans, uint64_t count)
{
    uint32_t tiles = 0, n = count < HSPZ__SPANS ? (uint32_t)count : HSPZ__SPANS;
    for (uint32_t i = 0; i < n; i++) {
        table->span[i] = spans[i];
        tiles += (uint32_t)(((uint64_t)spans[i].count + HSPZ__TILE - 1) / HSPZ__TILE);
        table->tile_end[i] = tiles;
    }
    table->count = n;
    return n;
}

/* cudaSuccess is HSPZ_OK; the rest becomes a status and a sentence. */
hspz_status hspz__cuda_status(cudaError_t code, const char *what, hspz_error *error);

hspz_status hspz__cuda_join(const hspz__join_work *work, hspz_error *error);
uint64_t hspz__cuda_join_scratch(uint64_t tiles);

#endif
