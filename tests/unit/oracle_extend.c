/* oracle_extend.c -- SPEC section 6: the sequential x-drop scan and the gate, on columns one can count by hand.
 *
 * A column is a match (M, +10), a mismatch (-, -10) or a break (/, a separator). columns("MM-M") makes target and query from such a line.
 */
#include "oracle_bench.h"

#include <criterion/criterion.h>

#include <string.h>

static void columns(bench *b, const char *line)
{
    char target[256] = "";
    char query[256] = "";
    for (const char *c = line; *c != '\0'; c++) {
        append_run(target, sizeof target, *c == '/' ? '&' : 'A', 1);
        append_run(query, sizeof query, *c == 'M' ? 'A' : 'C', 1);
    }
    given(b, target, query);
}

Test(oracle_extend, anchor_is_the_position_after_the_window)
{
    bench b = new_bench();
    columns(&b, "--MMMM----");
    cr_expect_str_eq(extend_one(&b, 6, 6), "2,2,3,40", "left i = 1 is the column before the anchor");
    cr_expect_str_eq(extend_one(&b, 2, 2), "2,2,3,40", "right i = 0 is the anchor's own column");
    cr_expect_str_eq(extend_one(&b, 4, 4), "2,2,3,40");
    end_bench(&b);
}

Test(oracle_extend, sides_without_a_positive_prefix)
{
    bench b = new_bench();
    columns(&b, "----MM----");
    cr_expect_str_eq(extend_one(&b, 6, 6), "4,4,1,20", "right extent -1");
    cr_expect_str_eq(extend_one(&b, 4, 4), "4,4,1,20", "left extent 0");
    columns(&b, "----------");
    cr_expect_str_eq(extend_one(&b, 5, 5), "", "total 0 passes no gate");
    end_bench(&b);
}

Test(oracle_extend, a_single_column)
{
    bench b = new_bench();
    columns(&b, "---M---");
    cr_expect_str_eq(extend_one(&b, 3, 3), "3,3,0,10");
    cr_expect_str_eq(extend_one(&b, 4, 4), "3,3,0,10");
    end_bench(&b);
}

Test(oracle_extend, scan_stops_when_the_drop_exceeds_xdrop)
{
    bench b = new_bench();
    b.params.xdrop = 20; /* two mismatches drop exactly 20: the scan goes on */
    columns(&b, "MMM--MMMM");
    cr_expect_str_eq(extend_one(&b, 0, 0), "0,0,8,50");
    columns(&b, "MMM---MMMMM");
    cr_expect_str_eq(extend_one(&b, 0, 0), "0,0,2,30", "30 > 20 at the third mismatch");
    columns(&b, "MMMM--MMM");
    cr_expect_str_eq(extend_one(&b, 9, 9), "0,0,8,50");
    columns(&b, "MMMMM---MMM");
    cr_expect_str_eq(extend_one(&b, 11, 11), "8,8,2,30");
    b.params.xdrop = 19;
    columns(&b, "MMM--MMMM");
    cr_expect_str_eq(extend_one(&b, 0, 0), "0,0,2,30");
    end_bench(&b);
}

Test(oracle_extend, the_drop_counts_from_zero_before_any_match)
{
    bench b = new_bench();
    columns(&b, "--MMMMM"); /* 20 <= 25 */
    cr_expect_str_eq(extend_one(&b, 0, 0), "0,0,6,30", "the leading mismatches belong to the segment");
    columns(&b, "---MMMMM"); /* 30 > 25 */
    cr_expect_str_eq(extend_one(&b, 0, 0), "");
    end_bench(&b);
}

Test(oracle_extend, an_equal_later_maximum_does_not_replace)
{
    bench b = new_bench();
    columns(&b, "MMM-M-----");
    cr_expect_str_eq(extend_one(&b, 0, 0), "0,0,2,30");
    columns(&b, "-----M-MMM");
    cr_expect_str_eq(extend_one(&b, 10, 10), "7,7,2,30");
    columns(&b, "MMM-MM----");
    cr_expect_str_eq(extend_one(&b, 0, 0), "0,0,5,40");
    end_bench(&b);
}

Test(oracle_extend, block_edges_end_a_scan)
{
    bench b = new_bench();
    given(&b, "AAAAAA", "AAA");
    cr_expect_str_eq(extend_one(&b, 3, 0), "3,0,2,30");
    cr_expect_str_eq(extend_one(&b, 2, 1), "1,0,2,30");
    cr_expect_str_eq(extend_one(&b, 0, 2), "0,2,0,10", "no left side at target 0");
    cr_expect_str_eq(extend_one(&b, 6, 3), "3,0,2,30", "an anchor at both ends");
    cr_expect_str_eq(extend_one(&b, 0, 3), "");
    end_bench(&b);
}

Test(oracle_extend, total_is_right_plus_left)
{
    bench b = new_bench();
    columns(&b, "MM-MMM--MMMM"); /* from the middle of the two mismatches: left 0 -10 +30 .., right -10 +40 */
    cr_expect_str_eq(extend_one(&b, 7, 7), "0,0,11,60");
    end_bench(&b);
}

Test(oracle_extend, gate_keeps_from_the_threshold_on)
{
    bench b = new_bench();
    b.params.hspthresh = 40;
    columns(&b, "/MMMM/MMM/");
    hspz_anchor anchors[] = {{1, 1}, {6, 6}};
    cr_expect_str_eq(extend(&b, anchors, 2), "1,1,3,40");
    cr_expect_eq(statistics(&b).gate_survivors, 1);
    cr_expect_eq(statistics(&b).accepted, 1);
    cr_expect_eq(statistics(&b).kept, 1);
    b.params.hspthresh = 41;
    columns(&b, "/MMMM/MMM/");
    cr_expect_str_eq(extend(&b, anchors, 2), "");
    end_bench(&b);
}

/* From 2^24 on the float comparison of the gate is coarser than integers. */
Test(oracle_extend, gate_compares_as_float)
{
    bench b = new_bench();
    b.params.scores[0] = 1 << 23;
    b.params.hspthresh = (1 << 24) + 1;
    columns(&b, "/MM/");
    cr_expect_str_eq(extend_one(&b, 1, 1), "",
                     "(float)2^24 >= (float)(2^24 + 1), but (int) of it is below K");
    cr_expect_eq(statistics(&b).gate_survivors, 1);
    cr_expect_eq(statistics(&b).accepted, 0);
    b.params.hspthresh = 1 << 24;
    columns(&b, "/MM/");
    cr_expect_str_eq(extend_one(&b, 1, 1), "1,1,1,16777216");
    end_bench(&b);
}

Test(oracle_extend, totals_beyond_int32_are_kept_at_its_end)
{
    bench b = new_bench();
    b.params.scores[0] = INT32_MAX;
    columns(&b, "/MMMMMM/");
    cr_expect_str_eq(extend_one(&b, 4, 4), "1,1,5,2147483647");
    end_bench(&b);
}
