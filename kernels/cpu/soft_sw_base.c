/* soft_sw_base.c -- soft Smith-Waterman in lanes, for any machine. The text is in soft_sw_lanes.h. */
#define SOFT_LANES_NAME hspz__soft_lanes_base

#include "soft_sw_lanes.h"
