/* sequence_strands.c -- a block as the CPU backend keeps it: every symbol of both strands, and the scores of pairs, against the bytes
 * they were made of.
 */
#include "cpu.h"
#include "kernels_random.h"

#include <criterion/criterion.h>
#include <string.h>

static const char letters[] = "ACGTacgtNnRYKMBVDHSWrykmbvdhswXxUu&";

typedef struct strands {
    hspz__cpu cpu;
    hspz__pool *pool;
    hspz__sequence forward, reverse;
    hspz__host host;
    hspz__plan plan;
    hspz_error error;
} strands;

/* LASTZ's rule tells all letters apart; otherwise IUPAC codes are one symbol. */
static void start(strands *s, uint32_t dedup, const hspz__cpu_kernels *kernels)
{
    memset(s, 0, sizeof *s);
    s->error.struct_size = sizeof s->error;
    hspz_engine_params params = {.struct_size = sizeof params,
                                 .seed_pattern = "1110100110010101111",
                                 .ambiguous = HSPZ_AMBIGUOUS_IUPAC,
                                 .ambiguous_reward = 7,
                                 .ambiguous_penalty = 5,
                                 .fill_score = -100,
                                 .bad_score = -1000,
                                 .xdrop = 910,
                                 .hspthresh = 3000,
                                 .entropy = 1,
                                 .step = 1,
                                 .query_slots = 1,
                                 .max_hits = 1 << 20,
                                 .dedup = dedup};
    for (int i = 0; i < 16; i++)
        params.scores[i] = i % 5 == 0 ? 90 + i : -100 - i;
    hspz__host_init(&s->host, NULL);
    cr_assert_eq(hspz__plan_init(&s->plan, &params, &s->error), HSPZ_OK, "%s", s->error.text);
    s->pool = hspz__pool_create(&s->host, 2);
    cr_assert_not_null(s->pool);
    s->cpu.plan = &s->plan;
    s->cpu.host = &s->host;
    s->cpu.kernels = kernels;
    hspz__symbols_init(&s->cpu.symbols, &s->plan);
}

static void encode(strands *s, const uint8_t *bases, uint64_t length)
{
    const hspz__symbols *symbols = &s->cpu.symbols;
    cr_assert_eq(hspz__sequence_encode(&s->forward, &s->host, s->pool, bases, length, symbols, s->cpu.kernels,
                                       0, "target", &s->error),
                 HSPZ_OK, "%s", s->error.text);
    cr_assert_eq(hspz__sequence_reverse(&s->reverse, &s->host, s->pool, &s->forward, symbols, s->cpu.kernels,
                                        1, &s->error),
                 HSPZ_OK, "%s", s->error.text);
}

static void forget(strands *s)
{
    hspz__sequence_free(&s->forward, &s->host);
    hspz__sequence_free(&s->reverse, &s->host);
}

static void end(strands *s)
{
    hspz__pool_destroy(s->pool);
    cr_assert_eq(s->host.bytes_now, 0);
}

/* `plain` of 16 bases are upper case, in runs. */
static void random_bases(random_source *r, uint8_t *bases, uint64_t length, uint64_t plain)
{
    uint64_t special = 0;
    for (uint64_t i = 0; i < length; i++) {
        if (random_below(r, 8) == 0)
            special = random_below(r, 16) >= plain;
        bases[i] = (uint8_t)letters[special ? random_below(r, sizeof letters - 1) : random_below(r, 4)];
    }
}

static uint64_t random_length(random_source *r)
{
    static const uint64_t edges[] = {64, 128, 4096, 65536, 131072};
    const uint64_t edge = edges[random_below(r, 5)];
    return random_below(r, 4) == 0 ? edge - 2 + random_below(r, 5) : 1 + random_below(r, edge);
}

static void check_symbols(const strands *s, const uint8_t *bases)
{
    const hspz__symbols *symbols = &s->cpu.symbols;
    const uint64_t length = s->forward.length;
    for (uint64_t i = 0; i < length; i++) {
        const uint8_t symbol = symbols->of_byte[bases[i]];
        cr_assert_eq(hspz__symbol_at(&s->forward, i), symbol, "base %llu of %llu", (unsigned long long)i,
                     (unsigned long long)length);
        cr_assert_eq(hspz__symbol_at(&s->reverse, length - 1 - i), symbols->complement[symbol]);
        cr_assert_eq(hspz__special_bits(&s->forward, (int64_t)i) & 1, symbol > HSPZ__T);
    }
    cr_assert_eq(hspz__special_bits(&s->forward, (int64_t)length), ~UINT64_C(0));
    cr_assert_eq(hspz__special_bits(&s->reverse, (int64_t)length), ~UINT64_C(0));
}

static void check_pairs(strands *s, random_source *r, const uint8_t *bases)
{
    const hspz__symbols *symbols = &s->cpu.symbols;
    const int64_t length = (int64_t)s->forward.length;
    s->cpu.target = s->forward;
    const hspz__call call = {.cpu = &s->cpu, .query = &s->reverse};
    for (int round = 0; round < 20; round++) {
        int32_t score[64];
        const int64_t t = (int64_t)random_below(r, (uint64_t)length + 63) - 63;
        const int64_t q = t < 0 ? (int64_t)random_below(r, (uint64_t)length)
                                : (int64_t)random_below(r, (uint64_t)length + 63) - 63;
        hspz__pair_scores(&call, t, q, score);
        for (int64_t i = 0; i < 64; i++) {
            if (t + i < 0 || q + i < 0 || t + i >= length || q + i >= length)
                continue;
            const uint8_t a = symbols->of_byte[bases[t + i]];
            const uint8_t b = symbols->complement[symbols->of_byte[bases[length - 1 - q - i]]];
            cr_assert_eq(score[i], symbols->score[a][b]);
        }
    }
}

static void both_strands(uint32_t dedup)
{
    random_source r = {.state = 11 + dedup};
    uint8_t *bases = malloc(131080);
    cr_assert_not_null(bases);
    for (uint32_t isa = 1; isa <= 3; isa++) {
        strands s;
        if (hspz__cpu_choose(isa) == NULL)
            continue;
        start(&s, dedup, hspz__cpu_choose(isa));
        for (int round = 0; round < 60; round++) {
            const uint64_t length = random_length(&r);
            random_bases(&r, bases, length, random_below(&r, 17));
            encode(&s, bases, length);
            check_symbols(&s, bases);
            check_pairs(&s, &r, bases);
            forget(&s);
        }
        end(&s);
    }
    free(bases);
}

Test(sequence, both_strands)
{
    both_strands(HSPZ_DEDUP_CHUNK);
}

Test(sequence, both_strands_with_letters_apart)
{
    both_strands(HSPZ_DEDUP_LASTZ);
}

Test(sequence, the_first_bad_byte_is_named)
{
    strands s;
    start(&s, HSPZ_DEDUP_CHUNK, hspz__cpu_choose(0));
    uint8_t *bases = malloc(200000);
    cr_assert_not_null(bases);
    memset(bases, 'A', 200000);
    bases[150000] = '*';
    bases[70001] = '!';
    cr_assert_eq(hspz__sequence_encode(&s.forward, &s.host, s.pool, bases, 200000, &s.cpu.symbols,
                                       s.cpu.kernels, 0, "query", &s.error),
                 HSPZ_E_ARGUMENT);
    cr_assert_str_eq(s.error.text,
                     "byte 0x21 at offset 70001 of the query is no nucleotide code and not '&'");
    end(&s);
    free(bases);
}

/* The bound of the memory a strand takes: one byte a base and the margins. */
Test(sequence, a_strand_takes_less_than_a_byte_a_base)
{
    strands s;
    start(&s, HSPZ_DEDUP_CHUNK, hspz__cpu_choose(0));
    const uint64_t length = 4000000;
    uint8_t *bases = malloc(length);
    cr_assert_not_null(bases);
    random_source r = {.state = 5};
    random_bases(&r, bases, length, 8);
    encode(&s, bases, length);
    cr_assert_leq(s.host.bytes_now, 2 * length);
    forget(&s);
    end(&s);
    free(bases);
}
