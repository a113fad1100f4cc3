/* genome.c -- a random pair of blocks that share what real genomes share.
 *
 * Idea: the target is records of random bases strewn with repeats and odd symbols; the query is made of pieces of the target, copied with few or many
 * substitutions, forward or reverse complemented, between random pieces, cut into records anywhere, so that HSPs end at every kind
 * of edge.
 */
#include "generate.h"

#include <stdlib.h>
#include <string.h>

typedef struct text {
    uint8_t *bases;
    uint64_t length, room;
} text;

static void put(text *t, uint8_t base)
{
    if (t->length < t->room)
        t->bases[t->length++] = base;
}

static uint8_t random_base(ab_random *r, uint32_t gc)
{
    static const uint8_t at[2] = {'A', 'T'}, cg[2] = {'C', 'G'};
    return ab_chance(r, gc) ? cg[ab_below(r, 2)] : at[ab_below(r, 2)];
}

static void put_random(text *t, ab_random *r, uint64_t n, uint32_t gc)
{
    while (n-- > 0)
        put(t, random_base(r, gc));
}

/* A unit of 1..6 bases, or of a few dozen, over and over. */
static void put_tandem(text *t, ab_random *r, uint64_t n)
{
    uint8_t unit[40];
    const uint64_t period = ab_chance(r, 70) ? ab_between(r, 1, 6) : ab_between(r, 7, 40);
    for (uint64_t i = 0; i < period; i++)
        unit[i] = random_base(r, 50);
    for (uint64_t i = 0; i < n; i++)
        put(t, ab_chance(r, 3) ? random_base(r, 50) : unit[i % period]);
}

static void put_symbols(text *t, ab_random *r, uint64_t n)
{
    static const char codes[] = "RYSWKMBDHVryswkmbdhv";
    const uint64_t kind = ab_below(r, 4);
    while (n-- > 0)
        put(t, kind == 0   ? 'N'
               : kind == 1 ? (uint8_t)codes[ab_below(r, sizeof codes - 1)]
               : kind == 2 ? (ab_chance(r, 50) ? 'X' : 'x')
                           : 'n');
}

static uint8_t complement(uint8_t base)
{
    switch (base) {
    case 'A':
        return 'T';
    case 'C':
        return 'G';
    case 'G':
        return 'C';
    case 'T':
    case 'U':
        return 'A';
    case 'a':
        return 't';
    case 'c':
        return 'g';
    case 'g':
        return 'c';
    case 't':
        return 'a';
    default:
        return base;
    }
}

/* [from, from + n) of `source` with substitutions, transitions preferred, and a few insertions and deletions. */
static void put_copy(text *t, ab_random *r, const text *source, uint64_t from, uint64_t n, int reversed,
                     uint32_t permille, uint32_t indels)
{
    static const char *const others[4] = {"GGCT", "TTAG", "AACT", "CCAG"};
    for (uint64_t i = 0; i < n; i++) {
        uint8_t base = source->bases[reversed ? from + n - 1 - i : from + i];
        if (base == '&' && ab_chance(r, 90))
            continue;
        if (base == '&') {
            if (t->length > 0 && t->bases[t->length - 1] != '&')
                put(t, base);
            continue;
        }
        if (reversed)
            base = complement(base);
        const char *at = strchr("ACGT", base);
        if (ab_below(r, 1000) < permille && at != NULL)
            base = (uint8_t)others[at - "ACGT"][ab_below(r, 4)];
        if (ab_below(r, 1000) < indels) {
            if (ab_chance(r, 50))
                continue;
            put(t, random_base(r, 50));
        }
        put(t, base);
    }
}

static void put_separator(text *t)
{
    if (t->length > 0 && t->bases[t->length - 1] != '&' && t->length + 1 < t->room)
        put(t, '&');
}

static void mask_runs(text *t, ab_random *r, uint64_t runs)
{
    while (runs-- > 0 && t->length > 0) {
        uint64_t at = ab_below(r, t->length), n = ab_between(r, 1, 60);
        for (; n > 0 && at < t->length; n--, at++)
            if (t->bases[at] != '&')
                t->bases[at] |= 0x20;
    }
}

static uint64_t part_length(ab_random *r)
{
    switch (ab_below(r, 5)) {
    case 0:
        return ab_between(r, 1, 30);
    case 1:
        return ab_between(r, 15, 60);
    case 2:
        return ab_between(r, 300, 1500);
    default:
        return ab_between(r, 40, 300);
    }
}

static void make_target(text *t, ab_random *r)
{
    const uint32_t gc = (uint32_t)ab_between(r, 20, 80);
    const uint32_t odd = ab_chance(r, 50) ? 0 : 12, split = (uint32_t)ab_below(r, 30);
    while (t->length < t->room) {
        const uint64_t n = part_length(r);
        if (ab_chance(r, split))
            put_separator(t);
        const uint64_t draw = ab_below(r, 100);
        if (draw < odd)
            put_symbols(t, r, ab_chance(r, 60) ? ab_between(r, 1, 3) : ab_between(r, 4, 80));
        else if (draw < 22)
            put_tandem(t, r, n / 2 + 2);
        else if (draw < 55 && t->length > 50) {
            const uint64_t from = ab_below(r, t->length);
            const uint64_t most = t->length - from;
            put_copy(t, r, t, from, n < most ? n : most, ab_chance(r, 30), (uint32_t)ab_below(r, 150), 0);
        } else
            put_random(t, r, n, gc);
        if (ab_chance(r, 8))
            break;
    }
}

static uint32_t divergence(ab_random *r)
{
    switch (ab_below(r, 6)) {
    case 0:
        return 0;
    case 1:
        return (uint32_t)ab_between(r, 1, 10);
    case 2:
        return (uint32_t)ab_between(r, 380, 560); /* drift near nought */
    default:
        return (uint32_t)ab_between(r, 10, 350);
    }
}

static void make_query(text *t, ab_random *r, const text *target)
{
    const uint32_t split = (uint32_t)ab_below(r, 40);
    if (ab_chance(r, 12)) { /* nearly identical */
        put_copy(t, r, target, 0, target->length, ab_chance(r, 20), (uint32_t)ab_below(r, 15),
                 (uint32_t)ab_below(r, 3));
        return;
    }
    while (t->length < t->room) {
        const uint64_t n = part_length(r);
        if (ab_chance(r, split))
            put_separator(t);
        const uint64_t draw = ab_below(r, 100);
        if (draw < 65 && target->length > 0) {
            /* from the very start, up to the very end, or anywhere */
            uint64_t length = n < target->length ? n : target->length;
            uint64_t from = ab_below(r, target->length - length + 1);
            if (ab_chance(r, 15))
                from = 0;
            else if (ab_chance(r, 15))
                from = target->length - length;
            put_copy(t, r, target, from, length, ab_chance(r, 35), divergence(r), ab_chance(r, 30) ? 20 : 0);
        } else if (draw < 72)
            put_tandem(t, r, n / 2 + 2);
        else if (draw < 76)
            put_symbols(t, r, ab_between(r, 1, 20));
        else
            put_random(t, r, n, 50);
        if (ab_chance(r, 8))
            break;
    }
}

/* A block ends without a separator. */
static void trim(text *t)
{
    while (t->length > 0 && t->bases[t->length - 1] == '&')
        t->length--;
}

int ab_genome_make(ab_case *c, ab_random *r, uint64_t most)
{
    text target = {.room = ab_chance(r, 4) ? ab_below(r, 40) : ab_between(r, 30, most)};
    text query = {.room = ab_chance(r, 4) ? ab_below(r, 40) : ab_between(r, 30, most)};
    target.bases = malloc(target.room + 1);
    query.bases = malloc(query.room + 1);
    if (target.bases == NULL || query.bases == NULL) {
        free(target.bases);
        free(query.bases);
        return 0;
    }
    make_target(&target, r);
    make_query(&query, r, &target);
    if (ab_chance(r, 35))
        mask_runs(&target, r, target.length / 100 + 1);
    if (ab_chance(r, 35))
        mask_runs(&query, r, query.length / 100 + 1);
    trim(&target);
    trim(&query);
    c->target = target.bases;
    c->target_length = target.length;
    c->query = query.bases;
    c->query_length = query.length;
    return 1;
}
