/* companions_hash_query.c -- queries and joins: every row keeps its place, pairs are stable, counts are exact. */
#include "companions_hash.h"

#include <string.h>

#define ROWS 5000u
#define CAPACITY 2048u

/* A built index and keys to look up: hits, misses, repeats and reserved keys. */
typedef struct lookup_case {
    index_under_test index;
    uint32_t *keys;
} lookup_case;

static lookup_case make_case(const side *s, uint32_t stride)
{
    lookup_case c = {.index = make_index(CAPACITY, 64, stride)};
    uint64_t state = 99;
    uint32_t *source_keys = filled(1000, 4);
    c.keys = filled(ROWS, 4);
    for (uint32_t i = 0; i < 1000; i++)
        source_keys[i] = (uint32_t)random_below(&state, 1500) * 31;
    for (uint32_t i = 0; i < ROWS; i++)
        c.keys[i] =
            random_below(&state, 20) == 0 ? HSPZ_HASH_EMPTY_KEY : (uint32_t)random_below(&state, 2500) * 31;
    build(s, &c.index, &(source){.keys = source_keys, .rows = 1000, .first_value = 40});
    return c;
}

static hspz_hash_query make_query(const side *s, const lookup_case *c, hspz_u32_view views[CHUNKS_MOST],
                                  uint64_t rows, uint64_t shape, uint32_t *statistics)
{
    return (hspz_hash_query){.struct_size = sizeof(hspz_hash_query),
                             .device = s->device,
                             .table = &c->index.table,
                             .keys = {views, cut_views(c->keys, rows, shape, views)},
                             .threads = s->threads,
                             .statistics = statistics};
}

static void check_query(const side *s, uint64_t shape, uint32_t stride, uint32_t max_probe)
{
    lookup_case c = make_case(s, stride);
    uint32_t *values = filled(ROWS, 4), *found = filled(ROWS, 4), *probes = filled(ROWS, 4);
    uint32_t statistics[HSPZ_HASH_QUERY_STATISTICS] = {9, 9, 9, 9}, sums[4] = {0};
    hspz_u32_view views[CHUNKS_MOST];
    hspz_u32_range a[CHUNKS_MOST], b[CHUNKS_MOST], d[CHUNKS_MOST];
    hspz_u32_output value_output = {a, cut_ranges(values, ROWS, shape * 3, a)};
    hspz_u32_output found_output = {b, cut_ranges(found, ROWS, shape * 5, b)};
    hspz_u32_output probe_output = {d, cut_ranges(probes, ROWS, shape * 11, d)};
    hspz_hash_query query = make_query(s, &c, views, ROWS, shape, statistics);
    query.values = &value_output;
    query.found = &found_output;
    query.probes = &probe_output;
    query.max_probe = max_probe;
    cr_assert_eq(s->hash->query(&query, NULL), HSPZ_OK);
    uint32_t bound = max_probe != 0 ? max_probe : 64;
    for (uint32_t i = 0; i < ROWS; i++) {
        uint32_t probed, value = expected_lookup(&c.index.table, bound, c.keys[i], &probed);
        cr_assert_eq(values[i], value);
        cr_assert_eq(found[i], value != HSPZ_HASH_NO_VALUE);
        cr_assert_eq(probes[i], probed);
        sums[value != HSPZ_HASH_NO_VALUE ? HSPZ_HASH_FOUND : HSPZ_HASH_MISSING]++;
        sums[HSPZ_HASH_QUERY_PROBES] += probed;
        if (probed > sums[HSPZ_HASH_QUERY_LONGEST])
            sums[HSPZ_HASH_QUERY_LONGEST] = probed;
    }
    cr_assert_arr_eq(statistics, sums, sizeof sums);
    cr_assert_gt(sums[HSPZ_HASH_FOUND], 1000);
    cr_assert_gt(sums[HSPZ_HASH_MISSING], 1000);
}

Test(hash_query, every_row_keeps_its_place_whatever_the_boundaries)
{
    side sides[SIDES];
    sides_load(sides);
    for (uint32_t i = 0; i < SIDES; i++)
        for (uint64_t shape = 0; shape < 10; shape++)
            check_query(&sides[i], shape, 1 + shape % 2, shape == 4 ? 2 : 0);
}

Test(hash_query, no_rows_clear_statistics_and_outputs_are_optional)
{
    side sides[SIDES];
    sides_load(sides);
    for (uint32_t i = 0; i < SIDES; i++) {
        lookup_case c = make_case(&sides[i], 1);
        uint32_t statistics[4] = {1, 2, 3, 4};
        hspz_u32_view views[CHUNKS_MOST];
        hspz_hash_query query = make_query(&sides[i], &c, views, 0, 3, statistics);
        cr_assert_eq(sides[i].hash->query(&query, NULL), HSPZ_OK);
        cr_assert_eq(statistics[0] | statistics[1] | statistics[2] | statistics[3], 0);
        query = make_query(&sides[i], &c, views, ROWS, 3, statistics);
        cr_assert_eq(sides[i].hash->query(&query, NULL), HSPZ_OK);
        cr_assert_eq(statistics[HSPZ_HASH_FOUND] + statistics[HSPZ_HASH_MISSING], ROWS);
    }
}

/* A table of `capacity` slots, `shift` slots behind an aligned place, with about as many keys, and every bound a query may have. */
static void check_bounds(const side *s, uint32_t capacity, uint32_t stride, uint32_t shift)
{
    uint64_t state = 7 + capacity + 1000 * shift + stride;
    index_under_test index = make_index(2 * capacity, 0, stride);
    uint32_t keys[1500], values[1500], found[1500], probes[1500], statistics[4];
    index.table.capacity = capacity;
    index.table.keys += shift * stride;
    index.table.values = stride == 2 ? index.table.keys + 1 : index.table.keys + 2 * capacity;
    for (uint32_t i = 0; i < 1500; i++)
        keys[i] = random_below(&state, 9) == 0 ? HSPZ_HASH_EMPTY_KEY
                                               : (uint32_t)random_below(&state, capacity + capacity / 2 + 2);
    build(s, &index, &(source){.keys = keys, .rows = capacity, .first_value = 3});
    hspz_u32_view view = {keys, 1500};
    hspz_u32_range a = {values, 1500}, b = {found, 1500}, c = {probes, 1500};
    hspz_u32_output value_output = {&a, 1}, found_output = {&b, 1}, probe_output = {&c, 1};
    for (uint32_t bound = 1; bound <= capacity && bound <= 9; bound++) {
        hspz_hash_query query = {.struct_size = sizeof query,
                                 .device = s->device,
                                 .table = &index.table,
                                 .keys = {&view, 1},
                                 .values = &value_output,
                                 .found = &found_output,
                                 .probes = &probe_output,
                                 .max_probe = bound,
                                 .threads = s->threads,
                                 .statistics = statistics};
        uint32_t total = 0;
        cr_assert_eq(s->hash->query(&query, NULL), HSPZ_OK);
        for (uint32_t i = 0; i < 1500; i++) {
            uint32_t probed, value = expected_lookup(&index.table, bound, keys[i], &probed);
            cr_assert_eq(values[i], value, "%s: capacity %u, stride %u, bound %u, key %u", s->name, capacity,
                         stride, bound, keys[i]);
            cr_assert_eq(found[i], value != HSPZ_HASH_NO_VALUE);
            cr_assert_eq(probes[i], probed);
            total += probed;
        }
        cr_assert_eq(statistics[HSPZ_HASH_QUERY_PROBES], total);
    }
}

Test(hash_query, every_bound_in_small_full_and_unaligned_tables)
{
    side sides[SIDES];
    sides_load(sides);
    for (uint32_t i = 0; i < SIDES; i++)
        for (uint32_t capacity = 1; capacity <= 64; capacity *= 2)
            for (uint32_t k = 0; k < 4; k++)
                check_bounds(&sides[i], capacity, 1 + k % 2, k / 2);
}

/* Pairs of keys[begin..begin+rows) as they must be published. */
static uint32_t expected_pairs(const lookup_case *c, const uint32_t *valid, uint32_t begin, uint32_t rows,
                               uint32_t first_left, uint32_t *left, uint32_t *right)
{
    uint32_t pairs = 0;
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t probed, value = expected_lookup(&c->index.table, 64, c->keys[begin + i], &probed);
        if (value == HSPZ_HASH_NO_VALUE || (valid != NULL && valid[i] == 0))
            continue;
        left[pairs] = first_left + i;
        right[pairs++] = value;
    }
    return pairs;
}

static void check_join(const side *s, uint64_t shape, uint64_t capacity)
{
    lookup_case c = make_case(s, 1 + shape % 2);
    uint32_t *left = filled(ROWS, 4), *right = filled(ROWS, 4), *want_left = filled(ROWS, 4);
    uint32_t *want_right = filled(ROWS, 4), count = 0, statistics[4];
    hspz_u32_view views[CHUNKS_MOST];
    hspz_hash_join join = {.struct_size = sizeof join,
                           .device = s->device,
                           .table = &c.index.table,
                           .keys = {views, cut_views(c.keys, ROWS, shape, views)},
                           .first_left = 70,
                           .left_rows = capacity == 0 ? NULL : left,
                           .right_rows = capacity == 0 ? NULL : right,
                           .pair_capacity = capacity,
                           .pair_count = &count,
                           .statistics = statistics,
                           .threads = s->threads};
    join.scratch_size = s->hash->join_scratch_size(&join);
    join.scratch = filled(join.scratch_size, 1);
    cr_assert_eq(s->hash->join(&join, NULL), HSPZ_OK);
    uint32_t wanted = expected_pairs(&c, NULL, 0, ROWS, 70, want_left, want_right);
    cr_assert_eq(count, wanted);
    cr_assert_eq(statistics[HSPZ_HASH_FOUND], wanted);
    cr_assert_eq(statistics[HSPZ_HASH_FOUND] + statistics[HSPZ_HASH_MISSING], ROWS);
    uint64_t written = wanted < capacity ? wanted : capacity;
    cr_assert_arr_eq(left, want_left, written * 4);
    cr_assert_arr_eq(right, want_right, written * 4);
    for (uint64_t i = written; i < ROWS; i++)
        cr_assert(left[i] == 0xa5a5a5a5u && right[i] == 0xa5a5a5a5u, "%s wrote beyond the capacity", s->name);
}

Test(hash_join, pairs_are_stable_and_the_count_is_exact_even_when_cut)
{
    side sides[SIDES];
    sides_load(sides);
    for (uint32_t i = 0; i < SIDES; i++)
        for (uint64_t shape = 0; shape < 8; shape++)
            check_join(&sides[i], shape, shape == 1 ? 0 : shape == 2 ? 17 : ROWS);
}

static void check_batch_join(const side *s)
{
    enum { CHUNKS = 5 };
    static const uint32_t sizes[CHUNKS] = {1500, 0, 1, 3000, 200};
    static const uint64_t capacities[CHUNKS] = {1500, 0, 0, 100, 200};
    lookup_case c = make_case(s, 1);
    uint32_t *valid = filled(ROWS, 4), counts[CHUNKS], statistics[CHUNKS][4], begin = 0;
    hspz_hash_join_chunk chunks[CHUNKS];
    for (uint32_t i = 0; i < ROWS; i++)
        valid[i] = i % 3;
    for (uint32_t i = 0; i < CHUNKS; begin += sizes[i++])
        chunks[i] = (hspz_hash_join_chunk){.keys = c.keys + begin,
                                           .valid = i % 2 == 0 ? NULL : valid,
                                           .count = sizes[i],
                                           .first_left = i * 10000,
                                           .left_rows = filled(capacities[i], 4),
                                           .right_rows = filled(capacities[i], 4),
                                           .pair_capacity = capacities[i],
                                           .pair_count = &counts[i],
                                           .statistics = statistics[i]};
    chunks[4].valid = NULL;
    /* the second masked chunk reads the same mask: inputs may overlap inputs */
    hspz_hash_batch_join join = {.struct_size = sizeof join,
                                 .device = s->device,
                                 .table = &c.index.table,
                                 .chunks = chunks,
                                 .chunk_count = CHUNKS,
                                 .chunk_stride = sizeof *chunks,
                                 .threads = s->threads};
    join.scratch_size = s->hash->batch_join_scratch_size(&join);
    join.scratch = filled(join.scratch_size, 1);
    cr_assert_eq(s->hash->batch_join(&join, NULL), HSPZ_OK);
    begin = 0;
    for (uint32_t i = 0; i < CHUNKS; begin += sizes[i++]) {
        uint32_t *left = filled(ROWS, 4), *right = filled(ROWS, 4);
        uint32_t wanted = expected_pairs(&c, chunks[i].valid, begin, sizes[i], i * 10000, left, right);
        uint64_t written = wanted < capacities[i] ? wanted : capacities[i];
        cr_assert_eq(counts[i], wanted);
        cr_assert_eq(statistics[i][HSPZ_HASH_FOUND], wanted);
        cr_assert_eq(statistics[i][HSPZ_HASH_MISSING], sizes[i] - wanted);
        cr_assert_arr_eq(chunks[i].left_rows, left, written * 4);
        cr_assert_arr_eq(chunks[i].right_rows, right, written * 4);
    }
}

Test(hash_join, each_left_chunk_has_its_own_pairs_count_and_statistics)
{
    side sides[SIDES];
    sides_load(sides);
    for (uint32_t i = 0; i < SIDES; i++)
        check_batch_join(&sides[i]);
}
