/* host_compare.c -- verdicts of hspz compare, class by class (compare.h). */
#include "compare.h"

#include <criterion/criterion.h>

typedef struct verdict {
    hspz_comparison comparison;
    hspz_difference first[8];
    bool same;
} verdict;

static verdict judge(hspz_hsp *a, uint64_t a_count, hspz_hsp *b, uint64_t b_count)
{
    verdict v = {.comparison = {.first_room = 8}};
    hspz_failure failure;
    v.comparison.first = v.first;
    hspz_hsps left = {.items = a, .count = a_count}, right = {.items = b, .count = b_count};
    cr_assert_eq(hspz_compare_call(&left, &right, &v.comparison, &v.same, &failure), 0);
    return v;
}

static void counts(const verdict *v, uint64_t missing, uint64_t extra, uint64_t duplicate, uint64_t contained,
                   uint64_t reordered)
{
    const uint64_t want[HSPZ_DIFFERENCE_COUNT] = {missing, extra, duplicate, contained, reordered};
    for (int i = 0; i < HSPZ_DIFFERENCE_COUNT; i++)
        cr_expect_eq(v->comparison.counts[i], want[i], "%s: %lu", hspz_difference_name(i),
                     (unsigned long)v->comparison.counts[i]);
}

static hspz_hsp list[] = {{100, 200, 50, 4000}, {300, 400, 60, 4100}, {1000, 300, 70, 4200}};

Test(host_compare, equal_and_empty)
{
    verdict v = judge(list, 3, list, 3);
    cr_expect(v.same);
    counts(&v, 0, 0, 0, 0, 0);
    v = judge(NULL, 0, NULL, 0);
    cr_expect(v.same);
}

Test(host_compare, missing_and_extra)
{
    hspz_hsp other[] = {{100, 200, 50, 4000}, {5000, 1, 60, 4100}, {1000, 300, 70, 4200}};
    verdict v = judge(list, 3, other, 3);
    cr_expect_not(v.same);
    counts(&v, 1, 1, 0, 0, 0);
    cr_expect_eq(v.comparison.first_count, 2);
    cr_expect_eq(v.first[0].hsp.query_start, 1, "by query position");
    cr_expect_eq(v.first[0].kind, HSPZ_DIFFERENCE_EXTRA);
    cr_expect_eq(v.first[1].kind, HSPZ_DIFFERENCE_MISSING);
    v = judge(list, 3, NULL, 0);
    counts(&v, 3, 0, 0, 0, 0);
}

Test(host_compare, another_score_is_another_hsp_inside_the_first)
{
    hspz_hsp other[] = {{100, 200, 50, 4001}, {300, 400, 60, 4100}, {1000, 300, 70, 4200}};
    verdict v = judge(list, 3, other, 3);
    counts(&v, 0, 0, 0, 2, 0);
}

Test(host_compare, duplicates)
{
    hspz_hsp twice[] = {
        {100, 200, 50, 4000}, {100, 200, 50, 4000}, {300, 400, 60, 4100}, {1000, 300, 70, 4200}};
    verdict v = judge(twice, 4, list, 3);
    counts(&v, 0, 0, 1, 0, 0);
    cr_expect_eq(v.first[0].count_a, 2);
    cr_expect_eq(v.first[0].count_b, 1);
}

Test(host_compare, contained_needs_the_same_diagonal)
{
    hspz_hsp whole[] = {{100, 200, 500, 9000}},
             more[] = {{100, 200, 500, 9000}, {150, 250, 20, 3000}, {150, 251, 20, 3000}};
    verdict v = judge(whole, 1, more, 3);
    counts(&v, 0, 1, 0, 1, 0);
    /* one base beyond the end of the longer one */
    hspz_hsp beyond[] = {{100, 200, 500, 9000}, {590, 690, 11, 3000}};
    v = judge(whole, 1, beyond, 2);
    counts(&v, 0, 1, 0, 0, 0);
}

Test(host_compare, diagonals_wrap)
{
    hspz_hsp whole[] = {{0, 4000000000u, 500, 9000}}, part[] = {{10, 4000000010u, 20, 3000}};
    verdict v = judge(part, 1, whole, 1);
    counts(&v, 0, 1, 0, 1, 0);
}

Test(host_compare, reordered)
{
    hspz_hsp other[] = {list[0], list[2], list[1]};
    verdict v = judge(list, 3, other, 3);
    cr_expect_not(v.same);
    counts(&v, 0, 0, 0, 0, 1);
    cr_expect_eq(v.first[0].hsp.target_start, 300, "the first place where they differ");
}
