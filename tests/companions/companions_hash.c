/* companions_hash.c -- builds indexes for the tests and says by brute force what must be in them. */
#include "companions_hash.h"

#include <string.h>

/* Boundary number i of a sequence under `shape`: ascending, repeated ones make empty chunks. */
static uint64_t boundaries(uint64_t rows, uint64_t shape, uint64_t ends[CHUNKS_MOST])
{
    uint64_t count = 1, at = 0, state = shape * 2654435761u + 1;
    if (shape != 0)
        count = shape % 4 == 3 ? CHUNKS_MOST - random_below(&state, 50) : 1 + random_below(&state, 16);
    for (uint64_t i = 0; i + 1 < count; i++) {
        if (random_below(&state, 4) != 0)
            at += random_below(&state, (rows - at) / (1 + (count - i) / 4) + 1);
        ends[i] = at;
    }
    ends[count - 1] = rows;
    return count;
}

uint64_t cut_views(const uint32_t *data, uint64_t rows, uint64_t shape, hspz_u32_view views[CHUNKS_MOST])
{
    uint64_t ends[CHUNKS_MOST], begin = 0, count = boundaries(rows, shape, ends);
    for (uint64_t i = 0; i < count; begin = ends[i++])
        views[i] = (hspz_u32_view){data + begin, ends[i] - begin};
    return count;
}

uint64_t cut_ranges(uint32_t *data, uint64_t rows, uint64_t shape, hspz_u32_range ranges[CHUNKS_MOST])
{
    uint64_t ends[CHUNKS_MOST], begin = 0, count = boundaries(rows, shape, ends);
    for (uint64_t i = 0; i < count; begin = ends[i++])
        ranges[i] = (hspz_u32_range){data + begin, ends[i] - begin};
    return count;
}

index_under_test make_index(uint32_t capacity, uint32_t max_probe, uint32_t stride)
{
    index_under_test index = {.table = {.struct_size = sizeof(hspz_hash_table),
                                        .capacity = capacity,
                                        .max_probe = max_probe,
                                        .slot_stride = stride}};
    index.table.keys = filled(2 * (uint64_t)capacity, 4);
    index.table.values = stride == 2 ? index.table.keys + 1 : index.table.keys + capacity;
    memset(index.statistics, 0xa5, sizeof index.statistics);
    return index;
}

hspz_status try_build(const side *s, index_under_test *index, const source *from, hspz_error *error)
{
    hspz_u32_view keys[CHUNKS_MOST], values[CHUNKS_MOST];
    hspz_u32_list value_list = {
        values, from->values == NULL ? 0 : cut_views(from->values, from->rows, from->shape * 7, values)};
    hspz_hash_build request = {.struct_size = sizeof request,
                               .device = s->device,
                               .table = &index->table,
                               .keys = {keys, cut_views(from->keys, from->rows, from->shape, keys)},
                               .values = from->values == NULL ? NULL : &value_list,
                               .first_value = from->first_value,
                               .threads = s->threads,
                               .statistics = index->statistics};
    request.scratch_size = s->hash->build_scratch_size(&request);
    request.scratch = filled(request.scratch_size, 1);
    return s->hash->build(&request, error);
}

void build(const side *s, index_under_test *index, const source *from)
{
    hspz_error error = {.struct_size = sizeof error};
    hspz_status status = try_build(s, index, from, &error);
    cr_assert_eq(status, HSPZ_OK, "%s: %s", s->name, error.text);
}

uint32_t expected_lookup(const hspz_hash_table *table, uint32_t max_probe, uint32_t key, uint32_t *probes)
{
    *probes = 0;
    if (key == HSPZ_HASH_EMPTY_KEY)
        return HSPZ_HASH_NO_VALUE;
    uint32_t slot = hspz_hash_slot(key, table->capacity);
    while (*probes < max_probe) {
        uint64_t at = (uint64_t)slot * table->slot_stride;
        ++*probes;
        if (table->keys[at] == key)
            return table->values[at];
        if (table->keys[at] == HSPZ_HASH_EMPTY_KEY)
            break;
        slot = (slot + 1) & (table->capacity - 1);
    }
    return HSPZ_HASH_NO_VALUE;
}

uint32_t expected_value(const source *from, uint32_t key)
{
    for (uint64_t row = 0; row < from->rows; row++)
        if (from->keys[row] == key)
            return from->values != NULL ? from->values[row] : from->first_value + (uint32_t)row;
    return HSPZ_HASH_NO_VALUE;
}

void check_map(const side *s, const index_under_test *index, const source *from)
{
    const hspz_hash_table *t = &index->table;
    uint32_t occupied = 0, invalid = 0, probes = 0, bound = t->max_probe == 0 ? t->capacity : t->max_probe;
    for (uint64_t i = 0; i < t->capacity; i++) {
        uint32_t key = t->keys[i * t->slot_stride];
        if (key == HSPZ_HASH_EMPTY_KEY)
            continue;
        occupied++;
        cr_assert_eq(t->values[i * t->slot_stride], expected_value(from, key), "%s: key %u", s->name, key);
    }
    for (uint64_t row = 0; row < from->rows; row++) {
        uint32_t key = from->keys[row];
        invalid += key == HSPZ_HASH_EMPTY_KEY;
        if (key != HSPZ_HASH_EMPTY_KEY)
            cr_assert_eq(expected_lookup(t, bound, key, &probes), expected_value(from, key), "%s: row %llu",
                         s->name, (unsigned long long)row);
    }
    cr_assert_eq(index->statistics[HSPZ_HASH_UNIQUE], occupied);
    cr_assert_eq(index->statistics[HSPZ_HASH_INVALID], invalid);
    cr_assert_eq(index->statistics[HSPZ_HASH_OVERFLOW], 0);
    cr_assert_eq(index->statistics[HSPZ_HASH_DUPLICATE], from->rows - occupied - invalid);
}

void colliding_keys(uint32_t *keys, uint32_t count, uint32_t capacity, uint32_t slot)
{
    uint32_t made = 0;
    for (uint32_t key = 0; made < count && key != HSPZ_HASH_EMPTY_KEY; key++)
        if (hspz_hash_slot(key, capacity) == slot)
            keys[made++] = key;
    cr_assert_eq(made, count);
}
