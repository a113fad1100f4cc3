/* companions_hash_build.c -- builds: every sentence of the contract about keys, values, capacity and statistics. */
#include "companions_hash.h"

#include <string.h>

#define EACH_SIDE(s)                                                                                         \
    side all_sides[SIDES];                                                                                   \
    sides_load(all_sides);                                                                                   \
    for (const side *s = all_sides; s < all_sides + SIDES; s++)

static void expect_statistics(const side *s, const uint32_t *is, uint32_t unique, uint32_t duplicate,
                              uint32_t overflow, uint32_t invalid, uint32_t probes, uint32_t longest)
{
    const uint32_t wanted[] = {unique, duplicate, overflow, invalid, probes, longest};
    for (uint32_t i = 0; i < HSPZ_HASH_BUILD_STATISTICS; i++)
        cr_assert_eq(is[i], wanted[i], "%s: statistic %u is %u, not %u", s->name, i, is[i], wanted[i]);
}

Test(hash_build, no_rows_clear_table_and_statistics)
{
    EACH_SIDE(s)
    {
        for (uint32_t stride = 1; stride <= 2; stride++) {
            index_under_test index = make_index(16, 0, stride);
            source none = {.rows = 0, .shape = stride};
            build(s, &index, &none);
            expect_statistics(s, index.statistics, 0, 0, 0, 0, 0, 0);
            for (uint32_t i = 0; i < 16; i++)
                cr_assert_eq(index.table.keys[i * stride], HSPZ_HASH_EMPTY_KEY);
        }
    }
}

Test(hash_build, zero_length_values_at_the_end_of_their_buffer)
{
    EACH_SIDE(s)
    {
        index_under_test index = make_index(16, 0, 1);
        uint32_t buffer[4] = {1, 2, 3, 4};
        source none = {.keys = buffer + 4, .values = buffer + 4, .rows = 0};
        build(s, &index, &none);
        expect_statistics(s, index.statistics, 0, 0, 0, 0, 0, 0);
    }
}

Test(hash_build, rebuild_forgets_the_last_build)
{
    EACH_SIDE(s)
    {
        uint32_t first[3] = {5, 6, 7}, second[2] = {8, 6}, probes;
        index_under_test index = make_index(16, 0, 1);
        build(s, &index, &(source){.keys = first, .rows = 3});
        build(s, &index, &(source){.keys = second, .rows = 2, .first_value = 100});
        cr_assert_eq(expected_lookup(&index.table, 16, 5, &probes), HSPZ_HASH_NO_VALUE);
        cr_assert_eq(expected_lookup(&index.table, 16, 6, &probes), 101);
        cr_assert_eq(index.statistics[HSPZ_HASH_UNIQUE], 2);
    }
}

Test(hash_build, reserved_key_is_invalid)
{
    EACH_SIDE(s)
    {
        uint32_t keys[5] = {HSPZ_HASH_EMPTY_KEY, 9, HSPZ_HASH_EMPTY_KEY, 9, 0};
        index_under_test index = make_index(8, 0, 1);
        build(s, &index, &(source){.keys = keys, .rows = 5});
        cr_assert_eq(index.statistics[HSPZ_HASH_INVALID], 2);
        cr_assert_eq(index.statistics[HSPZ_HASH_UNIQUE], 2);
        cr_assert_eq(index.statistics[HSPZ_HASH_DUPLICATE], 1);
        check_map(s, &index, &(source){.keys = keys, .rows = 5});
    }
}

Test(hash_build, lowest_row_wins_across_chunks_with_and_without_values)
{
    EACH_SIDE(s)
    {
        uint64_t state = 77;
        uint32_t *keys = filled(3000, 4), *values = filled(3000, 4);
        for (uint32_t i = 0; i < 3000; i++) {
            keys[i] = (uint32_t)random_below(&state, 400) * 977;
            values[i] = (uint32_t)next_random(&state);
        }
        for (uint64_t shape = 0; shape < 12; shape++) {
            index_under_test index = make_index(1024, 0, 1 + shape % 2);
            source from = {keys, shape % 3 == 0 ? NULL : values, 3000, 0xfffffff0u, shape};
            build(s, &index, &from);
            check_map(s, &index, &from);
        }
    }
}

Test(hash_build, generated_values_wrap_and_use_global_rows)
{
    EACH_SIDE(s)
    {
        uint32_t keys[64], probes;
        for (uint32_t i = 0; i < 64; i++)
            keys[i] = i;
        index_under_test index = make_index(128, 0, 1);
        build(s, &index, &(source){.keys = keys, .rows = 64, .first_value = 0xffffffe0u, .shape = 5});
        cr_assert_eq(expected_lookup(&index.table, 128, 31, &probes), 0xffffffffu);
        cr_assert_eq(expected_lookup(&index.table, 128, 32, &probes), 0u);
        cr_assert_eq(expected_lookup(&index.table, 128, 63, &probes), 31u);
    }
}

Test(hash_build, colliding_keys_cost_what_linear_probing_costs)
{
    EACH_SIDE(s)
    {
        uint32_t keys[100];
        colliding_keys(keys, 100, 256, 250); /* their run wraps around the end of the table */
        index_under_test index = make_index(256, 0, 1);
        build(s, &index, &(source){.keys = keys, .rows = 100, .shape = 3});
        expect_statistics(s, index.statistics, 100, 0, 0, 0, 100 * 101 / 2, 100);
        check_map(s, &index, &(source){.keys = keys, .rows = 100});
        for (uint32_t i = 0; i < 100; i++)
            cr_assert_neq(index.table.keys[(250 + i) % 256], HSPZ_HASH_EMPTY_KEY);
    }
}

Test(hash_build, overflow_is_counted_and_nothing_grows)
{
    EACH_SIDE(s)
    {
        uint32_t keys[100];
        colliding_keys(keys, 100, 256, 7);
        index_under_test index = make_index(256, 10, 1);
        build(s, &index, &(source){.keys = keys, .rows = 100});
        expect_statistics(s, index.statistics, 10, 0, 90, 0, 55 + 90 * 10, 10);
        uint32_t occupied = 0;
        for (uint32_t i = 0; i < 256; i++)
            occupied += index.table.keys[i] != HSPZ_HASH_EMPTY_KEY;
        cr_assert_eq(occupied, 10);
    }
}

Test(hash_build, full_table_keeps_exactly_its_capacity)
{
    EACH_SIDE(s)
    {
        uint32_t keys[1000], probes;
        for (uint32_t i = 0; i < 1000; i++)
            keys[i] = i % 500 * 3 + 1;
        index_under_test index = make_index(64, 0, 2);
        build(s, &index, &(source){.keys = keys, .rows = 1000, .first_value = 5, .shape = 9});
        cr_assert_eq(index.statistics[HSPZ_HASH_UNIQUE], 64);
        cr_assert_eq(index.statistics[HSPZ_HASH_DUPLICATE], 64, "%s", s->name);
        cr_assert_eq(index.statistics[HSPZ_HASH_OVERFLOW], 1000 - 128);
        cr_assert_eq(index.statistics[HSPZ_HASH_BUILD_LONGEST], 64);
        for (uint32_t i = 0; i < 64; i++) {
            uint32_t key = index.table.keys[2 * i];
            cr_assert_eq(expected_lookup(&index.table, 64, key, &probes), 5 + (key - 1) / 3);
        }
    }
}

Test(hash_build, max_probe_one_and_capacity_one)
{
    EACH_SIDE(s)
    {
        uint32_t keys[40];
        colliding_keys(keys, 20, 32, 1);
        colliding_keys(keys + 20, 20, 32, 2);
        index_under_test index = make_index(32, 1, 1);
        build(s, &index, &(source){.keys = keys, .rows = 40});
        expect_statistics(s, index.statistics, 2, 0, 38, 0, 40, 1);
        index_under_test one = make_index(1, 0, 1);
        build(s, &one, &(source){.keys = keys, .rows = 40});
        expect_statistics(s, one.statistics, 1, 0, 39, 0, 40, 1);
    }
}

Test(hash_build, batch_index_has_row_bases_and_masks)
{
    EACH_SIDE(s)
    {
        uint32_t a[4] = {10, 11, 12, 10}, b[3] = {12, 13, 14}, mask_a[4] = {0, 1, 7, 1},
                 mask_b[3] = {1, 0, 1}, probes;
        hspz_hash_batch_chunk chunks[3] = {
            {a, mask_a, 4, 1000, 0}, {NULL, NULL, 0, 55, 0}, {b, mask_b, 3, 7, 0}};
        index_under_test index = make_index(16, 0, 1);
        hspz_hash_batch_build request = {.struct_size = sizeof request,
                                         .device = s->device,
                                         .table = &index.table,
                                         .chunks = chunks,
                                         .chunk_count = 3,
                                         .chunk_stride = sizeof *chunks,
                                         .threads = s->threads,
                                         .statistics = index.statistics};
        request.scratch_size = s->hash->batch_build_scratch_size(&request);
        request.scratch = filled(request.scratch_size, 1);
        cr_assert_eq(s->hash->batch_build(&request, NULL), HSPZ_OK);
        cr_assert_eq(expected_lookup(&index.table, 16, 10, &probes), 1003); /* row 0 is masked out */
        cr_assert_eq(expected_lookup(&index.table, 16, 11, &probes), 1001);
        cr_assert_eq(expected_lookup(&index.table, 16, 12, &probes), 1002); /* the earlier chunk wins */
        cr_assert_eq(expected_lookup(&index.table, 16, 13, &probes), HSPZ_HASH_NO_VALUE);
        cr_assert_eq(expected_lookup(&index.table, 16, 14, &probes), 9);
        cr_assert_eq(index.statistics[HSPZ_HASH_INVALID], 2);
        cr_assert_eq(index.statistics[HSPZ_HASH_DUPLICATE], 1);
        cr_assert_eq(index.statistics[HSPZ_HASH_UNIQUE], 4);
        request.chunk_count = 0;
        cr_assert_eq(s->hash->batch_build(&request, NULL), HSPZ_OK);
        expect_statistics(s, index.statistics, 0, 0, 0, 0, 0, 0);
    }
}

Test(hash_build, same_map_however_rows_are_executed)
{
    side sides[SIDES];
    sides_load(sides);
    uint64_t state = 4242, rows = 200000;
    uint32_t *keys = filled(rows, 4);
    for (uint64_t i = 0; i < rows; i++)
        keys[i] = (uint32_t)random_below(&state, 60000) * 65537;
    index_under_test wanted = make_index(1 << 17, 0, 1);
    build(&sides[0], &wanted, &(source){.keys = keys, .rows = rows / 16});
    wanted.table.max_probe = 4000;
    build(&sides[0], &wanted, &(source){.keys = keys, .rows = rows});
    for (uint32_t round = 0; round < 8; round++) {
        index_under_test index = make_index(1 << 17, 4000, 1 + round % 2);
        build(&sides[1 + round % (SIDES - 1)], &index, &(source){.keys = keys, .rows = rows, .shape = round});
        for (uint32_t i = 0; i < 4; i++)
            cr_assert_eq(index.statistics[i], wanted.statistics[i]);
        for (uint64_t i = 0; i < rows; i++) {
            uint32_t p;
            cr_assert_eq(expected_lookup(&index.table, 4000, keys[i], &p),
                         expected_lookup(&wanted.table, 4000, keys[i], &p));
        }
    }
}

Test(hash_build, sixteen_million_rows)
{
    side sides[SIDES];
    sides_load(sides);
    uint64_t rows = 1u << 24;
    uint32_t *keys = filled(rows, 4), *values = filled(rows, 4), *found = filled(rows, 4);
    for (uint64_t i = 0; i < rows; i++)
        keys[i] = (uint32_t)i *
                  2654435761u; /* odd factor: all different; one of them is the reserved key or none */
    index_under_test index = make_index(1u << 25, 255, 2);
    build(&sides[2], &index, &(source){.keys = keys, .rows = rows});
    cr_assert_eq(index.statistics[HSPZ_HASH_UNIQUE] + index.statistics[HSPZ_HASH_INVALID], rows);
    cr_assert_eq(index.statistics[HSPZ_HASH_OVERFLOW], 0);
    hspz_u32_view key_view = {keys, rows};
    hspz_u32_range value_range = {values, rows}, found_range = {found, rows};
    hspz_u32_output value_output = {&value_range, 1}, found_output = {&found_range, 1};
    uint32_t statistics[HSPZ_HASH_QUERY_STATISTICS];
    hspz_hash_query query = {.struct_size = sizeof query,
                             .device = HSPZ_DEVICE_CPU,
                             .table = &index.table,
                             .keys = {&key_view, 1},
                             .values = &value_output,
                             .found = &found_output,
                             .threads = 2,
                             .statistics = statistics};
    cr_assert_eq(sides[2].hash->query(&query, NULL), HSPZ_OK);
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < rows; i++)
        wrong += keys[i] != HSPZ_HASH_EMPTY_KEY && (values[i] != i || found[i] != 1);
    cr_assert_eq(wrong, 0);
    cr_assert_eq(statistics[HSPZ_HASH_FOUND], index.statistics[HSPZ_HASH_UNIQUE]);
}
