/* soft_sw_stream.cu -- scores of many 32 x 32 problems in plain floats: a warp streams its problems through one wavefront.
 *
 * Idea: as in soft_sw_small.cu lane = row and one anti-diagonal is a step, but a lane that has finished its row goes on with the
 * next problem at once, while the lanes behind it finish the last one. So a problem takes 32 steps instead of 63 and every
 * lane always works. Round r: lanes up to the step's number are in problem r, the others still in problem r - 1; two
 * matrices of exponentials lie in shared memory, the third is on its way into registers. What a lane begins with is set in the
 * one step in which it starts. Best cells are kept, a problem a lane, and 32 logarithms are taken at once.
 * Cost: 32 steps of a dozen instructions, three per exponential; bytes: the matrix once.
 */
#include "soft_sw_plain.cuh"

#define WARPS 4u  /* of a block */
#define BLOCKS 6u /* per multiprocessor: 32 KiB of shared memory each */

/* What a lane carries from step to step. */
struct wavefront {
    float current;  /* E of the cell to the left */
    float diagonal; /* and of the one above that */
    float best;     /* F of the row so far, and its column */
    int column;
    float row_best; /* of the row finished last */
    int row_column;
    const float *row; /* exponential of step 0 of this round */
};

template <bool CELLS>
static __device__ __forceinline__ void one_step(wavefront *w, int step, const float *next_row, float gap,
                                                uint32_t own_bit)
{
    float above = __shfl_up_sync(HSPZ__FULL, w->current, 1);
    if (own_bit & 1u)
        above = 1;
    if (own_bit & 1u << step) { /* the lane's row of the next problem begins */
        w->row_best = w->best;
        w->row_column = w->column;
        w->best = 0;
        w->column = 0;
        w->current = w->diagonal = 1;
        w->row = next_row;
    }
    const float made = fmaf(w->diagonal, w->row[step], (above + w->current) * gap);
    w->current = 1 + made;
    w->diagonal = above;
    if (!CELLS) {
        w->best = fmaxf(w->best, made);
    } else if (made > w->best) {
        w->best = made;
        w->column = step - (int)hspz__lane() & 31;
    }
}

/* Keeps the compiler from taking what depends on `v` out of the loop, where it has no registers for it. */
static __device__ __forceinline__ uint32_t keep_inside(uint32_t v)
{
#if defined(__CUDA_ARCH__)
    asm volatile("" : "+r"(v));
#endif
    return v;
}

/* Results of up to 32 problems, one a lane. */
struct results {
    float f;
    uint32_t cell;
    bool wide;
};

/* `filled` lanes have results, lane 0 of problem `first`. */
static __device__ __forceinline__ void publish(const hspz__soft_kernel &k, unsigned char *flags,
                                               const results &mine, uint64_t first, uint64_t stride,
                                               uint32_t filled)
{
    if (hspz__lane() >= filled)
        return;
    const uint64_t problem = first + hspz__lane() * stride;
    const bool done = !mine.wide && hspz__plain_f(mine.f);
    if (done)
        hspz__soft_result(k, problem, log1pf(mine.f), mine.cell);
    flags[problem] = !done;
}

/* Best of the rows that all lanes have finished. */
template <bool CELLS>
static __device__ __forceinline__ void take_best(const wavefront &w, results *mine, uint32_t slot, bool wide)
{
    const unsigned key = (unsigned)__float_as_int(w.row_best); /* F >= 0: bits ascend with it */
    const unsigned most = ~hspz__warp_min(~key);
    uint32_t cell = 0;
    if (CELLS)
        cell = hspz__warp_min(key == most ? hspz__lane() * HSPZ__SOFT_SMALL + (uint32_t)w.row_column : ~0u);
    if (hspz__lane() == slot)
        *mine = {__int_as_float((int)most), cell, wide};
}

template <bool CELLS>
static __global__ void __launch_bounds__(WARPS * 32, BLOCKS)
    score_stream(const hspz__soft_kernel k, unsigned char *flags)
{
    HSPZ__DYNAMIC_SHARED(shared);
    float *s = (float *)shared + threadIdx.x / 32 * 2 * HSPZ__PLAIN_CELLS;
    const uint64_t warps = (uint64_t)gridDim.x * WARPS;
    const uint64_t first = (uint64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    if (first >= k.batch)
        return;
    const float *in_round[2] = {s + 31 * hspz__lane(), s + HSPZ__PLAIN_CELLS + 31 * hspz__lane()};
    wavefront w = {1, 1, 0, 0, 0, 0, in_round[1] + 32};
    results mine = {0, 0, false};
    bool wide = false, last_wide = false;
    hspz__plain_matrix in;
    hspz__plain_fetch(k, first, &in);
    for (uint32_t i = hspz__lane(); i < HSPZ__PLAIN_CELLS; i += 32)
        s[HSPZ__PLAIN_CELLS + i] = 0; /* round 0 has no problem before it */
    uint64_t problem = first;
    for (uint32_t round = 0;; round++, problem += warps) {
        const bool more = problem < k.batch; /* else only the last one's rows are finished */
        last_wide = wide;
        if (more) {
            wide = hspz__plain_place(k, problem, in, s + (round & 1) * HSPZ__PLAIN_CELLS);
            if (problem + warps < k.batch)
                hspz__plain_fetch(k, problem + warps, &in);
        }
        __syncwarp();
        const uint32_t own_bit = keep_inside(1u << hspz__lane());
        const float *next_row = round & 1 ? in_round[1] : in_round[0];
#pragma unroll
        for (int step = 0; step < 32; step++)
            one_step<CELLS>(&w, step, next_row, k.constants.gap_plain, own_bit);
        w.row += 32;
        __syncwarp(); /* the matrix of round - 1 may be overwritten */
        if (round > 0) {
            const uint32_t slot = (round - 1) & 31;
            take_best<CELLS>(w, &mine, slot, last_wide);
            if (slot == 31 || !more)
                publish(k, flags, mine, problem - (slot + 1) * warps, warps, slot + 1);
        }
        if (!more)
            break;
    }
}

cudaError_t hspz__soft_stream(const hspz__soft_kernel *k, unsigned char *flags, cudaStream_t stream)
{
    const size_t bytes = WARPS * 2 * HSPZ__PLAIN_CELLS * sizeof(float);
    const unsigned grid = hspz__grid(k->batch, WARPS, hspz__resident_blocks(BLOCKS));
    if (k->cells != NULL)
        return HSPZ__LAUNCH(score_stream<true>, grid, WARPS * 32, bytes, stream, *k, flags);
    return HSPZ__LAUNCH(score_stream<false>, grid, WARPS * 32, bytes, stream, *k, flags);
}
