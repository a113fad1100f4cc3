/* hash_index.cu -- builds of the hash index on a CUDA device.
 *
 * Idea: one thread per row; a row claims a slot by compare-and-swap and lowers the slot's source row by an atomic minimum, so
 * that the map does not depend on the order of execution. With pairs the claim brings key and row in one
 * 64-bit swap. The source rows lie where the values will be, as long as one launch can turn all of them
 * into values (at most HSPZ__SPANS spans); else in the caller's scratch. Cost: one random atomic access per row
 * and a sweep over the table.
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

extern "C" const hspz__hash_device hspz__hash_cuda = {
    HSPZ__TILE, build_scratch, hspz__cuda_join_scratch, build, hspz__cuda_query, hspz__cuda_join,
};
