/* oracle_words.c -- SPEC sections 3 and 4: words, the target index, query seeds and their order.
 *
 * A query of one window makes the segment of a hit the window itself, so that target_start is the indexed position; raw
 * order is kept (dedup none).
 */
#include "oracle_bench.h"

#include <criterion/criterion.h>

#include <stdio.h>

static uint64_t seed(uint64_t word, uint64_t position)
{
    return word << 32 | position;
}

Test(oracle_words, first_base_is_most_significant)
{
    bench b = new_bench();
    given(&b, "GACGT", "ACGT");
    const uint64_t acgt = seed(0x1b, 0); /* 00 01 10 11 */
    const uint64_t tgca = seed(0xe4, 0);
    cr_expect_str_eq(expand(&b, &acgt, 1), "1,0,3,40");
    cr_expect_str_eq(expand(&b, &tgca, 1), "");
    end_bench(&b);
}

Test(oracle_words, care_positions_only)
{
    bench b = new_bench();
    b.params.seed_pattern = "11011";
    b.params.xdrop = 1000;
    given(&b, "GACTGT", "ACGGT"); /* the don't-care position differs */
    const uint64_t acgt = seed(0x1b, 0);
    cr_expect_str_eq(expand(&b, &acgt, 1), "1,0,4,30");
    cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 0, 0, 1), "1,0,4,30");
    end_bench(&b);
}

Test(oracle_words, every_base_of_the_window_must_be_upper_case_acgt)
{
    bench b = new_bench();
    b.params.seed_pattern = "11011";
    const char *spoilers = "acgtNnRxX&";
    for (const char *s = spoilers; *s != '\0'; s++)
        for (int at = 0; at < 5; at++) {
            char spoiled[] = "GACTGT";
            spoiled[1 + at] = *s;
            given(&b, spoiled, "ACTGT");
            cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 0, 0, 1), "", "target %s", spoiled);
            cr_expect_eq(statistics(&b).target_positions, 0, "target %s", spoiled);
            given(&b, "GACTGT", spoiled + 1);
            cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 0, 0, 1), "", "query %s", spoiled + 1);
            cr_expect_eq(statistics(&b).query_positions, 0, "query %s", spoiled + 1);
        }
    given(&b, "GACTGU", "ACTGU");
    cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 0, 0, 1), "1,0,4,50");
    end_bench(&b);
}

/* Which positions are indexed: the target is one repeated base, so each indexed window hits. */
static const char *indexed(bench *b, uint32_t step, unsigned length, uint32_t dedup)
{
    static char list[512];
    char target[128] = "";
    append_run(target, sizeof target, 'A', length);
    b->params.step = step;
    b->params.dedup = dedup;
    b->params.xdrop = 5;
    given(b, target, "AAAA");
    find(b, HSPZ_STRAND_PLUS, 0, 0, 1);
    list[0] = '\0';
    for (uint64_t i = b->count; i-- > 0;) { /* raw order is descending */
        char number[16];
        snprintf(number, sizeof number, "%s%u", list[0] != '\0' ? " " : "", b->hsps[i].target_start);
        append(list, sizeof list, number);
    }
    return list;
}

Test(oracle_words, indexed_positions)
{
    bench b = new_bench();
    const uint32_t none = HSPZ_DEDUP_NONE;
    /* w = 4: off = 5 mod s, positions (s - off) + i s for i < (len - 4 + off) / s */
    cr_expect_str_eq(indexed(&b, 1, 8, none), "1 2 3 4", "step 1 never indexes position 0");
    cr_expect_str_eq(indexed(&b, 1, 5, none), "1");
    cr_expect_str_eq(indexed(&b, 1, 4, none), "");
    cr_expect_str_eq(indexed(&b, 1, 3, none), "");
    cr_expect_str_eq(indexed(&b, 2, 10, none), "1 3 5");   /* off 1 */
    cr_expect_str_eq(indexed(&b, 3, 12, none), "1 4 7");   /* off 2 */
    cr_expect_str_eq(indexed(&b, 4, 12, none), "3 7");     /* off 1 */
    cr_expect_str_eq(indexed(&b, 5, 20, none), "5 10 15"); /* off 0: the first is s */
    cr_expect_str_eq(indexed(&b, 7, 20, none), "2 9 16");
    cr_expect_str_eq(indexed(&b, 100, 20, none), "");
    cr_expect_str_eq(indexed(&b, 2147483647, 20, none), "");
    end_bench(&b);
}

Test(oracle_words, indexed_positions_under_lastz)
{
    bench b = new_bench();
    const uint32_t lastz = HSPZ_DEDUP_LASTZ;
    cr_expect_str_eq(indexed(&b, 1, 8, lastz), "0 1 2 3 4");
    cr_expect_str_eq(indexed(&b, 1, 4, lastz), "0");
    cr_expect_str_eq(indexed(&b, 2, 10, lastz), "1 3 5");
    cr_expect_str_eq(indexed(&b, 5, 20, lastz), "0 5 10 15");
    cr_expect_str_eq(indexed(&b, 7, 20, lastz), "2 9 16");
    end_bench(&b);
}

Test(oracle_words, buckets_expand_backwards)
{
    bench b = new_bench();
    given(&b, "&ACGT&ACGT&ACGT", "ACGT");
    cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 0, 0, 1), "11,0,3,40 6,0,3,40 1,0,3,40");
    end_bench(&b);
}

Test(oracle_words, exact_word_first_then_transitions_from_the_last_one)
{
    bench b = new_bench();
    b.params.transitions = 1;
    /*         1    6    11   16   21   26: two transitions never match */
    given(&b, "&GCGT&ATGT&ACAT&ACGC&ACGT&ACAC", "ACGT");
    cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 0, 0, 1), "21,0,3,40 16,0,3,20 11,0,3,20 8,2,1,20 2,1,2,30",
                     "the fourth has an equal later maximum at the window's start");
    cr_expect_eq(statistics(&b).seeds, 5);
    b.params.transitions = 0;
    given(&b, "&GCGT&ATGT&ACAT&ACGC&ACGT&ACAC", "ACGT");
    cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 0, 0, 1), "21,0,3,40");
    end_bench(&b);
}

Test(oracle_words, t_is_one_bit_and_has_no_variant)
{
    bench b = new_bench();
    b.params.seed_pattern = "TTTTTTTT";
    b.params.transitions = 1;
    b.params.xdrop = 1000;
    given(&b, "&ACGTACGT&GTACGTAC", "ACGTACGT");
    const uint64_t word = seed(0x55, 0); /* A, G: 0; C, T: 1 */
    cr_expect_str_eq(expand(&b, &word, 1), "1,0,7,80", "the other hit has no positive prefix");
    cr_expect_eq(statistics(&b).hits, 2);
    given(&b, "&ACGTACGT&GTACGTAC", "ACGTACGT");
    find(&b, HSPZ_STRAND_PLUS, 0, 0, 1);
    cr_expect_eq(statistics(&b).seeds, 1);
    cr_expect_eq(statistics(&b).hits, 2);
    b.params.seed_pattern = "1T11T1"; /* word of 10 bits: 4 ones, 2 Ts */
    given(&b, "&ACGTAC&ATGTGC&AAGTAC", "ACGTAC");
    find(&b, HSPZ_STRAND_PLUS, 0, 0, 1);
    cr_expect_eq(statistics(&b).seeds, 5);
    cr_expect_eq(statistics(&b).hits, 2, "transitions at Ts match, transversions do not");
    end_bench(&b);
}

Test(oracle_words, mixed_pattern_packs_bits_in_order)
{
    bench b = new_bench();
    b.params.seed_pattern = "1T11T1";
    given(&b, "&ACGTAC", "ACGTAC");
    const uint64_t word = seed(0xd9, 0); /* 00 1 10 11 0 01 */
    cr_expect_str_eq(expand(&b, &word, 1), "1,0,5,60");
    end_bench(&b);
}

Test(oracle_words, seed_order_within_a_batch_is_position_then_variant)
{
    bench b = new_bench();
    b.params.transitions = 1;
    given(&b, "&CGTG&ACGC&ACGT", "ACGTG");
    /* position 0: ACGT at 11, its last-base transition ACGC at 6; position 1: CGTG at 1 */
    cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 0, 1, 100), "11,0,3,40 6,0,3,20 1,1,3,40");
    end_bench(&b);
}

Test(oracle_words, minus_strand_counts_in_the_reverse_complement)
{
    bench b = new_bench();
    given(&b, "&AACG", "TTACGTT"); /* reverse complement AACGTAA */
    cr_expect_str_eq(find(&b, HSPZ_STRAND_MINUS, 0, 3, 100), "1,0,3,40");
    cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 0, 3, 100), "");
    cr_expect_str_eq(find(&b, HSPZ_STRAND_MINUS, 1, 3, 100), "");
    end_bench(&b);
}

Test(oracle_words, interval_includes_its_end_and_stops_at_the_last_window)
{
    bench b = new_bench();
    given(&b, "&ACGT", "ACGTACGTACGT");
    cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 0, 8, 100), "1,0,3,40 1,4,3,40 1,8,3,40");
    cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 1, 4, 100), "1,4,3,40");
    cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 5, 7, 100), "");
    cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 8, 8, 1), "1,8,3,40");
    cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 8, 1000000, 1), "1,8,3,40");
    cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 9, 1000000, 1), "");
    end_bench(&b);
}

Test(oracle_words, batches_do_not_split_windows)
{
    bench b = new_bench();
    b.params.dedup = HSPZ_DEDUP_NONE;
    given(&b, "&ACGT", "ACGTACGTACGT");
    for (uint32_t batch = 1; batch <= 10; batch++)
        cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 0, 8, batch), "1,0,3,40 1,4,3,40 1,8,3,40", "batch %u",
                         batch);
    end_bench(&b);
}

Test(oracle_words, short_and_empty_blocks)
{
    bench b = new_bench();
    const char *shorts[] = {"", "A", "ACG", "&", "&&&&&"};
    for (size_t i = 0; i < sizeof shorts / sizeof *shorts; i++) {
        given(&b, shorts[i], "ACGTACGT");
        cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 0, 4, 100), "");
        given(&b, "ACGTACGT", shorts[i]);
        cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 0, 4, 100), "");
        cr_expect_str_eq(find(&b, HSPZ_STRAND_MINUS, 0, 4, 100), "");
    }
    end_bench(&b);
}
