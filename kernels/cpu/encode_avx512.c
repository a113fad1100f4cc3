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

static const uint8_t turn[64] = {63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48,
                                 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32,
                                 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16,
                                 15, 14, 13, 12, 11, 10, 9,  8,  7,  6,  5,  4,  3,  2,  1,  0};

void hspz__translate_back_avx512(const uint8_t table[32], const uint8_t *last, uint64_t count, uint8_t *out)
{
    const __m512i order = _mm512_loadu_si512(turn);
    const __m512i entries = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)table));
    uint64_t i = 0;
    for (; i + 64 <= count; i += 64) {
        const __m512i x = _mm512_permutexvar_epi8(order, _mm512_loadu_si512(last - i - 63));
        _mm512_storeu_si512(out + i, _mm512_permutexvar_epi8(x, entries));
    }
    hspz__translate_back_scalar(table, last - i, count - i, out + i);
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
