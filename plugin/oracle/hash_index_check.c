/* hash_index_check.c -- what the oracle's hash index refuses, and in which words.
 *
 * Idea: each request names memory ranges that it reads or writes. A check walks them once: sums the lengths of
 * the lists, bounds the counters, and notes each range in a small growing array. When all are known, the ranges are
 * sorted by address and swept, so that "no writable range overlaps anything" costs n log n, however many
 * chunks there are. Nothing is written before a request has passed.
 */
#include "hash_index.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct range {
    uintptr_t begin;
    uintptr_t end;
    bool written;
} range;

/* The state of one check. The first refusal sticks. */
typedef struct check {
    range *ranges;
    size_t count;
    size_t capacity;
    hspz_status status;
    hspz_error *error;
} check;

__attribute__((format(printf, 3, 4))) static void refuse(check *c, hspz_status status, const char *format,
                                                         ...)
{
    if (c->status != HSPZ_OK)
        return;
    c->status = status;
    if (c->error == NULL || !HSPZ_HAS_FIELD(hspz_error, c->error, text))
        return;
    c->error->status = status;
    c->error->device_code = 0;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->error->text, sizeof c->error->text, format, arguments);
    va_end(arguments);
}

/* Notes `count` words at `data`. */
static void note(check *c, const char *name, const void *data, uint64_t count, bool written)
{
    if (count == 0 || c->status != HSPZ_OK)
        return;
    uintptr_t begin = (uintptr_t)data;
    if (data == NULL)
        refuse(c, HSPZ_E_ARGUMENT, "%s is NULL but has %llu rows", name, (unsigned long long)count);
    else if (begin % sizeof(uint32_t) != 0)
        refuse(c, HSPZ_E_ARGUMENT, "%s is not aligned to 4 bytes", name);
    else if (count > (UINTPTR_MAX - begin) / sizeof(uint32_t))
        refuse(c, HSPZ_E_ARGUMENT, "%s reaches beyond the address space", name);
    if (c->status != HSPZ_OK)
        return;
    if (c->count == c->capacity) {
        size_t capacity = c->capacity == 0 ? 32 : 2 * c->capacity;
        range *grown =
            capacity > SIZE_MAX / sizeof *grown ? NULL : realloc(c->ranges, capacity * sizeof *grown);
        if (grown == NULL) {
            refuse(c, HSPZ_E_MEMORY, "no memory to check %zu chunks", c->count);
            return;
        }
        c->ranges = grown;
        c->capacity = capacity;
    }
    c->ranges[c->count++] = (range){begin, begin + count * sizeof(uint32_t), written};
}

static int by_address(const void *left, const void *right)
{
    const range *a = left, *b = right;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* Ends a check: overlaps are looked for, memory is released. */
static hspz_status finish(check *c)
{
    uintptr_t read_end = 0, written_end = 0;
    if (c->status == HSPZ_OK && c->count > 0)
        qsort(c->ranges, c->count, sizeof *c->ranges, by_address);
    for (size_t i = 0; i < c->count && c->status == HSPZ_OK; i++) {
        const range *r = &c->ranges[i];
        if (r->begin < written_end || (r->written && r->begin < read_end))
            refuse(c, HSPZ_E_ARGUMENT, "an output overlaps another buffer of the same call");
        if (r->written && r->end > written_end)
            written_end = r->end;
        if (!r->written && r->end > read_end)
            read_end = r->end;
    }
    free(c->ranges);
    return c->status;
}

static void check_device(check *c, uint32_t device)
{
    if (device != HSPZ_DEVICE_CPU)
        refuse(c, HSPZ_E_UNSUPPORTED, "the oracle's hash index works in host memory only");
}

static void check_stream(check *c, const void *stream)
{
    if (stream != NULL)
        refuse(c, HSPZ_E_ARGUMENT, "stream must be NULL on the CPU");
}

/* The table, and the bound of the call: `wanted`, 0 for the table's own. */
static uint32_t check_table(check *c, const hspz_hash_table *t, uint32_t wanted, bool written)
{
    if (t == NULL || t->struct_size < sizeof *t) {
        refuse(c, HSPZ_E_ARGUMENT, "table is NULL or its struct_size is too small");
        return 0;
    }
    if (t->capacity == 0 || (t->capacity & (t->capacity - 1)) != 0)
        refuse(c, HSPZ_E_ARGUMENT, "capacity is %u, not a power of two", t->capacity);
    uint32_t bound = wanted != 0 ? wanted : t->max_probe != 0 ? t->max_probe : t->capacity;
    if (bound > t->capacity || t->max_probe > t->capacity)
        refuse(c, HSPZ_E_ARGUMENT, "max_probe is %u, more than the capacity of %u",
               bound > t->capacity ? bound : t->max_probe, t->capacity);
    if (t->slot_stride == 1) {
        note(c, "table keys", t->keys, t->capacity, written);
        note(c, "table values", t->values, t->capacity, written);
    } else if (t->slot_stride == 2) {
        if (t->keys == NULL || t->values != t->keys + 1 || (uintptr_t)t->keys % 8 != 0)
            refuse(c, HSPZ_E_ARGUMENT, "with slot_stride 2 values must be keys + 1, and keys 8-byte aligned");
        note(c, "table", t->keys, 2 * (uint64_t)t->capacity, written);
    } else {
        refuse(c, HSPZ_E_ARGUMENT, "slot_stride is %u, not 1 or 2", t->slot_stride);
    }
    return bound;
}

static uint64_t add_rows(check *c, const char *name, uint64_t rows, uint64_t count)
{
    if (count > UINT64_MAX - rows) {
        refuse(c, HSPZ_E_ARGUMENT, "%s has more than 2^64 rows", name);
        return rows;
    }
    return rows + count;
}

/* Rows of a list; its chunks are noted. */
static uint64_t check_list(check *c, const char *name, const hspz_u32_list *list)
{
    uint64_t rows = 0;
    if (list->chunk_count > 0 && list->chunks == NULL) {
        refuse(c, HSPZ_E_ARGUMENT, "%s has no chunk list", name);
        return 0;
    }
    for (uint64_t i = 0; i < list->chunk_count && c->status == HSPZ_OK; i++) {
        rows = add_rows(c, name, rows, list->chunks[i].count);
        note(c, name, list->chunks[i].data, list->chunks[i].count, false);
    }
    return rows;
}

static void check_output(check *c, const char *name, const hspz_u32_output *list, uint64_t keys)
{
    uint64_t rows = 0;
    if (list == NULL)
        return;
    if (list->chunk_count > 0 && list->chunks == NULL) {
        refuse(c, HSPZ_E_ARGUMENT, "%s has no chunk list", name);
        return;
    }
    for (uint64_t i = 0; i < list->chunk_count && c->status == HSPZ_OK; i++) {
        rows = add_rows(c, name, rows, list->chunks[i].count);
        note(c, name, list->chunks[i].data, list->chunks[i].count, true);
    }
    if (rows != keys)
        refuse(c, HSPZ_E_ARGUMENT, "%s has %llu rows, keys have %llu", name, (unsigned long long)rows,
               (unsigned long long)keys);
}

/* Counters are uint32: refuse what could make the total of probes wrap. */
static void check_counters(check *c, uint64_t rows, uint32_t max_probe)
{
    if (max_probe != 0 && rows > UINT32_MAX / max_probe)
        refuse(c, HSPZ_E_ARGUMENT, "%llu rows with max_probe %u could overflow the 32-bit probe counter",
               (unsigned long long)rows, max_probe);
}

static void check_header(check *c, const void *request, uint32_t least)
{
    if (request == NULL || *(const uint32_t *)request < least)
        refuse(c, HSPZ_E_ARGUMENT, "the request is NULL or its struct_size is too small");
}

static void check_chunk_list(check *c, const void *chunks, uint64_t count, uint32_t stride, size_t least)
{
    if (count > 0 && (chunks == NULL || stride < least || stride % 8 != 0))
        refuse(c, HSPZ_E_ARGUMENT, "chunks is NULL or chunk_stride is too small");
}

hspz_status hspz__oracle_check_build(const hspz_hash_build *request, uint32_t *max_probe, hspz_error *error)
{
    check c = {.error = error};
    check_header(&c, request, sizeof *request);
    if (c.status != HSPZ_OK)
        return c.status;
    check_device(&c, request->device);
    check_stream(&c, request->stream);
    *max_probe = check_table(&c, request->table, 0, true);
    uint64_t rows = check_list(&c, "keys", &request->keys);
    if (request->values != NULL) {
        uint64_t values = check_list(&c, "values", request->values);
        if (values != rows)
            refuse(&c, HSPZ_E_ARGUMENT, "values have %llu rows, keys have %llu", (unsigned long long)values,
                   (unsigned long long)rows);
    }
    check_counters(&c, rows, *max_probe);
    note(&c, "statistics", request->statistics, HSPZ_HASH_BUILD_STATISTICS, true);
    return finish(&c);
}

hspz_status hspz__oracle_check_batch_build(const hspz_hash_batch_build *request, uint32_t *max_probe,
                                           hspz_error *error)
{
    check c = {.error = error};
    check_header(&c, request, sizeof *request);
    if (c.status != HSPZ_OK)
        return c.status;
    check_device(&c, request->device);
    check_stream(&c, request->stream);
    *max_probe = check_table(&c, request->table, 0, true);
    check_chunk_list(&c, request->chunks, request->chunk_count, request->chunk_stride,
                     sizeof(hspz_hash_batch_chunk));
    uint64_t rows = 0;
    for (uint64_t i = 0; i < request->chunk_count && c.status == HSPZ_OK; i++) {
        const hspz_hash_batch_chunk *chunk =
            (const void *)((const char *)request->chunks + i * request->chunk_stride);
        rows = add_rows(&c, "chunks", rows, chunk->count);
        note(&c, "keys", chunk->keys, chunk->count, false);
        note(&c, "valid", chunk->valid, chunk->valid == NULL ? 0 : chunk->count, false);
    }
    check_counters(&c, rows, *max_probe);
    note(&c, "statistics", request->statistics, HSPZ_HASH_BUILD_STATISTICS, true);
    return finish(&c);
}

hspz_status hspz__oracle_check_query(const hspz_hash_query *request, uint32_t *max_probe, hspz_error *error)
{
    check c = {.error = error};
    check_header(&c, request, sizeof *request);
    if (c.status != HSPZ_OK)
        return c.status;
    check_device(&c, request->device);
    check_stream(&c, request->stream);
    *max_probe = check_table(&c, request->table, request->max_probe, false);
    uint64_t rows = check_list(&c, "keys", &request->keys);
    check_output(&c, "values", request->values, rows);
    check_output(&c, "found", request->found, rows);
    check_output(&c, "probes", request->probes, rows);
    check_counters(&c, rows, *max_probe);
    note(&c, "statistics", request->statistics, HSPZ_HASH_QUERY_STATISTICS, true);
    return finish(&c);
}

hspz_status hspz__oracle_check_join(const hspz_hash_join *request, uint32_t *max_probe, hspz_error *error)
{
    check c = {.error = error};
    check_header(&c, request, sizeof *request);
    if (c.status != HSPZ_OK)
        return c.status;
    check_device(&c, request->device);
    check_stream(&c, request->stream);
    *max_probe = check_table(&c, request->table, request->max_probe, false);
    check_counters(&c, check_list(&c, "keys", &request->keys), *max_probe);
    note(&c, "left_rows", request->left_rows, request->pair_capacity, true);
    note(&c, "right_rows", request->right_rows, request->pair_capacity, true);
    note(&c, "pair_count", request->pair_count, 1, true);
    note(&c, "statistics", request->statistics, HSPZ_HASH_QUERY_STATISTICS, true);
    return finish(&c);
}

hspz_status hspz__oracle_check_batch_join(const hspz_hash_batch_join *request, uint32_t *max_probe,
                                          hspz_error *error)
{
    check c = {.error = error};
    check_header(&c, request, sizeof *request);
    if (c.status != HSPZ_OK)
        return c.status;
    check_device(&c, request->device);
    check_stream(&c, request->stream);
    *max_probe = check_table(&c, request->table, request->max_probe, false);
    check_chunk_list(&c, request->chunks, request->chunk_count, request->chunk_stride,
                     sizeof(hspz_hash_join_chunk));
    for (uint64_t i = 0; i < request->chunk_count && c.status == HSPZ_OK; i++) {
        const hspz_hash_join_chunk *chunk =
            (const void *)((const char *)request->chunks + i * request->chunk_stride);
        check_counters(&c, chunk->count, *max_probe);
        note(&c, "keys", chunk->keys, chunk->count, false);
        note(&c, "valid", chunk->valid, chunk->valid == NULL ? 0 : chunk->count, false);
        note(&c, "left_rows", chunk->left_rows, chunk->pair_capacity, true);
        note(&c, "right_rows", chunk->right_rows, chunk->pair_capacity, true);
        note(&c, "pair_count", chunk->pair_count, 1, true);
        note(&c, "statistics", chunk->statistics, HSPZ_HASH_QUERY_STATISTICS, true);
    }
    return finish(&c);
}
