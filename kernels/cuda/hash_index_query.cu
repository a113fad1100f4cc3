/* hash_index_query.cu -- queries of the hash index on a CUDA device.
 *
 * Idea: a thread takes four rows of a tile, reads their keys and writes their results 16 bytes at a time where the span allows it, and
 * looks them up together (hash_index.cuh). Counters stay in registers over the tiles of a block; they are cleared by a kernel of their own
 * that the query overlaps. Cost: with pairs a random sector a row, and at load 0.5 another access for every fifth; two without pairs.
 */
#include "hash_index.cuh"

#define QUERY_BLOCKS                                                                                         \
    4u /* per multiprocessor: each takes several tiles, so that counters are published seldom */

static __global__ void clear_query(uint32_t *statistics)
{
    hspz__let_next_start();
    if (threadIdx.x < HSPZ_HASH_QUERY_STATISTICS)
        statistics[threadIdx.x] = 0;
}

/* True when the tile from `row` on is full and can be read and written 16 bytes at a time. */
static __device__ __forceinline__ bool is_whole(const hspz__query_span &span, uint32_t row)
{
    const uintptr_t places =
        (uintptr_t)span.keys | (uintptr_t)span.values | (uintptr_t)span.found | (uintptr_t)span.probes;
    return places % 16 == 0 && span.count - row >= HSPZ__TILE;
}

static __device__ __forceinline__ void store_four(uint32_t *to, uint32_t a, uint32_t b, uint32_t c,
                                                  uint32_t d)
{
    if (to != NULL)
        __stcs((uint4 *)to, make_uint4(a, b, c, d));
}

/* The rows of a tile that belong to this thread: in a whole tile four in a row, else HSPZ__BLOCK apart. */
struct tile_rows {
    uint32_t key[HSPZ__ITEMS], value[HSPZ__ITEMS], probes[HSPZ__ITEMS];
    bool found[HSPZ__ITEMS];
};

static __device__ __forceinline__ void load_keys(const hspz__query_span &span, uint32_t row, bool whole,
                                                 tile_rows *r)
{
    static_assert(HSPZ__ITEMS == 4, "a whole tile is read as uint4");
    if (whole) {
        const uint4 four = __ldcs((const uint4 *)(span.keys + row) + threadIdx.x);
        r->key[0] = four.x;
        r->key[1] = four.y;
        r->key[2] = four.z;
        r->key[3] = four.w;
        return;
    }
#pragma unroll
    for (uint32_t k = 0; k < HSPZ__ITEMS; k++) {
        const uint32_t at = row + k * HSPZ__BLOCK + threadIdx.x;
        r->key[k] = at < span.count ? __ldcs(span.keys + at) : HSPZ_HASH_EMPTY_KEY;
    }
}

static __device__ __forceinline__ void store_results(const hspz__query_span &span, uint32_t row, bool whole,
                                                     const tile_rows &r)
{
    if (whole) {
        const uint32_t at = row + threadIdx.x * HSPZ__ITEMS;
        store_four(span.values != NULL ? span.values + at : NULL, r.value[0], r.value[1], r.value[2],
                   r.value[3]);
        store_four(span.found != NULL ? span.found + at : NULL, r.found[0], r.found[1], r.found[2],
                   r.found[3]);
        store_four(span.probes != NULL ? span.probes + at : NULL, r.probes[0], r.probes[1], r.probes[2],
                   r.probes[3]);
        return;
    }
#pragma unroll
    for (uint32_t k = 0; k < HSPZ__ITEMS; k++) {
        const uint32_t at = row + k * HSPZ__BLOCK + threadIdx.x;
        if (at >= span.count)
            continue;
        if (span.values != NULL)
            __stcs(span.values + at, r.value[k]);
        if (span.found != NULL)
            __stcs(span.found + at, r.found[k] ? 1u : 0u);
        if (span.probes != NULL)
            __stcs(span.probes + at, r.probes[k]);
    }
}

/* Rows of this thread in a tile that is not whole. */
static __device__ __forceinline__ uint32_t rows_here(const hspz__query_span &span, uint32_t row)
{
    uint32_t rows = 0;
#pragma unroll
    for (uint32_t k = 0; k < HSPZ__ITEMS; k++)
        rows += row + k * HSPZ__BLOCK + threadIdx.x < span.count;
    return rows;
}

template <uint32_t STRIDE, uint32_t WINDOW>
static __global__ void __launch_bounds__(HSPZ__BLOCK, QUERY_BLOCKS)
    query_rows(const hspz__span_table<hspz__query_span> spans, const hspz__slots t, uint32_t *statistics)
{
    uint32_t rows = 0, hits = 0, probes = 0, longest = 0;
    for (uint32_t tile = blockIdx.x; tile < spans.tile_end[spans.count - 1]; tile += gridDim.x) {
        const uint32_t s = hspz__span_of(spans, tile);
        const hspz__query_span &span = spans.span[s];
        const uint32_t row = hspz__tile_row(spans, s, tile);
        const bool whole = is_whole(span, row);
        tile_rows r;
        load_keys(span, row, whole, &r);
        hspz__look_up<STRIDE, WINDOW>(t, r.key, r.value, r.probes, r.found);
        store_results(span, row, whole, r);
        rows += whole ? HSPZ__ITEMS : rows_here(span, row);
#pragma unroll
        for (uint32_t k = 0; k < HSPZ__ITEMS; k++) {
            hits += r.found[k];
            probes += r.probes[k];
            longest = max(longest, r.probes[k]);
        }
    }
    const uint32_t counts[HSPZ_HASH_QUERY_STATISTICS] = {hits, rows - hits, probes, longest};
    hspz__wait_for_previous(); /* the statistics are clear */
    hspz__publish(statistics, counts);
}

template <uint32_t STRIDE, uint32_t WINDOW>
static cudaError_t launch_query(const hspz__query_work *work, cudaStream_t stream)
{
    hspz__span_table<hspz__query_span> table;
    cudaError_t code = cudaSuccess;
    for (uint64_t i = 0; i < work->span_count && code == cudaSuccess;) {
        const bool follows_clear = i == 0;
        i += hspz__fill_table(&table, work->spans + i, work->span_count - i);
        const unsigned grid =
            hspz__grid(table.tile_end[table.count - 1], 1, hspz__resident_blocks(QUERY_BLOCKS));
        if (follows_clear)
            code = HSPZ__LAUNCH_EARLY((query_rows<STRIDE, WINDOW>), grid, HSPZ__BLOCK, 0, stream, table,
                                      work->slots, work->statistics);
        else
            code = HSPZ__LAUNCH((query_rows<STRIDE, WINDOW>), grid, HSPZ__BLOCK, 0, stream, table,
                                work->slots, work->statistics);
    }
    return code;
}

hspz_status hspz__cuda_query(const hspz__query_work *work, hspz_error *error)
{
    cudaStream_t stream = (cudaStream_t)work->stream;
    cudaError_t code = HSPZ__LAUNCH(clear_query, 1, 32, 0, stream, work->statistics);
    const bool two = hspz__window_of(work->slots) == 2;
    if (code == cudaSuccess && work->slots.stride == 2)
        code = two ? launch_query<2, 2>(work, stream) : launch_query<2, 1>(work, stream);
    else if (code == cudaSuccess)
        code = two ? launch_query<1, 2>(work, stream) : launch_query<1, 1>(work, stream);
    return hspz__cuda_status(code, "hash index query", error);
}
