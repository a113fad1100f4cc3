/* filter.h -- the upper-bound filter: its numbers, its table, and one step of its scan.
 *
 * Idea (LEADS 1-3): with codes A0 C1 G2 T3 a substitution score depends almost only on the XOR of two codes. Let u[c] be
 * the largest score of class c. The x-drop scan with u never scores less than the real scan and never stops earlier, so "the
 * totals of both sides stay below the threshold and both sides stopped" proves rejection; whatever is not rejected is decided
 * exactly elsewhere. The scan goes in blocks of 7 bases: a table of 4^7 entries holds (sum, best prefix, worst prefix).
 *
 * Scores are scaled down by 2^shift, rounded up, until a block fits its table entry; both roundings are on the safe side.
 *
 * A context is what the filter needs to know around a window: 16 fields of 7 bases, two fields a word (bits 2-15 and
 * 18-31, so that the XOR of two words holds byte offsets into the table), first base of the scan in the lowest bits:
 *   field 0, 1    don't-care bases of the window, from the last to the first
 *   field 2-8     49 bases to the right of the window
 *   field 9-15    49 bases to the left of it, nearest first
 * Bits 0 and 1 of word 0 flag an odd symbol in the target's or the query's context: the hit goes to the exact stage.
 */
#ifndef HSPZ__CUDA_FILTER_H
#define HSPZ__CUDA_FILTER_H

#include "cuda_types.h"

#define HSPZ__FILTER_BLOCK 7u
#define HSPZ__FILTER_SIDE 7u /* blocks a side in a context */
#define HSPZ__FILTER_ENTRIES 16384u
#define HSPZ__CONTEXT_WORDS 8u
#define HSPZ__FILTER_DEAD (-(1 << 28))

typedef struct hspz__cuda_filter {
    const uint32_t *table; /* device: HSPZ__FILTER_ENTRIES of sum << 20 | best << 10 | -worst */
    uint32_t dont_care;    /* don't-care bases in fields 0 and 1, at most 14 */
    uint8_t dont_care_offset[14];
    int32_t window_sum
        [HSPZ__VARIANTS_MAX]; /* care bases of a variant, corrected for unused places of the fields */
    int32_t window_best[HSPZ__VARIANTS_MAX]; /* no prefix of the window's care bases scores more */
    int32_t headroom;                        /* x-drop, scaled */
    int32_t keep;                            /* totals below this are rejected, scaled */
    uint32_t odd_classes;                    /* classes that may score more than the smallest u */
    int32_t useful; /* 0: matrix or x-drop are such that the filter would reject next to nothing */
} hspz__cuda_filter;

#ifdef __CUDACC__
#define HSPZ__BOTH __host__ __device__ __forceinline__
#else
#define HSPZ__BOTH static inline
#endif

/* Scan state of a side: m is the best prefix so far, h what the running sum may still lose before the scan stops. */
typedef struct hspz__side {
    int32_t m, h;
} hspz__side;

/* One block. A scan that stops inside the block still gets the block's best prefix: at most too much. */
HSPZ__BOTH void hspz__side_step(hspz__side *side, uint32_t entry, int32_t headroom)
{
    const int32_t sum = (int32_t)entry >> 20, best = (int32_t)(entry >> 10 & 1023u),
                  worst = (int32_t)(entry & 1023u);
    int32_t gain = side->h + best - headroom;
    gain = gain > 0 ? gain : 0;
    side->m += gain;
    side->h = side->h < worst ? HSPZ__FILTER_DEAD : side->h + sum - gain;
}

HSPZ__BOTH uint32_t hspz__filter_sum_best(uint32_t entry, int32_t *sum)
{
    *sum = (int32_t)entry >> 20;
    return entry >> 10 & 1023u;
}

/* Reverses the order of 7 bases in the low 14 bits. */
HSPZ__BOTH uint32_t hspz__reverse_block(uint32_t x)
{
    uint32_t y = 0;
    for (int k = 0; k < 7; k++)
        y |= (x >> (2 * k) & 3u) << (2 * (6 - k));
    return y;
}

#endif
