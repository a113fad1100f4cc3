/* avx512.c -- the kernels with 64 hits in the 64 byte lanes of a register (AVX-512 F, BW, VL, DQ, VBMI, VBMI2).
 *
 * Idea: 64 rows of 32 bytes are transposed, so that register j holds byte j of every row, that is four bases of each hit. Three
 * bytes make four groups of three bases; vpermb looks all 64 groups up at once in the tables of 64 entries and ignores the
 * upper two bits of each index, so that cutting the groups out takes few shifts. Seven instructions then
 * advance 64 hits by three bases.
 */
#include "encode.h"
#include "exchange.h"
#include "kernels.h"
#include "packed.h"
#include "products.h"
#include "scores.h"

#include <immintrin.h>

static uint32_t keys(const hspz__key_rule *rule, const uint8_t *packed, uint64_t base, uint64_t valid,
                     uint64_t *out)
{
    uint32_t count = 0;
    if (rule->narrow && valid == ~UINT64_C(0)) {
        for (uint32_t i = 0; i < 64; i += 4) {
            const uint64_t window = hspz__packed_part(packed, i);
            for (uint32_t k = 0; k < 4; k++)
                out[i + k] = _pext_u64(window >> 2 * k, rule->care_mask) << 32 | (base + i + k);
        }
        return 64;
    }
    for (; valid != 0; valid &= valid - 1) {
        const uint32_t i = (uint32_t)_tzcnt_u64(valid);
        const uint64_t window = rule->narrow ? hspz__packed_part(packed, i) : hspz__packed_word(packed, i);
        out[count++] = _pext_u64(window, rule->care_mask) << 32 | (base + i);
    }
    return count;
}

static void ranks(const uint64_t *pairs, uint32_t count, uint32_t key_mask, const uint64_t *bits,
                  const uint32_t *before, uint32_t *out)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t key = (uint32_t)(pairs[i] >> 32) & key_mask;
        out[i] = before[key / 64] + (uint32_t)_mm_popcnt_u64(_bzhi_u64(bits[key / 64], key & 63));
    }
}

static const uint8_t iota[64] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
                                 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
                                 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};

/* Adds the lanes of `mask` as ranks `base` + byte; returns how many. */
static inline uint32_t append(uint32_t *to, __mmask64 mask, __m512i ordinals, uint32_t base)
{
    const uint32_t n = (uint32_t)_mm_popcnt_u64(mask);
    const __m512i packed = _mm512_maskz_compress_epi8(mask, ordinals);
    const __m512i first = _mm512_set1_epi32((int)base);
    _mm512_storeu_si512(to, _mm512_add_epi32(first, _mm512_cvtepu8_epi32(_mm512_castsi512_si128(packed))));
    for (uint32_t i = 16; i < n; i += 16) {
        uint8_t bytes[64];
        _mm512_storeu_si512(bytes, packed);
        const __m128i sixteen = _mm_loadu_si128((const __m128i *)(bytes + i));
        _mm512_storeu_si512(to + i, _mm512_add_epi32(first, _mm512_cvtepu8_epi32(sixteen)));
    }
    return n;
}

/* Byte k of an expanded iota is the rank of bit k within its block, wherever that bit is set. */
static void pair(const hspz__block *block, const hspz__block *const *others, const uint8_t *low,
                 uint32_t variants, hspz__rank_pairs *pairs)
{
    const __m512i all = _mm512_loadu_si512(iota);
    const __m512i target_ranks = _mm512_maskz_expand_epi8(block->bits, all);
    uint32_t count = pairs->count, multi_count = pairs->multi_count, some = 0;
    uint64_t common[HSPZ__VARIANTS];
    for (uint32_t v = 0; v < variants; v++) { /* most have no bit in common, or one: no branch for each */
        common[v] = block->bits & hspz__exchange(others[v]->bits, low[v]);
        some |= (uint32_t)(common[v] != 0) << v;
    }
    for (; some != 0; some &= some - 1) {
        const uint32_t v = _tzcnt_u32(some);
        const hspz__block *other = others[v];
        const __m512i exchanged = _mm512_xor_si512(all, _mm512_set1_epi8((char)low[v]));
        const __m512i query_ranks =
            _mm512_permutexvar_epi8(exchanged, _mm512_maskz_expand_epi8(other->bits, all));
        const __mmask64 multi = common[v] & (block->multi | hspz__exchange(other->multi, low[v]));
        const __mmask64 single = common[v] & ~multi;
        append(pairs->target + count, single, target_ranks, block->rank);
        count += append(pairs->query + count, single, query_ranks, other->rank);
        append(pairs->multi_target + multi_count, multi, target_ranks, block->rank);
        multi_count += append(pairs->multi_query + multi_count, multi, query_ranks, other->rank);
    }
    pairs->count = count;
    pairs->multi_count = multi_count;
}

static void probe(const uint64_t *bitmap, const uint64_t *windows, uint32_t count, const uint32_t *masks,
                  uint32_t variants, uint16_t *present)
{
    const __m512i all_masks = _mm512_loadu_si512(masks);
    const __m512i one = _mm512_set1_epi64(1);
    const __mmask16 wanted = (__mmask16)((1u << variants) - 1);
    for (uint32_t i = 0; i < count; i++) {
        const __m512i keys_of_window =
            _mm512_xor_si512(_mm512_set1_epi32((int)(windows[i] >> 32)), all_masks);
        const __m512i words = _mm512_srli_epi32(keys_of_window, 6);
        const __m512i low = _mm512_i32gather_epi64(_mm512_castsi512_si256(words), bitmap, 8);
        const __m512i high = _mm512_i32gather_epi64(_mm512_extracti64x4_epi64(words, 1), bitmap, 8);
        /* variable 64-bit shifts: the key's low six bits, widened */
        const __m512i bits = _mm512_and_si512(keys_of_window, _mm512_set1_epi32(63));
        const __m512i low_bits = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(bits));
        const __m512i high_bits = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(bits, 1));
        const __mmask8 a = _mm512_test_epi64_mask(_mm512_srlv_epi64(low, low_bits), one);
        const __mmask8 b = _mm512_test_epi64_mask(_mm512_srlv_epi64(high, high_bits), one);
        present[i] = (uint16_t)(((uint32_t)b << 8 | a) & wanted);
    }
}

static uint32_t products(const hspz__rank_pairs *pairs, uint32_t first_pair, hspz__hits *hits)
{
    return hspz__products(pairs, first_pair, hits);
}

/* 128 bases from the base numbered `base` on. */
static inline __m256i context_at(const uint8_t *packed, uint64_t base)
{
    const uint8_t *from = packed + base / 4;
    const __m256i low = _mm256_loadu_si256((const __m256i *)from);
    const __m256i high = _mm256_loadu_si256((const __m256i *)(from + 8));
    return _mm256_shrdv_epi64(low, high, _mm256_set1_epi64x((long long)(2 * (base % 4))));
}

#define AHEAD 16u /* contexts; their places in the sequence are all over */

static void contexts(const uint8_t *packed, const uint32_t *positions, uint32_t offset, uint32_t count,
                     uint8_t (*out)[HSPZ__CONTEXT])
{
    const __m256i unflagged = _mm256_set_epi64x(0x0fffffffffffffff, -1, -1, -1);
    for (uint32_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            _mm_prefetch((const char *)packed + ((uint64_t)positions[i + AHEAD] + offset) / 4, _MM_HINT_T0);
        _mm256_storeu_si256((__m256i *)out[i],
                            _mm256_and_si256(context_at(packed, (uint64_t)positions[i] + offset), unflagged));
    }
}

/* Sixteen bytes, at `at`, of rows i, i + 16, i + 32 and i + 48. */
static inline __m512i four_rows(const uint8_t (*rows)[HSPZ__CONTEXT], uint32_t i, uint32_t at)
{
    __m512i x = _mm512_castsi128_si512(_mm_load_si128((const __m128i *)(rows[i] + at)));
    x = _mm512_mask_broadcast_i32x4(x, 0x00f0, _mm_load_si128((const __m128i *)(rows[i + 16] + at)));
    x = _mm512_mask_broadcast_i32x4(x, 0x0f00, _mm_load_si128((const __m128i *)(rows[i + 32] + at)));
    return _mm512_mask_broadcast_i32x4(x, 0xf000, _mm_load_si128((const __m128i *)(rows[i + 48] + at)));
}

/* column[k] = byte `at` + k of all 64 rows, k < 16: a 16 x 16 transposition in each quarter of the registers. */
static inline void transpose(const uint8_t (*rows)[HSPZ__CONTEXT], uint32_t at, __m512i column[16])
{
    __m512i a[16], b[16];
    for (uint32_t i = 0; i < 16; i++)
        a[i] = four_rows(rows, i, at);
    for (uint32_t i = 0; i < 8; i++) { /* rows i and i + 8 */
        b[2 * i] = _mm512_unpacklo_epi8(a[i], a[i + 8]);
        b[2 * i + 1] = _mm512_unpackhi_epi8(a[i], a[i + 8]);
    }
    for (uint32_t i = 0; i < 8; i++) {
        a[2 * i] = _mm512_unpacklo_epi8(b[i], b[i + 8]);
        a[2 * i + 1] = _mm512_unpackhi_epi8(b[i], b[i + 8]);
    }
    for (uint32_t i = 0; i < 8; i++) {
        b[2 * i] = _mm512_unpacklo_epi8(a[i], a[i + 8]);
        b[2 * i + 1] = _mm512_unpackhi_epi8(a[i], a[i + 8]);
    }
    for (uint32_t i = 0; i < 8; i++) {
        column[2 * i] = _mm512_unpacklo_epi8(b[i], b[i + 8]);
        column[2 * i + 1] = _mm512_unpackhi_epi8(b[i], b[i + 8]);
    }
}

/* One side of 64 hits. */
typedef struct side {
    __m512i rise, fall, rises, falls, drop;
    __mmask64 going;
} side;

static inline side side_init(const hspz__filter *f, uint32_t which)
{
    return (side){.rise = _mm512_setzero_si512(),
                  .fall = _mm512_setzero_si512(),
                  .rises = _mm512_load_si512(f->rise[which]),
                  .falls = _mm512_load_si512(f->fall[which]),
                  .drop = _mm512_set1_epi8((char)f->drop),
                  .going = ~UINT64_C(0)};
}

static inline void step(side *s, __m512i code)
{
    const __m512i rise = _mm512_permutexvar_epi8(code, s->rises);
    const __m512i fall = _mm512_permutexvar_epi8(code, s->falls);
    s->rise = _mm512_mask_adds_epu8(s->rise, s->going, s->rise, _mm512_subs_epu8(rise, s->fall));
    s->fall = _mm512_adds_epu8(_mm512_subs_epu8(s->fall, rise), fall);
    s->going = _mm512_mask_cmple_epu8_mask(s->going, s->fall, s->drop);
}

/* In the codes only the low six bits of a byte count; 16-bit shifts may leave bits of the neighbour above them. */
static inline __m512i low_two(__m512i x) /* bits 6,7 of each byte to 0,1 */
{
    return _mm512_and_si512(_mm512_srli_epi16(x, 6), _mm512_set1_epi8(0x03));
}

static inline __m512i low_four(__m512i x) /* bits 4..7 to 0..3 */
{
    return _mm512_and_si512(_mm512_srli_epi16(x, 4), _mm512_set1_epi8(0x0f));
}

static inline __m512i up_two(__m512i x) /* bits 0..3 to 2..5 */
{
    return _mm512_and_si512(_mm512_slli_epi16(x, 2), _mm512_set1_epi8((char)0xfc));
}

static inline __m512i up_four(__m512i x) /* bits 0,1 to 4,5 */
{
    return _mm512_and_si512(_mm512_slli_epi16(x, 4), _mm512_set1_epi8((char)0xf0));
}

/* Twelve bases, ascending, from three columns; or six from two of them. */
static inline void step_right(side *s, __m512i c0, __m512i c1)
{
    step(s, c0);
    step(s, _mm512_or_si512(low_two(c0), up_two(c1)));
}

static inline void step_right_rest(side *s, __m512i c1, __m512i c2)
{
    step(s, _mm512_or_si512(low_four(c1), up_four(c2)));
    step(s, _mm512_srli_epi16(c2, 2));
}

/* Twelve bases, descending, from the columns of ascending bytes c0, c1, c2. */
static inline void step_left(side *s, __m512i c0, __m512i c1, __m512i c2)
{
    step(s, _mm512_srli_epi16(c2, 2));
    step(s, _mm512_or_si512(low_four(c1), up_four(c2)));
    step(s, _mm512_or_si512(low_two(c0), up_two(c1)));
    step(s, c0);
}

/* Scans 64 rows; the answer has the flagged rows. */
static inline __mmask64 scan(const uint8_t (*rows)[HSPZ__CONTEXT], side *right, side *left)
{
    __m512i c[32];
    transpose(rows, 0, c);
    transpose(rows, 16, c + 16);
#define RIGHT(k)                                                                                             \
    step_right(right, c[k], c[k + 1]);                                                                       \
    step_right_rest(right, c[k + 1], c[k + 2]);
    RIGHT(18)
    RIGHT(21)
    RIGHT(24)
    RIGHT(27)
#undef RIGHT
    step_right(right, c[30], c[31]);
    step_left(left, c[15], c[16], c[17]);
    step_left(left, c[12], c[13], c[14]);
    step_left(left, c[9], c[10], c[11]);
    step_left(left, c[6], c[7], c[8]);
    step_left(left, c[3], c[4], c[5]);
    step_left(left, c[0], c[1], c[2]);
    return _mm512_test_epi8_mask(c[31], _mm512_set1_epi8((char)(HSPZ__FLAG_TARGET | HSPZ__FLAG_QUERY)));
}

static inline uint64_t reaches(const hspz__filter *f, const side *right, const side *left)
{
    const __m512i total = _mm512_adds_epu8(right->rise, left->rise);
    return _mm512_cmpge_epu8_mask(total, _mm512_set1_epi8((char)f->keep));
}

static inline uint64_t first(uint32_t count)
{
    return count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
}

/* Rows that are no hits: all lanes are scanned. */
static inline void clear_rest(hspz__rows *rows, uint32_t count)
{
    for (uint32_t i = count; i < HSPZ__LANES; i++)
        _mm256_store_si256((__m256i *)rows->row[i], _mm256_setzero_si256());
}

static inline uint64_t judge(const hspz__filter *f, const hspz__rows *rows, uint32_t count, uint64_t *likely)
{
    side right = side_init(f, 0), left = side_init(f, 1);
    const __mmask64 flagged = scan(rows->row, &right, &left);
    const __mmask64 enough = reaches(f, &right, &left);
    *likely = enough & first(count);
    return (flagged | enough | right.going | left.going) & first(count);
}

static uint64_t filter(const hspz__filter *f, const uint8_t (*target)[HSPZ__CONTEXT],
                       const uint8_t (*query)[HSPZ__CONTEXT], const uint32_t *target_at,
                       const uint32_t *query_at, uint32_t count, hspz__rows *rows, uint64_t *likely)
{
    for (uint32_t i = 0; i < count; i++) {
        _mm_prefetch((const char *)query[query_at[i + HSPZ__LANES]], _MM_HINT_T0);
        const __m256i t = _mm256_loadu_si256((const __m256i *)target[target_at[i]]);
        const __m256i q = _mm256_loadu_si256((const __m256i *)query[query_at[i]]);
        _mm256_store_si256((__m256i *)rows->row[i], _mm256_xor_si256(t, q));
    }
    clear_rest(rows, count);
    return judge(f, rows, count, likely);
}

static uint64_t filter_packed(const hspz__filter *f, const uint8_t (*target)[HSPZ__CONTEXT],
                              const uint8_t *query, uint32_t offset, const uint32_t *target_at,
                              const uint32_t *query_at, uint32_t count, hspz__rows *rows, uint64_t *likely)
{
    const __m256i unflagged = _mm256_set_epi64x(0x0fffffffffffffff, -1, -1, -1);
    for (uint32_t i = 0; i < count; i++) {
        _mm_prefetch((const char *)query + ((uint64_t)query_at[i + HSPZ__LANES] + offset) / 4, _MM_HINT_T0);
        const __m256i t = _mm256_loadu_si256((const __m256i *)target[target_at[i]]);
        const __m256i q = _mm256_and_si256(context_at(query, (uint64_t)query_at[i] + offset), unflagged);
        _mm256_store_si256((__m256i *)rows->row[i], _mm256_xor_si256(t, q));
    }
    clear_rest(rows, count);
    return judge(f, rows, count, likely);
}

static uint64_t filter_wide(const hspz__filter *f, const hspz__rows *inner, const hspz__rows *outer,
                            uint32_t count)
{
    side right = side_init(f, 0), left = side_init(f, 1);
    const __mmask64 flagged = scan(inner->row, &right, &left);
    scan(outer->row, &right, &left);
    return (flagged | reaches(f, &right, &left) | right.going | left.going) & first(count);
}

const hspz__cpu_kernels hspz__cpu_avx512 = {
    .name = "avx512",
    .translate = hspz__translate_avx512,
    .pack = hspz__pack_avx512,
    .keys = keys,
    .ranks = ranks,
    .probe = probe,
    .pair = pair,
    .products = products,
    .contexts = contexts,
    .filter = filter,
    .filter_packed = filter_packed,
    .filter_wide = filter_wide,
    .scores = hspz__scores_avx512,
};
