/* soft_sw_wave_forward.cu -- scores by soft_sw_wave.cuh: the forward wave.
 *
 * Cost: about 40 instructions a step; the chain from step to step is a shuffle, a selection and a multiplication with addition. Bytes: the
 * matrix once; for backward one float a cell is written.
 */
#include "soft_sw_wave.cuh"

/* A lane between steps: values times 2^-e. */
struct wave_lane {
    float current[WAVE_ROWS]; /* E of the cells to the left */
    float diagonal;           /* and of the one above the first of these */
    float one;
    float gap_up; /* e^(g/T) from the lane above, for its exponent */
    float up;     /* factor from its exponent to this one */
    int e;
};

/* Best of a row so far. */
struct wave_row_best {
    unsigned long long key; /* F's bits with e added to the exponent */
    uint32_t column;
};

/* Sets the exponents anew. */
static __device__ __forceinline__ void set_exponents(wave_lane *l, float gap, bool *bad)
{
    float most = l->current[0];
#pragma unroll
    for (uint32_t q = 1; q < WAVE_ROWS; q++)
        most = fmaxf(most, l->current[q]);
    const int shift = wave_exponent(most) - WAVE_REST;
    const float factor = wave_power(-shift);
#pragma unroll
    for (uint32_t q = 0; q < WAVE_ROWS; q++)
        l->current[q] *= factor;
    l->diagonal *= factor;
    l->e += shift;
    l->one = wave_power(-l->e);
    int apart = __shfl_up_sync(HSPZ__FULL, l->e, 1) - l->e;
    if (hspz__lane() == 0)
        apart = 0; /* the border's words are brought to this lane's exponent */
    *bad = *bad || apart > WAVE_APART;
    l->up = wave_power(apart);
    l->gap_up = gap * l->up;
}

/* 8 steps from t0 on. EDGE: columns or rows are missing. KEEP: for backward. CELLS: where the best lies is wanted. */
template <bool EDGE, bool KEEP, bool CELLS>
static __device__ __forceinline__ void steps(wave_lane *l, const float (&x)[WAVE_STEPS][WAVE_ROWS],
                                             float border, float gap, int t0, const wave_rows &r,
                                             const wave_border &out, float *diagonals,
                                             wave_row_best (&best)[WAVE_ROWS], bool *bad)
{
    const int lane = (int)hspz__lane();
    float most[WAVE_ROWS];
    int most_step[WAVE_ROWS];
#pragma unroll
    for (uint32_t q = 0; q < WAVE_ROWS; q++) {
        most[q] = -1;
        most_step[q] = 0;
    }
#pragma unroll
    for (int i = 0; i < WAVE_STEPS; i++) {
        float up = __shfl_up_sync(HSPZ__FULL, l->current[WAVE_ROWS - 1], 1);
        const float from_border = __shfl_sync(HSPZ__FULL, border, i);
        if (lane == 0)
            up = from_border;
        const bool begun = !EDGE || t0 + i >= lane;
        float before = l->diagonal, above = up, gap_above = l->gap_up;
#pragma unroll
        for (uint32_t q = 0; q < WAVE_ROWS; q++) {
            if (KEEP)
                diagonals[(i * WAVE_ROWS + q) * 32] = before;
            const float rest = fmaf(before, x[i][q], l->current[q] * gap);
            const float made = fmaf(above, gap_above, rest);
            before = l->current[q];
            above = fmaf(above, gap_above, rest + l->one);
            gap_above = gap;
            if (begun)
                l->current[q] = above;
            const bool counts =
                !EDGE || ((uint32_t)(t0 + i - lane) < r.columns && (uint32_t)lane * WAVE_ROWS + q < r.rows);
            if (!CELLS) {
                most[q] = counts ? fmaxf(most[q], made) : most[q];
            } else if (counts && made > most[q]) {
                most[q] = made;
                most_step[q] = i;
            }
        }
        l->diagonal = up * l->up;
        if (lane == 31)
            wave_put(out, t0 + i - 31, r.columns, l->current[WAVE_ROWS - 1], l->e);
    }
#pragma unroll
    for (uint32_t q = 0; q < WAVE_ROWS; q++) {
        *bad = *bad || most[q] > WAVE_MOST;
        const unsigned long long key =
            most[q] < 0 ? 0 : (unsigned long long)((long long)l->e * (1 << 23) + __float_as_int(most[q]));
        if (key > best[q].key)
            best[q] = {key, (uint32_t)(t0 + most_step[q] - lane)};
    }
}

template <bool KEEP, bool CELLS>
static __device__ void forward_strip(const hspz__soft_kernel &k, const hspz__wave &w, uint64_t problem,
                                     uint32_t strip, const wave_border &in, const wave_border &out,
                                     float *ring, wave_seen *seen)
{
    const wave_rows r = wave_rows_of(k, problem, strip);
    const float gap = k.constants.gap_plain;
    const uint32_t lane = hspz__lane();
    const unsigned long long edge = wave_word(1, 0);
    const uint64_t number = problem * w.strips + strip;
    float *diagonals = w.diagonals + number * w.steps * WAVE_STRIP + lane;
    int32_t *exponents = w.exponents + number * (w.steps / WAVE_STEPS) * 32 + lane;
    wave_row_best best[WAVE_ROWS] = {};
    float x[WAVE_STEPS][WAVE_ROWS], next[WAVE_STEPS][WAVE_ROWS];
    bool bad = false;
    wave_clear_ring(ring);
    for (int column = 0; column < 4 * WAVE_STEPS; column += WAVE_STEPS)
        wave_ask<false>(r, column, ring, NULL, 0);
    for (int column = 32; column < 160; column += 32)
        wave_ask_early(r, column);
    wave_arrived<3>();
    wave_exponentials(k, r, ring, 0, x, &bad);
    wave_ahead ahead = {wave_peek(in, (int)lane, k.columns, edge),
                        wave_peek(in, (int)lane + WAVE_STEPS, k.columns, edge)};
    wave_lane l = {};
    for (uint32_t q = 0; q < WAVE_ROWS; q++)
        l.current[q] = 1;
    l.diagonal = 1;
    for (int t0 = 0; t0 < (int)w.steps; t0 += WAVE_STEPS) {
        wave_arrived<2>();
        wave_ask<false>(r, t0 + 4 * WAVE_STEPS, ring, NULL, 0);
        if (t0 % 32 == 0)
            wave_ask_early(r, t0 + 160);
        wave_exponentials(k, r, ring, t0 + WAVE_STEPS, next, &bad);
        const unsigned long long word = wave_take(in, t0 + (int)lane, k.columns, ahead.next);
        wave_peek_on(in, &ahead, t0 + (int)lane, WAVE_STEPS, k.columns, edge);
        wave_room(out, t0 - 31, k.columns);
        set_exponents(&l, gap, &bad);
        int word_e;
        float border = wave_value(word, &word_e);
        word_e -= __shfl_sync(HSPZ__FULL, l.e, 0);
        bad = bad || word_e > WAVE_APART;
        border *= wave_power(word_e);
        if (KEEP)
            exponents[t0 / WAVE_STEPS * 32] = l.e;
        float *keep = diagonals + (uint64_t)t0 * WAVE_STRIP;
        if (t0 >= 31 && t0 + WAVE_STEPS <= (int)k.columns && r.rows == WAVE_STRIP)
            steps<false, KEEP, CELLS>(&l, x, border, gap, t0, r, out, keep, best, &bad);
        else
            steps<true, KEEP, CELLS>(&l, x, border, gap, t0, r, out, keep, best, &bad);
#pragma unroll
        for (uint32_t i = 0; i < WAVE_STEPS; i++)
#pragma unroll
            for (uint32_t q = 0; q < WAVE_ROWS; q++)
                x[i][q] = next[i][q];
    }
    wave_arrived<0>();
    *seen = {0, ~0ull, 0};
    for (uint32_t q = 0; q < WAVE_ROWS; q++) {
        const uint64_t row = (uint64_t)strip * WAVE_STRIP + lane * WAVE_ROWS + q;
        if (best[q].key != 0)
            hspz__soft_better(&seen->key, &seen->cell, best[q].key, row * k.columns + best[q].column);
    }
    hspz__soft_warp_best(&seen->key, &seen->cell);
    seen->bad = __any_sync(HSPZ__FULL, bad) != 0;
}

/* Publishes a problem whose segments have all been seen; called by one thread. */
static __device__ void publish(const hspz__soft_kernel &k, const hspz__wave &w, uint64_t problem)
{
    volatile wave_seen *seen = w.seen + problem * w.segments;
    unsigned long long key = 0;
    uint64_t cell = ~0ull, bad = 0;
    for (uint32_t s = 0; s < w.segments; s++) {
        hspz__soft_better(&key, &cell, seen[s].key, seen[s].cell);
        bad |= seen[s].bad;
    }
    /* F = m 2^e */
    const int e = (int)((long long)(key >> 23) - 127);
    const double m = __int_as_float((int)((unsigned)key & 0x7fffffu) | 127 << 23);
    const double sum = e < 60 ? m + exp2(-(double)e) : m; /* E / 2^e */
    const double h = e < 60 ? log1p(m * exp2((double)e)) : log(m) + e * 0.69314718055994530942;
    bad |= key == 0;
    if (bad == 0)
        hspz__soft_result(k, problem, h, cell);
    w.best[problem] = {cell, (float)(1 / sum), e, bad != 0, 0};
    w.flags[problem] = bad != 0;
}

template <bool KEEP, bool CELLS>
static __global__ void __launch_bounds__(WAVE_WARPS * 32, 4)
    wave_forward(const hspz__soft_kernel k, const hspz__wave w)
{
    HSPZ__DYNAMIC_SHARED(memory);
    wave_shared *shared = (wave_shared *)memory;
    const uint32_t warp = threadIdx.x / 32;
    wave_clear_borders(shared);
    for (;;) {
        const uint64_t ticket = wave_ticket(w.tickets, shared);
        if (ticket >= k.batch * w.segments)
            break;
        const uint64_t problem = ticket / w.segments;
        const uint32_t segment = (uint32_t)(ticket % w.segments), strip = segment * WAVE_WARPS + warp;
        wave_seen seen = {0, ~0ull, 0};
        if (strip < w.strips) {
            wave_border in = {NULL, 0, false}, out = {NULL, 0, false};
            if (warp > 0)
                in = wave_inside(shared, warp - 1);
            else if (segment > 0)
                in = wave_outside(k, w, 0, problem, segment - 1);
            if (strip + 1 < w.strips)
                out = warp + 1 < WAVE_WARPS ? wave_inside(shared, warp)
                                            : wave_outside(k, w, 0, problem, segment);
            forward_strip<KEEP, CELLS>(k, w, problem, strip, in, out, shared->ring[warp], &seen);
        }
        if (hspz__lane() == 0)
            shared->seen[warp] = seen;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (uint32_t i = 1; i < WAVE_WARPS; i++) {
                hspz__soft_better(&seen.key, &seen.cell, shared->seen[i].key, shared->seen[i].cell);
                seen.bad |= shared->seen[i].bad;
            }
            w.seen[ticket] = seen;
            __threadfence();
            if (atomicAdd(w.finished + problem, 1u) == w.segments - 1) {
                __threadfence();
                publish(k, w, problem);
            }
        }
    }
}

cudaError_t hspz__wave_forward(const hspz__soft_kernel *k, const hspz__wave *w, cudaStream_t stream)
{
    const unsigned grid = hspz__grid(k->batch * w->segments, 1, hspz__resident_blocks(WAVE_BLOCKS));
    const size_t bytes = sizeof(wave_shared);
    if (k->gradient != NULL)
        return HSPZ__LAUNCH((wave_forward<true, true>), grid, WAVE_WARPS * 32, bytes, stream, *k, *w);
    if (k->cells != NULL)
        return HSPZ__LAUNCH((wave_forward<false, true>), grid, WAVE_WARPS * 32, bytes, stream, *k, *w);
    return HSPZ__LAUNCH((wave_forward<false, false>), grid, WAVE_WARPS * 32, bytes, stream, *k, *w);
}
