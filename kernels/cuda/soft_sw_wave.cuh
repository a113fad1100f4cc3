/* soft_sw_wave.cuh -- one soft Smith-Waterman problem over many blocks: floats with an exponent per lane, strips, borders.
 *
 * Idea: E = e^(H/T) obeys a linear recurrence (soft_sw.cuh). A strip of rows is a warp's, two rows a lane, one column of a lane per step.
 * A lane's values share one exponent, set anew every 8 steps; in between a cell is three multiplications and additions.
 * A neighbour's value is multiplied by a power of two known since the last setting. From column to column E falls by
 * e^(g/T) at most, so that 8 steps cannot lose it; what grows beyond floats is seen, and the problem is flagged for
 * soft_sw_large.cu.
 * Two strips are a segment, a block's work. Blocks take segments in order of a ticket, so that the one that a segment waits for was
 * taken before and runs or has run: they cannot wait in a circle, whatever else the device does. What one strip hands
 * to the next is a word a column, value and exponent, never 0: the word is its own flag, so that no fence is needed.
 * Between blocks words lie in device memory, cleared before the launch; between warps in a ring in shared memory, whose
 * reader clears them.
 * Similarities come in 8 columns at a time through a ring in shared memory and become exponentials a group of steps ahead.
 */
#ifndef HSPZ__SOFT_SW_WAVE_CUH
#define HSPZ__SOFT_SW_WAVE_CUH

#include "companions.cuh"
#include "soft_sw.cuh"

#define WAVE_ROWS                                                                                            \
    2u /* of a lane: an H200 takes a fifth less time than with one, and strips are half as many */
#define WAVE_WARPS 2u /* of a block, a strip each */
#define WAVE_STRIP (32u * WAVE_ROWS)
#define WAVE_STEPS 8            /* of a group */
#define WAVE_RING 64u           /* columns of similarities in shared memory */
#define WAVE_HELD 64u           /* words of a border in shared memory */
#define WAVE_REST 24            /* a lane's values are set to about 2^24: room for falling and for growing */
#define WAVE_MOST 1.2980742e33f /* 2^110: what grows beyond is flagged */
#define WAVE_APART 100          /* neighbours' exponents that differ by more are, too */
#define WAVE_BLOCKS 6u          /* per multiprocessor: 33 KiB of shared memory each */

/* What a segment has seen. */
struct wave_seen {
    unsigned long long key;
    uint64_t cell;
    uint64_t bad;
};

/* What backward has to know of a problem: E of its best cell is 2^exponent / inverse. */
struct wave_best {
    uint64_t cell;
    float inverse;
    int32_t exponent;
    uint32_t skip; /* flagged by forward */
    uint32_t reserved;
};

/* The scratch of a launch, for k.batch problems. */
struct hspz__wave {
    uint32_t strips;
    uint32_t segments;
    uint32_t steps;                 /* of a strip, a multiple of WAVE_STEPS */
    uint32_t *tickets;              /* forward's and backward's */
    uint32_t *finished;             /* segments, by problem */
    unsigned long long *borders[2]; /* forward's and backward's, segments - 1 rows of words by problem */
    wave_seen *seen;                /* by segment */
    wave_best *best;                /* by problem */
    float *diagonals;   /* for backward, by strip, step, row of a lane, lane: E of the cell before a match */
    int32_t *exponents; /* and their exponents, by strip, group, lane */
    unsigned char *flags; /* by problem */
};

/* Shared memory of a block. */
struct wave_shared {
    float ring[WAVE_WARPS][WAVE_STRIP * WAVE_RING];
    unsigned long long held[WAVE_WARPS][WAVE_HELD]; /* between warps i and i + 1 */
    wave_seen seen[WAVE_WARPS];
    unsigned ticket;
};

/* One end of a border. */
struct wave_border {
    volatile unsigned long long *words; /* NULL: the edge of the matrix */
    uint32_t mask;                      /* of the column */
    bool held;                          /* in shared memory */
};

__device__ __forceinline__ float wave_power(int e)
{
    return __int_as_float(min(max(e + 127, 0), 254) << 23);
}

__device__ __forceinline__ int wave_exponent(float v)
{
    return (int)((unsigned)__float_as_int(v) >> 23) - 127;
}

__device__ __forceinline__ unsigned long long wave_word(float m, int e)
{
    return (unsigned long long)((unsigned)e ^ 0x80000000u) << 32 | (unsigned)__float_as_int(m);
}

__device__ __forceinline__ float wave_value(unsigned long long word, int *e)
{
    *e = (int)((unsigned)(word >> 32) ^ 0x80000000u);
    return __int_as_float((int)(unsigned)word);
}

__device__ __forceinline__ void wave_pause()
{
#if defined(__CUDA_ARCH__)
    __nanosleep(20);
#endif
}

/* Borders: a group needs 8 columns, one a lane of the first 8. ------------------------------------------------ */

/* What lies there now, 0 if nothing does yet; `edge` where nothing ever will. */
__device__ __forceinline__ unsigned long long wave_peek(const wave_border &b, int column, uint32_t columns,
                                                        unsigned long long edge)
{
    if (b.words == NULL || hspz__lane() >= WAVE_STEPS || (uint32_t)column >= columns)
        return edge;
    return b.words[(uint32_t)column & b.mask];
}

/* What was peeked at: the words of the next group, from outside of the block also those of the one after it. */
struct wave_ahead {
    unsigned long long next, after;
};

/* Peeks ahead of column `column`, which is a lane's in the group that begins; `step` columns from group to group. */
__device__ __forceinline__ void wave_peek_on(const wave_border &b, wave_ahead *a, int column, int step,
                                             uint32_t columns, unsigned long long edge)
{
    if (b.held) {
        a->next = wave_peek(b, column + step, columns, edge);
    } else {
        a->next = a->after;
        a->after = wave_peek(b, column + 2 * step, columns, edge);
    }
}

/* The word of a lane, which was peeked at; waits for it. */
__device__ __forceinline__ unsigned long long wave_take(const wave_border &b, int column, uint32_t columns,
                                                        unsigned long long word)
{
    if (b.words == NULL)
        return word;
    while (__any_sync(HSPZ__FULL, word == 0)) {
        wave_pause();
        if (word == 0)
            word = b.words[(uint32_t)column & b.mask];
    }
    if (b.held && hspz__lane() < WAVE_STEPS && (uint32_t)column < columns)
        b.words[(uint32_t)column & b.mask] = 0;
    return word;
}

/* Waits until the words of 8 columns from `first` on may be written. */
__device__ __forceinline__ void wave_room(const wave_border &b, int first, uint32_t columns)
{
    if (!b.held)
        return;
    const uint32_t column = (uint32_t)first + hspz__lane();
    const bool mine = hspz__lane() < WAVE_STEPS && column < columns;
    while (__any_sync(HSPZ__FULL, mine && b.words[column & b.mask] != 0))
        wave_pause();
}

__device__ __forceinline__ void wave_put(const wave_border &b, int column, uint32_t columns, float m, int e)
{
    if (b.words != NULL && (uint32_t)column < columns)
        b.words[(uint32_t)column & b.mask] = wave_word(m, e);
}

/* Similarities ------------------------------------------------------------------------------------------------ */

/* The rows of a strip. */
struct wave_rows {
    const float *similarity; /* of the first row */
    uint32_t rows;           /* of these, at most WAVE_STRIP exist */
    uint32_t columns;
    float least; /* similarities below count as it */
    float most;  /* similarities above flag the problem */
    bool fours;  /* four at a time, aligned */
};

__device__ __forceinline__ wave_rows wave_rows_of(const hspz__soft_kernel &k, uint64_t problem,
                                                  uint32_t strip)
{
    const uint64_t row = (uint64_t)strip * WAVE_STRIP;
    return {k.similarity + (problem * k.rows + row) * k.columns,
            (uint32_t)min((uint64_t)WAVE_STRIP, k.rows - row),
            k.columns,
            -150 / k.constants.per_bit_high,
            100 / k.constants.per_bit_high,
            k.columns % 4 == 0 && ((uintptr_t)k.similarity | (uintptr_t)k.gradient) % 16 == 0};
}

__device__ __forceinline__ void wave_commit()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* All but the last `PENDING` groups of words have come; other lanes' after a barrier. */
template <int PENDING> __device__ __forceinline__ void wave_arrived()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#endif
    __syncwarp();
}

__device__ __forceinline__ void wave_copy(float *to, const float *from)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
                 "l"(from)
                 : "memory");
#else
    *to = __ldg(from);
#endif
}

__device__ __forceinline__ void wave_copy_four(float4 *to, const float *from)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
                 "l"(from)
                 : "memory");
#else
    *to = __ldg((const float4 *)from);
#endif
}

/* Asks for 8 columns of the strip from `first` on, a multiple of 8; 0 outside. GRADIENT: writes what lies there, columns `first` + 64 of the
 * gradient, to its place before. */
template <bool GRADIENT>
__device__ __forceinline__ void wave_ask(const wave_rows &r, int first, float *ring, float *gradient,
                                         float flow)
{
    const uint32_t lane = hspz__lane();
    if (r.fours) {
        const uint32_t column = (uint32_t)first + lane % 2 * 4;
#pragma unroll
        for (uint32_t row = lane / 2; row < WAVE_STRIP; row += 16) {
            float4 *slot = (float4 *)(ring + row * WAVE_RING + (column & (WAVE_RING - 1)));
            const int64_t at = (int64_t)row * r.columns + (int)column;
            if (GRADIENT && column + WAVE_RING < r.columns && row < r.rows)
                __stcs((float4 *)(gradient + at + WAVE_RING),
                       float4{slot->x * flow, slot->y * flow, slot->z * flow, slot->w * flow});
            if (column < r.columns && row < r.rows)
                wave_copy_four(slot, r.similarity + at);
            else
                *slot = float4{0, 0, 0, 0};
        }
    } else {
        const uint32_t column = (uint32_t)first + lane % 8;
#pragma unroll
        for (uint32_t row = lane / 8; row < WAVE_STRIP; row += 4) {
            float *slot = ring + row * WAVE_RING + (column & (WAVE_RING - 1));
            const int64_t at = (int64_t)row * r.columns + (int)column;
            if (GRADIENT && column + WAVE_RING < r.columns && row < r.rows)
                __stcs(gradient + at + WAVE_RING, *slot * flow);
            if (column < r.columns && row < r.rows)
                wave_copy(slot, r.similarity + at);
            else
                *slot = 0;
        }
    }
    wave_commit();
}

/* Lines of the strip from `column` on into the L2 cache. */
__device__ __forceinline__ void wave_ask_early(const wave_rows &r, int column)
{
#if defined(__CUDA_ARCH__)
#pragma unroll
    for (uint32_t row = hspz__lane(); row < WAVE_STRIP; row += 32)
        if ((uint32_t)column < r.columns && row < r.rows)
            asm volatile("prefetch.global.L2 [%0];" ::"l"(r.similarity + (uint64_t)row * r.columns + column));
#else
    (void)r;
    (void)column;
#endif
}

/* e^(S/T) of the group of steps from t0 on; notes what is too large. */
__device__ __forceinline__ void wave_exponentials(const hspz__soft_kernel &k, const wave_rows &r,
                                                  const float *ring, int t0,
                                                  float (&x)[WAVE_STEPS][WAVE_ROWS], bool *bad)
{
    const float *row = ring + hspz__lane() * WAVE_ROWS * WAVE_RING;
    const uint32_t at = (uint32_t)t0 - hspz__lane();
#pragma unroll
    for (uint32_t i = 0; i < WAVE_STEPS; i++)
#pragma unroll
        for (uint32_t q = 0; q < WAVE_ROWS; q++) {
            const float s = fmaxf(row[q * WAVE_RING + (at + i & (WAVE_RING - 1))], r.least);
            const float high = s * k.constants.per_bit_high;
            const float low = fmaf(s, k.constants.per_bit_low, fmaf(s, k.constants.per_bit_high, -high));
            const float power = hspz__soft_fast_power(high);
            *bad = *bad || s > r.most;
            x[i][q] = fmaf(power * 0.69314718f, low, power);
        }
}

/* Work ---------------------------------------------------------------------------------------------------------- */

/* No word has come yet. */
__device__ __forceinline__ void wave_clear_borders(wave_shared *shared)
{
    for (uint32_t i = threadIdx.x; i < WAVE_WARPS * WAVE_HELD; i += blockDim.x)
        shared->held[i / WAVE_HELD][i % WAVE_HELD] = 0;
}

/* The block's next segment, counted over all problems; the same in all threads. */
__device__ __forceinline__ uint64_t wave_ticket(uint32_t *counter, wave_shared *shared)
{
    __syncthreads();
    if (threadIdx.x == 0)
        shared->ticket = atomicAdd(counter, 1u);
    __syncthreads();
    return shared->ticket;
}

__device__ __forceinline__ void wave_clear_ring(float *ring)
{
    __syncwarp();
    for (uint32_t i = hspz__lane(); i < WAVE_STRIP * WAVE_RING / 4; i += 32)
        ((float4 *)ring)[i] = float4{0, 0, 0, 0};
    __syncwarp();
}

/* Border behind segment `segment` of a problem. */
__device__ __forceinline__ wave_border wave_outside(const hspz__soft_kernel &k, const hspz__wave &w,
                                                    int direction, uint64_t problem, uint32_t segment)
{
    return {w.borders[direction] + (problem * (w.segments - 1) + segment) * k.columns, 0xffffffffu, false};
}

__device__ __forceinline__ wave_border wave_inside(wave_shared *shared, uint32_t warp)
{
    return {shared->held[warp], WAVE_HELD - 1, true};
}

cudaError_t hspz__wave_forward(const hspz__soft_kernel *k, const hspz__wave *w, cudaStream_t stream);
cudaError_t hspz__wave_backward(const hspz__soft_kernel *k, const hspz__wave *w, cudaStream_t stream);

#endif
