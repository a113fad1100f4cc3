/* soft_sw_gradient.cu -- scores and gradients of many 32 x 32 problems in plain floats: four problems a warp.
 *
 * Idea: with a lane a row (soft_sw_small.cu) a wavefront takes 63 steps, and half of its lanes idle. Here a problem has 8 lanes of 4
 * rows each: 39 steps there and 39 back, one shuffle for four cells. The four exponentials of a lane at a column are
 * one 16-byte word in shared memory; the words of 8 lanes in a step lie in different banks. Forward leaves the match term
 * E_diagonal s of each cell beside them, which times P (soft_sw_small.cu) is the gradient; the gradient takes the exponential's
 * place and leaves the way that the matrix came. The next matrices are asked for early, into the L2 cache.
 * What plain floats cannot do is flagged, as in soft_sw_small.cu.
 * Cost: about 900 instructions of a warp per problem; bytes: the matrix once in, the gradient once out.
 */
#include "soft_sw_plain.cuh"

#define SIDE HSPZ__SOFT_SMALL
#define PARTS 4 /* problems of a warp */
#define LANES 8 /* of a problem */
#define ROWS 4  /* of a lane */
#define STEPS (SIDE + LANES - 1)
#define STRIDE                                                                                               \
    34 /* words of 16 bytes between lanes: neither this nor one less shares a factor above 2 with 8 */
#define BLOCKS 6u /* of one warp, per multiprocessor: 33 KiB of shared memory each */

/* Shared memory of a warp, by lane and column. */
struct four_matrices {
    float4 x[PARTS * LANES * STRIDE]; /* e^(S/T) of four rows; backward: the gradient */
    float4 m[PARTS * LANES * SIDE];   /* match terms */
};

/* Best F of a problem and its cell. */
struct best_of_four {
    float f;
    uint32_t cell;
};

/* Block `i` of 8 of a lane: 4 rows x 4 columns. Eight lanes of a phase take 2 bands of rows x 4 columns of blocks, so that neither side
 * has more than two in a bank. */
struct block_place {
    uint32_t part, band, columns; /* of problem `part`: rows 4 band .., columns `columns` .. + 3 */
};
static __device__ __forceinline__ block_place place_of(uint32_t i)
{
    const uint32_t lane = hspz__lane();
    return {i / 2, (i & 1u) * 4 + (lane >> 4) * 2 + (lane >> 2 & 1u),
            ((lane & 3u) + (lane >> 3 & 1u) * 4) * 4};
}

static __device__ __forceinline__ void ask_early(const hspz__soft_kernel &k, uint64_t first)
{
#if defined(__CUDA_ARCH__)
    const char *from = (const char *)(k.similarity + first * HSPZ__PLAIN_CELLS) + hspz__lane() * 128;
#pragma unroll
    for (uint32_t part = 0; part < PARTS; part++, from += HSPZ__PLAIN_CELLS * 4)
        if (first + part < k.batch)
            asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
#else
    (void)k;
    (void)first;
#endif
}

/* The exponentials of problems first .. first + 3 to shared memory. Bit `part` of the answer: needs more than plain floats. */
static __device__ __forceinline__ unsigned load_four(const hspz__soft_kernel &k, uint64_t first,
                                                     four_matrices *w)
{
    unsigned wide = 0;
#pragma unroll
    for (uint32_t part = 0; part < PARTS; part++) {
        float4 v[2][ROWS];
#pragma unroll
        for (uint32_t half = 0; half < 2; half++) {
            const block_place at = place_of(2 * part + half);
            const float *from =
                k.similarity + (first + part) * HSPZ__PLAIN_CELLS + at.band * ROWS * SIDE + at.columns;
#pragma unroll
            for (uint32_t q = 0; q < ROWS; q++)
                v[half][q] =
                    first + part < k.batch ? __ldcs((const float4 *)(from + q * SIDE)) : float4{0, 0, 0, 0};
        }
        float least = 0;
#pragma unroll
        for (uint32_t half = 0; half < 2; half++) {
            const block_place at = place_of(2 * part + half);
#pragma unroll
            for (uint32_t q = 0; q < ROWS; q++)
                hspz__plain_exponentials(k, &v[half][q], &least);
            const float4 *r = v[half];
            float4 *to = w->x + (part * LANES + at.band) * STRIDE + at.columns;
            to[0] = float4{r[0].x, r[1].x, r[2].x, r[3].x};
            to[1] = float4{r[0].y, r[1].y, r[2].y, r[3].y};
            to[2] = float4{r[0].z, r[1].z, r[2].z, r[3].z};
            to[3] = float4{r[0].w, r[1].w, r[2].w, r[3].w};
        }
        if (!__all_sync(HSPZ__FULL, least > HSPZ__PLAIN_LEAST) && hspz__plain_loses(k, first + part))
            wide |= 1u << part;
    }
    return wide;
}

/* Gradients of the problems in `which` from shared memory to their place. */
static __device__ __forceinline__ void store_four(const hspz__soft_kernel &k, uint64_t first,
                                                  const four_matrices *w, unsigned which)
{
#pragma unroll
    for (uint32_t i = 0; i < 2 * PARTS; i++) {
        const block_place at = place_of(i);
        const float4 *from = w->x + (at.part * LANES + at.band) * STRIDE + at.columns;
        const float4 c0 = from[0], c1 = from[1], c2 = from[2], c3 = from[3];
        float4 *to = (float4 *)(k.gradient + (first + at.part) * HSPZ__PLAIN_CELLS + at.band * ROWS * SIDE +
                                at.columns);
        if (which >> at.part & 1u) {
            __stcs(to, float4{c0.x, c1.x, c2.x, c3.x});
            __stcs(to + SIDE / 4, float4{c0.y, c1.y, c2.y, c3.y});
            __stcs(to + 2 * (SIDE / 4), float4{c0.z, c1.z, c2.z, c3.z});
            __stcs(to + 3 * (SIDE / 4), float4{c0.w, c1.w, c2.w, c3.w});
        }
    }
}

/* One cell; `above` becomes this cell's E. Rounded as in soft_sw_stream.cu, so that both give one score. */
static __device__ __forceinline__ float one_cell(float diagonal, float x, float *above, float left, float gap,
                                                 float *made)
{
    *made = fmaf(diagonal, x, (*above + left) * gap);
    *above = 1 + *made;
    return diagonal * x;
}

static __device__ __forceinline__ void take(float made, int column, float *best, int *best_column)
{
    if (made > *best) {
        *best = made;
        *best_column = column;
    }
}

/* The wavefront of four problems; the best of each in its lanes. */
static __device__ __forceinline__ best_of_four forward(float gap, four_matrices *w)
{
    const int lane = (int)hspz__lane(), r = lane % LANES;
    const float4 *x = w->x + lane * STRIDE - r;
    float4 *m = w->m + lane * SIDE - r;
    float4 current = {1, 1, 1, 1}, best = {-1, -1, -1, -1};
    int column[ROWS] = {0, 0, 0, 0};
    float diagonal = 1;
#pragma unroll
    for (int t = 0; t < (int)STEPS; t++) {
        float above = __shfl_up_sync(HSPZ__FULL, current.w, 1);
        if (r == 0)
            above = 1;
        const int j = t - r;
        if ((unsigned)j < SIDE) {
            const float4 s = x[t];
            float4 made, match;
            float e = above;
            match.x = one_cell(diagonal, s.x, &e, current.x, gap, &made.x);
            diagonal = current.x;
            current.x = e;
            match.y = one_cell(diagonal, s.y, &e, current.y, gap, &made.y);
            diagonal = current.y;
            current.y = e;
            match.z = one_cell(diagonal, s.z, &e, current.z, gap, &made.z);
            diagonal = current.z;
            current.z = e;
            match.w = one_cell(diagonal, s.w, &e, current.w, gap, &made.w);
            current.w = e;
            m[t] = match;
            take(made.x, j, &best.x, &column[0]);
            take(made.y, j, &best.y, &column[1]);
            take(made.z, j, &best.z, &column[2]);
            take(made.w, j, &best.w, &column[3]);
        }
        diagonal = above;
    }
    take(best.y, column[1] + SIDE, &best.x, &column[0]);
    take(best.z, column[2] + 2 * SIDE, &best.x, &column[0]);
    take(best.w, column[3] + 3 * SIDE, &best.x, &column[0]);
    best_of_four b = {best.x, (uint32_t)(r * ROWS * (int)SIDE + column[0])};
    for (int d = LANES / 2; d > 0; d >>= 1) {
        const float f = __shfl_xor_sync(HSPZ__FULL, b.f, d);
        const uint32_t cell = __shfl_xor_sync(HSPZ__FULL, b.cell, d);
        if (f > b.f || (f == b.f && cell < b.cell))
            b = {f, cell};
    }
    return b;
}

/* Flow back from the best cells; x becomes the gradient. */
static __device__ __forceinline__ void backward(float gap, four_matrices *w, uint32_t cell, float inverse,
                                                float flow)
{
    const int lane = (int)hspz__lane(), r = lane % LANES;
    float4 *x = w->x + lane * STRIDE - r;
    const float4 *m = w->m + lane * SIDE - r;
    const bool own = (int)(cell / (ROWS * SIDE)) == r;
    const int begin = own ? (int)(cell % SIDE) + r : -1; /* the step in which the flow begins */
    const uint32_t row = cell / SIDE % ROWS;
    const float4 source = {row == 0 ? inverse : 0, row == 1 ? inverse : 0, row == 2 ? inverse : 0,
                           row == 3 ? inverse : 0};
    float4 p = {0, 0, 0, 0}, last = {0, 0, 0, 0}; /* of the column to the right: P, and P s */
    float out = 0;                                /* what the row above gets from here */
#pragma unroll
    for (int t = (int)STEPS - 1; t >= 0; t--) {
        float below = __shfl_down_sync(HSPZ__FULL, out, 1);
        if (r == LANES - 1)
            below = 0;
        const int j = t - r;
        if ((unsigned)j < SIDE) {
            const float4 s = x[t], match = m[t];
            p.w = fmaf(p.w, gap, below);
            if (t == begin)
                p.w += source.w;
            p.z = fmaf(p.z, gap, fmaf(p.w, gap, last.w));
            if (t == begin)
                p.z += source.z;
            p.y = fmaf(p.y, gap, fmaf(p.z, gap, last.z));
            if (t == begin)
                p.y += source.y;
            p.x = fmaf(p.x, gap, fmaf(p.y, gap, last.y));
            if (t == begin)
                p.x += source.x;
            out = fmaf(p.x, gap, last.x);
            last = float4{p.x * s.x, p.y * s.y, p.z * s.z, p.w * s.w};
            x[t] = float4{p.x * match.x * flow, p.y * match.y * flow, p.z * match.z * flow,
                          p.w * match.w * flow};
        } else {
            out = last.x; /* left of the first column: not used */
        }
    }
}

static __global__ void __launch_bounds__(32, BLOCKS)
    gradient_four(const hspz__soft_kernel k, unsigned char *flags)
{
    HSPZ__DYNAMIC_SHARED(shared);
    four_matrices *w = (four_matrices *)shared;
    const uint32_t part = hspz__lane() / LANES;
    for (uint64_t first = (uint64_t)blockIdx.x * PARTS; first < k.batch;
         first += (uint64_t)gridDim.x * PARTS) {
        const unsigned wide = load_four(k, first, w);
        ask_early(k, first + (uint64_t)gridDim.x * PARTS);
        __syncwarp();
        const best_of_four best = forward(k.constants.gap_plain, w);
        const uint64_t problem = first + part;
        const bool exists = problem < k.batch;
        const bool done = exists && (wide >> part & 1u) == 0 && hspz__plain_f(best.f);
        backward(k.constants.gap_plain, w, best.cell, 1 / (1 + best.f),
                 done ? k.score_gradient[problem] : 0.0f);
        if (exists && hspz__lane() % LANES == 0) {
            if (done)
                hspz__soft_result(k, problem, log1pf(best.f), best.cell);
            flags[problem] = !done;
        }
        const unsigned lanes = __ballot_sync(HSPZ__FULL, done);
        const unsigned which = (lanes & 1u) | (lanes >> 7 & 2u) | (lanes >> 14 & 4u) | (lanes >> 21 & 8u);
        __syncwarp();
        store_four(k, first, w, which);
        __syncwarp();
    }
}

cudaError_t hspz__soft_gradient(const hspz__soft_kernel *k, unsigned char *flags, cudaStream_t stream)
{
    const unsigned grid = hspz__grid(k->batch, PARTS, hspz__resident_blocks(BLOCKS));
    return HSPZ__LAUNCH(gradient_four, grid, 32, sizeof(four_matrices), stream, *k, flags);
}
