/* encode_avx2.c -- the same 32 bytes at a time. A byte of the first 128 is looked up in eight tables of sixteen by its low
 * half; the high half says which answer to keep. */
#include "encode.h"

#include <immintrin.h>

static inline __m256i twice(const uint8_t sixteen[16])
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)sixteen));
}

uint8_t hspz__translate_avx2(const uint8_t table[256], const uint8_t *bytes, uint64_t count, uint8_t *out)
{
    const __m256i low = _mm256_set1_epi8(0x0f);
    __m256i all = _mm256_setzero_si256();
    uint64_t i = 0;
    for (; i + 32 <= count; i += 32) {
        const __m256i x = _mm256_loadu_si256((const __m256i *)(bytes + i));
        const __m256i which = _mm256_and_si256(_mm256_srli_epi16(x, 4), low);
        const __m256i at = _mm256_and_si256(x, low);
        __m256i y = _mm256_set1_epi8((char)table[128]); /* kept where no table is chosen */
        for (uint32_t high = 0; high < 8; high++)
            y = _mm256_blendv_epi8(y, _mm256_shuffle_epi8(twice(table + 16 * high), at),
                                   _mm256_cmpeq_epi8(which, _mm256_set1_epi8((char)high)));
        all = _mm256_or_si256(all, y);
        _mm256_storeu_si256((__m256i *)(out + i), y);
    }
    uint8_t each[32], answer = 0;
    _mm256_storeu_si256((__m256i *)each, all);
    for (uint32_t k = 0; k < 32; k++)
        answer |= each[k];
    return answer | hspz__translate_scalar(table, bytes + i, count - i, out + i);
}

/* Four bytes of two bits become one: pairs by 1 and 4, then pairs of those by 1 and 16. */
static inline __m256i squeeze(__m256i x)
{
    const __m256i two =
        _mm256_maddubs_epi16(_mm256_and_si256(x, _mm256_set1_epi8(3)), _mm256_set1_epi16(0x0401));
    return _mm256_madd_epi16(two, _mm256_set1_epi32(0x00100001));
}

uint64_t hspz__pack_avx2(const uint8_t bytes[64], uint8_t packed[16])
{
    const __m256i three = _mm256_set1_epi8(3);
    const __m256i a = _mm256_loadu_si256((const __m256i *)bytes);
    const __m256i b = _mm256_loadu_si256((const __m256i *)(bytes + 32));
    const __m256i words = _mm256_packus_epi32(squeeze(a), squeeze(b)); /* a, b, a, b by quarters */
    const __m256i ordered = _mm256_permute4x64_epi64(words, 0xd8);
    const __m128i eight =
        _mm_packus_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1));
    _mm_storeu_si128((__m128i *)packed, eight);
    const uint32_t low = (uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi8(a, three));
    const uint32_t high = (uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi8(b, three));
    return (uint64_t)high << 32 | low;
}
