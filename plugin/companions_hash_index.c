/* companions_hash_index.c -- judges hash index requests and cuts them into spans for a device.
 *
 * Idea: lists with independent boundaries (keys, values, found, probes) are walked in step; each step takes the
 * shortest remainder of the current chunks. The result is a list of spans whose lists all are contiguous; its
 * length is at most the number of chunks. Rules that refuse a request are those of abi/hspz_hash_index.h.
 */
#include "companions.h"

#include <stdlib.h>

#define LISTS_MAX 4u

#pragma weak hspz__hash_cuda

/* Devices -------------------------------------------------------------------------------------------- */

static const hspz__hash_device *device_of(uint32_t kind)
{
    const hspz__hash_device *cuda = &hspz__hash_cuda;
    if (kind == HSPZ_DEVICE_CPU)
        return &hspz__hash_cpu;
    return kind == HSPZ_DEVICE_CUDA ? cuda : NULL;
}

static const hspz__hash_device *judge_device(hspz__judge *judge, uint32_t kind, const void *stream)
{
    const hspz__hash_device *device = device_of(kind);
    if (device == NULL)
        hspz__judge_refuse(judge, kind == HSPZ_DEVICE_CUDA ? HSPZ_E_NOT_BUILT : HSPZ_E_ARGUMENT,
                           kind == HSPZ_DEVICE_CUDA
                               ? "this plugin was built without its CUDA part"
                               : "device is neither HSPZ_DEVICE_CPU nor HSPZ_DEVICE_CUDA");
    else if (kind == HSPZ_DEVICE_CPU && stream != NULL)
        hspz__judge_refuse(judge, HSPZ_E_ARGUMENT, "stream must be NULL on the CPU");
    return device;
}

static int judge_header(hspz__judge *judge, const void *request, uint32_t least)
{
    if (request == NULL || *(const uint32_t *)request < least)
        hspz__judge_refuse(judge, HSPZ_E_ARGUMENT, "the request is NULL or its struct_size is below %u",
                           least);
    return judge->status == HSPZ_OK;
}

/* Table and counters --------------------------------------------------------------------------------- */

static hspz__slots judge_table(hspz__judge *judge, const hspz_hash_table *table, uint32_t max_probe,
                               int written)
{
    hspz__slots slots = {0};
    if (table == NULL || table->struct_size < sizeof *table) {
        hspz__judge_refuse(judge, HSPZ_E_ARGUMENT, "table is NULL or its struct_size is too small");
        return slots;
    }
    uint32_t capacity = table->capacity, own = table->max_probe == 0 ? capacity : table->max_probe;
    if (max_probe == 0)
        max_probe = own;
    if (capacity == 0 || (capacity & (capacity - 1)) != 0)
        hspz__judge_refuse(judge, HSPZ_E_ARGUMENT, "capacity is %u, not a power of two", capacity);
    if (own > capacity || max_probe > capacity)
        hspz__judge_refuse(judge, HSPZ_E_ARGUMENT, "max_probe is %u, not within 1..%u (the capacity)",
                           own > capacity ? own : max_probe, capacity);
    if (table->slot_stride == 1) {
        hspz__judge_range(judge, "table keys", table->keys, capacity, 4, written);
        hspz__judge_range(judge, "table values", table->values, capacity, 4, written);
    } else if (table->slot_stride == 2 && table->keys != NULL && table->values == table->keys + 1) {
        hspz__judge_range(judge, "table", table->keys, capacity, 8, written);
    } else {
        hspz__judge_refuse(judge, HSPZ_E_ARGUMENT,
                           "slot_stride is %u: allowed are 1, or 2 with values == keys + 1",
                           table->slot_stride);
    }
    return (hspz__slots){table->keys, table->values, capacity, table->slot_stride, max_probe};
}

/* Total probes must fit uint32; so do all other counters then, and row numbers stay below 2^32 - 1. */
static void judge_counters(hspz__judge *judge, uint64_t rows, uint32_t max_probe)
{
    if (max_probe != 0 && rows > UINT32_MAX / max_probe)
        hspz__judge_refuse(judge, HSPZ_E_ARGUMENT,
                           "%llu rows with max_probe %u could overflow the 32-bit counter of probes",
                           (unsigned long long)rows, max_probe);
    if (rows >= UINT32_MAX)
        hspz__judge_refuse(judge, HSPZ_E_ARGUMENT, "%llu rows are more than 2^32 - 2",
                           (unsigned long long)rows);
}

static void judge_scratch(hspz__judge *judge, void *scratch, uint64_t given, uint64_t needed,
                          uint64_t alignment)
{
    if (given < needed)
        hspz__judge_refuse(judge, HSPZ_E_ARGUMENT, "scratch_size is %llu, needed are %llu bytes",
                           (unsigned long long)given, (unsigned long long)needed);
    hspz__judge_range(judge, "scratch", scratch, (needed + alignment - 1) / alignment, alignment, 1);
}

/* Lists ------------------------------------------------------------------------------------------------ */

/* A list and a place in it. Views and ranges have one layout; which of the two pointers is set tells them apart. */
typedef struct cursor {
    const hspz_u32_view *views;
    const hspz_u32_range *ranges;
    uint64_t chunks;
    uint64_t chunk;
    uint64_t at;
} cursor;

static cursor read_cursor(const hspz_u32_list *list)
{
    return (cursor){.views = list->chunks, .chunks = list->chunk_count};
}

static cursor write_cursor(const hspz_u32_output *list)
{
    return (cursor){.ranges = list != NULL ? list->chunks : NULL,
                    .chunks = list != NULL ? list->chunk_count : 0};
}

static uint64_t chunk_count(const cursor *c, uint64_t chunk)
{
    if (c->views != NULL)
        return c->views[chunk].count;
    return c->ranges != NULL ? c->ranges[chunk].count : 0;
}

/* Rows left in the current chunk, after empty chunks were stepped over; 0 at the end. */
static uint64_t cursor_left(cursor *c)
{
    while (c->chunk < c->chunks && c->at == chunk_count(c, c->chunk)) {
        c->chunk++;
        c->at = 0;
    }
    return c->chunk < c->chunks ? chunk_count(c, c->chunk) - c->at : 0;
}

static const uint32_t *cursor_read(const cursor *c)
{
    return c->views != NULL ? c->views[c->chunk].data + c->at : NULL;
}

static uint32_t *cursor_write(const cursor *c)
{
    return c->ranges != NULL ? c->ranges[c->chunk].data + c->at : NULL;
}

/* Judges the chunks of a list and sums their rows. */
static uint64_t judge_list(hspz__judge *judge, const char *name, const cursor *c)
{
    uint64_t rows = 0;
    if (c->chunks > 0 && c->views == NULL && c->ranges == NULL) {
        hspz__judge_refuse(judge, HSPZ_E_ARGUMENT, "%s has %llu chunks but no list", name,
                           (unsigned long long)c->chunks);
        return 0;
    }
    for (uint64_t i = 0; i < c->chunks && judge->status == HSPZ_OK; i++) {
        uint64_t count = chunk_count(c, i);
        if (count > UINT64_MAX - rows)
            hspz__judge_refuse(judge, HSPZ_E_ARGUMENT, "%s has 2^64 rows or more", name);
        rows += count;
        hspz__judge_range(judge, name,
                          c->views != NULL ? c->views[i].data : (const uint32_t *)c->ranges[i].data, count, 4,
                          c->views == NULL);
    }
    return rows;
}

static void judge_aligned(hspz__judge *judge, const char *name, uint64_t rows, uint64_t keys)
{
    if (rows != keys)
        hspz__judge_refuse(judge, HSPZ_E_ARGUMENT, "%s have %llu rows, keys have %llu", name,
                           (unsigned long long)rows, (unsigned long long)keys);
}

/* Shortest remainder of the lists; all of them have one length. */
static uint64_t common_left(cursor *lists, const int *present, uint32_t count)
{
    uint64_t least = cursor_left(&lists[0]);
    for (uint32_t i = 1; i < count; i++) {
        uint64_t left = present[i] ? cursor_left(&lists[i]) : least;
        if (left < least)
            least = left;
    }
    return least;
}

static void advance(cursor *lists, const int *present, uint32_t count, uint64_t rows)
{
    for (uint32_t i = 0; i < count; i++)
        if (present[i])
            lists[i].at += rows;
}

/* Room for the spans of lists with `chunks` chunks in all. NULL: out of memory, refused in words. */
static void *span_memory(hspz__judge *judge, uint64_t chunks, size_t size)
{
    void *memory = chunks < SIZE_MAX / size ? malloc((size_t)(chunks + 1) * size) : NULL;
    if (memory == NULL)
        hspz__judge_refuse(judge, HSPZ_E_MEMORY, "no memory for %llu spans", (unsigned long long)chunks);
    return memory;
}

/* Build ------------------------------------------------------------------------------------------------ */

static uint64_t table_scratch(const hspz_hash_table *table, uint32_t device_kind, uint64_t chunks)
{
    const hspz__hash_device *device = device_of(device_kind);
    if (device == NULL || table == NULL || table->struct_size < sizeof *table ||
        (table->capacity & (table->capacity - 1)) != 0)
        return 0;
    return device->build_scratch(table->capacity, chunks);
}

static uint64_t build_chunks(const hspz_hash_build *request)
{
    return request->keys.chunk_count + (request->values != NULL ? request->values->chunk_count : 0);
}

static uint64_t build_scratch_size(const hspz_hash_build *request)
{
    if (request == NULL || request->struct_size < sizeof *request)
        return 0;
    return table_scratch(request->table, request->device, build_chunks(request));
}

static hspz_status build(const hspz_hash_build *request, hspz_error *error)
{
    hspz__judge judge = {.error = error};
    if (!judge_header(&judge, request, sizeof *request))
        return judge.status;
    const hspz__hash_device *device = judge_device(&judge, request->device, request->stream);
    hspz__build_work work = {.slots = judge_table(&judge, request->table, 0, 1),
                             .statistics = request->statistics,
                             .threads = request->threads,
                             .stream = request->stream};
    static const hspz_u32_list no_values = {NULL, 0};
    cursor lists[2] = {read_cursor(&request->keys),
                       read_cursor(request->values != NULL ? request->values : &no_values)};
    int present[2] = {1, request->values != NULL};
    work.rows = judge_list(&judge, "keys", &lists[0]);
    if (present[1])
        judge_aligned(&judge, "values", judge_list(&judge, "values", &lists[1]), work.rows);
    judge_counters(&judge, work.rows, work.slots.max_probe);
    hspz__judge_range(&judge, "statistics", request->statistics, HSPZ_HASH_BUILD_STATISTICS, 4, 1);
    uint64_t scratch = build_scratch_size(request);
    judge_scratch(&judge, request->scratch, request->scratch_size, scratch, 4);
    if (hspz__judge_finish(&judge) != HSPZ_OK)
        return judge.status;

    hspz__build_span *spans = span_memory(&judge, build_chunks(request), sizeof *spans);
    if (spans == NULL)
        return judge.status;
    uint64_t row = 0;
    for (uint64_t left; (left = common_left(lists, present, 2)) > 0; row += left) {
        spans[work.span_count++] = (hspz__build_span){.keys = cursor_read(&lists[0]),
                                                      .values = present[1] ? cursor_read(&lists[1]) : NULL,
                                                      .first_row = (uint32_t)row,
                                                      .count = (uint32_t)left,
                                                      .first_value = request->first_value + (uint32_t)row};
        advance(lists, present, 2, left);
    }
    work.spans = spans;
    work.source_rows = scratch > 0 ? request->scratch : NULL;
    hspz_status status = device->build(&work, error);
    free(spans);
    return status;
}

/* Batch build ------------------------------------------------------------------------------------------ */

static uint64_t batch_build_scratch_size(const hspz_hash_batch_build *request)
{
    if (request == NULL || request->struct_size < sizeof *request)
        return 0;
    return table_scratch(request->table, request->device, request->chunk_count);
}

static void judge_chunks(hspz__judge *judge, const void *chunks, uint64_t count, uint32_t stride,
                         size_t least)
{
    if (count > 0 && (chunks == NULL || stride < least || stride % 8 != 0))
        hspz__judge_refuse(judge, HSPZ_E_ARGUMENT,
                           "chunks is NULL or chunk_stride %u is not one of this version", stride);
}

static const void *chunk_at(const void *chunks, uint32_t stride, uint64_t i)
{
    return (const char *)chunks + i * stride;
}

static hspz_status batch_build(const hspz_hash_batch_build *request, hspz_error *error)
{
    hspz__judge judge = {.error = error};
    if (!judge_header(&judge, request, sizeof *request))
        return judge.status;
    const hspz__hash_device *device = judge_device(&judge, request->device, request->stream);
    hspz__build_work work = {.slots = judge_table(&judge, request->table, 0, 1),
                             .statistics = request->statistics,
                             .threads = request->threads,
                             .stream = request->stream};
    judge_chunks(&judge, request->chunks, request->chunk_count, request->chunk_stride,
                 sizeof(hspz_hash_batch_chunk));
    for (uint64_t i = 0; i < request->chunk_count && judge.status == HSPZ_OK; i++) {
        const hspz_hash_batch_chunk *chunk = chunk_at(request->chunks, request->chunk_stride, i);
        hspz__judge_range(&judge, "keys", chunk->keys, chunk->count, 4, 0);
        hspz__judge_range(&judge, "valid", chunk->valid, chunk->valid != NULL ? chunk->count : 0, 4, 0);
        judge_counters(&judge, chunk->count, work.slots.max_probe);
        work.rows += chunk->count;
        judge_counters(&judge, work.rows, work.slots.max_probe);
    }
    hspz__judge_range(&judge, "statistics", request->statistics, HSPZ_HASH_BUILD_STATISTICS, 4, 1);
    uint64_t scratch = batch_build_scratch_size(request);
    judge_scratch(&judge, request->scratch, request->scratch_size, scratch, 4);
    if (hspz__judge_finish(&judge) != HSPZ_OK)
        return judge.status;

    hspz__build_span *spans = span_memory(&judge, request->chunk_count, sizeof *spans);
    if (spans == NULL)
        return judge.status;
    uint32_t row = 0;
    for (uint64_t i = 0; i < request->chunk_count; i++) {
        const hspz_hash_batch_chunk *chunk = chunk_at(request->chunks, request->chunk_stride, i);
        if (chunk->count == 0)
            continue;
        spans[work.span_count++] = (hspz__build_span){.keys = chunk->keys,
                                                      .valid = chunk->valid,
                                                      .first_row = row,
                                                      .count = (uint32_t)chunk->count,
                                                      .first_value = chunk->first_value};
        row += (uint32_t)chunk->count;
    }
    work.spans = spans;
    work.source_rows = scratch > 0 ? request->scratch : NULL;
    hspz_status status = device->build(&work, error);
    free(spans);
    return status;
}

/* Query ------------------------------------------------------------------------------------------------ */

static hspz_status query(const hspz_hash_query *request, hspz_error *error)
{
    hspz__judge judge = {.error = error};
    if (!judge_header(&judge, request, sizeof *request))
        return judge.status;
    const hspz__hash_device *device = judge_device(&judge, request->device, request->stream);
    hspz__query_work work = {.slots = judge_table(&judge, request->table, request->max_probe, 0),
                             .statistics = request->statistics,
                             .threads = request->threads,
                             .stream = request->stream};
    cursor lists[LISTS_MAX] = {read_cursor(&request->keys), write_cursor(request->values),
                               write_cursor(request->found), write_cursor(request->probes)};
    static const char *const names[LISTS_MAX] = {"keys", "values", "found", "probes"};
    int present[LISTS_MAX] = {1, request->values != NULL, request->found != NULL, request->probes != NULL};
    uint64_t rows = judge_list(&judge, names[0], &lists[0]), chunks = 0;
    for (uint32_t i = 1; i < LISTS_MAX; i++)
        if (present[i])
            judge_aligned(&judge, names[i], judge_list(&judge, names[i], &lists[i]), rows);
    for (uint32_t i = 0; i < LISTS_MAX; i++)
        chunks += lists[i].chunks;
    judge_counters(&judge, rows, work.slots.max_probe);
    hspz__judge_range(&judge, "statistics", request->statistics, HSPZ_HASH_QUERY_STATISTICS, 4, 1);
    if (hspz__judge_finish(&judge) != HSPZ_OK)
        return judge.status;

    hspz__query_span *spans = span_memory(&judge, chunks, sizeof *spans);
    if (spans == NULL)
        return judge.status;
    for (uint64_t left; (left = common_left(lists, present, LISTS_MAX)) > 0;) {
        hspz__query_span *span = &spans[work.span_count++];
        span->keys = cursor_read(&lists[0]);
        span->values = present[1] ? cursor_write(&lists[1]) : NULL;
        span->found = present[2] ? cursor_write(&lists[2]) : NULL;
        span->probes = present[3] ? cursor_write(&lists[3]) : NULL;
        span->count = (uint32_t)left;
        advance(lists, present, LISTS_MAX, left);
    }
    work.spans = spans;
    hspz_status status = device->query(&work, error);
    free(spans);
    return status;
}

/* Join ------------------------------------------------------------------------------------------------- */

static uint64_t tiles_of(const hspz__hash_device *device, uint64_t rows)
{
    return rows / device->join_tile + (rows % device->join_tile != 0);
}

static void judge_group(hspz__judge *judge, const hspz__join_group *group)
{
    hspz__judge_range(judge, "left_rows", group->left_rows, group->pair_capacity, 4, 1);
    hspz__judge_range(judge, "right_rows", group->right_rows, group->pair_capacity, 4, 1);
    hspz__judge_range(judge, "pair_count", group->pair_count, 1, 4, 1);
    hspz__judge_range(judge, "statistics", group->statistics, HSPZ_HASH_QUERY_STATISTICS, 4, 1);
}

static uint64_t join_scratch_size(const hspz_hash_join *request)
{
    uint64_t tiles = 0;
    if (request == NULL || request->struct_size < sizeof *request || device_of(request->device) == NULL ||
        (request->keys.chunks == NULL && request->keys.chunk_count > 0))
        return 0;
    const hspz__hash_device *device = device_of(request->device);
    for (uint64_t i = 0; i < request->keys.chunk_count; i++)
        tiles += tiles_of(device, request->keys.chunks[i].count);
    return device->join_scratch(tiles);
}

static hspz_status join(const hspz_hash_join *request, hspz_error *error)
{
    hspz__judge judge = {.error = error};
    if (!judge_header(&judge, request, sizeof *request))
        return judge.status;
    const hspz__hash_device *device = judge_device(&judge, request->device, request->stream);
    hspz__join_group group = {request->left_rows, request->right_rows, request->pair_capacity,
                              request->pair_count, request->statistics};
    hspz__join_work work = {.slots = judge_table(&judge, request->table, request->max_probe, 0),
                            .groups = &group,
                            .group_count = 1,
                            .scratch = request->scratch,
                            .threads = request->threads,
                            .stream = request->stream};
    cursor keys = read_cursor(&request->keys);
    judge_counters(&judge, judge_list(&judge, "keys", &keys), work.slots.max_probe);
    judge_group(&judge, &group);
    if (judge.status == HSPZ_OK)
        judge_scratch(&judge, request->scratch, request->scratch_size, join_scratch_size(request), 8);
    if (hspz__judge_finish(&judge) != HSPZ_OK)
        return judge.status;

    hspz__join_span *spans = span_memory(&judge, request->keys.chunk_count, sizeof *spans);
    if (spans == NULL)
        return judge.status;
    uint32_t row = request->first_left;
    for (uint64_t left; (left = cursor_left(&keys)) > 0; row += (uint32_t)left) {
        spans[work.span_count++] =
            (hspz__join_span){.keys = cursor_read(&keys), .count = (uint32_t)left, .first_left = row};
        keys.at += left;
    }
    work.spans = spans;
    hspz_status status = device->join(&work, error);
    free(spans);
    return status;
}

static uint64_t batch_join_scratch_size(const hspz_hash_batch_join *request)
{
    uint64_t tiles = 0;
    if (request == NULL || request->struct_size < sizeof *request || device_of(request->device) == NULL ||
        (request->chunk_count > 0 &&
         (request->chunks == NULL || request->chunk_stride < sizeof(hspz_hash_join_chunk))))
        return 0;
    const hspz__hash_device *device = device_of(request->device);
    for (uint64_t i = 0; i < request->chunk_count; i++) {
        const hspz_hash_join_chunk *chunk = chunk_at(request->chunks, request->chunk_stride, i);
        tiles += tiles_of(device, chunk->count);
    }
    return device->join_scratch(tiles);
}

/* Groups and spans of a judged batch join, and the device's work on them. */
static hspz_status batch_join_work(const hspz_hash_batch_join *request, const hspz__hash_device *device,
                                   hspz__join_work *work, hspz__judge *judge)
{
    hspz_status status = HSPZ_E_MEMORY;
    hspz__join_span *spans = span_memory(judge, request->chunk_count, sizeof *spans);
    hspz__join_group *groups = span_memory(judge, request->chunk_count, sizeof *groups);
    if (spans == NULL || groups == NULL)
        goto done;
    for (uint64_t i = 0; i < request->chunk_count; i++) {
        const hspz_hash_join_chunk *chunk = chunk_at(request->chunks, request->chunk_stride, i);
        groups[i] = (hspz__join_group){chunk->left_rows, chunk->right_rows, chunk->pair_capacity,
                                       chunk->pair_count, chunk->statistics};
        if (chunk->count > 0)
            spans[work->span_count++] = (hspz__join_span){.keys = chunk->keys,
                                                          .valid = chunk->valid,
                                                          .count = (uint32_t)chunk->count,
                                                          .first_left = chunk->first_left,
                                                          .group = i};
    }
    work->groups = groups;
    work->group_count = request->chunk_count;
    work->spans = spans;
    status = device->join(work, judge->error);
done:
    free(groups);
    free(spans);
    return status;
}

static hspz_status batch_join(const hspz_hash_batch_join *request, hspz_error *error)
{
    hspz__judge judge = {.error = error};
    if (!judge_header(&judge, request, sizeof *request))
        return judge.status;
    const hspz__hash_device *device = judge_device(&judge, request->device, request->stream);
    hspz__join_work work = {.slots = judge_table(&judge, request->table, request->max_probe, 0),
                            .scratch = request->scratch,
                            .threads = request->threads,
                            .stream = request->stream};
    judge_chunks(&judge, request->chunks, request->chunk_count, request->chunk_stride,
                 sizeof(hspz_hash_join_chunk));
    for (uint64_t i = 0; i < request->chunk_count && judge.status == HSPZ_OK; i++) {
        const hspz_hash_join_chunk *chunk = chunk_at(request->chunks, request->chunk_stride, i);
        hspz__join_group group = {chunk->left_rows, chunk->right_rows, chunk->pair_capacity,
                                  chunk->pair_count, chunk->statistics};
        judge_counters(&judge, chunk->count, work.slots.max_probe);
        hspz__judge_range(&judge, "keys", chunk->keys, chunk->count, 4, 0);
        hspz__judge_range(&judge, "valid", chunk->valid, chunk->valid != NULL ? chunk->count : 0, 4, 0);
        judge_group(&judge, &group);
    }
    if (judge.status == HSPZ_OK)
        judge_scratch(&judge, request->scratch, request->scratch_size, batch_join_scratch_size(request), 8);
    if (hspz__judge_finish(&judge) != HSPZ_OK)
        return judge.status;
    return batch_join_work(request, device, &work, &judge);
}

const hspz_hash_index hspz__hash_index = {
    .struct_size = sizeof(hspz_hash_index),
    .build_scratch_size = build_scratch_size,
    .build = build,
    .batch_build_scratch_size = batch_build_scratch_size,
    .batch_build = batch_build,
    .query = query,
    .join_scratch_size = join_scratch_size,
    .join = join,
    .batch_join_scratch_size = batch_join_scratch_size,
    .batch_join = batch_join,
};
