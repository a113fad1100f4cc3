/* chunks.c -- batches and their MAX_HITS chunks as labels of hits (SPEC sections 4 and 5).
 *
 * Idea: the hits of a call are made in an order that suits the memory, not in raw order, so a chunk is a label, found by comparing a hit's seed
 * with the first seeds of the chunks. When a whole range has fewer hits than MAX_HITS, no batch of it has a second
 * chunk and nothing needs counting. Otherwise the hits of each position are the sum of its words' buckets; where positions are many,
 * that sum is tabulated for all keys once a target. Only batches that are split are walked seed by seed.
 */
#include "cpu.h"

#include <string.h>

#define PIECE 16384u
#define TABLE_BITS 24u /* at most 64 MiB */
#define KEYS_AN_ITEM 65536u

typedef struct counting {
    hspz__call *call;
    const hspz__chunks *range;
    _Atomic uint64_t *batch_hits;
    uint32_t *sizes; /* of buckets by key, while the table is built */
    uint32_t *table;
} counting;

static uint32_t bucket_size(const hspz__cpu *cpu, uint32_t key)
{
    uint32_t first;
    return hspz__words_bucket(&cpu->index, key, &first);
}

static uint64_t hits_of_key(const hspz__cpu *cpu, uint32_t key)
{
    if (cpu->neighbours != NULL)
        return cpu->neighbours[key];
    uint64_t hits = 0;
    for (uint32_t v = 0; v < cpu->keys.variant_count; v++)
        hits += bucket_size(cpu, key ^ cpu->keys.variant_mask[v]);
    return hits;
}

static bool valid_at(const hspz__call *call, uint64_t position)
{
    const uint64_t valid =
        hspz__valid_windows(call->query, call->cpu->plan->pattern_length, position & ~UINT64_C(63));
    return valid >> (position & 63) & 1;
}

/* ---- the table of all keys */

static hspz_status size_keys(void *context, uint32_t worker, uint64_t item)
{
    (void)worker;
    counting *c = context;
    const uint32_t first = (uint32_t)(item * KEYS_AN_ITEM);
    const uint32_t all = 1u << c->call->cpu->keys.bits;
    const uint32_t end = all - first < KEYS_AN_ITEM ? all : first + KEYS_AN_ITEM;
    for (uint32_t key = first; key < end; key++)
        c->sizes[key] = bucket_size(c->call->cpu, key);
    return HSPZ_OK;
}

static hspz_status sum_keys(void *context, uint32_t worker, uint64_t item)
{
    (void)worker;
    counting *c = context;
    const hspz__keys *keys = &c->call->cpu->keys;
    const uint32_t first = (uint32_t)(item * KEYS_AN_ITEM);
    const uint32_t all = 1u << keys->bits;
    const uint32_t end = all - first < KEYS_AN_ITEM ? all : first + KEYS_AN_ITEM;
    for (uint32_t key = first; key < end; key++) {
        uint64_t sum = 0;
        for (uint32_t v = 0; v < keys->variant_count; v++)
            sum += c->sizes[key ^ keys->variant_mask[v]];
        c->table[key] = (uint32_t)sum; /* buckets are disjoint: at most all positions, which fit 32 bits */
    }
    return HSPZ_OK;
}

/* Not having the table costs time only, so that a lack of memory is no failure. */
static void make_table(counting *c)
{
    hspz__cpu *cpu = c->call->cpu;
    const uint64_t all = UINT64_C(1) << cpu->keys.bits;
    if (cpu->neighbours != NULL || cpu->keys.bits > TABLE_BITS || (c->range->end - c->range->begin) * 4 < all)
        return;
    c->sizes = hspz__alloc(cpu->host, all, sizeof *c->sizes);
    c->table = hspz__alloc(cpu->host, all, sizeof *c->table);
    if (c->sizes != NULL && c->table != NULL) {
        const uint64_t items = (all + KEYS_AN_ITEM - 1) / KEYS_AN_ITEM;
        hspz__pool_run(cpu->pool, items, size_keys, c, NULL);
        hspz__pool_run(cpu->pool, items, sum_keys, c, NULL);
        cpu->neighbours = c->table;
        c->table = NULL;
    }
    hspz__free(cpu->host, c->sizes);
    hspz__free(cpu->host, c->table);
    c->sizes = NULL;
    c->table = NULL;
}

/* ---- hits of batches */

/* Adds up the hits of window starts [begin, end), which lie in one batch. The table is larger than any cache: its entries are asked
 * for 64 windows at a time. */
static uint64_t count_run(const hspz__call *call, uint64_t begin, uint64_t end)
{
    const hspz__cpu *cpu = call->cpu;
    uint64_t windows[64], hits = 0;
    for (uint64_t base = begin & ~UINT64_C(63); base < end; base += 64) {
        uint64_t valid = hspz__valid_windows(call->query, cpu->plan->pattern_length, base);
        if (base < begin)
            valid &= ~UINT64_C(0) << (begin - base);
        if (end - base < 64)
            valid &= (UINT64_C(1) << (end - base)) - 1;
        const uint8_t *packed = call->query->packed + (base + HSPZ__PACKED_MARGIN) / 4;
        const uint32_t n = cpu->kernels->keys(&cpu->keys.rule, packed, base, valid, windows);
        if (cpu->neighbours != NULL)
            for (uint32_t i = 0; i < n; i++)
                __builtin_prefetch(&cpu->neighbours[windows[i] >> 32]);
        for (uint32_t i = 0; i < n; i++)
            hits += hits_of_key(cpu, (uint32_t)(windows[i] >> 32));
    }
    return hits;
}

static hspz_status count_piece(void *context, uint32_t worker, uint64_t item)
{
    (void)worker;
    counting *c = context;
    const hspz__chunks *range = c->range;
    uint64_t at = range->begin + item * PIECE;
    const uint64_t end = range->end - at < PIECE ? range->end : at + PIECE;
    while (at < end) {
        const uint64_t batch = (at - range->begin) / range->batch_size;
        const uint64_t next =
            range->begin + (batch + 1) * range->batch_size; /* where the next batch begins */
        const uint64_t stop = next < end ? next : end;
        atomic_fetch_add(&c->batch_hits[batch], count_run(c->call, at, stop));
        at = stop;
    }
    return HSPZ_OK;
}

/* ---- first seeds of chunks */

static hspz_status add_start(hspz__chunks *chunks, hspz__host *host, uint64_t *capacity, uint64_t place)
{
    if (chunks->start_count == *capacity) {
        const uint64_t larger = *capacity < 64 ? 64 : 2 * *capacity;
        uint64_t *starts = hspz__alloc(host, larger, sizeof *starts);
        if (starts == NULL)
            return HSPZ_E_MEMORY;
        if (chunks->start_count > 0)
            memcpy(starts, chunks->starts, chunks->start_count * sizeof *starts);
        hspz__free(host, chunks->starts);
        chunks->starts = starts;
        *capacity = larger;
    }
    chunks->starts[chunks->start_count++] = place;
    return HSPZ_OK;
}

/* The rule of C.3 on one batch: a chunk ends before the seed whose prefix reaches the limit, or, when that seed is the first with
 * hits in the chunk, after it; the last of `count` chunks takes the rest. */
static hspz_status walk_batch(hspz__chunks *chunks, hspz__call *call, uint64_t *capacity, uint64_t begin,
                              uint64_t end, uint64_t count)
{
    const hspz__cpu *cpu = call->cpu;
    const uint64_t max_hits = cpu->plan->max_hits;
    uint64_t prefix = 0, before = 0, chunk = 1; /* `before`: prefix where the chunk began */
    hspz_status status = HSPZ_OK;
    for (uint64_t p = begin; p < end && chunk < count && status == HSPZ_OK; p++) {
        if (!valid_at(call, p))
            continue;
        const uint32_t key = hspz__key_at(&cpu->keys, call->query, p);
        const uint64_t hits = hits_of_key(cpu, key);
        if (prefix + hits < before + max_hits) {
            prefix += hits;
            continue;
        }
        for (uint32_t v = 0; v < cpu->keys.variant_count && status == HSPZ_OK; v++) {
            const uint64_t size = bucket_size(cpu, key ^ cpu->keys.variant_mask[v]);
            uint64_t place = p * 32 + v;
            if (chunk < count && prefix > before && prefix + size >= before + max_hits) {
                before = prefix;
                chunk++;
                status = add_start(chunks, call->cpu->host, capacity, place);
            }
            prefix += size;
            if (chunk < count && status == HSPZ_OK && prefix >= before + max_hits) {
                before = prefix;
                chunk++;
                status = add_start(chunks, call->cpu->host, capacity, place + 1);
            }
        }
    }
    return status;
}

static hspz_status label_batches(hspz__chunks *chunks, hspz__call *call, const counting *c, uint64_t batches)
{
    const uint64_t max_hits = call->cpu->plan->max_hits;
    uint64_t capacity = 0;
    chunks->chunks = 0;
    for (uint64_t b = 0; b < batches; b++) {
        const uint64_t hits = atomic_load(&c->batch_hits[b]);
        if (hits > UINT32_MAX)
            return hspz__fail(
                call->error, HSPZ_E_TOO_MANY_HITS,
                "the batch at query position %llu has %llu seed hits, 2^32 or more; use a smaller "
                "--wga-chunk-size, or mask repeats",
                (unsigned long long)(chunks->begin + b * chunks->batch_size), (unsigned long long)hits);
        chunks->chunks += hits / max_hits + 1;
        chunks->split |= hits >= max_hits;
    }
    hspz_status status = HSPZ_OK;
    for (uint64_t b = 0; b < batches && chunks->split && status == HSPZ_OK; b++) {
        const uint64_t begin = chunks->begin + b * chunks->batch_size;
        const uint64_t end =
            chunks->end - begin < chunks->batch_size ? chunks->end : begin + chunks->batch_size;
        const uint64_t count = atomic_load(&c->batch_hits[b]) / max_hits + 1;
        status = add_start(chunks, call->cpu->host, &capacity, begin * 32);
        if (status == HSPZ_OK)
            status = walk_batch(chunks, call, &capacity, begin, end, count);
    }
    return status;
}

hspz_status hspz__chunks_init(hspz__chunks *chunks, hspz__call *call, uint64_t begin, uint64_t end,
                              uint64_t batch_size, uint64_t hits)
{
    *chunks = (hspz__chunks){.begin = begin, .end = end, .batch_size = batch_size, .hits = hits};
    const uint64_t batches = (end - begin + batch_size - 1) / batch_size;
    chunks->chunks = batches;
    if (hits < call->cpu->plan->max_hits)
        return HSPZ_OK;
    counting c = {.call = call, .range = chunks};
    c.batch_hits = hspz__alloc(call->cpu->host, batches, sizeof *c.batch_hits);
    if (c.batch_hits == NULL)
        return hspz__fail(call->error, HSPZ_E_MEMORY, "no memory to count the hits of %llu batches",
                          (unsigned long long)batches);
    for (uint64_t b = 0; b < batches; b++)
        atomic_init(&c.batch_hits[b], 0);
    make_table(&c);
    hspz_status status =
        hspz__pool_run(call->cpu->pool, (end - begin + PIECE - 1) / PIECE, count_piece, &c, &call->pulse);
    if (status == HSPZ_OK)
        status = label_batches(chunks, call, &c, batches);
    hspz__free(call->cpu->host, (void *)c.batch_hits);
    if (status == HSPZ_E_MEMORY)
        hspz__fail(call->error, status, "no memory for the chunks of %llu hits", (unsigned long long)hits);
    return status;
}

void hspz__chunks_free(hspz__chunks *chunks, hspz__host *host)
{
    hspz__free(host, chunks->starts);
    memset(chunks, 0, sizeof *chunks);
}

uint32_t hspz__variant_of(const hspz__call *call, uint32_t r, uint32_t q)
{
    const hspz__keys *keys = &call->cpu->keys;
    const uint32_t w = keys->pattern_length;
    const uint32_t differ =
        hspz__key_at(keys, &call->cpu->target, r - w) ^ hspz__key_at(keys, call->query, q - w);
    uint32_t v = 0;
    while (v + 1 < keys->variant_count && keys->variant_mask[v] != differ)
        v++;
    return v;
}

uint64_t hspz__chunks_label(const hspz__chunks *chunks, const hspz__call *call, uint32_t r, uint32_t q)
{
    const uint64_t position = q - call->cpu->plan->pattern_length;
    if (!chunks->split)
        return (position - chunks->begin) / chunks->batch_size;
    const uint64_t place = position * 32 + hspz__variant_of(call, r, q);
    uint64_t low = 0, high = chunks->start_count; /* the last start at or before `place` */
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (chunks->starts[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}
