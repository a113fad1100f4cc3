/* products.h -- the hits of buckets with several positions, for every instruction set alike.
 *
 * Idea: the product of two buckets is written row by row, a row for each position of the smaller one, sixteen hits at once wherever a few are
 * wanted; the next store goes over what was too much. Most products have one row or two, so that two are written without
 * asking and the loop over further ones is rarely entered.
 */
#ifndef HSPZ__PRODUCTS_H
#define HSPZ__PRODUCTS_H

#include "kernels.h"

#include <string.h>

/* Target values of neighbouring places: iota, read from memory as query positions are, so that either side may be the row. */
#define HSPZ__8(n) (n), (n) + 1, (n) + 2, (n) + 3, (n) + 4, (n) + 5, (n) + 6, (n) + 7
#define HSPZ__64(n)                                                                                          \
    HSPZ__8(n), HSPZ__8((n) + 8), HSPZ__8((n) + 16), HSPZ__8((n) + 24), HSPZ__8((n) + 32),                   \
        HSPZ__8((n) + 40), HSPZ__8((n) + 48), HSPZ__8((n) + 56)
#define HSPZ__256(n) HSPZ__64(n), HSPZ__64((n) + 64), HSPZ__64((n) + 128), HSPZ__64((n) + 192)
static const uint32_t hspz__places[HSPZ__WINDOW + 64] = {HSPZ__256(0), HSPZ__256(256), HSPZ__256(512),
                                                         HSPZ__256(768), HSPZ__64(1024)};

typedef uint32_t hspz__sixteen __attribute__((vector_size(64)));

static inline void hspz__write_row(uint32_t *inner, const uint32_t *values, uint32_t *outer, uint32_t value,
                                   uint32_t size)
{
    const hspz__sixteen same = (hspz__sixteen){0} + value;
    uint32_t done = 0;
    do {
        memcpy(inner + done, values + done, sizeof same);
        memcpy(outer + done, &same, sizeof same);
        done += 16;
    } while (done < size);
}

/* With query positions: both sides' values lie in memory. */
static inline uint32_t hspz__products_packed(const hspz__rank_pairs *pairs, uint32_t i, hspz__hits *h)
{
    uint32_t n = h->count;
    for (; i < pairs->multi_count; i++) {
        const uint32_t *ts = h->target_starts + pairs->multi_target[i],
                       *qs = h->query_starts + pairs->multi_query[i];
        const uint32_t t_size = ts[1] - ts[0], q_size = qs[1] - qs[0];
        if ((uint64_t)t_size * q_size > h->room - n)
            break;
        const uint32_t *t = hspz__places + (ts[0] - h->target_base), *q = h->query_positions + qs[0];
        const int wide = t_size > q_size; /* the target is the row */
        const uint32_t size = wide ? t_size : q_size, rows = wide ? q_size : t_size;
        const uint32_t *inner = wide ? t : q, *outer = wide ? q : t;
        uint32_t *to_inner = wide ? h->target : h->query, *to_outer = wide ? h->query : h->target;
        hspz__write_row(to_inner + n, inner, to_outer + n, outer[0], size);
        n += size;
        if (rows == 1)
            continue;
        for (uint32_t r = 1; r < rows; r++, n += size)
            hspz__write_row(to_inner + n, inner, to_outer + n, outer[r], size);
    }
    h->count = n;
    return i;
}

static inline uint32_t hspz__products(const hspz__rank_pairs *pairs, uint32_t i, hspz__hits *h)
{
    if (h->query_positions != NULL)
        return hspz__products_packed(pairs, i, h);
    uint32_t n = h->count;
    for (; i < pairs->multi_count; i++) {
        const uint32_t *ts = h->target_starts + pairs->multi_target[i],
                       *qs = h->query_starts + pairs->multi_query[i];
        const uint32_t size = qs[1] - qs[0];
        if ((uint64_t)(ts[1] - ts[0]) * size > h->room - n)
            break;
        for (uint32_t t = ts[0]; t < ts[1]; t++, n += size)
            for (uint32_t done = 0; done < size; done += 16)
                for (uint32_t k = 0; k < 16; k++) {
                    h->target[n + done + k] = t - h->target_base;
                    h->query[n + done + k] = qs[0] + done + k;
                }
    }
    h->count = n;
    return i;
}

#endif
