/* emulate_more.h -- what the kernels of the companion systems need of CUDA beyond tests/gpu/emulator/emulate.h. */
#ifndef HSPZ_EMULATE_MORE_H
#define HSPZ_EMULATE_MORE_H

#include "cuda_runtime.h"
#include "emulate.h"

#ifndef __noinline__
#define __noinline__ __attribute__((noinline))
#endif

/* Own names behind macros: emulate.h may come to define some of these too. */
#define float4 hspz_more_float4
#define atomicCAS hspz_more_atomicCAS
#define atomicExch hspz_more_atomicExch
#define __ldcs hspz_more_ldcs
#define __stcs hspz_more_stcs
#define __threadfence_block hspz_more_threadfence_block
#define __float_as_int hspz_more_float_as_int
#define __int_as_float hspz_more_int_as_float
#define __double_as_longlong hspz_more_double_as_longlong
#define __longlong_as_double hspz_more_longlong_as_double
#define __syncthreads_or hspz_more_syncthreads_or
#define __threadfence hspz_more_threadfence

struct alignas(16) float4 {
    float x, y, z, w;
};

template <typename T, typename U, typename V> static inline T atomicCAS(T *at, U expected, V desired)
{
    T old = *at;
    if (old == (T)expected)
        *at = (T)desired;
    return old;
}
template <typename T, typename U> static inline T atomicExch(T *at, U v)
{
    T old = *at;
    *at = (T)v;
    return old;
}
template <typename T> static inline T __ldcs(const T *p)
{
    return *p;
}
template <typename T> static inline void __stcs(T *p, T v)
{
    *p = v;
}
static inline void __threadfence_block()
{
}
static inline void __threadfence()
{
}
static inline int __float_as_int(float v)
{
    return hspz_emulate_value<int>(hspz_emulate_bits(v));
}
static inline float __int_as_float(int v)
{
    return hspz_emulate_value<float>(hspz_emulate_bits(v));
}
static inline long long __double_as_longlong(double v)
{
    return hspz_emulate_value<long long>(hspz_emulate_bits(v));
}
static inline double __longlong_as_double(long long v)
{
    return hspz_emulate_value<double>(hspz_emulate_bits(v));
}

/* Any predicate of the block; three barriers instead of one. */
static inline int __syncthreads_or(int predicate)
{
    static int any;
    __syncthreads();
    any = 0;
    __syncthreads();
    if (predicate)
        any = 1;
    __syncthreads();
    int result = any;
    __syncthreads();
    return result;
}

#endif
