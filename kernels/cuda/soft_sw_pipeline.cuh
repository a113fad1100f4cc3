/* soft_sw_pipeline.cuh -- soft Smith-Waterman of any shape and any finite similarity: a block per problem.
 *
 * Idea: the matrix is cut into strips of 32 rows; a warp runs a strip as a wavefront, lane = row, one anti-diagonal per step,
 * neighbours by shuffles. The warps of a block are a pipeline: strip s follows strip s - 1 a few steps behind, over a
 * buffer that holds the last row of each strip and a counter of columns done, both per warp. Backward stores the three
 * shares of each cell in the order of the steps (so that a warp's access is one line) and runs the same pipeline in
 * reverse, from the last strip up.
 * A block first works with scaled floats; where its similarities exceed their range it repeats in double logarithms.
 * Cost: about 60 instructions a cell forward; (columns + 80 x warps) steps in time.
 */
#ifndef HSPZ__SOFT_SW_PIPELINE_CUH
#define HSPZ__SOFT_SW_PIPELINE_CUH

#include "soft_sw.cuh"

#define HSPZ__SOFT_STEPS 8   /* per look at the pipeline's counters */
#define HSPZ__SOFT_WARPS 32u /* of a block, at most */

/* A block's part of the area, and its pipeline. */
struct pipeline {
    unsigned long long *border; /* warps x columns words: last rows */
    float *shares;              /* backward: 3 x 32 floats a step */
    /* per warp, in shared memory: columns finished, counted over its strips */
    volatile unsigned long long *done;
    uint32_t warps;
};

/* Columns that strip number `order` (in order of execution) must have done before `columns` of it may be read. */
static __device__ __forceinline__ void wait_for(const pipeline &p, uint32_t order, uint32_t width,
                                                uint32_t columns)
{
    const unsigned long long needed = (unsigned long long)(order / p.warps) * width + columns;
    while (__any_sync(HSPZ__FULL, p.done[order % p.warps] < needed))
        continue;
    __threadfence_block();
}

/* Called by the lane that wrote the border. */
static __device__ __forceinline__ void announce(const pipeline &p, uint32_t order, uint32_t width,
                                                uint32_t columns)
{
    __threadfence_block();
    p.done[order % p.warps] = (unsigned long long)(order / p.warps) * width + columns;
}

static __device__ __forceinline__ uint32_t at_most(int64_t v, uint32_t most)
{
    return v < 0 ? 0 : v < (int64_t)most ? (uint32_t)v : most;
}

/* Steps of a strip, a multiple of HSPZ__SOFT_STEPS. */
__host__ __device__ __forceinline__ uint64_t strip_steps(uint64_t columns)
{
    return (columns + 31 + HSPZ__SOFT_STEPS - 1) / HSPZ__SOFT_STEPS * HSPZ__SOFT_STEPS;
}

/* HSPZ__SOFT_STEPS similarities of a lane from column `first` on; 0 outside. */
static __device__ __forceinline__ void load_row(const float *row, int64_t first, uint32_t columns,
                                                float (&s)[HSPZ__SOFT_STEPS])
{
#pragma unroll
    for (int k = 0; k < HSPZ__SOFT_STEPS; k++) {
        const int64_t j = first + k;
        s[k] = row != NULL && j >= 0 && j < (int64_t)columns ? __ldg(row + j) : 0.0f;
    }
}

/* Best cell and range of what a thread has seen. */
struct seen {
    unsigned long long key;
    uint64_t cell;
    float largest; /* |S| */
};

template <typename Cell, bool SHARES>
static __device__ void forward_strip(const hspz__soft_kernel &k, const pipeline &p, const float *similarity,
                                     uint32_t strip, seen *best)
{
    const uint32_t columns = k.columns, lane = hspz__lane(), row = strip * 32 + lane;
    const float *row_similarity = row < k.rows ? similarity + (uint64_t)row * columns : NULL;
    volatile unsigned long long *above_border =
        p.border + (uint64_t)((strip + p.warps - 1) % p.warps) * columns;
    volatile unsigned long long *own_border = p.border + (uint64_t)(strip % p.warps) * columns;
    float *shares = p.shares + (uint64_t)strip * strip_steps(columns) * 96 + lane;
    Cell current = Cell::one(), diagonal = Cell::one();
    unsigned long long key = 0;
    uint32_t best_column = 0xffffffffu;
    float next[HSPZ__SOFT_STEPS];
    load_row(row_similarity, -(int64_t)lane, columns, next);
    for (int64_t t0 = 0; t0 < (int64_t)strip_steps(columns); t0 += HSPZ__SOFT_STEPS) {
        float now[HSPZ__SOFT_STEPS];
        for (int i = 0; i < HSPZ__SOFT_STEPS; i++)
            now[i] = next[i];
        load_row(row_similarity, t0 + HSPZ__SOFT_STEPS - lane, columns, next);
        Cell border = Cell::one();
        if (strip > 0) {
            wait_for(p, strip - 1, columns, at_most(t0 + HSPZ__SOFT_STEPS, columns));
            if (lane < HSPZ__SOFT_STEPS && t0 + lane < columns)
                border = Cell::unpack(above_border[t0 + lane]);
        }
#pragma unroll
        for (int i = 0; i < HSPZ__SOFT_STEPS; i++) {
            const int64_t j = t0 + i - lane;
            const bool active = row_similarity != NULL && j >= 0 && j < (int64_t)columns;
            Cell above = Cell::shuffle_up(current);
            const Cell from_border = Cell::shuffle(border, i);
            if (lane == 0)
                above = from_border;
            float part[3] = {0, 0, 0};
            if (active) {
                unsigned long long cell_key;
                const Cell made = Cell::template cell<SHARES>(k.constants, diagonal, above, current, now[i],
                                                              &cell_key, part);
                best->largest = fmaxf(best->largest, fabsf(now[i]));
                if (cell_key > key || best_column == 0xffffffffu) {
                    key = cell_key;
                    best_column = (uint32_t)j;
                }
                current = made;
                if (lane == 31)
                    own_border[j] = Cell::pack(made);
            }
            diagonal = above;
            if (SHARES) {
                shares[0] = part[0];
                shares[32] = part[1];
                shares[64] = part[2];
                shares += 96;
            }
        }
        if (lane == 31)
            announce(p, strip, columns, at_most(t0 + HSPZ__SOFT_STEPS - 31, columns));
    }
    if (best_column != 0xffffffffu)
        hspz__soft_better(&best->key, &best->cell, key, (uint64_t)row * columns + best_column);
}

/* Flow back through a strip. `order` counts from the last strip; the border holds what flows up into the strip. */
static __device__ void backward_strip(const hspz__soft_kernel &k, const pipeline &p, uint32_t order,
                                      uint32_t strip, uint64_t cell, float flow, float *gradient)
{
    const uint32_t columns = k.columns, lane = hspz__lane(), row = strip * 32 + lane;
    volatile float *below_border =
        (volatile float *)(p.border + (uint64_t)((order + p.warps - 1) % p.warps) * columns);
    volatile float *own_border = (volatile float *)(p.border + (uint64_t)(order % p.warps) * columns);
    const int64_t steps = (int64_t)strip_steps(columns);
    const float *shares = p.shares + (uint64_t)strip * steps * 96 + lane;
    float out = 0, right = 0, last_match = 0;
    for (int64_t t0 = steps - HSPZ__SOFT_STEPS; t0 >= 0; t0 -= HSPZ__SOFT_STEPS) {
        float match[HSPZ__SOFT_STEPS], del[HSPZ__SOFT_STEPS], ins[HSPZ__SOFT_STEPS], border = 0;
#pragma unroll
        for (int i = 0; i < HSPZ__SOFT_STEPS; i++) {
            match[i] = shares[(t0 + i) * 96];
            del[i] = shares[(t0 + i) * 96 + 32];
            ins[i] = shares[(t0 + i) * 96 + 64];
        }
        if (order > 0) { /* lane 31 is at column t - 31 */
            wait_for(p, order - 1, columns, columns - at_most(t0 - 31, columns));
            const int64_t j = t0 + lane - 31;
            if (lane < HSPZ__SOFT_STEPS && j >= 0 && j < (int64_t)columns)
                border = below_border[j];
        }
#pragma unroll
        for (int i = HSPZ__SOFT_STEPS - 1; i >= 0; i--) {
            const int64_t j = t0 + i - lane;
            const bool active = row < k.rows && j >= 0 && j < (int64_t)columns;
            float in = __shfl_down_sync(HSPZ__FULL, out, 1);
            const float from_border = __shfl_sync(HSPZ__FULL, border, i);
            if (lane == 31)
                in = from_border;
            float g = in + right;
            if (active && (uint64_t)row * columns + (uint64_t)j == cell)
                g += flow;
            if (!active)
                g = 0;
            const float g_match = g * match[i];
            out = fmaf(g, del[i], last_match);
            right = g * ins[i];
            last_match = g_match;
            if (active)
                gradient[(uint64_t)row * columns + j] = g_match;
            if (lane == 0 && active)
                own_border[j] = out;
        }
        if (lane == 0)
            announce(p, order, columns, columns - at_most(t0, columns));
    }
}

/* Forward over all strips; the block's best cell in all threads. Not inlined: the registers of one arithmetic must not burden
 * the other. */
template <typename Cell, bool SHARES>
static __device__ __noinline__ void forward_problem(const hspz__soft_kernel &k, const pipeline &p,
                                                    const float *similarity, seen *best, seen *shared_seen)
{
    const uint32_t warp = threadIdx.x / 32, strips = (k.rows + 31) / 32;
    *best = {0, ~0ull, 0};
    __syncthreads();
    if (hspz__lane() == 0)
        p.done[warp] = 0;
    __syncthreads();
    for (uint32_t strip = warp; strip < strips; strip += p.warps)
        forward_strip<Cell, SHARES>(k, p, similarity, strip, best);
    hspz__soft_warp_best(&best->key, &best->cell);
    for (int d = 16; d > 0; d >>= 1)
        best->largest = fmaxf(best->largest, __shfl_xor_sync(HSPZ__FULL, best->largest, d));
    if (hspz__lane() == 0)
        shared_seen[warp] = *best;
    __syncthreads();
    for (uint32_t w = 0; w < p.warps; w++) {
        hspz__soft_better(&best->key, &best->cell, shared_seen[w].key, shared_seen[w].cell);
        best->largest = fmaxf(best->largest, shared_seen[w].largest);
    }
}

/* `score`: else only the gradient is wanted. */
template <bool BACKWARD>
static __device__ void solve(const hspz__soft_kernel &k, const pipeline &p, uint64_t problem,
                             seen *shared_seen, bool score)
{
    const uint64_t one = (uint64_t)k.rows * k.columns;
    const float *similarity = k.similarity + problem * one;
    const uint32_t warp = threadIdx.x / 32, strips = (k.rows + 31) / 32;
    seen best;
    double h = 0;
    bool scaled = k.constants.scaled_limit > 0;
    if (scaled) {
        forward_problem<hspz__scaled, BACKWARD>(k, p, similarity, &best, shared_seen);
        /* an F near 0 may have lost terms to the least exponent */
        scaled = best.largest < k.constants.scaled_limit && best.key > HSPZ__SOFT_KEY_LEAST;
        h = hspz__scaled::logarithm(best.key);
    }
    if (!scaled) {
        forward_problem<hspz__wide, BACKWARD>(k, p, similarity, &best, shared_seen);
        h = hspz__wide::logarithm(best.key);
    }
    if (threadIdx.x == 0 && score)
        hspz__soft_result(k, problem, h, best.cell);
    if (BACKWARD) {
        __syncthreads();
        if (hspz__lane() == 0)
            p.done[warp] = 0;
        __syncthreads();
        for (uint32_t order = warp; order < strips; order += p.warps)
            backward_strip(k, p, order, strips - 1 - order, best.cell, k.score_gradient[problem],
                           k.gradient + problem * one);
    }
    __syncthreads();
}

__host__ __device__ static inline unsigned warps_of(uint64_t rows)
{
    const uint64_t strips = (rows + 31) / 32;
    return strips < HSPZ__SOFT_WARPS ? (unsigned)strips : HSPZ__SOFT_WARPS;
}

__host__ __device__ static inline uint64_t block_bytes(uint64_t rows, uint64_t columns, bool backward)
{
    const uint64_t strips = (rows + 31) / 32;
    const uint64_t bytes =
        warps_of(rows) * columns * 8 + (backward ? strips * strip_steps(columns) * 96 * 4 : 0);
    return (bytes + 127) / 128 * 128;
}

/* The pipeline of block `block` over its part of the area. */
__device__ __forceinline__ pipeline make_pipeline(const hspz__soft_kernel &k, unsigned char *area,
                                                  uint32_t block, uint64_t bytes, unsigned long long *done)
{
    unsigned long long *border = (unsigned long long *)(area + block * bytes);
    return {border, (float *)(border + (uint64_t)warps_of(k.rows) * k.columns), done, warps_of(k.rows)};
}

#endif
