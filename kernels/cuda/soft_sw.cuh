/* soft_sw.cuh -- arithmetic of the soft Smith-Waterman cells and what its kernels share.
 *
 * Idea: with E = e^(H/T) the recurrence is linear, E = 1 + E_diagonal e^(S/T) + (E_above + E_left) e^(g/T): one exponential per
 * similarity, one logarithm per score, positive terms only. Three arithmetics, each taken where the one before leaves its
 * range:
 *   plain float (soft_sw_small.cu)   E up to 2^100: most small problems
 *   scaled float                     m * 2^(32 e), m in [2^-16, 2^16): exponents up to 2^35 in sum
 *   double, logarithmic              h = H / T itself: anything finite
 * F = E - 1 is kept beside E, because a score near 0 is T log1p(F).
 */
#ifndef HSPZ__SOFT_SW_CUH
#define HSPZ__SOFT_SW_CUH

#include "../../plugin/companions.h"
#include "device.cuh"

#include <cfloat>

#define HSPZ__SOFT_BITS_MAX 34359738368.0  /* 2^35 */
#define HSPZ__SOFT_KEY_LEAST 0x17800000ull /* key of F = 2^-80: below it scaled floats are not trusted */

/* What is the same for every cell of a call. */
struct hspz__soft_constants {
    float per_bit_high; /* log2(e) / T as a sum of two floats */
    float per_bit_low;
    float gap_m; /* half of the mantissa of e^(g/T) */
    int32_t gap_e;
    float gap_plain;    /* e^(g/T), for plain floats */
    float scaled_limit; /* |S| from which on scaled floats are not enough; 0: never enough */
    double gap;         /* g / T */
    double temperature;
    double inverse_temperature;
};

/* The work as kernels see it. */
struct hspz__soft_kernel {
    hspz__soft_constants constants;
    uint64_t batch;
    uint32_t rows;
    uint32_t columns;
    const float *similarity;
    float *scores;
    uint64_t *cells;
    const float *score_gradient;
    float *gradient;
};

/* 2^y; the fast instruction, 2 units in the last place, 0 below 2^-126. */
__device__ __forceinline__ float hspz__soft_fast_power(float y)
{
#if defined(__CUDA_ARCH__)
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(y));
    return r;
#else
    return exp2f(y);
#endif
}

/* 2^x for x in [-17, 17]: Taylor, error 5e-9 before rounding. */
__device__ __forceinline__ float hspz__soft_power(float x)
{
    const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer */
    const float shifted = x + magic;
    const float r = x - (shifted - magic);
    float p = 1.5252734e-5f;
    p = fmaf(p, r, 1.5403530e-4f);
    p = fmaf(p, r, 1.3333558e-3f);
    p = fmaf(p, r, 9.6181291e-3f);
    p = fmaf(p, r, 5.5504109e-2f);
    p = fmaf(p, r, 2.4022651e-1f);
    p = fmaf(p, r, 6.9314718e-1f);
    p = fmaf(p, r, 1.0f);
    return __int_as_float(__float_as_int(p) + (int)((unsigned)__float_as_int(shifted) << 23));
}

/* Scaled floats ------------------------------------------------------------------------------------------ */

struct hspz__scaled {
    typedef hspz__scaled self;
    float m;
    int32_t e;

    __device__ __forceinline__ static self one()
    {
        return {1.0f, 0};
    }
    __device__ __forceinline__ static unsigned long long pack(self v)
    {
        return (unsigned long long)(unsigned)v.e << 32 | (unsigned)__float_as_int(v.m);
    }
    __device__ __forceinline__ static self unpack(unsigned long long word)
    {
        return {__int_as_float((int)(unsigned)word), (int32_t)(word >> 32)};
    }
    __device__ __forceinline__ static self shuffle_up(self v)
    {
        return {__shfl_up_sync(HSPZ__FULL, v.m, 1), __shfl_up_sync(HSPZ__FULL, v.e, 1)};
    }
    __device__ __forceinline__ static self shuffle(self v, int lane)
    {
        return {__shfl_sync(HSPZ__FULL, v.m, lane), __shfl_sync(HSPZ__FULL, v.e, lane)};
    }
    /* 2^(1 + 32 min(d, 0)) for d + 4 given, 0 from d = -4 down */
    __device__ __forceinline__ static float factor(int32_t d4)
    {
        return __int_as_float((int)((unsigned)max(d4, 0) << 28));
    }
    /* m and e of 2^(32 e) m = e^(S/T) */
    __device__ __forceinline__ static self similarity(const hspz__soft_constants &c, float s)
    {
        const float high = s * c.per_bit_high;
        const float low = fmaf(s, c.per_bit_high, -high) + s * c.per_bit_low;
        const float whole = rintf(high * 0.03125f);
        const float rest = fmaf(whole, -32.0f, high) + low;
        return {hspz__soft_power(rest), (int32_t)whole};
    }
    /* The cell's E; *key orders cells by F; shares of match, delete, insert if SHARES. */
    template <bool SHARES>
    __device__ __forceinline__ static self cell(const hspz__soft_constants &c, self diagonal, self above,
                                                self left, float s, unsigned long long *key, float *shares)
    {
        s = fminf(fmaxf(s, -c.scaled_limit), c.scaled_limit); /* beyond it the result is void */
        const self sim = similarity(c, s);
        const int32_t match_e = diagonal.e + sim.e, del_e = above.e + c.gap_e, ins_e = left.e + c.gap_e;
        int32_t e = max(max(match_e, 0), max(del_e, ins_e));
        const int32_t base = e - 4;
        const float match = diagonal.m * (sim.m * 0.5f) * factor(match_e - base);
        const float del = above.m * c.gap_m * factor(del_e - base);
        const float ins = left.m * c.gap_m * factor(ins_e - base);
        float f = match + (del + ins);
        float sum = fmaf(factor(-base), 0.5f, f);
        if (SHARES) {
            const float inverse = 1.0f / sum;
            shares[0] = match * inverse;
            shares[1] = del * inverse;
            shares[2] = ins * inverse;
        }
        const bool high = sum >= 65536.0f, low = sum < 1.52587890625e-5f;
        const float rescale = high ? 2.3283064365386963e-10f : low ? 4294967296.0f : 1.0f;
        e += high ? 1 : low ? -1 : 0;
        sum *= rescale;
        f *= rescale;
        *key = (unsigned long long)(unsigned)e << 32 | (unsigned)__float_as_int(f);
        return {sum, e};
    }
    /* H / T of a key */
    __device__ static double logarithm(unsigned long long key)
    {
        const double f = __int_as_float((int)(unsigned)key), e = (double)(int32_t)(key >> 32);
        if (e == 0)
            return log1p(f);
        return log(f + (e < 30 ? exp2(-32 * e) : 0.0)) + 32 * e * 0.69314718055994530942;
    }
};

/* Logarithms in double ------------------------------------------------------------------------------------ */

struct hspz__wide {
    typedef hspz__wide self;
    double h;

    __device__ __forceinline__ static self one()
    {
        return {0.0};
    }
    __device__ __forceinline__ static unsigned long long pack(self v)
    {
        return (unsigned long long)__double_as_longlong(v.h);
    }
    __device__ __forceinline__ static self unpack(unsigned long long word)
    {
        return {__longlong_as_double((long long)word)};
    }
    __device__ __forceinline__ static self shuffle_up(self v)
    {
        return {__shfl_up_sync(HSPZ__FULL, v.h, 1)};
    }
    __device__ __forceinline__ static self shuffle(self v, int lane)
    {
        return {__shfl_sync(HSPZ__FULL, v.h, lane)};
    }
    template <bool SHARES>
    __device__ static self cell(const hspz__soft_constants &c, self diagonal, self above, self left, float s,
                                unsigned long long *key, float *shares)
    {
        const double match = diagonal.h + s * c.inverse_temperature, del = above.h + c.gap,
                     ins = left.h + c.gap;
        const double top = fmax(0.0, fmax(match, fmax(del, ins)));
        const double m = exp(match - top), d = exp(del - top), i = exp(ins - top), start = exp(-top);
        const double sum = m + d + i;
        if (SHARES) {
            const double inverse = 1 / (start + sum);
            shares[0] = (float)(m * inverse);
            shares[1] = (float)(d * inverse);
            shares[2] = (float)(i * inverse);
        }
        const double h = top > 0 ? top + log(start + sum) : log1p(sum);
        *key = (unsigned long long)__double_as_longlong(h); /* h >= 0: bits ascend with it */
        return {h};
    }
    __device__ static double logarithm(unsigned long long key)
    {
        return __longlong_as_double((long long)key);
    }
};

/* Results ------------------------------------------------------------------------------------------------- */

/* Publishes a problem's score and cell; called by one thread. */
__device__ __forceinline__ void hspz__soft_result(const hspz__soft_kernel &k, uint64_t problem, double h,
                                                  uint64_t cell)
{
    if (k.scores != NULL)
        k.scores[problem] = (float)fmin(h * k.constants.temperature, (double)FLT_MAX);
    if (k.cells != NULL)
        k.cells[problem] = cell;
}

/* The better of two cells: larger key, then the earlier one. */
__device__ __forceinline__ void hspz__soft_better(unsigned long long *key, uint64_t *cell,
                                                  unsigned long long other_key, uint64_t other_cell)
{
    if (other_key > *key || (other_key == *key && other_cell < *cell)) {
        *key = other_key;
        *cell = other_cell;
    }
}

/* The best of a warp, in all lanes. */
__device__ __forceinline__ void hspz__soft_warp_best(unsigned long long *key, uint64_t *cell)
{
    for (int d = 16; d > 0; d >>= 1) {
        const unsigned long long other_key = __shfl_xor_sync(HSPZ__FULL, *key, d);
        const uint64_t other_cell = __shfl_xor_sync(HSPZ__FULL, *cell, d);
        hspz__soft_better(key, cell, other_key, other_cell);
    }
}

/* Host side: launchers of the two kernels; they only enqueue. `flags` of large is NULL (all problems) or one byte per problem:
 * 1 for what is to be done. small sets these for problems that it could not do; with at most HSPZ__SOFT_FEW problems it
 * does them itself, in `area`, to spare a launch. */
#define HSPZ__SOFT_SMALL 32u /* rows and columns that small can do */
#define HSPZ__SOFT_FEW 528u
#define HSPZ__SOFT_GRADIENT 2 /* a flag: only the gradient is to be done */
cudaError_t hspz__soft_small(const hspz__soft_kernel *k, unsigned char *flags, void *area,
                             cudaStream_t stream);
/* Scores alone, of many problems of 32 x 32 aligned to 16 bytes; flags as small. */
cudaError_t hspz__soft_stream(const hspz__soft_kernel *k, unsigned char *flags, cudaStream_t stream);
/* The same with gradients, aligned too. */
cudaError_t hspz__soft_gradient(const hspz__soft_kernel *k, unsigned char *flags, cudaStream_t stream);
cudaError_t hspz__soft_large(const hspz__soft_kernel *k, const unsigned char *flags, void *area,
                             cudaStream_t stream);
/* Problems over several blocks each, of shapes and gaps (bits of e^(g/T)) that it serves; sets flags, of all problems, for what large is
 * to do. The area may be large's. */
bool hspz__soft_wave_serves(uint64_t rows, uint64_t columns, double gap_bits);
uint64_t hspz__soft_wave_area(uint64_t batch, uint64_t rows, uint64_t columns, bool backward);
cudaError_t hspz__soft_wave(const hspz__soft_kernel *k, unsigned char *flags, void *area,
                            cudaStream_t stream);
/* Bytes of the area. */
uint64_t hspz__soft_large_area(uint64_t batch, uint64_t rows, uint64_t columns, bool backward);

#endif
