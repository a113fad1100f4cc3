/* marks.h -- the mark rule of LASTZ (SPEC section 7) for the hits of a word join.
 *
 * Idea: the rule is sequential within a slot (diagonal modulo 65536) but hardly ever two hits of a slot are so close along the
 * query that one matters to the other. The join (join.h) writes a record of 8 bytes for every hit, in any order: its slot and
 * query window, what breaks ties in the raw order, an upper bound of the bases that its right scan reads, and whether
 * the filter could not reject it. Sorted by (slot, query window), neighbours tell which bounds have to be made exact;
 * these are done in parallel. Then one thread a slot walks its records and only adds and compares, and looks up the right scan
 * of the rare hits that may survive. Those that are not skipped are extended in full afterwards, a warp each.
 *
 *   bits 63..48 slot | query window - begin | variant 4 | target position from last to first, less its low 16 bits | read 7 | exact 1 | maybe 1
 *
 * `read` is a bound, or exact; HSPZ__MARK_LONG: not known. Marks live on the device from unit to unit, as query positions.
 */
#ifndef HSPZ__CUDA_MARKS_H
#define HSPZ__CUDA_MARKS_H

#include "cuda_types.h"
#include "extend.h"
#include "segments.h"

#define HSPZ__MARK_LONG 127u
#ifndef HSPZ__MARK_SLOT_BITS
#define HSPZ__MARK_SLOT_BITS 16 /* the rule's; tests crowd the slots with fewer */
#endif
#define HSPZ__MARK_SLOTS (1u << HSPZ__MARK_SLOT_BITS)
#define HSPZ__MARK_OF_LAST 0xffffffffu
#define HSPZ__MARK_LOW_BITS 13u /* variant, read, exact, maybe */

/* Where the fields of a record are. */
typedef struct hspz__cuda_mark_layout {
    uint32_t begin;       /* query window that counts as 0 */
    uint32_t window;      /* pattern length */
    uint32_t target_bits; /* of a target position less the bits that the slot tells */
} hspz__cuda_mark_layout;

/* Bits left for query windows. */
#define HSPZ__MARK_QUERY_BITS(target_bits) (48u - HSPZ__MARK_LOW_BITS - (target_bits))

#ifdef __CUDACC__
#define HSPZ__MARK_INLINE __host__ __device__ __forceinline__
#else
#define HSPZ__MARK_INLINE static inline
#endif

/* r, q: the positions just after the window. */
HSPZ__MARK_INLINE uint64_t hspz__mark_record(const hspz__cuda_mark_layout *l, uint32_t r, uint32_t q,
                                             uint32_t variant, uint32_t read, uint32_t exact, uint32_t maybe)
{
    const uint64_t slot = (r - q) & (HSPZ__MARK_SLOTS - 1), query = q - l->window - l->begin;
    const uint64_t from_last = ((UINT64_C(1) << l->target_bits) - 1) - (r >> HSPZ__MARK_SLOT_BITS);
    return slot << 48 | query << (l->target_bits + HSPZ__MARK_LOW_BITS) |
           (uint64_t)variant << (l->target_bits + 9) | from_last << 9 | read << 2 | exact << 1 | maybe;
}

HSPZ__MARK_INLINE uint32_t hspz__mark_query(const hspz__cuda_mark_layout *l, uint64_t record)
{
    const uint32_t shift = l->target_bits + HSPZ__MARK_LOW_BITS;
    return (uint32_t)((record & ((UINT64_C(1) << 48) - 1)) >> shift) + l->begin + l->window;
}

HSPZ__MARK_INLINE uint32_t hspz__mark_target(const hspz__cuda_mark_layout *l, uint64_t record)
{
    const uint32_t mask = (uint32_t)((UINT64_C(1) << l->target_bits) - 1);
    const uint32_t high = mask - ((uint32_t)(record >> 9) & mask);
    return high << HSPZ__MARK_SLOT_BITS |
           (((uint32_t)(record >> 48) + hspz__mark_query(l, record)) & (HSPZ__MARK_SLOTS - 1));
}

HSPZ__MARK_INLINE uint32_t hspz__mark_read(uint64_t record)
{
    return (uint32_t)(record >> 2) & 127u;
}

#ifdef __cplusplus
extern "C" {
#endif

/* Sorted by slot and query window but for the bits below `shift`: puts runs that agree above it in order, as far as they are
 * no longer than `most`; *longer counts those that are. */
cudaError_t hspz__cuda_mark_order(uint64_t *records, uint32_t count, uint32_t shift, uint32_t most,
                                  unsigned long long *longer, cudaStream_t stream);
/* Records in (slot, query window) order from here on; ends[slot] as hspz__cuda_bucket_ends would give. */
cudaError_t hspz__cuda_mark_ends(const uint64_t *records, uint32_t count, uint32_t *ends,
                                 cudaStream_t stream);
/* list[..] = records whose read must be exact because the next of their slot may start before its bound; *listed counts, also
 * beyond `capacity`. */
cudaError_t hspz__cuda_mark_close(const hspz__cuda_mark_layout *layout, const uint64_t *records,
                                  uint32_t count, uint32_t *list, uint32_t capacity,
                                  unsigned long long *listed, cudaStream_t stream);
/* Makes the reads of the listed records exact, or HSPZ__MARK_LONG where a scan goes on for long. */
cudaError_t hspz__cuda_mark_reads(const hspz__cuda_mark_layout *layout, uint64_t *records,
                                  const uint32_t *list, uint32_t most, const unsigned long long *listed,
                                  const hspz__cuda_strand *target, const hspz__cuda_strand *query,
                                  const hspz__cuda_rules *rules, cudaStream_t stream);
/* The walk. Hits that are not skipped and may survive are listed (counters->candidates counts, up to `capacity` are stored; it must
 * be 0 before): key, and in floors the mark below which the left scan must not read, or HSPZ__MARK_OF_LAST where it is what
 * the right scan of the record in `last` reaches. counters->skipped grows. */
cudaError_t hspz__cuda_mark_walk(const hspz__cuda_mark_layout *layout, const uint64_t *records,
                                 const uint32_t *ends, const hspz__cuda_strand *target,
                                 const hspz__cuda_strand *query, const hspz__cuda_rules *rules,
                                 uint32_t *marks, uint64_t *keys, uint32_t *floors, uint64_t *last,
                                 uint32_t capacity, hspz__cuda_counters *counters, cudaStream_t stream);
/* Extends those hits; survivors go to out_keys, right, left, counted by counters->extended. */
cudaError_t hspz__cuda_mark_extend(const hspz__cuda_mark_layout *layout, const uint64_t *keys,
                                   const uint32_t *floors, const uint64_t *last, uint32_t capacity,
                                   const hspz__cuda_strand *target, const hspz__cuda_strand *query,
                                   const hspz__cuda_rules *rules, uint64_t *out_keys, hspz__cuda_reach *right,
                                   hspz__cuda_reach *left, hspz__cuda_counters *counters,
                                   cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
