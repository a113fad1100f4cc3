/* oracle_chunks.c -- SPEC section 5: prefix, MAX_HITS chunks, batches.
 *
 * Where chunks are cut shows in the order: hits are given by descending query position, the chunk rule sorts each chunk by ascending one, so
 * every descent in the output starts a chunk. groups() writes the sizes of the ascending stretches.
 */
#include "oracle_bench.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#define MOST 64

static const char *groups(const bench *b)
{
    static char text[256];
    text[0] = '\0';
    uint64_t size = 0;
    for (uint64_t i = 0; i < b->count; i++) {
        size++;
        if (i + 1 == b->count || b->hsps[i + 1].query_start < b->hsps[i].query_start) {
            char number[16];
            snprintf(number, sizeof number, "%s%u", text[0] != '\0' ? " " : "", (unsigned)size);
            append(text, sizeof text, number);
            size = 0;
        }
    }
    return text;
}

/* Single-column segments: A at each place, the neighbours never match. */
static void given_columns(bench *b, uint64_t max_hits)
{
    char target[3 * MOST + 1] = "";
    char query[3 * MOST + 1] = "";
    for (int i = 0; i < MOST; i++) {
        append(target, sizeof target, "CAC");
        append(query, sizeof query, "GAG");
    }
    b->params.xdrop = 5;
    b->params.dedup = HSPZ_DEDUP_CHUNK;
    b->params.max_hits = max_hits;
    given(b, target, query);
}

/* `hits` anchors by descending query position, on different diagonals: level (c). */
static const char *chunks_of_anchors(bench *b, uint64_t hits, uint64_t max_hits)
{
    hspz_anchor anchors[MOST];
    given_columns(b, max_hits);
    for (uint32_t i = 0; i < hits; i++) {
        anchors[i].target_end = 3 * i + 1;
        anchors[i].query_end = 3 * ((uint32_t)hits - 1 - i) + 1;
    }
    extend(b, anchors, hits);
    cr_assert_eq(b->count, hits);
    return groups(b);
}

Test(oracle_chunks, cut_before_the_first_prefix_that_reaches_the_limit)
{
    bench b = new_bench();
    /* 10 hits, M 4: 3 chunks. Limit 4: prefix 4 is seed 3, so seeds 0..2. Limit 3 + 4: seeds 3..5. The last takes 4. */
    cr_expect_str_eq(chunks_of_anchors(&b, 10, 4), "3 3 4");
    cr_expect_eq(statistics(&b).chunks, 3);
    cr_expect_eq(statistics(&b).hits, 10);
    cr_expect_str_eq(chunks_of_anchors(&b, 8, 4), "3 3 2");
    cr_expect_str_eq(chunks_of_anchors(&b, 7, 4), "3 4");
    cr_expect_str_eq(chunks_of_anchors(&b, 4, 4), "3 1");
    cr_expect_str_eq(chunks_of_anchors(&b, 3, 4), "3");
    cr_expect_eq(statistics(&b).chunks, 1);
    cr_expect_str_eq(chunks_of_anchors(&b, 11, 2), "1 1 1 1 1 6");
    cr_expect_str_eq(chunks_of_anchors(&b, 20, 10), "9 9 2");
    end_bench(&b);
}

Test(oracle_chunks, a_hit_that_reaches_the_limit_alone_is_a_chunk)
{
    bench b = new_bench();
    cr_expect_str_eq(chunks_of_anchors(&b, 3, 1), "1 1 1");
    cr_expect_eq(statistics(&b).chunks, 4, "H / M + 1, the last one empty");
    end_bench(&b);
}

/* Buckets of chosen sizes: word i (of 6) occurs sizes[i] times in the target. Seeds in the order 0..5 at descending query
 * positions, so each seed's hits share a query position and chunks show as above. */
static const char *words[6] = {"ACCA", "AGGA", "ATTA", "CAAC", "CGGC", "CTTC"};
static const char *chunks_of_buckets(bench *b, const unsigned sizes[6], uint64_t max_hits)
{
    char target[1024] = "&";
    char query[64] = "";
    uint64_t seeds[6];
    for (int i = 0; i < 6; i++)
        for (unsigned n = 0; n < sizes[i]; n++) {
            append(target, sizeof target, words[i]);
            append(target, sizeof target, "&");
        }
    for (int i = 5; i >= 0; i--) {
        append(query, sizeof query, words[i]);
        append(query, sizeof query, "&");
    }
    for (int i = 0; i < 6; i++) {
        uint64_t word = 0;
        for (int k = 0; k < 4; k++)
            word = word << 2 | (uint64_t)(strchr("ACGT", words[i][k]) - "ACGT");
        seeds[i] = word << 32 | (uint64_t)(5 * (5 - i));
    }
    b->params.dedup = HSPZ_DEDUP_CHUNK;
    b->params.max_hits = max_hits;
    given(b, target, query);
    expand(b, seeds, 6);
    return groups(b);
}

Test(oracle_chunks, seeds_are_never_split)
{
    bench b = new_bench();
    /* prefixes 2 4 6 8 10 12, M 5: 3 chunks; limit 5 -> seeds 0, 1; limit 9 -> seeds 2, 3; rest */
    const unsigned even[6] = {2, 2, 2, 2, 2, 2};
    cr_expect_str_eq(chunks_of_buckets(&b, even, 5), "4 4 4");
    /* M 4: 4 chunks; limit 4 is reached by seed 1: seed 0; limit 2 + 4: seed 1; limit 4 + 4: seed 2; rest 6 */
    cr_expect_str_eq(chunks_of_buckets(&b, even, 4), "2 2 2 6");
    end_bench(&b);
}

Test(oracle_chunks, a_bucket_larger_than_max_hits_is_a_chunk_of_one_seed)
{
    bench b = new_bench();
    const unsigned giant[6] = {2, 9, 1, 1, 0, 0};
    /* H 13, M 4: limit 4 -> seed 0; limit 6 -> seed 1 alone; limit 15 -> the rest */
    cr_expect_str_eq(chunks_of_buckets(&b, giant, 4), "2 9 2");
    const unsigned first[6] = {9, 1, 1, 1, 1, 1};
    cr_expect_str_eq(chunks_of_buckets(&b, first, 4), "9 3 2", "limit 9 + 4 is reached by seed 4");
    const unsigned behind_nothing[6] = {0, 0, 9, 2, 2, 0};
    cr_expect_str_eq(chunks_of_buckets(&b, behind_nothing, 4), "9 2 2",
                     "hitless seeds before a giant do not make a chunk");
    const unsigned last[6] = {1, 0, 1, 0, 0, 9};
    cr_expect_str_eq(chunks_of_buckets(&b, last, 4), "2 9");
    end_bench(&b);
}

Test(oracle_chunks, dedup_looks_at_one_chunk)
{
    bench b = new_bench();
    hspz_anchor same[10];
    for (int i = 0; i < 10; i++)
        same[i] = (hspz_anchor){4, 4};
    b.params.dedup = HSPZ_DEDUP_CHUNK;
    b.params.max_hits = 4;
    given(&b, "AAAA", "AAAA");
    cr_expect_str_eq(extend(&b, same, 10), "0,0,3,40 0,0,3,40 0,0,3,40");
    b.params.max_hits = HSPZ_MAX_HITS_DEFAULT;
    given(&b, "AAAA", "AAAA");
    cr_expect_str_eq(extend(&b, same, 10), "0,0,3,40");
    end_bench(&b);
}

Test(oracle_chunks, dedup_looks_at_one_batch)
{
    bench b = new_bench();
    b.params.dedup = HSPZ_DEDUP_CHUNK;
    given(&b, "&ACCAGGA", "ACCAGGA"); /* windows 0..3 hit on one diagonal: one HSP */
    cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 0, 3, 4), "1,0,6,70");
    cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 0, 3, 2), "1,0,6,70 1,0,6,70");
    cr_expect_str_eq(find(&b, HSPZ_STRAND_PLUS, 0, 3, 1), "1,0,6,70 1,0,6,70 1,0,6,70 1,0,6,70");
    cr_expect_eq(statistics(&b).batches, 1 + 2 + 4);
    end_bench(&b);
}

Test(oracle_chunks, too_many_hits_are_refused)
{
    enum { COUNT = 70000 };
    static uint64_t seeds[COUNT];
    static char target[COUNT];
    bench b = new_bench();
    memset(target, 'A', sizeof target - 1);
    for (int i = 0; i < COUNT; i++)
        seeds[i] = 0; /* AAAA at 0: 70,000 times nearly 70,000 hits */
    given(&b, target, "AAAA");
    cr_expect_eq(try_expand(&b, HSPZ_STRAND_PLUS, seeds, COUNT), HSPZ_E_TOO_MANY_HITS);
    cr_expect(strstr(b.error.text, "--wga-chunk-size") != NULL, "%s", b.error.text);
    cr_expect_eq(b.count, 0);
    end_bench(&b);
}

Test(oracle_chunks, max_hits_of_the_device)
{
    bench b = new_bench();
    b.params.max_hits = HSPZ_MAX_HITS_DEVICE;
    given(&b, "ACGT", "ACGT");
    hspz_device_info device = {.struct_size = sizeof device};
    hspz_engine_info info = {.struct_size = sizeof info};
    cr_assert_eq(b.plugin->engine_info(b.engine, &info, NULL), HSPZ_OK);
    cr_assert_eq(b.plugin->device_info(info.device, &device, NULL), HSPZ_OK);
    uint64_t expected = device.memory_total / 256;
    cr_expect_eq(info.max_hits, expected > UINT32_MAX ? UINT32_MAX : expected);
    end_bench(&b);
}
