/* soft_sw_avx2.c -- soft Smith-Waterman in lanes, for machines with avx2. The text is in soft_sw_lanes.h. */
#pragma GCC target("avx2,fma")
#define SOFT_LANES_NAME hspz__soft_lanes_avx2

#include "soft_sw_lanes.h"
