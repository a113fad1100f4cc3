/* soft_sw_wave_backward.cu -- gradients by soft_sw_wave.cuh: the wave that runs back from the best cell.
 *
 * Idea: P = d E_best / d E is linear too, P = P_below-right s' + e^(g/T) (P_below + P_right), from 1 at the best cell; the gradient is
 * P s E_diagonal / E_best. So the forward wave in a mirror: the last segment first, steps descending, lane to lane upwards.
 * A lane that holds nothing yet takes the exponent of the one that will feed it. No exponent is set below that of P = 1: as E is at
 * most E_best, what is lost of a P far below 1 is as small a part of the gradient. The gradient takes the similarities' place in
 * the ring, and leaves it as they came.
 * Cost: as forward, and a third more; bytes: matrix and kept diagonals in, gradient out.
 */
#include "soft_sw_wave.cuh"

/* A lane between steps: values times 2^-e. */
struct wave_flow {
    float p[WAVE_ROWS];     /* P of the cells to the right */
    float match[WAVE_ROWS]; /* P s of these */
    float out;              /* what the lane above gets */
    float down;             /* factor from the lane below to this one */
    int e;
};

/* Exponent for a lane without flow: of the next lane below that has some, else the border's, else that of a P of 1. */
static __device__ __forceinline__ int exponent_to_come(bool empty, int e, float border, int border_e)
{
    const unsigned full = __ballot_sync(HSPZ__FULL, !empty);
    int from_border = hspz__lane() < WAVE_STEPS && border > 0 ? border_e + wave_exponent(border) : 0;
    for (int d = WAVE_STEPS / 2; d > 0; d >>= 1)
        from_border = max(from_border, __shfl_xor_sync(HSPZ__FULL, from_border, d));
    from_border = __shfl_sync(HSPZ__FULL, from_border, 0);
    const unsigned below = full & ~hspz__lanes_upto();
    const int fed = __shfl_sync(HSPZ__FULL, e, below != 0 ? __ffs(below) - 1 : 0);
    return below != 0 ? fed : max(from_border, 0) - WAVE_REST;
}

/* Sets the exponents anew; the border's value becomes one of the last lane's exponent. */
static __device__ __forceinline__ void set_exponents(wave_flow *f, float *border, int border_e, bool *bad)
{
    float most = f->out;
#pragma unroll
    for (uint32_t q = 0; q < WAVE_ROWS; q++)
        most = fmaxf(most, f->p[q]);
    const bool empty = !(most > 0);
    const int shift = empty ? 0 : max(f->e + wave_exponent(most) - WAVE_REST, -WAVE_REST) - f->e;
    const float factor = wave_power(-shift);
#pragma unroll
    for (uint32_t q = 0; q < WAVE_ROWS; q++) {
        f->p[q] *= factor;
        f->match[q] *= factor;
    }
    f->out *= factor;
    f->e += shift;
    if (__any_sync(HSPZ__FULL, empty)) {
        const int to_come = exponent_to_come(empty, f->e, *border, border_e);
        if (empty)
            f->e = to_come;
    }
    int apart = __shfl_down_sync(HSPZ__FULL, f->e, 1) - f->e;
    const float from = __shfl_down_sync(HSPZ__FULL, f->out, 1);
    if (hspz__lane() == 31)
        apart = 0;
    border_e -= __shfl_sync(HSPZ__FULL, f->e, 31);
    *bad = *bad || (apart > WAVE_APART && from > 0) || (border_e > WAVE_APART && *border > 0);
    *border *= wave_power(border_e);
    f->down = wave_power(apart);
}

/* What a strip's steps need besides. */
struct wave_goal {
    int row;      /* of the best cell in this lane, or -1 */
    int step;     /* of it */
    int exponent; /* of E there */
    float inverse;
};

/* 8 steps from t0 + 7 down. The gradient, for a flow of 1, goes to the ring. */
static __device__ __forceinline__ void steps(wave_flow *f, const float (&x)[WAVE_STEPS][WAVE_ROWS],
                                             const float (&diagonal)[WAVE_STEPS][WAVE_ROWS], int diagonal_e,
                                             float border, float gap, int t0, const wave_rows &r,
                                             const wave_goal &goal, const wave_border &out, float *ring,
                                             bool *bad)
{
    const int lane = (int)hspz__lane(), e = f->e + diagonal_e - goal.exponent;
    const float first = wave_power(e >> 1) * goal.inverse, second = wave_power(e - (e >> 1));
    float *row = ring + lane * (int)WAVE_ROWS * (int)WAVE_RING;
    const float source = wave_power(-f->e);
#pragma unroll
    for (int i = WAVE_STEPS - 1; i >= 0; i--) {
        float below = __shfl_down_sync(HSPZ__FULL, f->out, 1) * f->down;
        const float from_border = __shfl_sync(HSPZ__FULL, border, i);
        if (lane == 31)
            below = from_border;
        const int column = t0 + i - lane;
        const bool begins = t0 + i == goal.step;
        const bool inside = (uint32_t)column < r.columns;
        float *to = row + (column & ((int)WAVE_RING - 1));
#pragma unroll
        for (int q = (int)WAVE_ROWS - 1; q >= 0; q--) {
            float p = fmaf(f->p[q], gap, below);
            if (begins && goal.row == q)
                p += source;
            below = fmaf(p, gap, f->match[q]);
            f->p[q] = p;
            f->match[q] = p * x[i][q];
            const float gradient = f->match[q] * first * (diagonal[i][q] * second);
            if (inside) {
                *bad = *bad || !(gradient <= 2);
                to[q * (int)WAVE_RING] = gradient;
            }
        }
        f->out = below;
        if (lane == 0)
            wave_put(out, t0 + i, r.columns, f->out, f->e);
    }
}

static __device__ __forceinline__ void load_diagonals(const float *from, float (&d)[WAVE_STEPS][WAVE_ROWS])
{
#pragma unroll
    for (uint32_t i = 0; i < WAVE_STEPS; i++)
#pragma unroll
        for (uint32_t q = 0; q < WAVE_ROWS; q++)
            d[i][q] = __ldcs(from + (i * WAVE_ROWS + q) * 32);
}

/* The lines of diagonals of a group into the L2 cache. */
static __device__ __forceinline__ void ask_early(const float *from)
{
#if defined(__CUDA_ARCH__)
    if (hspz__lane() < WAVE_STEPS * WAVE_ROWS)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(from + (uint64_t)hspz__lane() * 32));
#else
    (void)from;
#endif
}

static __device__ __forceinline__ wave_goal goal_of(const hspz__soft_kernel &k, const wave_best &best,
                                                    uint32_t strip)
{
    const int lane = (int)hspz__lane();
    const uint32_t row = (uint32_t)(best.cell / k.columns), column = (uint32_t)(best.cell % k.columns);
    const bool own = row / WAVE_STRIP == strip && (int)(row % WAVE_STRIP / WAVE_ROWS) == lane;
    return {own ? (int)(row % WAVE_ROWS) : -1, own ? (int)column + lane : -1, best.exponent, best.inverse};
}

static __device__ bool backward_strip(const hspz__soft_kernel &k, const hspz__wave &w, uint64_t problem,
                                      uint32_t strip, const wave_border &in, const wave_border &out,
                                      float *ring)
{
    const wave_rows r = wave_rows_of(k, problem, strip);
    const wave_goal goal = goal_of(k, w.best[problem], strip);
    const float gap = k.constants.gap_plain, flow = k.score_gradient[problem];
    const int lane = (int)hspz__lane(), group = (int)WAVE_STRIP * WAVE_STEPS;
    const unsigned long long edge = wave_word(0, 0);
    const uint64_t number = problem * w.strips + strip;
    float *gradient = k.gradient + (problem * k.rows + (uint64_t)strip * WAVE_STRIP) * k.columns;
    const int last = (int)w.steps - WAVE_STEPS;
    const float *diagonals = w.diagonals + number * w.steps * WAVE_STRIP + (uint64_t)last * WAVE_STRIP;
    const int32_t *exponents =
        w.exponents + (number * (w.steps / WAVE_STEPS) + last / WAVE_STEPS) * 32 + lane;
    float x[WAVE_STEPS][WAVE_ROWS], next[WAVE_STEPS][WAVE_ROWS];
    float diagonal[WAVE_STEPS][WAVE_ROWS], next_diagonal[WAVE_STEPS][WAVE_ROWS];
    bool bad = false;
    wave_clear_ring(ring);
    for (int column = last; column >= last - 6 * WAVE_STEPS; column -= WAVE_STEPS)
        wave_ask<false>(r, column, ring, NULL, 0);
    for (int column = last - 32; column > last - 160; column -= 32)
        wave_ask_early(r, column);
    load_diagonals(diagonals + lane, diagonal);
    int diagonal_e = *exponents;
    wave_arrived<2>();
    wave_exponentials(k, r, ring, last, x, &bad);
    wave_ahead ahead = {wave_peek(in, last + lane - 31, k.columns, edge),
                        wave_peek(in, last - WAVE_STEPS + lane - 31, k.columns, edge)};
    wave_flow f = {};
    f.e = -WAVE_REST;
    for (int t0 = last; t0 >= 0; t0 -= WAVE_STEPS, diagonals -= group, exponents -= 32) {
        int next_e = 0;
        if (t0 > 0) {
            load_diagonals(diagonals - group + lane, next_diagonal);
            next_e = exponents[-32];
        }
        if (t0 > 6 * WAVE_STEPS)
            ask_early(diagonals - 6 * group);
        __syncwarp();
        wave_ask<true>(r, t0 - 7 * WAVE_STEPS, ring, gradient, flow);
        if (t0 % 32 == 0)
            wave_ask_early(r, t0 - 160);
        wave_arrived<2>();
        wave_exponentials(k, r, ring, t0 - WAVE_STEPS, next, &bad);
        const unsigned long long word = wave_take(in, t0 + lane - 31, k.columns, ahead.next);
        wave_peek_on(in, &ahead, t0 + lane - 31, -WAVE_STEPS, k.columns, edge);
        wave_room(out, t0, k.columns);
        int border_e;
        float border = wave_value(word, &border_e);
        set_exponents(&f, &border, border_e, &bad);
        steps(&f, x, diagonal, diagonal_e, border, gap, t0, r, goal, out, ring, &bad);
        diagonal_e = next_e;
#pragma unroll
        for (uint32_t i = 0; i < WAVE_STEPS; i++)
#pragma unroll
            for (uint32_t q = 0; q < WAVE_ROWS; q++) {
                x[i][q] = next[i][q];
                diagonal[i][q] = next_diagonal[i][q];
            }
    }
    __syncwarp();
    wave_ask<true>(r, -7 * WAVE_STEPS - WAVE_STEPS, ring, gradient, flow);
    wave_arrived<0>();
    return __any_sync(HSPZ__FULL, bad) != 0;
}

static __global__ void __launch_bounds__(WAVE_WARPS * 32, 4)
    wave_backward(const hspz__soft_kernel k, const hspz__wave w)
{
    HSPZ__DYNAMIC_SHARED(memory);
    wave_shared *shared = (wave_shared *)memory;
    const uint32_t warp = threadIdx.x / 32;
    wave_clear_borders(shared);
    for (;;) {
        const uint64_t ticket = wave_ticket(w.tickets + 1, shared);
        if (ticket >= k.batch * w.segments)
            break;
        const uint64_t problem = ticket / w.segments;
        const uint32_t segment = w.segments - 1 - (uint32_t)(ticket % w.segments);
        const uint32_t strip = segment * WAVE_WARPS + warp;
        if (strip >= w.strips || w.best[problem].skip != 0)
            continue;
        wave_border in = {NULL, 0, false}, out = {NULL, 0, false};
        if (strip + 1 < w.strips)
            in = warp + 1 < WAVE_WARPS ? wave_inside(shared, warp) : wave_outside(k, w, 1, problem, segment);
        if (warp > 0)
            out = wave_inside(shared, warp - 1);
        else if (segment > 0)
            out = wave_outside(k, w, 1, problem, segment - 1);
        if (backward_strip(k, w, problem, strip, in, out, shared->ring[warp]) && hspz__lane() == 0)
            w.flags[problem] = HSPZ__SOFT_GRADIENT;
    }
}

cudaError_t hspz__wave_backward(const hspz__soft_kernel *k, const hspz__wave *w, cudaStream_t stream)
{
    const unsigned grid = hspz__grid(k->batch * w->segments, 1, hspz__resident_blocks(WAVE_BLOCKS));
    return HSPZ__LAUNCH(wave_backward, grid, WAVE_WARPS * 32, sizeof(wave_shared), stream, *k, *w);
}
