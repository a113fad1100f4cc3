/* scores_avx512.c -- the same sixteen pairs at a time: two bits of each strand are the place in a table that fills a register. */
#include "packed.h"
#include "scores.h"

#include <immintrin.h>

void hspz__scores_avx512(const int32_t table[16], const uint8_t *target, uint64_t target_at,
                         const uint8_t *query, uint64_t query_at, int32_t out[64])
{
    const __m512i scores = _mm512_loadu_si512(table), three = _mm512_set1_epi32(3);
    const __m512i steps = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    for (uint32_t half = 0; half < 64; half += 32) {
        const uint64_t t = hspz__packed_word(target, target_at + half),
                       q = hspz__packed_word(query, query_at + half);
        for (uint32_t k = 0; k < 2; k++) {
            const __m512i of_t = _mm512_srlv_epi32(_mm512_set1_epi32((int32_t)(t >> 32 * k)), steps);
            const __m512i of_q = _mm512_srlv_epi32(_mm512_set1_epi32((int32_t)(q >> 32 * k)), steps);
            /* Bits 2 and 3 of the place from the target, 0 and 1 from the query; those above are not looked at. */
            const __m512i place = _mm512_ternarylogic_epi32(three, of_q, _mm512_slli_epi32(of_t, 2), 0xca);
            _mm512_storeu_si512(out + half + 16 * k, _mm512_permutexvar_epi32(place, scores));
        }
    }
}
