/* hash_index.cuh -- device side of the hash index: slots, counters and the tables of spans that kernels get by value.
 *
 * Idea: a launch serves up to HSPZ__SPANS spans, passed in the kernel's parameters, so that nothing has to be copied to the
 * device and a captured launch is complete in itself. A block takes tiles of HSPZ__TILE rows; no tile crosses a span.
 */
#ifndef HSPZ__HASH_INDEX_CUH
#define HSPZ__HASH_INDEX_CUH

#include "../../plugin/companions.h"
#include "companions.cuh"

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

/* Look-up ---------------------------------------------------------------------------------------------- */

/* Two neighbouring slots, or one where the table is too small or not aligned for that, as one memory access brings them; the first
 * is a multiple of WINDOW. Most rows end in the first window. */
template <uint32_t STRIDE, uint32_t WINDOW> struct hspz__window {
    uint32_t key[WINDOW];
    uint32_t value[WINDOW]; /* with arrays the slots */
};

/* Windows for a table and bound; a bound within the first window takes single slots. */
static inline uint32_t hspz__window_of(const hspz__slots &t)
{
    return (uintptr_t)t.keys % (8 * t.stride) == 0 && t.capacity > 2 && t.max_probe > 2 ? 2 : 1;
}

template <uint32_t STRIDE, uint32_t WINDOW>
__device__ __forceinline__ hspz__window<STRIDE, WINDOW> hspz__load_window(const hspz__slots &t, uint32_t slot)
{
    if constexpr (STRIDE == 2 && WINDOW == 2) {
        const uint4 w = __ldg((const uint4 *)((const char *)t.keys + slot * 8ull));
        return {{w.x, w.z}, {w.y, w.w}};
    } else if constexpr (STRIDE == 2) {
        const uint2 w = __ldg((const uint2 *)t.keys + slot);
        return {{w.x}, {w.y}};
    } else if constexpr (WINDOW == 2) {
        const uint2 w = __ldg((const uint2 *)((const char *)t.keys + slot * 4ull));
        return {{w.x, w.y}, {slot, slot + 1}};
    } else {
        return {{__ldg(t.keys + slot)}, {slot}};
    }
}

/* Where a row stands after a window. */
struct hspz__look {
    uint32_t value; /* as the window has it; unspecified unless found */
    uint32_t probes;
    bool found;
    bool open; /* the next window must be looked at */
};

/* Looks at a window, from its last slot alone if `late`. No bound: probes may be one too many. */
template <uint32_t STRIDE, uint32_t WINDOW>
__device__ __forceinline__ hspz__look hspz__look_at(const hspz__window<STRIDE, WINDOW> &w, uint32_t key,
                                                    bool late)
{
    const uint32_t end = WINDOW - 1, first = late ? w.key[end] : w.key[0];
    const bool hit = first == key, go_on = !hit && first != HSPZ_HASH_EMPTY_KEY;
    if (WINDOW == 1)
        return {w.value[0], 1, hit, go_on};
    /* if late, the last slot is the first, and looking twice changes nothing */
    const bool last_hit = go_on && w.key[end] == key;
    return {hit && !late ? w.value[0] : w.value[end], go_on && !late ? 2u : 1u, hit || last_hit,
            go_on && !last_hit && w.key[end] != HSPZ_HASH_EMPTY_KEY};
}

/* Rows of a warp that their first window does not settle, densely, so that all lanes work on them: their keys and, in the same
 * places, what came out. */
struct hspz__queue {
    uint32_t key_or_value[32 * HSPZ__ITEMS];
    uint32_t probes[32 * HSPZ__ITEMS]; /* less 1, and FOUND; a row takes 1 to 2^31 */
};
#define HSPZ__FOUND 0x80000000u

/* Goes on with row `place` of the queue, behind its first window. */
template <uint32_t STRIDE, uint32_t WINDOW>
__device__ __forceinline__ void hspz__settle(const hspz__slots &t, hspz__queue *queue, uint32_t place)
{
    const uint32_t key = queue->key_or_value[place];
    uint32_t slot = hspz_hash_slot(key, t.capacity), probes = 1;
    if (WINDOW == 2) {
        probes = 2 - (slot & 1);
        slot &= ~1u;
    }
    hspz__look look = {0, 0, false, true};
    while (look.open && probes < t.max_probe) {
        slot = (slot + WINDOW) & (t.capacity - 1);
        look = hspz__look_at(hspz__load_window<STRIDE, WINDOW>(t, slot), key, false);
        probes += look.probes;
    }
    const bool found = look.found && probes <= t.max_probe;
    queue->key_or_value[place] = look.value;
    queue->probes[place] = (min(probes, t.max_probe) - 1) | (found ? HSPZ__FOUND : 0);
}

/* Looks HSPZ__ITEMS keys of each lane up; called by whole blocks. What several rows need next is under way together. */
template <uint32_t STRIDE, uint32_t WINDOW>
__device__ __forceinline__ void hspz__look_up(const hspz__slots &t, const uint32_t (&key)[HSPZ__ITEMS],
                                              uint32_t (&value)[HSPZ__ITEMS], uint32_t (&probes)[HSPZ__ITEMS],
                                              bool (&found)[HSPZ__ITEMS])
{
    __shared__ hspz__queue queues[HSPZ__BLOCK / 32];
    hspz__queue *queue = &queues[threadIdx.x / 32];
    hspz__window<STRIDE, WINDOW> window[HSPZ__ITEMS];
    uint32_t slot[HSPZ__ITEMS], place[HSPZ__ITEMS], waiting = 0;
    bool open[HSPZ__ITEMS];
#pragma unroll
    for (uint32_t i = 0; i < HSPZ__ITEMS; i++) {
        slot[i] = hspz_hash_slot(key[i], t.capacity);
        window[i] = hspz__load_window<STRIDE, WINDOW>(t, slot[i] & ~(WINDOW - 1));
    }
#pragma unroll
    for (uint32_t i = 0; i < HSPZ__ITEMS; i++) {
        const bool valid = key[i] != HSPZ_HASH_EMPTY_KEY;
        const hspz__look look = hspz__look_at(window[i], key[i], WINDOW == 2 && (slot[i] & 1) != 0);
        value[i] = look.value;
        probes[i] = valid ? look.probes : 0;
        found[i] = valid && look.found;
        open[i] = valid && look.open;
        const uint32_t ballot = __ballot_sync(HSPZ__FULL, open[i]);
        place[i] = waiting + (uint32_t)__popc(ballot & hspz__lanes_below());
        waiting += (uint32_t)__popc(ballot);
        if (open[i])
            queue->key_or_value[place[i]] = key[i];
    }
    __syncwarp();
    for (uint32_t at = hspz__lane(); at < waiting; at += 32)
        hspz__settle<STRIDE, WINDOW>(t, queue, at);
    __syncwarp();
#pragma unroll
    for (uint32_t i = 0; i < HSPZ__ITEMS; i++) {
        if (open[i]) {
            value[i] = queue->key_or_value[place[i]];
            probes[i] = queue->probes[place[i]];
            found[i] = (probes[i] & HSPZ__FOUND) != 0;
            probes[i] = (probes[i] & ~HSPZ__FOUND) + 1;
        }
        if (STRIDE == 1 && found[i])
            value[i] = __ldg(t.values + value[i]);
        if (!found[i])
            value[i] = HSPZ_HASH_NO_VALUE;
    }
    __syncwarp(); /* the queue may be filled again */
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

hspz_status hspz__cuda_query(const hspz__query_work *work, hspz_error *error);
hspz_status hspz__cuda_join(const hspz__join_work *work, hspz_error *error);
uint64_t hspz__cuda_join_scratch(uint64_t tiles);

#endif
