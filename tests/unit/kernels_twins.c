/* kernels_twins.c -- every kernel of every instruction set against its scalar twin on random input, bit for bit. */
#include "kernels_random.h"

#include <criterion/criterion.h>
#include <string.h>

#define ROUNDS 400
#define CONTEXTS 300
#define PACKED 4096

typedef uint8_t context[HSPZ__CONTEXT];

/* Runs the body once for each instruction set there is; the scalar kernels are `twin`. */
#define EACH_KERNEL(k)                                                                                       \
    const hspz__cpu_kernels *list[2], *twin = hspz__cpu_choose(1);                                           \
    const uint32_t listed = kernels_to_test(list);                                                           \
    if (listed == 0)                                                                                         \
        cr_skip_test("this processor runs the scalar kernels only");                                         \
    for (const hspz__cpu_kernels *const *at = list, *k = *at; at < list + listed;                            \
         at++, k = at < list + listed ? *at : k)

static void random_block(random_source *r, hspz__block *b)
{
    b->bits = random_next(r);
    for (int i = 0; i < 2 && random_below(r, 3) != 0; i++) /* few keys in most of them */
        b->bits &= random_next(r);
    b->multi = b->bits & random_next(r);
    b->rank = (uint32_t)random_below(r, 1u << 30);
    b->id = 0;
}

Test(kernels, keys)
{
    EACH_KERNEL(k)
    {
        random_source r = {.state = 1};
        uint8_t packed[32];
        uint64_t a[64], b[64];
        for (int round = 0; round < ROUNDS; round++) {
            random_fill(&r, packed, sizeof packed);
            hspz__key_rule rule = {0};
            const uint32_t length = 4 + (uint32_t)random_below(&r, 29);
            uint32_t to = 0;
            for (uint32_t from = 0; from < 2 * length && to < 30; from++) {
                if (random_below(&r, 2) == 0)
                    continue;
                rule.care_mask |= UINT64_C(1) << from;
                if (rule.runs == 0 || rule.shift[rule.runs - 1] != from - to)
                    rule.shift[rule.runs++] = (uint8_t)(from - to);
                rule.mask[rule.runs - 1] |= UINT64_C(1) << to++;
            }
            rule.narrow = length <= 29;
            const uint64_t valid = random_below(&r, 4) == 0 ? ~UINT64_C(0) : random_next(&r);
            const uint32_t n = twin->keys(&rule, packed, 640, valid, a);
            cr_assert_eq(k->keys(&rule, packed, 640, valid, b), n, "%s", k->name);
            cr_assert_arr_eq(a, b, n * sizeof *a, "%s", k->name);
        }
    }
}

Test(kernels, ranks_and_probe)
{
    EACH_KERNEL(k)
    {
        random_source r = {.state = 2};
        uint64_t bits[64], pairs[200];
        uint32_t before[64], a[200], b[200], masks[16] = {0};
        uint16_t found[200], also[200];
        for (int round = 0; round < ROUNDS; round++) {
            random_fill(&r, bits, sizeof bits);
            random_fill(&r, before, sizeof before);
            for (int i = 0; i < 200; i++)
                pairs[i] = random_below(&r, 4096) << 32 | random_below(&r, 1u << 31);
            for (int v = 1; v < 16; v++)
                masks[v] = 2u << 2 * random_below(&r, 6) >> random_below(&r, 2);
            const uint32_t n = (uint32_t)random_below(&r, 201), variants = 1 + (uint32_t)random_below(&r, 16);
            twin->ranks(pairs, n, 4095, bits, before, a);
            k->ranks(pairs, n, 4095, bits, before, b);
            cr_assert_arr_eq(a, b, n * sizeof *a, "%s", k->name);
            twin->probe(bits, pairs, n, masks, variants, found);
            k->probe(bits, pairs, n, masks, variants, also);
            cr_assert_arr_eq(found, also, n * sizeof *found, "%s", k->name);
        }
    }
}

Test(kernels, pair)
{
    static hspz__rank_pairs a, b;
    EACH_KERNEL(k)
    {
        random_source r = {.state = 3};
        for (int round = 0; round < ROUNDS; round++) {
            hspz__block block, others[16];
            const hspz__block *pointers[16];
            uint8_t low[16];
            random_block(&r, &block);
            for (int v = 0; v < 16; v++) {
                random_block(&r, &others[v]);
                pointers[v] = &others[v];
                low[v] = (uint8_t)random_below(&r, 64);
            }
            const uint32_t variants = 1 + (uint32_t)random_below(&r, 16);
            a.count = b.count = (uint32_t)random_below(&r, HSPZ__PAIRS_FULL);
            a.multi_count = b.multi_count = (uint32_t)random_below(&r, HSPZ__PAIRS_FULL);
            const uint32_t from = a.count, multi_from = a.multi_count;
            twin->pair(&block, pointers, low, variants, &a);
            k->pair(&block, pointers, low, variants, &b);
            cr_assert_eq(a.count, b.count, "%s", k->name);
            cr_assert_eq(a.multi_count, b.multi_count, "%s", k->name);
            cr_assert_arr_eq(a.target + from, b.target + from, (a.count - from) * 4, "%s", k->name);
            cr_assert_arr_eq(a.query + from, b.query + from, (a.count - from) * 4, "%s", k->name);
            cr_assert_arr_eq(a.multi_target + multi_from, b.multi_target + multi_from,
                             (a.multi_count - multi_from) * 4, "%s", k->name);
            cr_assert_arr_eq(a.multi_query + multi_from, b.multi_query + multi_from,
                             (a.multi_count - multi_from) * 4, "%s", k->name);
        }
    }
}

/* Whether `hits` holds the product of the pairs [from, to) after its first `before` hits, each hit once, in any order. */
static void check_products(const hspz__rank_pairs *pairs, uint32_t from, uint32_t to, const hspz__hits *h,
                           uint32_t before)
{
    uint64_t expected = 0, sum = 0, sum_found = 0;
    for (uint32_t i = from; i < to; i++) {
        const uint32_t *ts = h->target_starts + pairs->multi_target[i],
                       *qs = h->query_starts + pairs->multi_query[i];
        for (uint32_t t = ts[0]; t < ts[1]; t++)
            for (uint32_t q = qs[0]; q < qs[1]; q++) {
                const uint64_t value = h->query_positions != NULL ? h->query_positions[q] : q;
                sum += (value * 1000003 + (t - h->target_base)) * UINT64_C(0x9e3779b97f4a7c15) >> 20;
                expected++;
            }
    }
    for (uint32_t i = before; i < h->count; i++)
        sum_found += ((uint64_t)h->query[i] * 1000003 + h->target[i]) * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    cr_assert_eq(h->count - before, expected);
    cr_assert_eq(sum_found, sum);
}

Test(kernels, products)
{
    static hspz__rank_pairs pairs;
    static uint32_t target_starts[65], query_starts[65], positions[64 * 20 + 16], target[1000 + 16],
        query[1000 + 16];
    const hspz__cpu_kernels *all[3] = {hspz__cpu_choose(1)};
    const uint32_t n = 1 + kernels_to_test(all + 1);
    for (uint32_t a = 0; a < n; a++) {
        random_source r = {.state = 4};
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < 64; i++) {
                target_starts[i + 1] = target_starts[i] + 1 + (uint32_t)random_below(&r, i % 8 == 0 ? 15 : 3);
                query_starts[i + 1] = query_starts[i] + 1 + (uint32_t)random_below(&r, i % 8 == 0 ? 20 : 3);
            }
            random_fill(&r, positions, sizeof positions);
            pairs.multi_count = (uint32_t)random_below(&r, HSPZ__PAIRS_FULL);
            for (uint32_t i = 0; i < pairs.multi_count; i++) {
                pairs.multi_target[i] = (uint32_t)random_below(&r, 64);
                pairs.multi_query[i] = (uint32_t)random_below(&r, 64);
            }
            hspz__hits hits = {.target_starts = target_starts,
                               .query_starts = query_starts,
                               .query_positions = round % 2 == 0 ? positions : NULL,
                               .room = 1000,
                               .target = target,
                               .query = query};
            for (uint32_t i = 0; i < pairs.multi_count;) {
                hits.count = (uint32_t)random_below(&r, 3);
                const uint32_t before = hits.count, next = all[a]->products(&pairs, i, &hits);
                cr_assert_gt(next, i, "%s", all[a]->name);
                check_products(&pairs, i, next, &hits, before);
                i = next;
            }
        }
    }
}

Test(kernels, contexts)
{
    EACH_KERNEL(k)
    {
        random_source r = {.state = 5};
        static uint8_t packed[PACKED + 64];
        static context a[CONTEXTS], b[CONTEXTS];
        uint32_t positions[CONTEXTS];
        random_fill(&r, packed, sizeof packed);
        for (int round = 0; round < ROUNDS; round++) {
            const uint32_t offset = (uint32_t)random_below(&r, 300),
                           n = 1 + (uint32_t)random_below(&r, CONTEXTS);
            for (uint32_t i = 0; i < n; i++)
                positions[i] = (uint32_t)random_below(&r, 4 * PACKED - 128 - offset);
            twin->contexts(packed, positions, offset, n, a);
            k->contexts(packed, positions, offset, n, b);
            cr_assert_arr_eq(a, b, n * sizeof(context), "%s", k->name);
        }
    }
}

/* Contexts of which many pairs are alike: a few random ones with few changes. */
static void related_contexts(random_source *r, context *contexts, uint32_t n)
{
    random_fill(r, contexts, 4 * sizeof(context));
    for (uint32_t i = 4; i < n; i++) {
        memcpy(contexts[i], contexts[i % 4], sizeof(context));
        for (uint64_t changes = random_below(r, 70); changes > 0; changes--)
            contexts[i][random_below(r, HSPZ__CONTEXT)] ^= (uint8_t)(1u << random_below(r, 8));
    }
    for (uint32_t i = 0; i < n; i++)
        contexts[i][HSPZ__CONTEXT - 1] &= random_below(r, 30) == 0 ? 0xffu : 0x0fu;
}

Test(kernels, filters)
{
    EACH_KERNEL(k)
    {
        random_source r = {.state = 6};
        static context target[CONTEXTS], query[CONTEXTS];
        static uint8_t packed[PACKED + 64];
        static hspz__rows rows_a, rows_b;
        uint32_t target_at[2 * HSPZ__LANES] = {0}, query_at[2 * HSPZ__LANES] = {0};
        random_fill(&r, packed, sizeof packed);
        uint64_t passed = 0, rejected = 0;
        for (int round = 0; round < ROUNDS; round++) {
            const scoring s = scoring_make(round % 3 == 0 ? NULL : &r);
            hspz__filter f;
            hspz__filter_init(&f, s.score, s.xdrop, s.keep);
            related_contexts(&r, target, CONTEXTS);
            memcpy(query, target, sizeof query);
            const uint32_t n = 1 + (uint32_t)random_below(&r, HSPZ__LANES);
            for (uint32_t i = 0; i < n; i++) {
                target_at[i] = (uint32_t)random_below(&r, CONTEXTS);
                query_at[i] = (uint32_t)random_below(&r, CONTEXTS);
            }
            uint64_t likely_a, likely_b;
            uint64_t a = twin->filter(&f, (const context *)target, (const context *)query, target_at,
                                      query_at, n, &rows_a, &likely_a);
            uint64_t b = k->filter(&f, (const context *)target, (const context *)query, target_at, query_at,
                                   n, &rows_b, &likely_b);
            cr_assert_eq(a, b, "%s filter, round %d", k->name, round);
            cr_assert_eq(likely_a, likely_b, "%s filter, round %d", k->name, round);
            cr_assert_arr_eq(rows_a.row, rows_b.row, n * sizeof(context), "%s filter, round %d", k->name,
                             round);
            passed += (uint64_t)__builtin_popcountll(a);
            rejected += n - (uint64_t)__builtin_popcountll(a);
            const hspz__rows inner = rows_a;
            random_fill(&r, &rows_b, sizeof rows_b);
            a = twin->filter_wide(&f, &inner, &rows_b, n);
            b = k->filter_wide(&f, &inner, &rows_b, n);
            cr_assert_eq(a, b, "%s filter_wide, round %d", k->name, round);
            a = twin->filter_packed(&f, (const context *)target, packed, 100, target_at, query_at, n, &rows_a,
                                    &likely_a);
            b = k->filter_packed(&f, (const context *)target, packed, 100, target_at, query_at, n, &rows_b,
                                 &likely_b);
            cr_assert_eq(a, b, "%s filter_packed, round %d", k->name, round);
            cr_assert_eq(likely_a, likely_b, "%s filter_packed, round %d", k->name, round);
            cr_assert_arr_eq(rows_a.row, rows_b.row, n * sizeof(context), "%s packed, round %d", k->name,
                             round);
        }
        cr_assert_gt(passed, 1000); /* the input tries both answers */
        cr_assert_gt(rejected, 1000);
    }
}

Test(kernels, scores)
{
    EACH_KERNEL(k)
    {
        random_source r = {.state = 7};
        uint8_t target[64], query[64];
        int32_t table[16], a[64], b[64];
        for (int round = 0; round < ROUNDS; round++) {
            random_fill(&r, target, sizeof target);
            random_fill(&r, query, sizeof query);
            random_fill(&r, table, sizeof table);
            const uint64_t target_at = random_below(&r, 156), query_at = random_below(&r, 156);
            twin->scores(table, target, target_at, query, query_at, a);
            k->scores(table, target, target_at, query, query_at, b);
            cr_assert_arr_eq(a, b, sizeof a, "%s, round %d", k->name, round);
            const uint64_t i = random_below(&r, 64), t = target_at + i, q = query_at + i;
            cr_assert_eq(
                a[i], table[4 * (target[t / 4] >> (2 * (t % 4)) & 3) + (query[q / 4] >> (2 * (q % 4)) & 3)]);
        }
    }
}

Test(kernels, encoding)
{
    EACH_KERNEL(k)
    {
        random_source r = {.state = 8};
        uint8_t table[256], bytes[300], a[300], b[300];
        for (int round = 0; round < ROUNDS; round++) {
            random_fill(&r, table, sizeof table);
            memset(table + 128, table[128], 128);
            const uint64_t length = random_below(&r, 301), from = random_below(&r, 301 - length);
            random_fill(&r, bytes, sizeof bytes);
            memset(a, 0, sizeof a);
            memset(b, 0, sizeof b);
            cr_assert_eq(twin->translate(table, bytes + from, length, a),
                         k->translate(table, bytes + from, length, b), "%s", k->name);
            cr_assert_arr_eq(a, b, sizeof a, "%s, round %d", k->name, round);
            for (int i = 0; i < 300; i++)
                bytes[i] = (uint8_t)random_below(&r, random_below(&r, 2) == 0 ? 4 : 128);
            cr_assert_eq(twin->pack(bytes + from % 200, a), k->pack(bytes + from % 200, b), "%s", k->name);
            cr_assert_arr_eq(a, b, 16, "%s packed, round %d", k->name, round);
        }
    }
}
