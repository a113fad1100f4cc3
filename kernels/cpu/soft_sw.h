/* soft_sw.h -- what the CPU's soft Smith-Waterman passes between its files.
 *
 * Idea: with E = e^(H/T) the recurrence is linear, E = 1 + E_diagonal e^(S/T) + (E_above + E_left) e^(g/T), so that one
 * exponential per similarity and one logarithm per score are enough. E is a float times 2^(32 e) with an
 * integer e per value: nothing overflows, and since only positive terms are added and multiplied, nothing cancels.
 * F = E - 1 is kept beside E, because a score near 0 is T log1p(F).
 * One vector lane works on one problem (soft_sw_lanes.h, compiled per instruction set). Exponents beyond what
 * 32-bit e can hold go to the logarithmic recurrence in double precision (soft_sw_wide.c).
 */
#ifndef HSPZ__SOFT_SW_CPU_H
#define HSPZ__SOFT_SW_CPU_H

#include "../../plugin/companions.h"

#include <stddef.h>

#define HSPZ__SOFT_LANES 16u
#define HSPZ__SOFT_LOG2E 1.4426950408889634074
#define HSPZ__SOFT_LN2 0.69314718055994530942
/* Largest sum of exponents, in bits, that the scaled floats are trusted with. */
#define HSPZ__SOFT_BITS_MAX 34359738368.0

/* Up to HSPZ__SOFT_LANES problems from `first` on, in lanes. Writes scores, cells and gradients of all of them. Bit l of the
 * answer is set where lane l's exponents left the range: what was written for it is void.
 * `area` is 64-byte aligned and holds hspz__soft_lane_bytes. */
typedef uint32_t (*hspz__soft_lanes_run)(const hspz__soft_sw_work *work, uint64_t first, uint32_t lanes,
                                         void *area);

uint32_t hspz__soft_lanes_base(const hspz__soft_sw_work *work, uint64_t first, uint32_t lanes, void *area);
uint32_t hspz__soft_lanes_avx2(const hspz__soft_sw_work *work, uint64_t first, uint32_t lanes, void *area);
uint32_t hspz__soft_lanes_avx512(const hspz__soft_sw_work *work, uint64_t first, uint32_t lanes, void *area);

/* Bytes of the area: three rows of vectors, and three vectors per cell in backward. */
static inline uint64_t hspz__soft_lane_bytes(uint64_t rows, uint64_t columns, int backward)
{
    return (3 * (columns + 1) + (backward ? 3 * rows * columns : 0)) * HSPZ__SOFT_LANES * sizeof(float);
}

/* One problem in double precision, logarithmic. `area` as above. */
void hspz__soft_wide(const hspz__soft_sw_work *work, uint64_t problem, void *area);

/* Publishes what a problem came to: h = H / T of the best cell. */
void hspz__soft_publish(const hspz__soft_sw_work *work, uint64_t problem, double h, uint64_t cell);

#endif
