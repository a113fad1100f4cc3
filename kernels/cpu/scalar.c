/* scalar.c -- the reference kernels in plain C: one hit at a time, the rules as filter.c states them. */
#include "encode.h"
#include "exchange.h"
#include "kernels.h"
#include "packed.h"
#include "products.h"
#include "scores.h"

/* One side of one hit. */
typedef struct side {
    uint32_t rise, fall; /* m and d */
    bool ended;
} side;

static uint32_t keys(const hspz__key_rule *rule, const uint8_t *packed, uint64_t base, uint64_t valid,
                     uint64_t *out)
{
    uint32_t count = 0;
    for (; valid != 0; valid &= valid - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(valid);
        const uint64_t window = hspz__packed_word(packed, i);
        uint64_t key = 0;
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
        out[i] = before[key / 64] +
                 (uint32_t)__builtin_popcountll(bits[key / 64] & ((UINT64_C(1) << (key & 63)) - 1));
    }
}

static void pair(const hspz__block *block, const hspz__block *const *others, const uint8_t *low,
                 uint32_t variants, hspz__rank_pairs *pairs)
{
    for (uint32_t v = 0; v < variants; v++) {
        const hspz__block *other = others[v];
        uint64_t common = block->bits & hspz__exchange(other->bits, low[v]);
        const uint64_t multi = block->multi | hspz__exchange(other->multi, low[v]);
        for (; common != 0; common &= common - 1) {
            const uint32_t k = (uint32_t)__builtin_ctzll(common);
            const uint64_t below = (UINT64_C(1) << k) - 1, other_below = (UINT64_C(1) << (k ^ low[v])) - 1;
            const uint32_t t = block->rank + (uint32_t)__builtin_popcountll(block->bits & below);
            const uint32_t q = other->rank + (uint32_t)__builtin_popcountll(other->bits & other_below);
            if (multi >> k & 1) {
                pairs->multi_target[pairs->multi_count] = t;
                pairs->multi_query[pairs->multi_count++] = q;
            } else {
                pairs->target[pairs->count] = t;
                pairs->query[pairs->count++] = q;
            }
        }
    }
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

static void contexts(const uint8_t *packed, const uint32_t *positions, uint32_t offset, uint32_t count,
                     uint8_t (*out)[HSPZ__CONTEXT])
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t base = (uint64_t)positions[i] + offset;
        const uint8_t *from = packed + base / 4;
        const uint32_t shift = 2 * (base % 4);
        for (uint32_t k = 0; k < HSPZ__CONTEXT; k++)
            out[i][k] = (uint8_t)((from[k] | (uint32_t)from[k + 1] << 8) >> shift);
        out[i][HSPZ__CONTEXT - 1] &= 0x0fu;
    }
}

static uint32_t at_most(uint32_t value, uint32_t most)
{
    return value < most ? value : most;
}

static void step(const hspz__filter *f, uint32_t which, uint32_t code, side *s)
{
    const uint32_t rise = f->rise[which][code], fall = f->fall[which][code];
    if (rise > s->fall)
        s->rise = at_most(s->rise + (rise - s->fall), 255);
    s->fall = at_most((s->fall > rise ? s->fall - rise : 0) + fall, 255);
    if (s->fall > f->drop)
        s->ended = true;
}

/* Three bases that start at base `at` of the row. */
static uint32_t three_at(const uint8_t *row, uint32_t at)
{
    uint32_t bits = row[at / 4];
    if (at % 4 > 1)
        bits |= (uint32_t)row[at / 4 + 1] << 8;
    return bits >> 2 * (at % 4) & 63u;
}

static void scan(const hspz__filter *f, const uint8_t *row, side *right, side *left)
{
    const uint32_t anchor = 4 * HSPZ__CONTEXT_LEFT;
    for (uint32_t at = anchor; at + 3 <= 4 * HSPZ__CONTEXT - 2 && !right->ended; at += 3)
        step(f, 0, three_at(row, at), right);
    for (uint32_t at = anchor; at >= 3 && !left->ended; at -= 3)
        step(f, 1, three_at(row, at - 3), left);
}

static bool reaches(const hspz__filter *f, const side *right, const side *left)
{
    return at_most(right->rise + left->rise, 255) >= f->keep;
}

static bool passes(const hspz__filter *f, const side *right, const side *left)
{
    return !right->ended || !left->ended || reaches(f, right, left);
}

static bool flagged(const uint8_t *row)
{
    return (row[HSPZ__CONTEXT - 1] & (HSPZ__FLAG_TARGET | HSPZ__FLAG_QUERY)) != 0;
}

static uint64_t judge(const hspz__filter *f, const hspz__rows *rows, uint32_t count, uint64_t *likely)
{
    uint64_t answer = 0;
    *likely = 0;
    for (uint32_t i = 0; i < count; i++) {
        side right = {0}, left = {0};
        scan(f, rows->row[i], &right, &left);
        *likely |= (uint64_t)reaches(f, &right, &left) << i;
        answer |= (uint64_t)(flagged(rows->row[i]) || passes(f, &right, &left)) << i;
    }
    return answer;
}

static uint64_t filter(const hspz__filter *f, const uint8_t (*target)[HSPZ__CONTEXT],
                       const uint8_t (*query)[HSPZ__CONTEXT], const uint32_t *target_at,
                       const uint32_t *query_at, uint32_t count, hspz__rows *rows, uint64_t *likely)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < HSPZ__CONTEXT; k++)
            rows->row[i][k] = target[target_at[i]][k] ^ query[query_at[i]][k];
    return judge(f, rows, count, likely);
}

static uint64_t filter_packed(const hspz__filter *f, const uint8_t (*target)[HSPZ__CONTEXT],
                              const uint8_t *query, uint32_t offset, const uint32_t *target_at,
                              const uint32_t *query_at, uint32_t count, hspz__rows *rows, uint64_t *likely)
{
    for (uint32_t i = 0; i < count; i++) {
        contexts(query, &query_at[i], offset, 1, &rows->row[i]);
        for (uint32_t k = 0; k < HSPZ__CONTEXT; k++)
            rows->row[i][k] ^= target[target_at[i]][k];
    }
    return judge(f, rows, count, likely);
}

static uint64_t filter_wide(const hspz__filter *f, const hspz__rows *inner, const hspz__rows *outer,
                            uint32_t count)
{
    uint64_t answer = 0;
    for (uint32_t i = 0; i < count; i++) {
        side right = {0}, left = {0};
        scan(f, inner->row[i], &right, &left);
        scan(f, outer->row[i], &right, &left);
        answer |= (uint64_t)(flagged(inner->row[i]) || passes(f, &right, &left)) << i;
    }
    return answer;
}

const hspz__cpu_kernels hspz__cpu_scalar = {
    .name = "scalar",
    .translate = hspz__translate_scalar,
    .pack = hspz__pack_scalar,
    .keys = keys,
    .ranks = ranks,
    .probe = probe,
    .pair = pair,
    .products = products,
    .contexts = contexts,
    .filter = filter,
    .filter_packed = filter_packed,
    .filter_wide = filter_wide,
    .scores = hspz__scores_scalar,
};
