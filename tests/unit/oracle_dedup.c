/* oracle_dedup.c -- SPEC section 7: the five dedup modes on segments built by hand.
 *
 * One diagonal with two runs of matches, A = [0..4] and B = [9..13], four mismatches apart: with x-drop 25 a scan from either run stops in the
 * gap (40), a scan from the middle of the gap drops 20 on each side and joins them, J = [0..13]. So the anchors 2, 7 and 12
 * give A, J and B.
 */
#include "oracle_bench.h"

#include <criterion/criterion.h>

#include <string.h>

#define TARGET "AAAAAAAAAAAAAA"
#define QUERY "AAAAACCCCAAAAA"

static const char *deduped(bench *b, uint32_t dedup, const char *anchors)
{
    hspz_anchor list[16];
    uint64_t count = 0;
    for (const char *a = anchors; *a != '\0'; a++) {
        uint32_t at = *a == 'A' ? 2 : *a == 'J' ? 7 : 12;
        list[count++] = (hspz_anchor){at, at};
    }
    b->params.dedup = dedup;
    given(b, TARGET, QUERY);
    return extend(b, list, count);
}

Test(oracle_dedup, none_keeps_all_in_raw_order)
{
    bench b = new_bench();
    cr_expect_str_eq(deduped(&b, HSPZ_DEDUP_NONE, "BJAAB"), "9,9,4,50 0,0,13,60 0,0,4,50 0,0,4,50 9,9,4,50");
    end_bench(&b);
}

Test(oracle_dedup, chunk_compares_with_the_previous_input_element)
{
    bench b = new_bench();
    cr_expect_str_eq(deduped(&b, HSPZ_DEDUP_CHUNK, "BA"), "0,0,4,50 9,9,4,50");
    cr_expect_str_eq(deduped(&b, HSPZ_DEDUP_CHUNK, "AAA"), "0,0,4,50");
    /* sorted A, J, B: J contains A and goes; B lies in J, the previous input, and goes too although J is gone */
    cr_expect_str_eq(deduped(&b, HSPZ_DEDUP_CHUNK, "BJA"), "0,0,4,50");
    cr_expect_str_eq(deduped(&b, HSPZ_DEDUP_CHUNK, "JB"), "0,0,13,60");
    cr_expect_str_eq(deduped(&b, HSPZ_DEDUP_CHUNK, "JA"), "0,0,4,50", "the shorter one comes first");
    end_bench(&b);
}

Test(oracle_dedup, chunk_sorts_survivors_by_query_then_target)
{
    bench b = new_bench();
    b.params.dedup = HSPZ_DEDUP_CHUNK;
    given(&b, "AC&AC&AC", "AC&AC");
    hspz_anchor anchors[] = {{6, 3}, {3, 3}, {6, 0}, {0, 3}, {3, 0}, {0, 0}};
    cr_expect_str_eq(extend(&b, anchors, 6), "0,0,1,20 3,0,1,20 6,0,1,20 0,3,1,20 3,3,1,20 6,3,1,20");
    end_bench(&b);
}

Test(oracle_dedup, chunk_leaves_other_diagonals_alone)
{
    bench b = new_bench();
    b.params.dedup = HSPZ_DEDUP_CHUNK;
    given(&b, "AAAA", "AAAA&AAA");
    hspz_anchor anchors[] = {{0, 0}, {0, 5}, {1, 5}};
    cr_expect_str_eq(extend(&b, anchors, 3), "0,0,3,40 0,5,2,30 1,5,2,30");
    end_bench(&b);
}

Test(oracle_dedup, interval_drops_exact_duplicates_of_the_call_first_one_kept)
{
    bench b = new_bench();
    b.params.max_hits = 2; /* every hit of the three is a chunk but the last two */
    cr_expect_str_eq(deduped(&b, HSPZ_DEDUP_CHUNK, "BABA"), "9,9,4,50 0,0,4,50 0,0,4,50 9,9,4,50");
    cr_expect_str_eq(deduped(&b, HSPZ_DEDUP_INTERVAL, "BABA"), "9,9,4,50 0,0,4,50");
    cr_expect_str_eq(deduped(&b, HSPZ_DEDUP_INTERVAL, "AJBJ"), "0,0,4,50 0,0,13,60",
                     "chunks A, J and (B, J): contained ones of other chunks stay");
    b.params.max_hits = HSPZ_MAX_HITS_DEFAULT;
    b.params.dedup = HSPZ_DEDUP_INTERVAL;
    given(&b, "&ACCAGGA", "ACCAGGA");
    cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 0, 3, 1), "1,0,6,70", "over all batches of a call");
    cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 0, 3, 1), "1,0,6,70", "and not over calls");
    end_bench(&b);
}

Test(oracle_dedup, interval_remembers_many)
{
    enum { COUNT = 3000 };
    static char text[COUNT * 2 + 1];
    static hspz_anchor anchors[2 * COUNT];
    bench b = new_bench();
    for (int i = 0; i < COUNT; i++)
        memcpy(text + 2 * i, "A&", 2);
    for (uint32_t i = 0; i < 2 * COUNT; i++)
        anchors[i] = (hspz_anchor){2 * (i % COUNT), 2 * (i % COUNT)};
    b.params.dedup = HSPZ_DEDUP_INTERVAL;
    b.params.max_hits = 1000;
    given(&b, text, text);
    cr_assert_eq(try_extend(&b, HSPZ_STRAND_PLUS, anchors, 2 * COUNT), HSPZ_OK);
    cr_expect_eq(b.count, COUNT);
    end_bench(&b);
}

Test(oracle_dedup, maximal_keeps_what_no_other_contains)
{
    bench b = new_bench();
    cr_expect_str_eq(deduped(&b, HSPZ_DEDUP_MAXIMAL, "BJA"), "0,0,13,60");
    cr_expect_str_eq(deduped(&b, HSPZ_DEDUP_MAXIMAL, "BABA"), "0,0,4,50 9,9,4,50");
    for (uint64_t max_hits = 1; max_hits <= 5; max_hits++) {
        b.params.max_hits = max_hits;
        cr_expect_str_eq(deduped(&b, HSPZ_DEDUP_MAXIMAL, "BAJAB"), "0,0,13,60", "MAX_HITS %u",
                         (unsigned)max_hits);
    }
    end_bench(&b);
}

Test(oracle_dedup, maximal_thins_out_without_a_trace)
{
    enum { COUNT = 200000 };
    static hspz_anchor anchors[COUNT];
    bench b = new_bench();
    for (uint32_t i = 0; i < COUNT; i++)
        anchors[i].target_end = anchors[i].query_end = i % 3 == 0      ? 2
                                                       : i % 3 == 1    ? 12
                                                       : i < COUNT - 3 ? 2
                                                                       : 7;
    b.params.dedup = HSPZ_DEDUP_MAXIMAL;
    b.params.max_hits = 1000;
    given(&b, TARGET, QUERY);
    cr_expect_str_eq(extend(&b, anchors, COUNT), "0,0,13,60");
    cr_expect_eq(statistics(&b).accepted, COUNT);
    cr_expect_eq(statistics(&b).kept, 1);
    end_bench(&b);
}

Test(oracle_dedup, maximal_is_in_lastz_order)
{
    bench b = new_bench();
    b.params.dedup = HSPZ_DEDUP_MAXIMAL;
    given(&b, "AC&AC&AC", "AC&AC");
    hspz_anchor anchors[] = {{6, 3}, {3, 3}, {6, 0}, {0, 3}, {3, 0}, {0, 0}};
    cr_expect_str_eq(extend(&b, anchors, 6), "0,0,1,20 3,0,1,20 6,0,1,20 0,3,1,20 3,3,1,20 6,3,1,20");
    end_bench(&b);
}

/* The mark rule. Pattern length w = 4: a hit (r, q) is skipped if mark[(r - q) mod 65536] > q - 4. */
Test(oracle_dedup, lastz_skips_hits_behind_the_mark)
{
    bench b = new_bench();
    b.params.dedup = HSPZ_DEDUP_LASTZ;
    given(&b, "ACGTACGT&", "ACGTACGT&");
    hspz_anchor anchors[] = {{4, 4}, {5, 5}, {8, 8}};
    cr_expect_str_eq(extend(&b, anchors, 3), "0,0,7,80");
    cr_expect_eq(statistics(&b).skipped, 2);
    cr_expect_eq(statistics(&b).gate_survivors, 1);
    end_bench(&b);
}

Test(oracle_dedup, lastz_mark_is_after_the_last_base_read)
{
    bench b = new_bench();
    b.params.dedup = HSPZ_DEDUP_LASTZ;
    /* From anchor 4 the right scan reads columns 4, 5, 6 and drops 30 > 25 at column 6: mark 7. */
    given(&b, "AAAAAAAAAAAAAAA", "AAAACCCAAAAAAAA");
    hspz_anchor behind[] = {{4, 4}, {10, 10}}; /* 7 > 10 - 4: skipped */
    cr_expect_str_eq(extend(&b, behind, 2), "0,0,3,40");
    given(&b, "AAAAAAAAAAAAAAA", "AAAACCCAAAAAAAA");
    hspz_anchor beyond[] = {{4, 4}, {11, 11}}; /* 7 > 11 - 4 is false */
    cr_expect_str_eq(extend(&b, beyond, 2), "0,0,3,40 7,7,7,80");
    end_bench(&b);
}

Test(oracle_dedup, lastz_diagonals_65536_apart_share_a_mark)
{
    static char target[65536 + 32];
    bench b = new_bench();
    b.params.dedup = HSPZ_DEDUP_LASTZ;
    memset(target, 'A', sizeof target - 1);
    given(&b, target, "AAAAAAAACCCC");
    /* The first scan drops 30 at query 10: mark 11 > 8 - 4. */
    hspz_anchor shared[] = {{65536 + 4, 4}, {8, 8}};
    cr_expect_str_eq(extend(&b, shared, 2), "65536,0,7,80");
    given(&b, target, "AAAAAAAACCCC");
    hspz_anchor neighbours[] = {{65536 + 4, 4}, {7, 8}};
    cr_expect_str_eq(extend(&b, neighbours, 2), "65536,0,7,80 0,1,6,70");
    end_bench(&b);
}

Test(oracle_dedup, lastz_left_scan_does_not_read_below_the_mark)
{
    static char target[65536 + 64];
    bench b = new_bench();
    b.params.dedup = HSPZ_DEDUP_LASTZ;
    /* Diagonal 65536: C over A from query 8 on, so that scan ends at 10 (drop 30 > 25): mark 11. Diagonal 0 matches everywhere: the
     * hit (15, 15) reaches left to query 11, not to 0. */
    memset(target, 'A', sizeof target - 1);
    memset(target + 65536 + 8, 'C', sizeof target - 1 - 65536 - 8);
    given(&b, target, "AAAAAAAAAAAAAAAAAAAA");
    hspz_anchor hits[] = {{65536 + 4, 4}, {15, 15}};
    cr_expect_str_eq(extend(&b, hits, 2), "65536,0,7,80 11,11,8,90");
    end_bench(&b);
}

Test(oracle_dedup, lastz_marks_belong_to_a_record)
{
    bench b = new_bench();
    b.params.dedup = HSPZ_DEDUP_LASTZ;
    static char target[65536 + 64];
    memset(target, 'A', sizeof target - 1);
    given(&b, target, "AAAAAAAA&AAAAAAAA");
    /* All on slot 0. Record 1 leaves mark 9; in record 2 the first hit is extended, the second skipped. */
    hspz_anchor hits[] = {{4, 4}, {65536 + 8, 8}, {65536 + 13, 13}, {14, 14}};
    cr_expect_str_eq(extend(&b, hits, 4), "0,0,7,80 65545,9,7,80");
    cr_expect_eq(statistics(&b).skipped, 2);
    end_bench(&b);
}

Test(oracle_dedup, lastz_has_no_dedup_of_its_own)
{
    bench b = new_bench();
    b.params.dedup = HSPZ_DEDUP_LASTZ;
    given(&b, "&ACGT&ACGT", "ACGT&ACGT");
    for (uint32_t batch = 1; batch < 8; batch++)
        cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 0, 5, batch), "6,0,3,40 1,0,3,40 6,5,3,40 1,5,3,40",
                         "batch %u", batch);
    end_bench(&b);
}
