/* scores_avx2.c -- the same eight pairs at a time: two bits of each strand are the place in a table of two registers. */
#include "packed.h"
#include "scores.h"

#include <immintrin.h>

void hspz__scores_avx2(const int32_t table[16], const uint8_t *target, uint64_t target_at,
                       const uint8_t *query, uint64_t query_at, int32_t out[64])
{
    const __m256i low = _mm256_loadu_si256((const __m256i *)table);
    const __m256i high = _mm256_loadu_si256((const __m256i *)(table + 8));
    const __m256i steps = _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14), three = _mm256_set1_epi32(3);
    for (uint32_t half = 0; half < 64; half += 32) {
        uint64_t t = hspz__packed_word(target, target_at + half),
                 q = hspz__packed_word(query, query_at + half);
        for (uint32_t i = 0; i < 32; i += 8) {
            const __m256i of_t = _mm256_srlv_epi32(_mm256_set1_epi32((int32_t)(t & 0xffff)), steps);
            const __m256i of_q = _mm256_srlv_epi32(_mm256_set1_epi32((int32_t)(q & 0xffff)), steps);
            const __m256i place = _mm256_or_si256(_mm256_slli_epi32(of_t, 2), _mm256_and_si256(of_q, three));
            const __m256 first = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, place));
            const __m256 second = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, place));
            const __m256 upper = _mm256_castsi256_ps(_mm256_slli_epi32(place, 28)); /* bit 3 as sign */
            _mm256_storeu_ps((float *)(void *)(out + half + i), _mm256_blendv_ps(first, second, upper));
            t >>= 16;
            q >>= 16;
        }
    }
}
