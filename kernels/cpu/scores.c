/* scores.c -- what 64 neighbouring pairs of a diagonal score, in plain C: the reference. */
#include "scores.h"
#include "packed.h"

void hspz__scores_scalar(const int32_t table[16], const uint8_t *target, uint64_t target_at,
                         const uint8_t *query, uint64_t query_at, int32_t out[64])
{
    for (uint32_t half = 0; half < 64; half += 32) {
        uint64_t t = hspz__packed_word(target, target_at + half),
                 q = hspz__packed_word(query, query_at + half);
        for (uint32_t i = 0; i < 32; i++) {
            out[half + i] = table[(t & 3) << 2 | (q & 3)];
            t >>= 2;
            q >>= 2;
        }
    }
}
