/* filter.cuh -- the part of the upper-bound filter that reads packed sequences; see filter.h. */
#ifndef HSPZ__FILTER_CUH
#define HSPZ__FILTER_CUH

#include "device.cuh"
#include "filter.h"

/* Two blocks of a side that has not stopped: the 14 bases `off` .. off + 13 away from the boundary (t_edge, q_edge). True when an
 * odd symbol makes the side undecidable. */
template <bool LEFT>
__device__ __forceinline__ bool
hspz__filter_on(const hspz__cuda_strand &target, const hspz__cuda_strand &query, const uint32_t *table,
                int32_t headroom, hspz__side *side, uint32_t t_edge, uint32_t q_edge, uint32_t off)
{
    const uint32_t t_room = LEFT ? t_edge : target.length - t_edge,
                   q_room = LEFT ? q_edge : query.length - q_edge;
    if (off >= (t_room < q_room ? t_room : q_room)) {
        side->h = HSPZ__FILTER_DEAD; /* the block's edge ends the scan */
        return false;
    }
    const int64_t t = LEFT ? (int64_t)t_edge - off - 14 : (int64_t)t_edge + off;
    const int64_t q = LEFT ? (int64_t)q_edge - off - 14 : (int64_t)q_edge + off;
    if ((target.odd != NULL && hspz__any_odd(target.odd, t, t + 14, target.length)) ||
        (query.odd != NULL && hspz__any_odd(query.odd, q, q + 14, query.length)))
        return true;
    uint32_t x = hspz__codes(target.codes, t) ^ hspz__codes(query.codes, q);
    if (LEFT) { /* nearest base first: reverse the bits, then swap the two of each base back */
        x = __brev(x) >> 4;
        x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
    }
    hspz__side_step(side, table[x & (HSPZ__FILTER_ENTRIES - 1)], headroom);
    hspz__side_step(side, table[x >> 14 & (HSPZ__FILTER_ENTRIES - 1)], headroom);
    return false;
}

#endif
