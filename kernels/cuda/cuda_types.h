/* cuda_types.h -- what the CUDA kernels and the C code that drives them agree on.
 *
 * Idea: plain structs of device pointers and numbers, passed to kernels by value. Every launcher of kernels/cuda has C linkage,
 * only enqueues on the stream it is given, never synchronises, and returns a cudaError_t (0: enqueued). Pointers named
 * in these structs are device pointers unless a comment says host.
 */
#ifndef HSPZ__CUDA_TYPES_H
#define HSPZ__CUDA_TYPES_H

#include "../../plugin/plan.h"

#include <cuda_runtime_api.h>

/* Packed bases are readable this many bases before and after a sequence; what is there is pseudo-random. */
#define HSPZ__CUDA_PAD 256u

/* An encoded strand. Base i has its class (plan.h) in nibble i % 8 of word i / 8 of `classes`, and a 2-bit code in bits
 * 2 * (i % 16) of word i / 16 of `codes`: A0 C1 G2 T3, a pseudo-random code for any other symbol. `odd`, if not NULL,
 * has bit i % 32 of word i / 32 set where the symbol can score more than the upper bound of its pseudo-random code. */
typedef struct hspz__cuda_strand {
    uint32_t *classes;
    uint32_t *codes;
    uint32_t *odd;
    uint32_t length;
} hspz__cuda_strand;

/* The seed word, from the plan. */
typedef struct hspz__cuda_word {
    uint32_t window; /* pattern length */
    uint32_t bits;
    uint32_t care_count;
    uint32_t variant_count;
    uint8_t care_offset[HSPZ__PATTERN_MAX];
    uint8_t care_bits[HSPZ__PATTERN_MAX];
    uint8_t care_shift[HSPZ__PATTERN_MAX];
    uint32_t variant_mask[HSPZ__VARIANTS_MAX];
} hspz__cuda_word;

/* The target index. Direct: bucket of word w is positions[w ? ends[w-1] : 0 .. ends[w]). Compact (compact.h): ends is NULL and the
 * others are set. */
typedef struct hspz__cuda_index {
    const uint32_t *ends;
    const uint64_t *bitmap;
    const uint32_t *ranks;
    const uint32_t *starts;
    const uint32_t *positions;
    uint32_t count;
} hspz__cuda_index;

/* Extension rules. `scores` holds HSPZ__CLASSES rows of HSPZ__ROW int32, each clamped below at -(xdrop + 1): what lies
 * lower ends a scan alike. `wide` asks for 64-bit sums. */
typedef struct hspz__cuda_rules {
    const int32_t *scores;
    int32_t xdrop;
    int32_t keep_total;
    int32_t wide;
} hspz__cuda_rules;

/* An anchor on its way through sorts: (diagonal << 32) | target position, diagonal = r - q + query length, modulo 2^32. */
#define HSPZ__CUDA_KEY(r, q, query_length)                                                                   \
    ((uint64_t)((uint32_t)(r) - (uint32_t)(q) + (uint32_t)(query_length)) << 32 | (uint32_t)(r))

#endif
