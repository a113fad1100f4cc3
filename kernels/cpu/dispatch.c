/* dispatch.c -- which kernels this processor runs. The only place that looks at its features. */
#include "kernels.h"

#include <stddef.h>

const char *const hspz__cpu_isa_names[] = {"auto", "scalar", "avx2", "avx512", NULL};

#if defined(__x86_64__)
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("bmi2");
}
#endif

const hspz__cpu_kernels *hspz__cpu_choose(uint32_t isa)
{
#if defined(__x86_64__)
    const bool avx2 = has_avx2(), avx512 = has_avx512();
    if ((isa == 0 || isa == 3) && avx512)
        return &hspz__cpu_avx512;
    if ((isa == 0 || isa == 2) && avx2)
        return &hspz__cpu_avx2;
#endif
    return isa <= 1 ? &hspz__cpu_scalar : NULL;
}
