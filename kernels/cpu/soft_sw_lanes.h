/* soft_sw_lanes.h -- one problem per lane: the body of soft_sw_base.c, soft_sw_avx2.c and soft_sw_avx512.c.
 *
 * Idea: see soft_sw.h. A value is m * 2^(32 e) with m in [2^-16, 2^16). Terms of a sum are brought to the largest
 * exponent among them by a factor 2^(32 d), d <= 0; a term that is four or more units lower is lost, 2^-64 of the
 * sum at most. 2^(1 + 32 d) has the bit pattern (d + 4) << 28 for d = 0..-3 and 0 for d = -4, so that a
 * factor costs a maximum and a shift; the 1 too many is taken off the constants.
 * An F below 2^-80 at exponent 0 may have lost such terms: that lane is reported.
 * Backward keeps the three shares (term / E) of each cell, then lets the score's gradient flow back through them: sums of
 * products of numbers in [0, 1].
 * GCC's vector types let one text serve any instruction set. Include once, with SOFT_LANES_NAME defined.
 */
#include "soft_sw.h"

#include <float.h>
#include <math.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wpsabi"

typedef float vf __attribute__((vector_size(64)));
typedef int32_t vi __attribute__((vector_size(64)));
typedef double vd __attribute__((vector_size(128)));

#define INLINE static inline __attribute__((always_inline))

INLINE vf all(float x)
{
    return x - (vf){0};
}

INLINE vi ints(int32_t x)
{
    return x - (vi){0};
}

INLINE vf choose(vi mask, vf a, vf b)
{
    return (vf)(((vi)a & mask) | ((vi)b & ~mask));
}

INLINE vi most(vi a, vi b)
{
    vi mask = a > b;
    return (a & mask) | (b & ~mask);
}

INLINE vi choose_int(vi mask, vi a, vi b)
{
    return (a & mask) | (b & ~mask);
}

/* 2^x for x in [-16.5, 16.5]: the integer part goes to the exponent, a Taylor polynomial does the rest, error 5e-9. */
INLINE vf power(vf x)
{
    const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer */
    vf shifted = x + magic;
    vf whole = shifted - magic;
    vf r = x - whole;
    vf p = all(1.5252734e-5f);
    p = p * r + 1.5403530e-4f;
    p = p * r + 1.3333558e-3f;
    p = p * r + 9.6181291e-3f;
    p = p * r + 5.5504109e-2f;
    p = p * r + 2.4022651e-1f;
    p = p * r + 6.9314718e-1f;
    p = p * r + 1.0f;
    return (vf)((vi)p + ((vi)shifted << 23));
}

/* m * 2^(32 e) for 2^y */
INLINE void split(const vd *exponent, vf *m, vi *e)
{
    vd y = *exponent;
    const double magic = 6755399441055744.0; /* 1.5 * 2^52 */
    vd whole = (y * 0.03125 + magic) - magic;
    *m = power(__builtin_convertvector(y - whole * 32.0, vf));
    *e = __builtin_convertvector(whole, vi);
}

/* 2^(1 + 32 min(d, 0)) for d + 4 given */
INLINE vf factor(vi d4)
{
    return (vf)(most(d4, ints(0)) << 28);
}

/* The problems' matrices and what is the same for every cell. */
typedef struct lanes_state {
    const float *similarity[HSPZ__SOFT_LANES];
    double per_bit; /* log2(e) / T */
    float limit;    /* |S| beyond which a lane is void */
    float gap_m;    /* half of the mantissa of e^(g/T) */
    int32_t gap_e;
    vf largest; /* |S| so far */
    vf best_f;  /* F of the best cell */
    vi best_e;
    vi best_i; /* its row and column, from 0 */
    vi best_j;
} lanes_state;

/* Columns that are moved between matrices and lanes together: lanes are matrices apart, often a power of two of bytes,
 * and one element at a time would thrash a few sets of the cache. */
#define TILE HSPZ__SOFT_LANES

#ifdef __AVX512F__
/* Swaps blocks of `size` lanes between t[i] and t[i + size]. */
#define TRANSPOSE_STAGE(t, size)                                                                             \
    for (int32_t i = 0; i < 16; i++) {                                                                       \
        if ((i & (size)) != 0)                                                                               \
            continue;                                                                                        \
        const vi lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};                              \
        const vi upper = (lane & (size)) != 0;                                                               \
        vf a = (t)[i], b = (t)[i + (size)];                                                                  \
        (t)[i] = __builtin_shuffle(a, b, lane + (upper & (16 - (size))));                                    \
        (t)[i + (size)] = __builtin_shuffle(a, b, lane + ((upper & 16) | (~upper & (size))));                \
    }

/* Element c of t[l] becomes element l of t[c]. */
INLINE void transpose(vf t[TILE]){TRANSPOSE_STAGE(t, 8) TRANSPOSE_STAGE(t, 4) TRANSPOSE_STAGE(t, 2)
                                      TRANSPOSE_STAGE(t, 1)}
#else
INLINE void transpose(vf t[TILE])
{
    for (uint32_t l = 0; l < TILE; l++)
        for (uint32_t c = l + 1; c < TILE; c++) {
            float kept = t[l][c];
            t[l][c] = t[c][l];
            t[c][l] = kept;
        }
}
#endif

/* `count` columns of all lanes from element k on. */
INLINE void load_tile(const lanes_state *s, uint64_t k, uint32_t count, vf tile[TILE])
{
    for (uint32_t l = 0; l < TILE; l++) {
        tile[l] = all(0);
        if (count == TILE)
            memcpy(&tile[l], s->similarity[l] + k, sizeof tile[l]);
        else
            memcpy(&tile[l], s->similarity[l] + k, count * sizeof(float));
    }
    transpose(tile);
}

/* The way back for the first `lanes` lanes; `tile` is used up. */
INLINE void store_tile(float *matrix, uint64_t one, uint32_t lanes, uint64_t k, uint32_t count, vf tile[TILE])
{
    transpose(tile);
    for (uint32_t l = 0; l < lanes; l++) {
        if (count == TILE)
            memcpy(matrix + l * one + k, &tile[l], sizeof tile[l]);
        else
            memcpy(matrix + l * one + k, &tile[l], count * sizeof(float));
    }
}

/* A cell's E, with its exponent. */
typedef struct scaled {
    vf m;
    vi e;
} scaled;

/* One cell; shares is NULL or takes the shares of match, delete, insert. */
INLINE scaled cell(lanes_state *s, scaled diagonal, scaled above, scaled left, vf similarity, int32_t i,
                   int32_t j, vf *shares)
{
    vf sim_m;
    vi sim_e;
    vf size = (vf)((vi)similarity & 0x7fffffff);
    /* Keeps the conversion to integers defined; such lanes are void anyway. */
    vf tame = choose(size < s->limit, similarity, all(s->limit));
    vd y = __builtin_convertvector(tame, vd) * s->per_bit;
    split(&y, &sim_m, &sim_e);
    s->largest = choose(size > s->largest, size, s->largest);

    vi match_e = diagonal.e + sim_e, del_e = above.e + s->gap_e, ins_e = left.e + s->gap_e;
    vi e = most(most(match_e, ints(0)), most(del_e, ins_e));
    vi base = e - 4;
    vf match = diagonal.m * (sim_m * 0.5f) * factor(match_e - base);
    vf del = above.m * s->gap_m * factor(del_e - base);
    vf ins = left.m * s->gap_m * factor(ins_e - base);
    vf f = match + (del + ins);
    vf sum = f + factor(-base) * 0.5f;
    if (shares != NULL) {
        vf inverse = 1.0f / sum;
        shares[0] = match * inverse;
        shares[1] = del * inverse;
        shares[2] = ins * inverse;
    }
    vi high = sum >= 65536.0f, low = sum < 1.52587890625e-5f;
    vf rescale = choose(high, all(2.3283064365386963e-10f), choose(low, all(4294967296.0f), all(1.0f)));
    sum *= rescale;
    f *= rescale;
    e = e - high + low; /* masks are -1 */
    vi better = (e > s->best_e) | ((e == s->best_e) & (f > s->best_f));
    s->best_f = choose(better, f, s->best_f);
    s->best_e = choose_int(better, e, s->best_e);
    s->best_i = choose_int(better, ints(i), s->best_i);
    s->best_j = choose_int(better, ints(j), s->best_j);
    return (scaled){sum, e};
}

/* Fills the matrices; `row` holds E of the row above, shares three vectors per cell or NULL. */
INLINE void fill(lanes_state *s, int32_t rows, int32_t columns, vf *row_m, vi *row_e, vf *shares)
{
    for (int32_t j = 0; j <= columns; j++) {
        row_m[j] = all(1);
        row_e[j] = ints(0);
    }
    for (int32_t i = 0; i < rows; i++) {
        scaled diagonal = {all(1), ints(0)}, left = diagonal;
        vf tile[TILE];
        for (int32_t j = 0; j < columns; j++) {
            uint64_t k = (uint64_t)i * (uint64_t)columns + (uint64_t)j;
            if (j % (int32_t)TILE == 0)
                load_tile(s, k, columns - j < (int32_t)TILE ? (uint32_t)(columns - j) : TILE, tile);
            scaled above = {row_m[j + 1], row_e[j + 1]};
            left = cell(s, diagonal, above, left, tile[j % (int32_t)TILE], i, j,
                        shares == NULL ? NULL : shares + 3 * k);
            row_m[j + 1] = left.m;
            row_e[j + 1] = left.e;
            diagonal = above;
        }
    }
}

/* Lets `flow` (per lane) run back from the best cells. `waiting` is a row of flows into the row at hand. */
INLINE void flow_back(const lanes_state *s, const hspz__soft_sw_work *work, uint64_t first, uint32_t lanes,
                      vf flow, const vf *shares, vf *waiting)
{
    uint64_t columns = work->columns, one = columns * work->rows;
    float *gradient = work->gradient + first * one;
    for (uint64_t j = 0; j < columns; j++)
        waiting[j] = all(0);
    for (int32_t i = (int32_t)work->rows - 1; i >= 0; i--) {
        vf right = all(0), corner = all(0), tile[TILE];
        uint32_t filled = (uint32_t)(columns - 1) % TILE + 1; /* columns of the tile at hand */
        for (int32_t j = (int32_t)columns - 1; j >= 0; j--) {
            uint64_t k = (uint64_t)i * columns + (uint64_t)j;
            vi here = (s->best_i == i) & (s->best_j == j);
            vf g = waiting[j] + right + choose(here, flow, all(0));
            vf match = g * shares[3 * k];
            waiting[j] = corner + g * shares[3 * k + 1];
            right = g * shares[3 * k + 2];
            corner = match;
            tile[j % (int32_t)TILE] = match;
            if (j % (int32_t)TILE == 0) {
                for (uint32_t c = filled; c < TILE; c++)
                    tile[c] = all(0);
                store_tile(gradient, one, lanes, k, filled, tile);
                filled = TILE;
            }
        }
    }
}

/* H / T from F and its exponent. */
static double logarithm(double f, double e)
{
    return e == 0 ? log1p(f) : log(f + ldexp(1, e < 64 ? (int)(-32 * e) : -2048)) + 32 * e * HSPZ__SOFT_LN2;
}

uint32_t SOFT_LANES_NAME(const hspz__soft_sw_work *work, uint64_t first, uint32_t lanes, void *area)
{
    uint64_t columns = work->columns, one = columns * work->rows;
    int backward = work->gradient != NULL;
    vf *row_m = area;
    vi *row_e = (vi *)(row_m + columns + 1);
    vf *waiting = (vf *)(row_e + columns + 1);
    vf *shares = backward ? waiting + columns + 1 : NULL;
    double most_bits = HSPZ__SOFT_BITS_MAX / ((double)work->rows + (double)columns + 2);
    lanes_state s = {.per_bit = HSPZ__SOFT_LOG2E / work->temperature, .best_f = all(-1)};
    vf gap_m, flow = all(0);
    vi gap_e;
    vd gap_y = work->gap * s.per_bit - (vd){0};
    split(&gap_y, &gap_m, &gap_e);
    s.gap_m = gap_m[0] * 0.5f;
    s.gap_e = gap_e[0];
    s.limit = (float)fmin(most_bits / s.per_bit, FLT_MAX);
    for (uint32_t l = 0; l < HSPZ__SOFT_LANES; l++)
        s.similarity[l] = work->similarity + (first + (l < lanes ? l : 0)) * one;
    fill(&s, (int32_t)work->rows, (int32_t)columns, row_m, row_e, shares);
    uint32_t left_range = 0;
    for (uint32_t l = 0; l < lanes; l++) {
        if (!(s.largest[l] < s.limit) || (s.best_e[l] == 0 && s.best_f[l] < 8.271806e-25f))
            left_range |= 1u << l;
        if (backward)
            flow[l] = work->score_gradient[first + l];
        hspz__soft_publish(work, first + l, logarithm(s.best_f[l], s.best_e[l]),
                           (uint64_t)s.best_i[l] * columns + (uint64_t)s.best_j[l]);
    }
    if (backward)
        flow_back(&s, work, first, lanes, flow, shares, waiting);
    return left_range;
}
