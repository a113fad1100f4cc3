/* avx2.c -- the kernels with 32 hits in the 32 byte lanes of a register; a call works its 64 rows in two halves.
 *
 * Idea: as in avx512.c. AVX2 looks up 16 entries at a time, so a table of 64 takes four lookups, chosen among by the upper
 * two bits of the index.
 */
#include "encode.h"
#include "exchange.h"
#include "kernels.h"
#include "packed.h"
#include "products.h"
#include "scores.h"

#include <immintrin.h>

#define HALF 32u

static uint32_t keys(const hspz__key_rule *rule, const uint8_t *packed, uint64_t base, uint64_t valid,
                     uint64_t *out)
{
    uint32_t count = 0;
    for (; valid != 0; valid &= valid - 1) {
        const uint32_t i = (uint32_t)_tzcnt_u64(valid);
        const uint64_t window = rule->narrow ? hspz__packed_part(packed, i) : hspz__packed_word(packed, i);
        uint64_t key = 0; /* by runs: pext is slow on processors that stop at AVX2 */
        for (uint32_t run = 0; run < rule->runs; run++)
            key |= window >> rule->shift[run] & rule->mask[run];
        out[count++] = key << 32 | (base + i);
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

static void pair(const hspz__block *block, const hspz__block *const *others, const uint8_t *low,
                 uint32_t variants, hspz__rank_pairs *pairs)
{
    uint32_t count = pairs->count, multi_count = pairs->multi_count;
    const uint64_t bits = block->bits;
    for (uint32_t v = 0; v < variants; v++) {
        const hspz__block *other = others[v];
        uint64_t common = bits & hspz__exchange(other->bits, low[v]);
        const uint64_t multi = block->multi | hspz__exchange(other->multi, low[v]);
        for (; common != 0; common &= common - 1) {
            const uint32_t k = (uint32_t)_tzcnt_u64(common);
            const uint32_t t = block->rank + (uint32_t)_mm_popcnt_u64(_bzhi_u64(bits, k));
            const uint32_t q = other->rank + (uint32_t)_mm_popcnt_u64(_bzhi_u64(other->bits, k ^ low[v]));
            const uint32_t is_multi = (uint32_t)(multi >> k & 1);
            pairs->target[count] = t;
            pairs->query[count] = q;
            count += is_multi ^ 1;
            pairs->multi_target[multi_count] = t;
            pairs->multi_query[multi_count] = q;
            multi_count += is_multi;
        }
    }
    pairs->count = count;
    pairs->multi_count = multi_count;
}

static void probe(const uint64_t *bitmap, const uint64_t *windows, uint32_t count, const uint32_t *masks,
                  uint32_t variants, uint16_t *present)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t found = 0;
        for (uint32_t v = 0; v < variants; v++) {
            const uint32_t key = (uint32_t)(windows[i] >> 32) ^ masks[v];
            found |= (uint32_t)(bitmap[key / 64] >> (key & 63) & 1) << v;
        }
        present[i] = (uint16_t)found;
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
    const int shift = 2 * (int)(base % 4);
    const __m256i low = _mm256_loadu_si256((const __m256i *)from);
    const __m256i high = _mm256_loadu_si256((const __m256i *)(from + 8));
    return _mm256_or_si256(_mm256_srl_epi64(low, _mm_cvtsi32_si128(shift)),
                           _mm256_sll_epi64(high, _mm_cvtsi32_si128(64 - shift)));
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

static inline __m256i two_rows(const uint8_t (*rows)[HSPZ__CONTEXT], uint32_t i, uint32_t at)
{
    const __m128i low = _mm_load_si128((const __m128i *)(rows[i] + at));
    const __m128i high = _mm_load_si128((const __m128i *)(rows[i + 16] + at));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

/* column[k] = byte `at` + k of 32 rows, k < 16. */
static inline void transpose(const uint8_t (*rows)[HSPZ__CONTEXT], uint32_t at, __m256i column[16])
{
    __m256i a[16], b[16];
    for (uint32_t i = 0; i < 16; i++)
        a[i] = two_rows(rows, i, at);
    for (uint32_t i = 0; i < 8; i++) {
        b[2 * i] = _mm256_unpacklo_epi8(a[i], a[i + 8]);
        b[2 * i + 1] = _mm256_unpackhi_epi8(a[i], a[i + 8]);
    }
    for (uint32_t i = 0; i < 8; i++) {
        a[2 * i] = _mm256_unpacklo_epi8(b[i], b[i + 8]);
        a[2 * i + 1] = _mm256_unpackhi_epi8(b[i], b[i + 8]);
    }
    for (uint32_t i = 0; i < 8; i++) {
        b[2 * i] = _mm256_unpacklo_epi8(a[i], a[i + 8]);
        b[2 * i + 1] = _mm256_unpackhi_epi8(a[i], a[i + 8]);
    }
    for (uint32_t i = 0; i < 8; i++) {
        column[2 * i] = _mm256_unpacklo_epi8(b[i], b[i + 8]);
        column[2 * i + 1] = _mm256_unpackhi_epi8(b[i], b[i + 8]);
    }
}

typedef struct side {
    __m256i rise, fall, ended;
    const uint8_t *rises, *falls;
    __m256i drop;
} side;

static inline side side_init(const hspz__filter *f, uint32_t which)
{
    return (side){.rise = _mm256_setzero_si256(),
                  .fall = _mm256_setzero_si256(),
                  .ended = _mm256_setzero_si256(),
                  .rises = f->rise[which],
                  .falls = f->fall[which],
                  .drop = _mm256_set1_epi8((char)f->drop)};
}

static inline __m256i quarter(const uint8_t *table, uint32_t number)
{
    return _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)(table + 16 * number)));
}

/* table[code % 64] in each lane. `bit4` and `bit5` have these bits of the code at the top of each byte. */
static inline __m256i lookup(const uint8_t *table, __m256i low, __m256i bit4, __m256i bit5)
{
    const __m256i a = _mm256_blendv_epi8(_mm256_shuffle_epi8(quarter(table, 0), low),
                                         _mm256_shuffle_epi8(quarter(table, 1), low), bit4);
    const __m256i b = _mm256_blendv_epi8(_mm256_shuffle_epi8(quarter(table, 2), low),
                                         _mm256_shuffle_epi8(quarter(table, 3), low), bit4);
    return _mm256_blendv_epi8(a, b, bit5);
}

static inline void step(side *s, __m256i code)
{
    const __m256i low = _mm256_and_si256(code, _mm256_set1_epi8(0x0f));
    const __m256i bit4 = _mm256_slli_epi16(code, 3), bit5 = _mm256_slli_epi16(code, 2);
    const __m256i rise = lookup(s->rises, low, bit4, bit5);
    const __m256i fall = lookup(s->falls, low, bit4, bit5);
    const __m256i gain = _mm256_andnot_si256(s->ended, _mm256_subs_epu8(rise, s->fall));
    s->rise = _mm256_adds_epu8(s->rise, gain);
    s->fall = _mm256_adds_epu8(_mm256_subs_epu8(s->fall, rise), fall);
    const __m256i within = _mm256_cmpeq_epi8(_mm256_max_epu8(s->fall, s->drop), s->drop);
    s->ended = _mm256_or_si256(s->ended, _mm256_xor_si256(within, _mm256_set1_epi8(-1)));
}

static inline __m256i low_two(__m256i x)
{
    return _mm256_and_si256(_mm256_srli_epi16(x, 6), _mm256_set1_epi8(0x03));
}

static inline __m256i low_four(__m256i x)
{
    return _mm256_and_si256(_mm256_srli_epi16(x, 4), _mm256_set1_epi8(0x0f));
}

static inline __m256i up_two(__m256i x)
{
    return _mm256_and_si256(_mm256_slli_epi16(x, 2), _mm256_set1_epi8((char)0xfc));
}

static inline __m256i up_four(__m256i x)
{
    return _mm256_and_si256(_mm256_slli_epi16(x, 4), _mm256_set1_epi8((char)0xf0));
}

/* Twelve bases in ascending order from three columns. */
static inline void step_right(side *s, __m256i c0, __m256i c1, __m256i c2)
{
    step(s, c0);
    step(s, _mm256_or_si256(low_two(c0), up_two(c1)));
    step(s, _mm256_or_si256(low_four(c1), up_four(c2)));
    step(s, _mm256_srli_epi16(c2, 2));
}

/* The same in descending order. */
static inline void step_left(side *s, __m256i c0, __m256i c1, __m256i c2)
{
    step(s, _mm256_srli_epi16(c2, 2));
    step(s, _mm256_or_si256(low_four(c1), up_four(c2)));
    step(s, _mm256_or_si256(low_two(c0), up_two(c1)));
    step(s, c0);
}

/* Scans 32 rows; the answer has the flagged rows. */
static inline uint32_t scan(const uint8_t (*rows)[HSPZ__CONTEXT], side *right, side *left)
{
    __m256i c[32];
    transpose(rows, 0, c);
    transpose(rows, 16, c + 16);
    for (uint32_t k = HSPZ__CONTEXT_LEFT; k + 3 <= HSPZ__CONTEXT; k += 3)
        step_right(right, c[k], c[k + 1], c[k + 2]);
    step(right, c[30]);
    step(right, _mm256_or_si256(low_two(c[30]), up_two(c[31])));
    for (uint32_t k = HSPZ__CONTEXT_LEFT; k >= 3; k -= 3)
        step_left(left, c[k - 3], c[k - 2], c[k - 1]);
    const __m256i flags =
        _mm256_and_si256(c[31], _mm256_set1_epi8((char)(HSPZ__FLAG_TARGET | HSPZ__FLAG_QUERY)));
    return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(flags, _mm256_setzero_si256()));
}

static inline uint32_t reaches(const hspz__filter *f, const side *right, const side *left)
{
    const __m256i keep = _mm256_set1_epi8((char)f->keep);
    const __m256i total = _mm256_adds_epu8(right->rise, left->rise);
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(total, keep), total));
}

static inline uint32_t going(const side *right, const side *left)
{
    return ~(uint32_t)_mm256_movemask_epi8(_mm256_and_si256(right->ended, left->ended));
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
    uint64_t answer = 0;
    *likely = 0;
    for (uint32_t half = 0; half < HSPZ__LANES && half < count; half += HALF) {
        side right = side_init(f, 0), left = side_init(f, 1);
        const uint32_t flagged = scan(rows->row + half, &right, &left);
        const uint32_t enough = reaches(f, &right, &left);
        *likely |= (uint64_t)enough << half;
        answer |= (uint64_t)(flagged | enough | going(&right, &left)) << half;
    }
    *likely &= first(count);
    return answer & first(count);
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
    uint64_t answer = 0;
    for (uint32_t half = 0; half < HSPZ__LANES && half < count; half += HALF) {
        side right = side_init(f, 0), left = side_init(f, 1);
        const uint32_t flagged = scan(inner->row + half, &right, &left);
        scan(outer->row + half, &right, &left);
        answer |= (uint64_t)(flagged | reaches(f, &right, &left) | going(&right, &left)) << half;
    }
    return answer & first(count);
}

const hspz__cpu_kernels hspz__cpu_avx2 = {
    .name = "avx2",
    .translate = hspz__translate_avx2,
    .pack = hspz__pack_avx2,
    .keys = keys,
    .ranks = ranks,
    .probe = probe,
    .pair = pair,
    .products = products,
    .contexts = contexts,
    .filter = filter,
    .filter_packed = filter_packed,
    .filter_wide = filter_wide,
    .scores = hspz__scores_avx2,
};
