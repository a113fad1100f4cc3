/* soft_sw_avx512.c -- soft Smith-Waterman in lanes, for machines with avx512. The text is in soft_sw_lanes.h. */
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq,fma")
#define SOFT_LANES_NAME hspz__soft_lanes_avx512

#include "soft_sw_lanes.h"
