/* encode_avx512.c -- the same 64 bytes at a time: a table of 128 is one look-up. */
#include "encode.h"

#include <immintrin.h>

uint8_t hspz__translate_avx512(const uint8_t table[256], const uint8_t *bytes, uint64_t count, uint8_t *out)
{
    const __m512i lower = _mm512_loadu_si512(table), upper = _mm512_loadu_si512(table + 64);
    const __m512i beyond = _mm512_set1_epi8((char)table[128]);
    __m512i all = _mm512_setzero_si512();
    for (uint64_t i = 0; i < count; i += 64) {
        const __mmask64 valid = count - i < 64 ? (UINT64_C(1) << (count - i)) - 1 : ~UINT64_C(0);
        const __m512i x = _mm512_maskz_loadu_epi8(valid, bytes + i);
        const __m512i y =
            _mm512_mask_mov_epi8(_mm512_permutex2var_epi8(lower, x, upper), _mm512_movepi8_mask(x), beyond);
        all = _mm512_or_si512(all, _mm512_maskz_mov_epi8(valid, y));
        _mm512_mask_storeu_epi8(out + i, valid, y);
    }
    uint8_t each[64], answer = 0;
    _mm512_storeu_si512(each, all);
    for (uint32_t k = 0; k < 64; k++)
        answer |= each[k];
    return answer;
}

/* Four bytes of two bits become one: pairs by 1 and 4, then pairs of those by 1 and 16. */
uint64_t hspz__pack_avx512(const uint8_t bytes[64], uint8_t packed[16])
{
    const __m512i x = _mm512_loadu_si512(bytes), three = _mm512_set1_epi8(3);
    const __m512i two = _mm512_maddubs_epi16(_mm512_and_si512(x, three), _mm512_set1_epi16(0x0401));
    const __m512i four = _mm512_madd_epi16(two, _mm512_set1_epi32(0x00100001));
    _mm_storeu_si128((__m128i *)packed, _mm512_cvtepi32_epi8(four));
    return _mm512_cmpgt_epu8_mask(x, three);
}
