/* hash_index.c -- the hash index in the plainest way: one row after the other.
 *
 * Idea: lists of chunks are read one word at a time through cursors, so that boundaries never meet the
 * algorithm. Rows run in source order, hence the first row that brings a key is its lowest one and its value
 * can be stored at once; faster versions that run rows in any order have to come to the same map.
 * Cost: one probe sequence per row.
 */
#include "hash_index.h"

#include <stdbool.h>

/* Places in a list of chunks: the next word to read or write. */
typedef struct reader {
    const hspz_u32_view *chunk;
    uint64_t at;
} reader;

typedef struct writer {
    const hspz_u32_range *chunk; /* NULL: nothing is wanted */
    uint64_t at;
} writer;

static uint32_t read_next(reader *r)
{
    while (r->at == r->chunk->count) {
        r->chunk++;
        r->at = 0;
    }
    return r->chunk->data[r->at++];
}

static void write_next(writer *w, uint32_t word)
{
    if (w->chunk == NULL)
        return;
    while (w->at == w->chunk->count) {
        w->chunk++;
        w->at = 0;
    }
    w->chunk->data[w->at++] = word;
}

static uint64_t list_rows(const hspz_u32_list *list)
{
    uint64_t rows = 0;
    for (uint64_t i = 0; i < list->chunk_count; i++)
        rows += list->chunks[i].count;
    return rows;
}

static void clear_words(uint32_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        words[i] = 0;
}

static void clear_table(const hspz_hash_table *table)
{
    for (uint64_t i = 0; i < table->capacity; i++)
        table->keys[i * table->slot_stride] = HSPZ_HASH_EMPTY_KEY;
}

/* Walks the slots of `key`. True when a slot holds it, or, for an insertion, is free for it; *place is then the slot times
 * the stride. *probes counts the slots that were looked at. */
static bool find_slot(const hspz_hash_table *table, uint32_t key, uint32_t max_probe, bool insert,
                      uint64_t *place, uint32_t *probes)
{
    uint32_t slot = hspz_hash_slot(key, table->capacity);
    for (*probes = 1; *probes <= max_probe; ++*probes) {
        *place = (uint64_t)slot * table->slot_stride;
        if (table->keys[*place] == key)
            return true;
        if (table->keys[*place] == HSPZ_HASH_EMPTY_KEY)
            return insert;
        slot = (slot + 1) & (table->capacity - 1);
    }
    *probes = max_probe;
    return false;
}

/* One source row. */
static void insert_row(const hspz_hash_table *table, uint32_t max_probe, uint32_t key, bool valid,
                       uint32_t value, uint32_t *statistics)
{
    if (key == HSPZ_HASH_EMPTY_KEY || !valid) {
        statistics[HSPZ_HASH_INVALID]++;
        return;
    }
    uint64_t place = 0;
    uint32_t probes = 0;
    if (!find_slot(table, key, max_probe, true, &place, &probes)) {
        statistics[HSPZ_HASH_OVERFLOW]++;
    } else if (table->keys[place] == key) {
        statistics[HSPZ_HASH_DUPLICATE]++;
    } else {
        statistics[HSPZ_HASH_UNIQUE]++;
        table->keys[place] = key;
        table->values[place] = value;
    }
    statistics[HSPZ_HASH_BUILD_PROBES] += probes;
    if (probes > statistics[HSPZ_HASH_BUILD_LONGEST])
        statistics[HSPZ_HASH_BUILD_LONGEST] = probes;
}

/* One query row: true and *value when it is found. */
static bool look_up(const hspz_hash_table *table, uint32_t max_probe, uint32_t key, bool valid,
                    uint32_t *value, uint32_t *probes, uint32_t *statistics)
{
    uint64_t place = 0;
    bool found = false;
    *probes = 0;
    if (key != HSPZ_HASH_EMPTY_KEY && valid)
        found = find_slot(table, key, max_probe, false, &place, probes);
    *value = found ? table->values[place] : HSPZ_HASH_NO_VALUE;
    statistics[found ? HSPZ_HASH_FOUND : HSPZ_HASH_MISSING]++;
    statistics[HSPZ_HASH_QUERY_PROBES] += *probes;
    if (*probes > statistics[HSPZ_HASH_QUERY_LONGEST])
        statistics[HSPZ_HASH_QUERY_LONGEST] = *probes;
    return found;
}

static hspz_status build(const hspz_hash_build *request, hspz_error *error)
{
    uint32_t max_probe = 0;
    hspz_status status = hspz__oracle_check_build(request, &max_probe, error);
    if (status != HSPZ_OK)
        return status;
    clear_words(request->statistics, HSPZ_HASH_BUILD_STATISTICS);
    clear_table(request->table);
    reader keys = {request->keys.chunks, 0};
    reader values = {request->values != NULL ? request->values->chunks : NULL, 0};
    uint64_t rows = list_rows(&request->keys);
    for (uint64_t row = 0; row < rows; row++) {
        uint32_t key = read_next(&keys);
        uint32_t value = request->values != NULL ? read_next(&values) : request->first_value + (uint32_t)row;
        insert_row(request->table, max_probe, key, true, value, request->statistics);
    }
    return HSPZ_OK;
}

static hspz_status batch_build(const hspz_hash_batch_build *request, hspz_error *error)
{
    uint32_t max_probe = 0;
    hspz_status status = hspz__oracle_check_batch_build(request, &max_probe, error);
    if (status != HSPZ_OK)
        return status;
    clear_words(request->statistics, HSPZ_HASH_BUILD_STATISTICS);
    clear_table(request->table);
    const char *at = (const char *)request->chunks;
    for (uint64_t i = 0; i < request->chunk_count; i++, at += request->chunk_stride) {
        const hspz_hash_batch_chunk *chunk = (const void *)at;
        for (uint64_t row = 0; row < chunk->count; row++)
            insert_row(request->table, max_probe, chunk->keys[row],
                       chunk->valid == NULL || chunk->valid[row] != 0, chunk->first_value + (uint32_t)row,
                       request->statistics);
    }
    return HSPZ_OK;
}

static writer output(const hspz_u32_output *list)
{
    return (writer){list != NULL ? list->chunks : NULL, 0};
}

static hspz_status query(const hspz_hash_query *request, hspz_error *error)
{
    uint32_t max_probe = 0;
    hspz_status status = hspz__oracle_check_query(request, &max_probe, error);
    if (status != HSPZ_OK)
        return status;
    clear_words(request->statistics, HSPZ_HASH_QUERY_STATISTICS);
    reader keys = {request->keys.chunks, 0};
    writer values = output(request->values), found = output(request->found), probes = output(request->probes);
    uint64_t rows = list_rows(&request->keys);
    for (uint64_t row = 0; row < rows; row++) {
        uint32_t value = 0, probed = 0;
        bool hit =
            look_up(request->table, max_probe, read_next(&keys), true, &value, &probed, request->statistics);
        write_next(&values, value);
        write_next(&found, hit);
        write_next(&probes, probed);
    }
    return HSPZ_OK;
}

static hspz_status join(const hspz_hash_join *request, hspz_error *error)
{
    uint32_t max_probe = 0;
    hspz_status status = hspz__oracle_check_join(request, &max_probe, error);
    if (status != HSPZ_OK)
        return status;
    clear_words(request->statistics, HSPZ_HASH_QUERY_STATISTICS);
    reader keys = {request->keys.chunks, 0};
    uint64_t rows = list_rows(&request->keys);
    uint32_t pairs = 0;
    for (uint64_t row = 0; row < rows; row++) {
        uint32_t value = 0, probed = 0;
        if (!look_up(request->table, max_probe, read_next(&keys), true, &value, &probed, request->statistics))
            continue;
        if (pairs < request->pair_capacity) {
            request->left_rows[pairs] = request->first_left + (uint32_t)row;
            request->right_rows[pairs] = value;
        }
        pairs++;
    }
    *request->pair_count = pairs;
    return HSPZ_OK;
}

static void join_chunk(const hspz_hash_table *table, uint32_t max_probe, const hspz_hash_join_chunk *chunk)
{
    uint32_t pairs = 0;
    clear_words(chunk->statistics, HSPZ_HASH_QUERY_STATISTICS);
    for (uint64_t row = 0; row < chunk->count; row++) {
        uint32_t value = 0, probed = 0;
        bool valid = chunk->valid == NULL || chunk->valid[row] != 0;
        if (!look_up(table, max_probe, chunk->keys[row], valid, &value, &probed, chunk->statistics))
            continue;
        if (pairs < chunk->pair_capacity) {
            chunk->left_rows[pairs] = chunk->first_left + (uint32_t)row;
            chunk->right_rows[pairs] = value;
        }
        pairs++;
    }
    *chunk->pair_count = pairs;
}

static hspz_status batch_join(const hspz_hash_batch_join *request, hspz_error *error)
{
    uint32_t max_probe = 0;
    hspz_status status = hspz__oracle_check_batch_join(request, &max_probe, error);
    if (status != HSPZ_OK)
        return status;
    const char *at = (const char *)request->chunks;
    for (uint64_t i = 0; i < request->chunk_count; i++, at += request->chunk_stride)
        join_chunk(request->table, max_probe, (const void *)at);
    return HSPZ_OK;
}

/* Sequential rows need no scratch. */
static uint64_t build_scratch(const hspz_hash_build *request)
{
    (void)request;
    return 0;
}

static uint64_t batch_build_scratch(const hspz_hash_batch_build *request)
{
    (void)request;
    return 0;
}

static uint64_t join_scratch(const hspz_hash_join *request)
{
    (void)request;
    return 0;
}

static uint64_t batch_join_scratch(const hspz_hash_batch_join *request)
{
    (void)request;
    return 0;
}

const hspz_hash_index hspz__oracle_hash_index = {
    .struct_size = sizeof(hspz_hash_index),
    .build_scratch_size = build_scratch,
    .build = build,
    .batch_build_scratch_size = batch_build_scratch,
    .batch_build = batch_build,
    .query = query,
    .join_scratch_size = join_scratch,
    .join = join,
    .batch_join_scratch_size = batch_join_scratch,
    .batch_join = batch_join,
};
