/* soft_sw_small.cu -- soft Smith-Waterman of at most 32 x 32 in plain floats: a warp per problem.
 *
 * Idea: lane = row, one anti-diagonal per step, neighbours by one shuffle. The exponentials of all similarities are taken while
 * the matrix comes in, 32 at a time, and lie in shared memory; row i, column j at word 32 i + j, so that an
 * anti-diagonal touches 32 different banks. The next problem's matrix is on its way into registers meanwhile.
 * Backward keeps E beside them. With P = d(log E_best) E / E the flow is linear as well: P = P' s' + gap (P'' + P'''),
 * gradient = P s E_diagonal / E_best, and neither product exceeds E_best.
 * A result counts if 2^-60 < F < 2^100 at the best cell, and no e^(S/T) lies in 2^-250..2^-100, where a plain float loses
 * digits that matter; what is below counts as 0. Scores alone of many full problems are soft_sw_stream.cu's. Other problems are flagged for soft_sw_large.cu, or, when there are few
 * problems, go through its pipeline at once: a second launch would cost more than the work.
 * Cost: 63 steps of a dozen instructions forward, twice that backward; bytes: the matrix once in, the gradient once out.
 */
#include "soft_sw_pipeline.cuh"
#include "soft_sw_plain.cuh"

#define SIDE HSPZ__SOFT_SMALL
#define CELLS HSPZ__PLAIN_CELLS
#define WARPS 4u /* of a block */
#define MOST_BLOCKS 2112u

/* A warp's matrices in shared memory. */
struct small_matrices {
    float s[CELLS]; /* e^(S/T); backward turns it into the gradient */
};
struct small_backward {
    float s[CELLS];
    float e[CELLS];
};

/* Exponential of one similarity; notes in *wide if it loses digits. */
static __device__ __forceinline__ float exponential(const hspz__soft_kernel &k, float similarity, bool *wide)
{
    const float y = similarity * k.constants.per_bit_high;
    *wide = *wide || (y > HSPZ__PLAIN_LOST && y <= HSPZ__PLAIN_LEAST);
    return hspz__soft_fast_power(y);
}

/* Smaller matrices, or unaligned ones: a row at a time. Answers as hspz__plain_place. */
static __device__ __forceinline__ bool place_partial(const hspz__soft_kernel &k, uint64_t problem, float *s)
{
    const float *from = k.similarity + problem * k.rows * k.columns + hspz__lane();
    bool wide = false;
    if (hspz__lane() < k.columns) {
#pragma unroll 8
        for (uint32_t i = 0; i < k.rows; i++)
            s[i * SIDE + hspz__lane()] = exponential(k, __ldcs(from + i * k.columns), &wide);
    }
    return __any_sync(HSPZ__FULL, wide) != 0;
}

/* The wavefront. *f and *column: the lane's best F and its column, -1 if it has no cells. */
template <bool BACKWARD>
static __device__ __forceinline__ void forward(const hspz__soft_kernel &k, const float *s, float *e, float *f,
                                               int *column)
{
    const int lane = (int)hspz__lane(), columns = (int)k.columns;
    const float gap = k.constants.gap_plain;
    const int width = lane < (int)k.rows ? columns : 0;
    float current = 1, diagonal = 1, best = -1;
    int best_column = -1;
#pragma unroll 4
    for (int t = 0; t < columns + (int)k.rows - 1; t++) {
        const int j = t - lane;
        const bool active = (unsigned)j < (unsigned)width;
        float above = __shfl_up_sync(HSPZ__FULL, current, 1);
        if (lane == 0)
            above = 1;
        const float match = active ? s[lane * (int)SIDE + j] : 0.0f;
        const float made = fmaf(diagonal, match, (above + current) * gap);
        if (active) {
            current = 1 + made;
            if (BACKWARD)
                e[lane * (int)SIDE + j] = current;
            if (made > best) {
                best = made;
                best_column = j;
            }
        }
        diagonal = above;
    }
    *f = best;
    *column = best_column;
}

/* Flow from `cell` back; s becomes the gradient for a flow of `flow`. */
static __device__ __forceinline__ void backward(const hspz__soft_kernel &k, float *s, const float *e,
                                                uint32_t cell, float inverse, float flow)
{
    const int lane = (int)hspz__lane(), columns = (int)k.columns, row = (int)(cell / k.columns);
    const int column = (int)(cell % k.columns), width = lane < (int)k.rows ? columns : 0;
    const float gap = k.constants.gap_plain;
    float p = 0, out = 0, last = 0; /* out: what the row above gets from here */
#pragma unroll 4
    for (int t = columns + (int)k.rows - 2; t >= 0; t--) {
        const int j = t - lane;
        const bool active = (unsigned)j < (unsigned)width;
        float below = __shfl_down_sync(HSPZ__FULL, out, 1);
        if (lane == 31)
            below = 0;
        float match = 0;
        if (active) {
            p = fmaf(p, gap, below);
            if (lane == row && j == column)
                p = 1;
            const float diagonal = lane > 0 && j > 0 ? e[(lane - 1) * (int)SIDE + j - 1] : 1.0f;
            match = p * s[lane * (int)SIDE + j];
            s[lane * (int)SIDE + j] = match * diagonal * inverse * flow;
        } else {
            p = 0;
        }
        out = fmaf(p, gap, last);
        last = match;
    }
}

/* Best F of the warp and its cell; F = 0 and no cell if there is none. */
static __device__ __forceinline__ float warp_best(const hspz__soft_kernel &k, float f, int column,
                                                  uint32_t *cell)
{
    const unsigned key = column < 0 ? 0u : (unsigned)__float_as_int(f); /* F >= 0: bits ascend with it */
    const unsigned most = ~hspz__warp_min(~key);
    const unsigned own = hspz__lane() * k.columns + (uint32_t)column;
    *cell = hspz__warp_min(column >= 0 && key == most ? own : 0xffffffffu);
    return __int_as_float((int)most);
}

/* The gradient from shared memory to its place. */
static __device__ __forceinline__ void store_gradient(const hspz__soft_kernel &k, uint64_t problem,
                                                      const float *s)
{
    float *to = k.gradient + problem * k.rows * k.columns;
    if (k.rows == SIDE && k.columns == SIDE && ((uintptr_t)to & 15) == 0) {
        for (uint32_t i = hspz__lane(); i < CELLS / 4; i += 32)
            __stcs((float4 *)to + i, ((const float4 *)s)[i]);
    } else if (hspz__lane() < k.columns) {
        for (uint32_t i = 0; i < k.rows; i++)
            __stcs(to + i * k.columns + hspz__lane(), s[i * SIDE + hspz__lane()]);
    }
}

/* Works on the exponentials in s. False: the problem needs more than plain floats. */
template <bool BACKWARD>
static __device__ __forceinline__ bool finish(const hspz__soft_kernel &k, uint64_t problem, float *s,
                                              float *e, bool wide)
{
    float f;
    int column;
    uint32_t cell;
    __syncwarp();
    forward<BACKWARD>(k, s, e, &f, &column);
    f = warp_best(k, f, column, &cell);
    if (wide || !hspz__plain_f(f))
        return false;
    if (hspz__lane() == 0)
        hspz__soft_result(k, problem, log1pf(f), cell);
    if (BACKWARD) {
        __syncwarp();
        backward(k, s, e, cell, 1 / (1 + f), k.score_gradient[problem]);
        __syncwarp();
        store_gradient(k, problem, s);
    }
    return true;
}

/* Many problems: each warp takes every so-manieth. FULL: 32 x 32 and aligned to 16 bytes. */
template <bool BACKWARD, bool FULL>
static __global__ void __launch_bounds__(WARPS * 32, 8)
    solve_small(const hspz__soft_kernel k, unsigned char *flags)
{
    HSPZ__DYNAMIC_SHARED(shared);
    const uint64_t warps = (uint64_t)gridDim.x * WARPS;
    const uint32_t stride = BACKWARD ? 2 * CELLS : CELLS;
    float *s = (float *)shared + threadIdx.x / 32 * stride, *e = s + CELLS;
    uint64_t problem = (uint64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    hspz__plain_matrix in;
    if (FULL && problem < k.batch)
        hspz__plain_fetch(k, problem, &in);
    for (; problem < k.batch; problem += warps) {
        bool wide;
        if (FULL) {
            wide = hspz__plain_place(k, problem, in, s);
            if (problem + warps < k.batch)
                hspz__plain_fetch(k, problem + warps, &in);
        } else {
            wide = place_partial(k, problem, s);
        }
        const bool done = finish<BACKWARD>(k, problem, s, e, wide);
        if (hspz__lane() == 0)
            flags[problem] = !done;
        __syncwarp();
    }
}

/* Few problems: a block of one warp each, which does all of it. */
template <bool BACKWARD, bool FULL>
static __global__ void __launch_bounds__(32)
    solve_few(const hspz__soft_kernel k, unsigned char *area, uint64_t area_bytes)
{
    HSPZ__DYNAMIC_SHARED(shared);
    __shared__ unsigned long long done[1];
    __shared__ seen shared_seen[1];
    float *s = (float *)shared, *e = s + CELLS;
    bool wide;
    if (FULL) {
        hspz__plain_matrix in;
        hspz__plain_fetch(k, blockIdx.x, &in);
        wide = hspz__plain_place(k, blockIdx.x, in, s);
    } else {
        wide = place_partial(k, blockIdx.x, s);
    }
    if (!finish<BACKWARD>(k, blockIdx.x, s, e, wide))
        solve<BACKWARD>(k, make_pipeline(k, area, blockIdx.x, area_bytes, done), blockIdx.x, shared_seen,
                        true);
}

template <bool BACKWARD, bool FULL>
static cudaError_t launch(const hspz__soft_kernel *k, unsigned char *flags, cudaStream_t stream)
{
    const size_t bytes = WARPS * sizeof(float) * CELLS * (BACKWARD ? 2 : 1);
    const unsigned grid = hspz__grid(k->batch, WARPS, MOST_BLOCKS);
    return HSPZ__LAUNCH((solve_small<BACKWARD, FULL>), grid, WARPS * 32, bytes, stream, *k, flags);
}

template <bool BACKWARD, bool FULL>
static cudaError_t launch_few(const hspz__soft_kernel *k, unsigned char *area, cudaStream_t stream)
{
    const size_t bytes = sizeof(float) * CELLS * (BACKWARD ? 2 : 1);
    const uint64_t area_bytes = block_bytes(k->rows, k->columns, BACKWARD);
    return HSPZ__LAUNCH((solve_few<BACKWARD, FULL>), (unsigned)k->batch, 32, bytes, stream, *k, area,
                        area_bytes);
}

template <bool BACKWARD>
static cudaError_t launch_any(const hspz__soft_kernel *k, unsigned char *flags, unsigned char *area,
                              cudaStream_t stream)
{
    const bool full = k->rows == SIDE && k->columns == SIDE && (uintptr_t)k->similarity % 16 == 0;
    if (k->batch <= HSPZ__SOFT_FEW)
        return full ? launch_few<BACKWARD, true>(k, area, stream)
                    : launch_few<BACKWARD, false>(k, area, stream);
    if (full && !BACKWARD)
        return hspz__soft_stream(k, flags, stream);
    if (full && (uintptr_t)k->gradient % 16 == 0)
        return hspz__soft_gradient(k, flags, stream);
    return full ? launch<BACKWARD, true>(k, flags, stream) : launch<BACKWARD, false>(k, flags, stream);
}

cudaError_t hspz__soft_small(const hspz__soft_kernel *k, unsigned char *flags, void *area,
                             cudaStream_t stream)
{
    unsigned char *bytes = (unsigned char *)area;
    return k->gradient != NULL ? launch_any<true>(k, flags, bytes, stream)
                               : launch_any<false>(k, flags, bytes, stream);
}
