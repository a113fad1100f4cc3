/* oracle_scores.c -- SPEC section 2: the score of every pair of symbols, read off an extension.
 *
 * A column x over y stands between 30 columns of A over A on either side, 91 each; with a large x-drop the segment spans all 61
 * columns, and its score less 60 * 91 is the score of x over y.
 */
#include "oracle_bench.h"

#include <criterion/criterion.h>

#include <string.h>

#define FLANK 30

static bench hoxd_bench(void)
{
    static const int32_t hoxd70[16] = {91,  -114, -31, -123, -114, 100, -125, -31,
                                       -31, -125, 100, -114, -123, -31, -114, 91};
    bench b = new_bench();
    memcpy(b.params.scores, hoxd70, sizeof hoxd70);
    b.params.xdrop = 2600;
    return b;
}

static int32_t score_of(bench *b, char x, char y)
{
    char target[2 * FLANK + 2];
    char query[2 * FLANK + 2];
    memset(target, 'A', sizeof target);
    memset(query, 'A', sizeof query);
    target[FLANK] = x;
    query[FLANK] = y;
    target[2 * FLANK + 1] = query[2 * FLANK + 1] = '\0';
    given(b, target, query);
    extend_one(b, FLANK, FLANK);
    cr_assert_eq(b->count, 1);
    cr_assert_eq(b->hsps[0].extent, 2 * FLANK, "%c over %c cut the segment: %s", x, y, b->text);
    return b->hsps[0].score - 2 * FLANK * 91;
}

/* Every letter of `xs` against every letter of `ys`, both ways. */
static void expect_scores(bench *b, const char *xs, const char *ys, int32_t score)
{
    for (const char *x = xs; *x != '\0'; x++)
        for (const char *y = ys; *y != '\0'; y++) {
            int32_t forth = score_of(b, *x, *y);
            int32_t back = score_of(b, *y, *x);
            cr_expect_eq(forth, score, "%c over %c is %d, not %d", *x, *y, forth, score);
            cr_expect_eq(back, score, "%c over %c is %d, not %d", *y, *x, back, score);
        }
}

Test(oracle_scores, bases_have_the_given_matrix)
{
    bench b = hoxd_bench();
    cr_expect_eq(score_of(&b, 'A', 'A'), 91);
    cr_expect_eq(score_of(&b, 'C', 'C'), 100);
    cr_expect_eq(score_of(&b, 'A', 'G'), -31);
    cr_expect_eq(score_of(&b, 'C', 'T'), -31);
    cr_expect_eq(score_of(&b, 'C', 'G'), -125);
    cr_expect_eq(score_of(&b, 'A', 'T'), -123);
    end_bench(&b);
}

Test(oracle_scores, rows_are_target_and_columns_are_query)
{
    bench b = hoxd_bench();
    b.params.scores[0 * 4 + 1] = -7; /* target A, query C */
    b.params.scores[1 * 4 + 0] = -9; /* target C, query A */
    cr_expect_eq(score_of(&b, 'A', 'C'), -7);
    cr_expect_eq(score_of(&b, 'C', 'A'), -9);
    end_bench(&b);
}

Test(oracle_scores, u_counts_as_t)
{
    bench b = hoxd_bench();
    expect_scores(&b, "U", "TU", 91);
    expect_scores(&b, "u", "ACGTUacgtu", -1000);
    end_bench(&b);
}

Test(oracle_scores, without_ambiguity)
{
    bench b = hoxd_bench();
    expect_scores(&b, "acgt", "ACGTacgt", -1000);
    expect_scores(&b, "Nn", "ACGTaNn", -1000);
    expect_scores(&b, "RyK", "ACGT", -100);
    expect_scores(&b, "RyK", "aNn", -1000);
    expect_scores(&b, "RYSWKMBDHV", "RyV", -100);
    end_bench(&b);
}

Test(oracle_scores, ambiguous_n)
{
    bench b = hoxd_bench();
    b.params.ambiguous = HSPZ_AMBIGUOUS_N;
    expect_scores(&b, "Nn", "ACGTaNn", 0);
    b.params.ambiguous_reward = 7;
    b.params.ambiguous_penalty = 9;
    expect_scores(&b, "Nn", "ACGTa", -9);
    expect_scores(&b, "Nn", "Nn", 7);
    expect_scores(&b, "R", "ACGT", -100);
    expect_scores(&b, "R", "aN", -1000);
    end_bench(&b);
}

Test(oracle_scores, ambiguous_iupac)
{
    bench b = hoxd_bench();
    b.params.ambiguous = HSPZ_AMBIGUOUS_IUPAC;
    b.params.ambiguous_reward = 7;
    b.params.ambiguous_penalty = 9;
    expect_scores(&b, "Nn", "ACGTa", -9);
    expect_scores(&b, "N", "n", 7);
    expect_scores(&b, "Rb", "ACGTaN", -9);
    expect_scores(&b, "Rb", "RrBY", 7);
    end_bench(&b);
}

/* LASTZ rewards a code against the same code only. */
Test(oracle_scores, ambiguous_iupac_under_lastz)
{
    bench b = hoxd_bench();
    b.params.dedup = HSPZ_DEDUP_LASTZ;
    b.params.ambiguous = HSPZ_AMBIGUOUS_IUPAC;
    b.params.ambiguous_reward = 7;
    b.params.ambiguous_penalty = 9;
    for (const char *x = "RYSWKMBDHV"; *x != '\0'; x++)
        for (const char *y = "RYSWKMBDHVryswkmbdhv"; *y != '\0'; y++)
            cr_expect_eq(score_of(&b, *x, *y), (*x & 31) == (*y & 31) ? 7 : -9, "%c over %c", *x, *y);
    expect_scores(&b, "Rb", "ACGTaN", -9);
    end_bench(&b);
}

Test(oracle_scores, letter_x_is_bad_whatever_ambiguous_says)
{
    bench b = hoxd_bench();
    for (b.params.ambiguous = 0; b.params.ambiguous <= HSPZ_AMBIGUOUS_IUPAC; b.params.ambiguous++)
        expect_scores(&b, "Xx", "AcNRXx", -1000);
    end_bench(&b);
}

Test(oracle_scores, bad_and_fill_score_are_parameters)
{
    bench b = hoxd_bench();
    b.params.bad_score = -555;
    b.params.fill_score = -44;
    expect_scores(&b, "aNX", "ACaNXR", -555);
    expect_scores(&b, "R", "AR", -44);
    end_bench(&b);
}

Test(oracle_scores, a_separator_ends_every_extension)
{
    bench b = hoxd_bench();
    const char *others = "ACaNRX&";
    for (const char *y = others; *y != '\0'; y++) {
        char target[] = "AAAA&AAAA";
        char query[] = "AAAA?AAAA";
        query[4] = *y;
        given(&b, target, query);
        cr_expect_str_eq(extend_one(&b, 4, 4), "0,0,3,364", "& over %c", *y);
        cr_expect_str_eq(extend_one(&b, 5, 5), "5,5,3,364", "& over %c", *y);
        given(&b, query, target);
        cr_expect_str_eq(extend_one(&b, 4, 4), "0,0,3,364", "%c over &", *y);
    }
    b.params.xdrop = INT32_MAX; /* -10 times that is no int32, and still ends the scan */
    given(&b, "AAAA&AAAA", "AAAA&AAAA");
    cr_expect_str_eq(extend_one(&b, 4, 4), "0,0,3,364");
    end_bench(&b);
}

Test(oracle_scores, minus_strand_complements_every_symbol)
{
    bench b = hoxd_bench();
    b.params.dedup = HSPZ_DEDUP_LASTZ;
    b.params.ambiguous = HSPZ_AMBIGUOUS_IUPAC;
    b.params.ambiguous_reward = 50;
    /* The reverse complement of the query, letter by letter, is the target. */
    given(&b, "ACGTRYKMBVDHSWNACGT", "ACGTNWSDHBVKMRYACGT");
    hspz_anchor anchor = {4, 4};
    cr_assert_eq(try_extend(&b, HSPZ_STRAND_MINUS, &anchor, 1), HSPZ_OK);
    cr_assert_eq(b.count, 1);
    cr_expect_eq(b.hsps[0].extent, 18);
    cr_expect_eq(b.hsps[0].score, 2 * (91 + 100 + 100 + 91) + 11 * 50);
    end_bench(&b);
}
