/* companions_hash_refusals.c -- what a hash index must refuse, with a status, a sentence and untouched buffers. */
#include "companions_hash.h"

#include <string.h>

/* Refused with `status`, a sentence in the error, nothing written. */
static void expect_refused(const side *s, index_under_test *index, const source *from, hspz_status status)
{
    hspz_error error = {.struct_size = sizeof error};
    uint32_t before = index->statistics[0];
    uint32_t first_key = index->table.keys != NULL ? index->table.keys[0] : 0;
    cr_assert_eq(try_build(s, index, from, &error), status, "%s: %s", s->name, error.text);
    cr_assert_eq(error.status, status);
    cr_assert_gt(strlen(error.text), 10);
    cr_assert_eq(index->statistics[0], before);
    if (index->table.keys != NULL)
        cr_assert_eq(index->table.keys[0], first_key);
}

Test(hash_refusals, capacity_and_probe_bounds)
{
    side sides[SIDES];
    sides_load(sides);
    uint32_t keys[4] = {1, 2, 3, 4};
    source from = {.keys = keys, .rows = 4};
    for (const side *s = sides; s < sides + SIDES; s++) {
        static const uint32_t bad[] = {0, 3, 6, 0xffffffffu};
        for (uint32_t i = 0; i < 4; i++) {
            index_under_test index = make_index(8, 0, 1);
            index.table.capacity = bad[i];
            expect_refused(s, &index, &from, HSPZ_E_ARGUMENT);
        }
        index_under_test probe = make_index(8, 9, 1), stride = make_index(8, 0, 1),
                         null = make_index(8, 0, 1);
        expect_refused(s, &probe, &from, HSPZ_E_ARGUMENT);
        stride.table.slot_stride = 3;
        expect_refused(s, &stride, &from, HSPZ_E_ARGUMENT);
        stride.table.slot_stride = 2; /* values are not keys + 1 */
        expect_refused(s, &stride, &from, HSPZ_E_ARGUMENT);
        null.table.keys = NULL;
        expect_refused(s, &null, &from, HSPZ_E_ARGUMENT);
        null = make_index(8, 0, 1);
        null.table.struct_size = 8;
        expect_refused(s, &null, &from, HSPZ_E_ARGUMENT);
        index_under_test null_keys = make_index(8, 0, 1);
        expect_refused(s, &null_keys, &(source){.rows = 3}, HSPZ_E_ARGUMENT);
    }
}

Test(hash_refusals, counters_that_could_overflow)
{
    side sides[SIDES];
    sides_load(sides);
    uint32_t *keys = filled(70000, 4);
    for (const side *s = sides; s < sides + SIDES; s++) {
        index_under_test index = make_index(65536, 0, 1);
        memset(index.table.keys, 0xff, 65536 * 8);
        expect_refused(s, &index, &(source){.keys = keys, .rows = 65536}, HSPZ_E_ARGUMENT);
        build(s, &index, &(source){.keys = keys, .rows = 65535}); /* 65535 * 65536 still fits */
        index.table.max_probe = 61357;
        expect_refused(s, &index, &(source){.keys = keys, .rows = 70000}, HSPZ_E_ARGUMENT);
        index.table.max_probe = 61356;
        build(s, &index, &(source){.keys = keys, .rows = 70000});
    }
}

/* A build request over one arena whose parts can be moved. */
typedef struct arena {
    uint32_t words[256] __attribute__((aligned(16)));
    hspz_hash_table table;
    hspz_u32_view keys;
    hspz_u32_view values;
    hspz_u32_list value_list;
    hspz_hash_build request;
} arena;

static void lay_out(arena *a, const side *s)
{
    memset(a, 0, sizeof *a);
    a->table = (hspz_hash_table){sizeof a->table, 16, 0, 1, a->words, a->words + 16};
    a->keys = (hspz_u32_view){a->words + 32, 8};
    a->values = (hspz_u32_view){a->words + 40, 8};
    a->value_list = (hspz_u32_list){&a->values, 1};
    a->request = (hspz_hash_build){.struct_size = sizeof a->request,
                                   .device = s->device,
                                   .table = &a->table,
                                   .keys = {&a->keys, 1},
                                   .values = &a->value_list,
                                   .threads = s->threads,
                                   .statistics = a->words + 48,
                                   .scratch = a->words + 64,
                                   .scratch_size = 64};
}

Test(hash_refusals, outputs_that_overlap_anything)
{
    side sides[SIDES];
    sides_load(sides);
    static arena a;
    for (const side *s = sides; s < sides + SIDES; s++) {
        lay_out(&a, s);
        cr_assert_eq(s->hash->build(&a.request, NULL), HSPZ_OK, "adjacent buffers do not overlap");
        lay_out(&a, s);
        a.table.values = a.words + 15;
        cr_assert_eq(s->hash->build(&a.request, NULL), HSPZ_E_ARGUMENT);
        lay_out(&a, s);
        a.keys.data = a.words + 31;
        cr_assert_eq(s->hash->build(&a.request, NULL), HSPZ_E_ARGUMENT);
        lay_out(&a, s);
        a.values.data = a.words + 45;
        cr_assert_eq(s->hash->build(&a.request, NULL), HSPZ_E_ARGUMENT);
        lay_out(&a, s);
        a.values.data = a.words + 36; /* inputs may overlap inputs */
        cr_assert_eq(s->hash->build(&a.request, NULL), HSPZ_OK);
        lay_out(&a, s);
        a.request.statistics = a.words + 5;
        cr_assert_eq(s->hash->build(&a.request, NULL), HSPZ_E_ARGUMENT);
        lay_out(&a, s);
        if (s->hash->build_scratch_size(&a.request) > 0) {
            a.request.scratch = a.words + 44;
            cr_assert_eq(s->hash->build(&a.request, NULL), HSPZ_E_ARGUMENT);
            lay_out(&a, s);
            a.request.scratch_size = 63;
            cr_assert_eq(s->hash->build(&a.request, NULL), HSPZ_E_ARGUMENT);
        }
    }
}

Test(hash_refusals, lengths_that_do_not_align)
{
    side sides[SIDES];
    sides_load(sides);
    static arena a;
    for (const side *s = sides; s < sides + SIDES; s++) {
        lay_out(&a, s);
        a.values.count = 7;
        cr_assert_eq(s->hash->build(&a.request, NULL), HSPZ_E_ARGUMENT);
        lay_out(&a, s);
        a.value_list.chunk_count = 0; /* explicit, but empty */
        cr_assert_eq(s->hash->build(&a.request, NULL), HSPZ_E_ARGUMENT);
        lay_out(&a, s);
        cr_assert_eq(s->hash->build(&a.request, NULL), HSPZ_OK);
        hspz_u32_range range = {a.words + 100, 9};
        hspz_u32_output output = {&range, 1};
        hspz_hash_query query = {.struct_size = sizeof query,
                                 .device = s->device,
                                 .table = &a.table,
                                 .keys = {&a.keys, 1},
                                 .found = &output,
                                 .statistics = a.words + 48,
                                 .threads = s->threads};
        cr_assert_eq(s->hash->query(&query, NULL), HSPZ_E_ARGUMENT);
        range.count = 8;
        cr_assert_eq(s->hash->query(&query, NULL), HSPZ_OK);
        range.data = a.words + 31; /* over the keys */
        cr_assert_eq(s->hash->query(&query, NULL), HSPZ_E_ARGUMENT);
        range.data = a.words + 10; /* over the table */
        cr_assert_eq(s->hash->query(&query, NULL), HSPZ_E_ARGUMENT);
        query.probes = &output;
        range.data = a.words + 100; /* two outputs in one place */
        cr_assert_eq(s->hash->query(&query, NULL), HSPZ_E_ARGUMENT);
    }
}

Test(hash_refusals, requests_that_cannot_be_read)
{
    side sides[SIDES];
    sides_load(sides);
    static arena a;
    for (const side *s = sides; s < sides + SIDES; s++) {
        cr_assert_eq(s->hash->build(NULL, NULL), HSPZ_E_ARGUMENT);
        cr_assert_eq(s->hash->query(NULL, NULL), HSPZ_E_ARGUMENT);
        cr_assert_eq(s->hash->join(NULL, NULL), HSPZ_E_ARGUMENT);
        cr_assert_eq(s->hash->batch_build(NULL, NULL), HSPZ_E_ARGUMENT);
        cr_assert_eq(s->hash->batch_join(NULL, NULL), HSPZ_E_ARGUMENT);
        lay_out(&a, s);
        a.request.struct_size = 16;
        cr_assert_eq(s->hash->build(&a.request, NULL), HSPZ_E_ARGUMENT);
        lay_out(&a, s);
        a.request.stream = &a;
        if (s->device == HSPZ_DEVICE_CPU)
            cr_assert_eq(s->hash->build(&a.request, NULL), HSPZ_E_ARGUMENT);
        lay_out(&a, s);
        a.request.statistics = NULL;
        cr_assert_eq(s->hash->build(&a.request, NULL), HSPZ_E_ARGUMENT);
        lay_out(&a, s);
        a.request.device = 77;
        cr_assert_lt(s->hash->build(&a.request, NULL), 0);
        lay_out(&a, s);
        a.keys.data = (const uint32_t *)((const char *)(a.words + 32) + 2);
        cr_assert_eq(s->hash->build(&a.request, NULL), HSPZ_E_ARGUMENT);
    }
}

Test(hash_refusals, oracle_has_no_device_memory)
{
    side sides[SIDES];
    sides_load(sides);
    static arena a;
    lay_out(&a, &sides[0]);
    a.request.device = HSPZ_DEVICE_CUDA;
    cr_assert_eq(sides[0].hash->build(&a.request, NULL), HSPZ_E_UNSUPPORTED);
}
