/* soft_sw_plain.cuh -- plain floats for problems of 32 x 32: how a matrix comes in and becomes exponentials, and when that is good enough.
 *
 * Idea: a matrix is read in lines of 512 bytes, 32 similarities a lane, held in registers while the problem before is worked on, and
 * turned into e^(S/T) on its way to shared memory.
 */
#ifndef HSPZ__SOFT_SW_PLAIN_CUH
#define HSPZ__SOFT_SW_PLAIN_CUH

#include "companions.cuh"
#include "soft_sw.cuh"

#define HSPZ__PLAIN_CELLS (HSPZ__SOFT_SMALL * HSPZ__SOFT_SMALL)
#define HSPZ__PLAIN_FOURS (HSPZ__PLAIN_CELLS / 128)

/* Exponents in (LOST, LEAST] lose digits that matter, or all of them; what is at or below LOST counts as 0. */
#define HSPZ__PLAIN_LEAST (-100.0f)
#define HSPZ__PLAIN_LOST (-250.0f)

/* True when a best F is within the range that plain floats are trusted in: 2^-60 to 2^100. */
__device__ __forceinline__ bool hspz__plain_f(float f)
{
    return f < 1.2676506e30f && f > 8.6736174e-19f;
}

/* Four scores S become e^(S/T); *least is lowered to the smallest exponent. */
__device__ __forceinline__ void hspz__plain_exponentials(const hspz__soft_kernel &k, float4 *v, float *least)
{
    v->x *= k.constants.per_bit_high;
    v->y *= k.constants.per_bit_high;
    v->z *= k.constants.per_bit_high;
    v->w *= k.constants.per_bit_high;
    *least = fminf(fminf(*least, fminf(v->x, v->y)), fminf(v->z, v->w));
    v->x = hspz__soft_fast_power(v->x);
    v->y = hspz__soft_fast_power(v->y);
    v->z = hspz__soft_fast_power(v->z);
    v->w = hspz__soft_fast_power(v->w);
}

/* A full matrix on its way: 32 similarities per lane. */
struct hspz__plain_matrix {
    float4 four[HSPZ__PLAIN_FOURS];
};

__device__ __forceinline__ const float4 *hspz__plain_line(const hspz__soft_kernel &k, uint64_t problem)
{
    return (const float4 *)(k.similarity + problem * HSPZ__PLAIN_CELLS) + hspz__lane();
}

/* k.similarity is aligned to 16 bytes. */
__device__ __forceinline__ void hspz__plain_fetch(const hspz__soft_kernel &k, uint64_t problem,
                                                  hspz__plain_matrix *in)
{
    const float4 *from = hspz__plain_line(k, problem);
#pragma unroll
    for (uint32_t i = 0; i < HSPZ__PLAIN_FOURS; i++)
        in->four[i] = __ldcs(from + i * 32);
}

/* Whether an exponent of the problem lies where digits are lost; seldom asked. The whole warp gets the answer. */
static __device__ __noinline__ bool hspz__plain_loses(const hspz__soft_kernel &k, uint64_t problem)
{
    const float *from = k.similarity + problem * HSPZ__PLAIN_CELLS;
    bool loses = false;
    for (uint32_t i = hspz__lane(); i < HSPZ__PLAIN_CELLS; i += 32) {
        const float y = from[i] * k.constants.per_bit_high;
        loses = loses || (y > HSPZ__PLAIN_LOST && y <= HSPZ__PLAIN_LEAST);
    }
    return __any_sync(HSPZ__FULL, loses) != 0;
}

/* The exponentials to shared memory, row by row; true if the problem needs more than plain floats. Called by whole warps. */
__device__ __forceinline__ bool hspz__plain_place(const hspz__soft_kernel &k, uint64_t problem,
                                                  const hspz__plain_matrix &in, float *s)
{
    float least = 0;
#pragma unroll
    for (uint32_t i = 0; i < HSPZ__PLAIN_FOURS; i++) {
        float4 v = in.four[i];
        hspz__plain_exponentials(k, &v, &least);
        ((float4 *)s)[i * 32 + hspz__lane()] = v;
    }
    return !__all_sync(HSPZ__FULL, least > HSPZ__PLAIN_LEAST) && hspz__plain_loses(k, problem);
}

#endif
