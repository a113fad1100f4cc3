/* oracle_entropy.c -- SPEC section 6: entropy inside [K, 3K], and LASTZ's formula of section 7.
 *
 * Segments are given by how many matching columns of each base they have: bases(b, 5, 5, 5, 5) is five As, Cs, Gs and Ts, a total of 200.
 */
#include "oracle_bench.h"

#include <criterion/criterion.h>

#include <math.h>

/* Matching columns, and `others` N over N columns in the middle, which score 0. */
static const char *bases(bench *b, unsigned a, unsigned c, unsigned g, unsigned t, unsigned others)
{
    char text[512] = "";
    append_run(text, sizeof text, 'A', a);
    append_run(text, sizeof text, 'C', c);
    append_run(text, sizeof text, 'N', others);
    append_run(text, sizeof text, 'G', g);
    append_run(text, sizeof text, 'T', t);
    b->params.entropy = 1;
    b->params.ambiguous = HSPZ_AMBIGUOUS_N;
    given(b, text, text);
    return extend_one(b, 4, 4);
}

Test(oracle_entropy, equal_shares_lose_one_point_to_rounding)
{
    bench b = new_bench();
    b.params.hspthresh = 100;
    /* p = 1/4: -sum p ln p = 1.3862943611198906, below (double)logf(4) = 1.3862943649291992: e = 0.99999999725 */
    cr_expect_str_eq(bases(&b, 5, 5, 5, 5, 0), "0,0,19,199");
    end_bench(&b);
}

Test(oracle_entropy, lastz_divides_by_log_four_in_double)
{
    bench b = new_bench();
    b.params.hspthresh = 100;
    b.params.dedup = HSPZ_DEDUP_LASTZ;
    cr_expect_str_eq(bases(&b, 5, 5, 5, 5, 0), "0,0,19,200");
    end_bench(&b);
}

Test(oracle_entropy, one_kind_of_base_is_worth_nothing)
{
    bench b = new_bench();
    b.params.hspthresh = 100;
    cr_expect_str_eq(bases(&b, 25, 0, 0, 0, 0), "");
    cr_expect_eq(statistics(&b).gate_survivors, 1);
    cr_expect_eq(statistics(&b).accepted, 0);
    end_bench(&b);
}

Test(oracle_entropy, two_kinds_are_worth_half)
{
    bench b = new_bench();
    b.params.hspthresh = 100;
    /* 12 + 12: e = 0.499999998626, 240 e = 119.9999997 */
    cr_expect_str_eq(bases(&b, 12, 0, 0, 12, 0), "0,0,23,119");
    /* 10 + 10: 200 e = 99.9999997, which is 99 < 100 */
    cr_expect_str_eq(bases(&b, 10, 0, 0, 10, 0), "");
    b.params.hspthresh = 99;
    cr_expect_str_eq(bases(&b, 10, 0, 0, 10, 0), "0,0,19,99");
    end_bench(&b);
}

Test(oracle_entropy, needs_twenty_matches)
{
    bench b = new_bench();
    b.params.hspthresh = 100;
    cr_expect_str_eq(bases(&b, 19, 0, 0, 0, 0), "0,0,18,190");
    cr_expect_str_eq(bases(&b, 20, 0, 0, 0, 0), "");
    cr_expect_str_eq(bases(&b, 19, 0, 0, 0, 5), "0,0,18,190",
                     "N over N is no match; the trailing Ns score 0");
    end_bench(&b);
}

Test(oracle_entropy, band_is_threshold_to_three_times_threshold_inclusive)
{
    bench b = new_bench();
    b.params.hspthresh = 100;
    cr_expect_str_eq(bases(&b, 30, 0, 0, 0, 0), "", "300 = 3K is inside");
    cr_expect_str_eq(bases(&b, 31, 0, 0, 0, 0), "0,0,30,310", "310 is outside: e = 1");
    b.params.hspthresh = 99; /* 3K = 297 */
    cr_expect_str_eq(bases(&b, 30, 0, 0, 0, 0), "0,0,29,300");
    b.params.hspthresh = 1 << 30; /* 3K is no int32 */
    b.params.scores[0] = 1 << 26;
    cr_expect_str_eq(bases(&b, 31, 0, 0, 0, 0), "");
    cr_expect_eq(statistics(&b).gate_survivors, 1);
    end_bench(&b);
}

Test(oracle_entropy, shares_are_of_all_columns_of_the_segment)
{
    bench b = new_bench();
    /* 10 A, 10 C, 4 N, 10 G, 10 T: p = 10/44 each, e = -4 p ln p / ln 4 */
    const double p = 10.0 / 44.0;
    double sum = 0.0;
    for (int i = 0; i < 4; i++)
        sum = fma(p, log(p), sum);
    const double e = -sum / (double)logf(4.0f);
    b.params.hspthresh = 200;
    bases(&b, 10, 10, 10, 10, 4);
    cr_assert_eq(b.count, 1);
    cr_expect_eq(b.hsps[0].extent, 43);
    cr_expect_eq(b.hsps[0].score, (int)(400.0 * e));
    cr_expect_eq(b.hsps[0].score, 388, "0.97155 of 400");
    end_bench(&b);
}

Test(oracle_entropy, off)
{
    bench b = new_bench();
    b.params.hspthresh = 100;
    given(&b, "AAAAAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAAAAA");
    cr_expect_str_eq(extend_one(&b, 1, 1), "0,0,24,250");
    end_bench(&b);
}
