/* hash_index.cu -- build and query of the hash index on a CUDA device.
 *
 * Idea: one thread per row; a row claims a slot by compare-and-swap and lowers the slot's source row by an atomic minimum, so
 * that the map does not depend on the order of execution. With pairs the claim brings key and row in one
 * 64-bit swap. The source rows lie where the values will be, as long as one launch can turn all of them
 * into values (at most HSPZ__SPANS spans); else in the caller's scratch. Cost: a build is one random atomic access per
 * row and a sweep over the table, a query one random sector per row with pairs, two without.
 * Everything is enqueued on the caller's stream; counters are cleared there too, hence a captured graph can be replayed.
 */
#include "hash_index.cuh"

#include <stdio.h>

#define MOST_BLOCKS 4096u

hspz_status hspz__cuda_status(cudaError_t code, const char *what, hspz_error *error)
{
    if (code == cudaSuccess)
        return HSPZ_OK;
    hspz_status status = code == cudaErrorInsufficientDriver ? HSPZ_E_NO_DRIVER
                         : code == cudaErrorNoDevice         ? HSPZ_E_NO_DEVICE
                                                             : HSPZ_E_DEVICE;
    if (error != NULL && HSPZ_HAS_FIELD(hspz_error, error, text)) {
        error->status = status;
        error->device_code = (int32_t)code;
        snprintf(error->text, sizeof error->text, "%s: %s", what, cudaGetErrorString(code));
    }
    return status;
}

/* Build ------------------------------------------------------------------------------------------------ */

/* Where the source row of slot i is kept. */
struct row_words {
    uint32_t *words;
    uint32_t stride;
};

/* Claims a slot for `key`, or finds it, and lowers its source row; answers the statistic that the row counts for. */
template <bool PAIRS>
static __device__ __forceinline__ uint32_t insert_row(const hspz__slots &t, const row_words &rows,
                                                      uint32_t key, uint32_t row, uint32_t *probes)
{
    uint32_t slot = hspz_hash_slot(key, t.capacity);
    for (uint32_t i = 1; i <= t.max_probe; i++) {
        uint32_t there;
        if (PAIRS) {
            unsigned long long *at = (unsigned long long *)t.keys + slot;
            there = (uint32_t)atomicCAS(at, 0xffffffffffffffffull, (unsigned long long)row << 32 | key);
        } else {
            there = atomicCAS(t.keys + (uint64_t)slot * t.stride, HSPZ_HASH_EMPTY_KEY, key);
        }
        if (there == HSPZ_HASH_EMPTY_KEY || there == key) {
            if (!PAIRS || there == key)
                atomicMin(rows.words + (uint64_t)slot * rows.stride, row);
            *probes = i;
            return there == key ? HSPZ_HASH_DUPLICATE : HSPZ_HASH_UNIQUE;
        }
        slot = (slot + 1) & (t.capacity - 1);
    }
    *probes = t.max_probe;
    return HSPZ_HASH_OVERFLOW;
}

template <bool PAIRS>
static __global__ void __launch_bounds__(HSPZ__BLOCK)
    insert_rows(const hspz__span_table<hspz__build_span> spans, const hspz__slots t, const row_words rows,
                uint32_t *statistics)
{
    uint32_t counts[HSPZ_HASH_BUILD_STATISTICS] = {0, 0, 0, 0, 0, 0};
    for (uint32_t tile = blockIdx.x; tile < spans.tile_end[spans.count - 1]; tile += gridDim.x) {
        const uint32_t s = hspz__span_of(spans, tile);
        const hspz__build_span &span = spans.span[s];
        uint32_t at = hspz__tile_row(spans, s, tile) + threadIdx.x;
#pragma unroll
        for (uint32_t k = 0; k < HSPZ__ITEMS; k++, at += HSPZ__BLOCK) {
            if (at >= span.count)
                continue;
            uint32_t key = span.keys[at], probes = 0, kind = HSPZ_HASH_INVALID;
            if (key != HSPZ_HASH_EMPTY_KEY && (span.valid == NULL || span.valid[at] != 0))
                kind = insert_row<PAIRS>(t, rows, key, span.first_row + at, &probes);
            counts[HSPZ_HASH_UNIQUE] += kind == HSPZ_HASH_UNIQUE;
            counts[HSPZ_HASH_DUPLICATE] += kind == HSPZ_HASH_DUPLICATE;
            counts[HSPZ_HASH_OVERFLOW] += kind == HSPZ_HASH_OVERFLOW;
            counts[HSPZ_HASH_INVALID] += kind == HSPZ_HASH_INVALID;
            counts[HSPZ_HASH_BUILD_PROBES] += probes;
            counts[HSPZ_HASH_BUILD_LONGEST] = max(counts[HSPZ_HASH_BUILD_LONGEST], probes);
        }
    }
    hspz__publish(statistics, counts);
}

/* Turns the source rows that these spans hold into values. */
static __global__ void __launch_bounds__(HSPZ__BLOCK)
    finish_slots(const hspz__span_table<hspz__build_span> spans, const hspz__slots t, const row_words rows)
{
    const uint32_t first = spans.span[0].first_row;
    const uint32_t end = spans.span[spans.count - 1].first_row + spans.span[spans.count - 1].count;
    for (uint64_t i = hspz__thread(); i < t.capacity; i += hspz__threads()) {
        const uint32_t row = rows.words[i * rows.stride];
        if (row < first || row >= end)
            continue; /* empty slots too: HSPZ__NO_ROW is beyond any end */
        uint32_t low = 0, high = spans.count - 1;
        while (low < high) {
            uint32_t middle = (low + high + 1) / 2;
            if (spans.span[middle].first_row <= row)
                low = middle;
            else
                high = middle - 1;
        }
        const hspz__build_span &span = spans.span[low];
        const uint32_t place = row - span.first_row;
        t.values[i * t.stride] = span.values != NULL ? span.values[place] : span.first_value + place;
    }
}

static cudaError_t clear_table(const hspz__build_work *work, const row_words *rows, cudaStream_t stream)
{
    const hspz__slots *t = &work->slots;
    const size_t words = (size_t)t->capacity * sizeof(uint32_t);
    cudaError_t code =
        cudaMemsetAsync(work->statistics, 0, HSPZ_HASH_BUILD_STATISTICS * sizeof(uint32_t), stream);
    if (code == cudaSuccess)
        code = cudaMemsetAsync(t->keys, 0xff, words * t->stride, stream);
    if (code == cudaSuccess && rows->stride == 1)
        code = cudaMemsetAsync(rows->words, 0xff, words, stream);
    return code;
}

/* True when row numbers are the values: nothing is left to finish. */
static bool rows_are_values(const hspz__build_work *work)
{
    if (work->source_rows != NULL)
        return false;
    for (uint64_t i = 0; i < work->span_count; i++)
        if (work->spans[i].values != NULL || work->spans[i].first_value != work->spans[i].first_row)
            return false;
    return true;
}

static cudaError_t for_spans(const hspz__build_work *work, const row_words *rows, bool insert,
                             cudaStream_t stream)
{
    hspz__span_table<hspz__build_span> table;
    cudaError_t code = cudaSuccess;
    const bool pairs = work->slots.stride == 2 && rows->words == work->slots.values;
    for (uint64_t i = 0; i < work->span_count && code == cudaSuccess;) {
        i += hspz__fill_table(&table, work->spans + i, work->span_count - i);
        const unsigned insert_grid = hspz__grid(table.tile_end[table.count - 1], 1, MOST_BLOCKS);
        const unsigned finish_grid = hspz__grid(work->slots.capacity, HSPZ__BLOCK, MOST_BLOCKS);
        if (!insert)
            code = HSPZ__LAUNCH(finish_slots, finish_grid, HSPZ__BLOCK, 0, stream, table, work->slots, *rows);
        else if (pairs)
            code = HSPZ__LAUNCH(insert_rows<true>, insert_grid, HSPZ__BLOCK, 0, stream, table, work->slots,
                                *rows, work->statistics);
        else
            code = HSPZ__LAUNCH(insert_rows<false>, insert_grid, HSPZ__BLOCK, 0, stream, table, work->slots,
                                *rows, work->statistics);
    }
    return code;
}

static hspz_status build(const hspz__build_work *work, hspz_error *error)
{
    cudaStream_t stream = (cudaStream_t)work->stream;
    row_words rows = {work->source_rows, 1};
    if (work->source_rows == NULL)
        rows = {work->slots.values, work->slots.stride};
    cudaError_t code = clear_table(work, &rows, stream);
    if (code == cudaSuccess)
        code = for_spans(work, &rows, true, stream);
    if (code == cudaSuccess && !rows_are_values(work))
        code = for_spans(work, &rows, false, stream);
    return hspz__cuda_status(code, "hash index build", error);
}

static uint64_t build_scratch(uint32_t capacity, uint64_t most_spans)
{
    return most_spans <= HSPZ__SPANS ? 0 : (uint64_t)capacity * sizeof(uint32_t);
}

/* Query ------------------------------------------------------------------------------------------------ */

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

static hspz_status query(const hspz__query_work *work, hspz_error *error)
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

extern "C" const hspz__hash_device hspz__hash_cuda = {
    HSPZ__TILE, build_scratch, hspz__cuda_join_scratch, build, query, hspz__cuda_join,
};
