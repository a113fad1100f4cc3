/* products.h -- the hits of buckets with several positions, for every instruction set alike.
 *
 * Idea: a bucket's query places are neighbours, so sixteen of them are written at once wherever a few are wanted, and the next store goes
 * over what was too much: no loop over a handful of hits, no branch that depends on how many there are.
 */
#ifndef HSPZ__PRODUCTS_H
#define HSPZ__PRODUCTS_H

#include "kernels.h"

#include <string.h>

static inline void hspz__write_query(const hspz__hits *h, uint32_t *to, uint32_t place)
{
    if (h->query_positions != NULL)
        memcpy(to, h->query_positions + place, 16 * sizeof *to);
    else
        for (uint32_t i = 0; i < 16; i++)
            to[i] = place + i;
}

static inline uint32_t hspz__products(const hspz__rank_pairs *pairs, uint32_t first, hspz__hits *h)
{
    uint32_t n = h->count;
    uint32_t i = first;
    for (; i < pairs->multi_count; i++) {
        const uint32_t *ts = h->target_starts + pairs->multi_target[i],
                       *qs = h->query_starts + pairs->multi_query[i];
        const uint32_t query = qs[0], size = qs[1] - qs[0];
        if ((uint64_t)(ts[1] - ts[0]) * size > h->room - n)
            break;
        for (uint32_t t = ts[0]; t < ts[1]; t++) {
            const uint32_t value = t - h->target_base;
            uint32_t done = 0;
            do {
                for (uint32_t k = 0; k < 16; k++)
                    h->target[n + done + k] = value;
                hspz__write_query(h, h->query + n + done, query + done);
                done += 16;
            } while (done < size);
            n += size;
        }
    }
    h->count = n;
    return i;
}

#endif
