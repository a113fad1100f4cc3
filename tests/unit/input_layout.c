/* input_layout.c -- blocks, offsets, intervals and the way back to records (SPEC section 4). */
#include "hspz_abi.h"
#include "input_make.h"
#include "layout.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hspz_genome load_text(const char *text)
{
    bytes file = {.data = (uint8_t *)(uintptr_t)text, .size = strlen(text)};
    return load_bytes(&file, NULL);
}

static hspz_layout make_layout(const hspz_genome *genome, uint64_t block_size)
{
    hspz_layout layout;
    hspz_failure failure = {0};
    cr_assert_eq(hspz_layout_make(genome, block_size, &layout, &failure), 0, "refused: %s", failure.text);
    return layout;
}

static void expect_block(const hspz_layout *layout, size_t number, uint64_t offset, const char *bases,
                         size_t records)
{
    const hspz_block *block = &layout->blocks[number];
    cr_expect_eq(block->offset, offset);
    cr_assert_eq(block->length, strlen(bases));
    cr_expect_arr_eq(block->bases, bases, strlen(bases));
    cr_expect_eq(block->record_count, records);
}

/* By hand: with block size 6, "AAA&CC" is 6 long and stays open, "&G" makes it 8 and closes it; "TTTTTTT" exceeds by itself;
 * "AC" is left open at the end and has no trailing '&'. */
Test(layout, blocks_by_hand)
{
    hspz_genome genome = load_text(">a\nAAA\n>b\nCC\n>c\nG\n>d\nTTTTTTT\n>e\nAC\n");
    hspz_layout layout = make_layout(&genome, 6);
    cr_assert_eq(layout.block_count, 3);
    expect_block(&layout, 0, 0, "AAA&CC&G", 3);
    expect_block(&layout, 1, 8, "TTTTTTT", 1);
    expect_block(&layout, 2, 15, "AC", 1);
    hspz_layout_free(&layout);
    layout = make_layout(&genome, 5);
    cr_assert_eq(layout.block_count, 3);
    expect_block(&layout, 0, 0, "AAA&CC", 2);
    expect_block(&layout, 1, 6, "G&TTTTTTT", 2);
    expect_block(&layout, 2, 15, "AC", 1);
    hspz_layout_free(&layout);
    layout = make_layout(&genome, HSPZ_BLOCK_SIZE_DEFAULT);
    cr_assert_eq(layout.block_count, 1);
    expect_block(&layout, 0, 0, "AAA&CC&G&TTTTTTT&AC", 5);
    hspz_layout_free(&layout);
    layout = make_layout(&genome, 1);
    cr_assert_eq(layout.block_count, 4);
    expect_block(&layout, 1, 3, "CC", 1);
    expect_block(&layout, 2, 5, "G&TTTTTTT", 2); /* a block of length 1 does not exceed 1 */
    hspz_layout_free(&layout);
    hspz_genome_free(&genome);
}

Test(layout, empty_records)
{
    hspz_genome genome = load_text(">a\n>b\nCC\n>c\n>d\n>e\nT\n>f\n");
    hspz_layout layout = make_layout(&genome, 100);
    hspz_place place;
    cr_assert_eq(layout.block_count, 1);
    expect_block(&layout, 0, 0, "&CC&&&T&", 6);
    cr_expect_not(hspz_layout_locate(&layout, &layout.blocks[0], HSPZ_STRAND_PLUS, 0, &place));
    cr_expect_not(hspz_layout_locate(&layout, &layout.blocks[0], HSPZ_STRAND_PLUS, 4, &place));
    cr_expect_not(hspz_layout_locate(&layout, &layout.blocks[0], HSPZ_STRAND_PLUS, 7, &place));
    cr_expect_not(hspz_layout_locate(&layout, &layout.blocks[0], HSPZ_STRAND_PLUS, 8, &place));
    cr_assert(hspz_layout_locate(&layout, &layout.blocks[0], HSPZ_STRAND_PLUS, 6, &place));
    cr_expect_str_eq(place.record->name, "e");
    cr_expect_eq(place.position, 0);
    hspz_layout_free(&layout);
    hspz_genome_free(&genome);
}

/* Block "AAA&CCCCC", minus frame "GGGGG&TTT": minus position 1 is b's second base from the end. */
Test(layout, places_by_hand)
{
    hspz_genome genome = load_text(">a\nAAA\n>b\nCCCCC\n");
    hspz_layout layout = make_layout(&genome, 100);
    const hspz_block *block = &layout.blocks[0];
    hspz_place place;
    cr_assert(hspz_layout_locate(&layout, block, HSPZ_STRAND_PLUS, 5, &place));
    cr_expect_str_eq(place.record->name, "b");
    cr_expect_eq(place.record_index, 1);
    cr_expect_eq(place.position, 1);
    cr_assert(hspz_layout_locate(&layout, block, HSPZ_STRAND_MINUS, 1, &place));
    cr_expect_str_eq(place.record->name, "b");
    cr_expect_eq(place.position, 1);
    cr_assert(hspz_layout_locate(&layout, block, HSPZ_STRAND_MINUS, 8, &place));
    cr_expect_str_eq(place.record->name, "a");
    cr_expect_eq(place.position, 2);
    cr_expect_not(hspz_layout_locate(&layout, block, HSPZ_STRAND_MINUS, 5, &place));
    cr_expect_not(hspz_layout_locate(&layout, block, HSPZ_STRAND_MINUS, 9, &place));
    cr_expect_eq(hspz_block_record_start(&layout, block, 1, HSPZ_STRAND_PLUS), 4);
    cr_expect_eq(hspz_block_record_start(&layout, block, 1, HSPZ_STRAND_MINUS), 0);
    cr_expect_eq(hspz_block_record_start(&layout, block, 0, HSPZ_STRAND_MINUS), 6);
    hspz_layout_free(&layout);
    hspz_genome_free(&genome);
}

/* Every position of random layouts, both strands, against a walk along the records. */
static void check_places(const hspz_layout *layout, const hspz_block *block)
{
    const hspz_genome *genome = layout->genome;
    uint64_t position = 0;
    for (size_t i = 0; i < block->record_count; i++) {
        const hspz_record *record = &genome->records[block->first_record + i];
        hspz_place place;
        for (uint64_t at = 0; at < record->length; at++, position++) {
            cr_assert(hspz_layout_locate(layout, block, HSPZ_STRAND_PLUS, position, &place));
            cr_assert_eq(place.record, record);
            cr_assert_eq(place.position, at);
            cr_assert(
                hspz_layout_locate(layout, block, HSPZ_STRAND_MINUS, block->length - 1 - position, &place));
            cr_assert_eq(place.record, record);
            cr_assert_eq(place.position, record->length - 1 - at);
        }
        if (i + 1 < block->record_count)
            cr_assert_not(hspz_layout_locate(layout, block, HSPZ_STRAND_PLUS, position++, &place));
    }
    cr_assert_eq(position, block->length);
}

Test(layout, random_layouts)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t state = seed, offset = 0;
        sample made = sample_random(seed);
        bytes file = make_fasta(&made, 60, "\n", true);
        hspz_genome genome = load_bytes(&file, NULL);
        uint64_t size = 1 + next_random(&state) % 6000;
        hspz_layout layout = make_layout(&genome, size);
        size_t record = 0;
        for (size_t i = 0; i < layout.block_count; i++) {
            const hspz_block *block = &layout.blocks[i];
            const hspz_record *last = &genome.records[block->first_record + block->record_count - 1];
            cr_assert_eq(block->first_record, record);
            cr_assert_eq(block->offset, offset);
            /* it closed as soon as it could, and not before */
            cr_assert(block->length > size || i + 1 == layout.block_count);
            cr_assert(block->record_count == 1 || block->length - last->length - 1 <= size);
            check_places(&layout, block);
            record += block->record_count;
            offset += block->length;
        }
        cr_assert_eq(record, genome.record_count);
        hspz_layout_free(&layout);
        hspz_genome_free(&genome);
        bytes_free(&file);
        sample_free(&made);
    }
}

/* Lengths are claimed by hand-made records: no bases are touched. */
Test(layout, largest_blocks)
{
    hspz_record records[2] = {{.name = (char[]){"a"}, .length = 4294967000u},
                              {.name = (char[]){"b"}, .offset = 4294967001u, .length = 293}};
    hspz_genome genome = {.path = (char[]){"big.fa"}, .records = records, .record_count = 2};
    hspz_layout layout;
    hspz_failure failure = {0};
    cr_assert_eq(hspz_layout_make(&genome, 4294967295u, &layout, &failure), 0);
    cr_expect_eq(layout.block_count, 1);
    cr_expect_eq(layout.blocks[0].length, HSPZ_BLOCK_MAX);
    hspz_layout_free(&layout);
    records[1].length = 294;
    cr_assert_eq(hspz_layout_make(&genome, 4294967295u, &layout, &failure), HSPZ_EXIT_DATA);
    cr_expect_not_null(
        strstr(failure.text,
               "big.fa: the block that begins with record a reaches 4294967295 bases with record b"),
        "'%s'", failure.text);
    cr_expect_null(layout.blocks);
    cr_assert_eq(hspz_layout_make(&genome, 500000000, &layout, &failure), 0);
    cr_expect_eq(layout.block_count, 2);
    cr_expect_eq(layout.blocks[1].offset, 4294967000u);
    hspz_layout_free(&layout);
    records[0].length = HSPZ_RECORD_MAX;
    cr_assert_eq(hspz_layout_make(&genome, 500000000, &layout, &failure), HSPZ_EXIT_DATA);
}

/* Intervals ----------------------------------------------------------------------------------------------- */

static void expect_interval(hspz_interval found, uint64_t begin, uint64_t end)
{
    cr_expect_eq(found.begin, begin);
    cr_expect_eq(found.end, end);
}

/* Q = 119, w = 19: D = 100. */
Test(layout, intervals_by_hand)
{
    cr_expect_eq(hspz_interval_count(119, 19, 40), 3);
    expect_interval(hspz_interval_at(119, 19, 40, 0, HSPZ_STRAND_PLUS), 0, 40);
    expect_interval(hspz_interval_at(119, 19, 40, 2, HSPZ_STRAND_PLUS), 80, 100);
    expect_interval(hspz_interval_at(119, 19, 40, 0, HSPZ_STRAND_MINUS), 60, 100);
    expect_interval(hspz_interval_at(119, 19, 40, 2, HSPZ_STRAND_MINUS), 0, 20);
    cr_expect_eq(hspz_interval_count(119, 19, 50), 2);
    expect_interval(hspz_interval_at(119, 19, 50, 1, HSPZ_STRAND_PLUS), 50, 100);
    cr_expect_eq(hspz_interval_count(119, 19, 100), 1);
    cr_expect_eq(hspz_interval_count(119, 19, 99), 2);
    expect_interval(hspz_interval_at(119, 19, 99, 1, HSPZ_STRAND_PLUS), 99, 100);
    cr_expect_eq(hspz_interval_count(119, 19, UINT64_MAX), 1);
    expect_interval(hspz_interval_at(119, 19, UINT64_MAX, 0, HSPZ_STRAND_PLUS), 0, 100);
    cr_expect_eq(hspz_interval_count(18, 19, 10), 0);
    cr_expect_eq(hspz_interval_count(0, 19, 10), 0);
    cr_expect_eq(hspz_interval_count(19, 19, 10), 1);
    expect_interval(hspz_interval_at(19, 19, 10, 0, HSPZ_STRAND_PLUS), 0, 0);
    expect_interval(hspz_interval_at(19, 19, 10, 0, HSPZ_STRAND_MINUS), 0, 0);
    cr_expect_eq(hspz_interval_count(20, 19, 10), 1);
    expect_interval(hspz_interval_at(20, 19, 10, 0, HSPZ_STRAND_PLUS), 0, 1);
    cr_expect_eq(hspz_interval_count(HSPZ_BLOCK_MAX, 19, 1), HSPZ_BLOCK_MAX - 19u);
}
