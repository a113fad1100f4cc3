/* extend.c -- from survivors of the filter to accepted segments; see cpu.h.
 *
 * Idea: anchors are scattered into buckets of neighbouring diagonals; a bucket is one item of work. In a bucket they are sorted by (diagonal,
 * query position), each diagonal is extended in one pass a side (diagonal.c), and what passes the gate is collected.
 *
 * Diagonals that hold very many survivors go another way (heavy_set.h).
 */
#include "heavy_set.h"

#include <string.h>

#define BUCKETS_MAX 2048u
#define PART 512u /* anchors at a time */

typedef struct worker_state {
    _Alignas(64) hspz__collector collector; /* no two workers write to one cache line */
    hspz__diagonal diagonal;
    hspz__scratch spare; /* the sort's other array, and right extents */
    hspz__heavy_marks marks;
} worker_state;

typedef struct extension {
    hspz__call *call;
    const hspz__extension *how;
    hspz__anchor_block **blocks; /* of all lists */
    uint64_t block_count, anchors;
    uint32_t shift;   /* bucket: diagonal >> shift, with diagonal = r - q + query length */
    uint32_t buckets; /* a diagonal less its bucket's first has at most 32 bits */
    uint64_t *places; /* [block][bucket] */
    uint64_t *begin;  /* [buckets + 1] */
    uint64_t largest; /* keys of the largest bucket */
    uint64_t *keys;   /* diagonal in the bucket << 32 | q */
    worker_state *workers;
    uint32_t threads;
    hspz__heavy_set heavy;
} extension;

static uint64_t diagonal_of(const extension *e, const hspz_anchor *a)
{
    return (uint64_t)a->target_end + (e->call->query->length - a->query_end);
}

/* ---- one diagonal */

static hspz_status left_and_collect(worker_state *w, const uint32_t *anchors, uint64_t count,
                                    const hspz__reach *right)
{
    hspz__reach left[PART];
    hspz_status status = hspz__diagonal_left(&w->diagonal, anchors, count, left);
    return status == HSPZ_OK ? hspz__collect(&w->collector, w->diagonal.shift, anchors, count, left, right)
                             : status;
}

/* A diagonal of a bucket: sorted keys, and room for as many right extents. */
static hspz_status work_diagonal(extension *e, worker_state *w, int64_t shift, const uint64_t *keys,
                                 uint64_t n, hspz__reach *right)
{
    uint32_t anchors[PART];
    hspz_status status = HSPZ_OK;
    hspz__diagonal_start_right(&w->diagonal, e->call, shift);
    for (uint64_t end = n; end > 0 && status == HSPZ_OK;) {
        const uint64_t count = end < PART ? end : PART;
        end -= count;
        for (uint64_t i = 0; i < count; i++)
            anchors[i] = (uint32_t)keys[end + i];
        status = hspz__diagonal_right(&w->diagonal, anchors, count, right + end);
    }
    hspz__diagonal_start_left(&w->diagonal, e->call, shift);
    hspz__collect_start(&w->collector);
    for (uint64_t first = 0; first < n && status == HSPZ_OK; first += PART) {
        const uint64_t count = n - first < PART ? n - first : PART;
        for (uint64_t i = 0; i < count; i++)
            anchors[i] = (uint32_t)keys[first + i];
        status = left_and_collect(w, anchors, count, right + first);
    }
    return status;
}

static hspz_status work_bucket(extension *e, worker_state *w, uint64_t bucket)
{
    uint64_t *keys = e->keys + e->begin[bucket];
    const uint64_t n = e->begin[bucket + 1] - e->begin[bucket];
    if (n == 0)
        return HSPZ_OK;
    /* Of the size of the largest bucket at once: growing from bucket to bucket would touch new memory each time. */
    uint64_t *spare = hspz__scratch_get(&w->spare, e->call->cpu->host, e->largest, sizeof *spare);
    if (spare == NULL)
        return HSPZ_E_MEMORY;
    const uint64_t *sorted = hspz__sort_keys(keys, spare, n);
    hspz__reach *right = (hspz__reach *)(void *)(sorted == keys ? spare : keys);
    hspz_status status = HSPZ_OK;
    uint64_t end = 0;
    for (uint64_t begin = 0; begin < n && status == HSPZ_OK; begin = end) {
        for (end = begin + 1; end < n && sorted[end] >> 32 == sorted[begin] >> 32; end++)
            ;
        const uint64_t diagonal = (bucket << e->shift) + (sorted[begin] >> 32);
        status = work_diagonal(e, w, (int64_t)diagonal - (int64_t)e->call->query->length, sorted + begin,
                               end - begin, right + begin);
    }
    return status;
}

/* The two passes of each heavy diagonal come first: they are the longest items. */
static hspz_status work_item(void *context, uint32_t worker, uint64_t item)
{
    extension *e = context;
    const uint64_t passes = 2 * e->heavy.count;
    return item < passes ? hspz__heavy_pass(&e->heavy.diagonal[item / 2], item % 2)
                         : work_bucket(e, &e->workers[worker], item - passes);
}

static hspz_status start_item(void *context, uint32_t worker, uint64_t item)
{
    (void)worker;
    extension *e = context;
    for (uint32_t i = 0; i < e->threads; i++)
        hspz__heavy_unite(&e->heavy, &e->workers[i].marks, (uint32_t)item);
    return hspz__heavy_start(&e->heavy.diagonal[item]);
}

static hspz_status work_all(extension *e)
{
    hspz__pool *pool = e->call->cpu->pool;
    hspz_status status = hspz__pool_run(pool, e->heavy.count, start_item, e, NULL);
    if (status == HSPZ_OK)
        status = hspz__pool_run(pool, 2 * e->heavy.count + e->buckets, work_item, e, &e->call->pulse);
    for (uint32_t i = 0; i < e->heavy.count && status == HSPZ_OK; i++)
        status = hspz__heavy_collect(&e->heavy.diagonal[i], &e->workers[0].collector);
    return status;
}

/* ---- scattering into buckets */

/* Counts the anchors of a block by bucket; those of heavy diagonals leave it. */
static hspz_status count_block(void *context, uint32_t worker, uint64_t number)
{
    extension *e = context;
    hspz__heavy_marks *marks = &e->workers[worker].marks;
    hspz__anchor_block *block = e->blocks[number];
    uint64_t *counts = e->places + number * e->buckets, kept = 0;
    memset(counts, 0, e->buckets * sizeof *counts);
    for (uint64_t i = 0; i < block->count; i++) {
        const hspz_anchor anchor = block->items[i];
        const uint64_t diagonal = diagonal_of(e, &anchor);
        if (e->heavy.count > 0 && hspz__heavy_take(&e->heavy, marks, diagonal, anchor.query_end))
            continue;
        counts[diagonal >> e->shift]++;
        block->items[kept++] = anchor;
    }
    block->count = kept;
    return HSPZ_OK;
}

static hspz_status scatter_block(void *context, uint32_t worker, uint64_t number)
{
    (void)worker;
    extension *e = context;
    const hspz__anchor_block *block = e->blocks[number];
    uint64_t *places = e->places + number * e->buckets;
    const uint64_t low = (UINT64_C(1) << e->shift) - 1;
    for (uint64_t i = 0; i < block->count; i++) {
        const uint64_t diagonal = diagonal_of(e, &block->items[i]);
        e->keys[places[diagonal >> e->shift]++] = (diagonal & low) << 32 | block->items[i].query_end;
    }
    return HSPZ_OK;
}

/* Counts become places: bucket by bucket, block by block. Row by row, to read along memory. Returns the sum. */
static uint64_t place_blocks(extension *e)
{
    memset(e->begin, 0, ((uint64_t)e->buckets + 1) * sizeof *e->begin);
    for (uint64_t k = 0; k < e->block_count; k++)
        for (uint32_t b = 0; b < e->buckets; b++) {
            uint64_t *place = &e->places[k * e->buckets + b];
            const uint64_t count = *place;
            *place = e->begin[b + 1]; /* of the bucket's so far */
            e->begin[b + 1] += count;
        }
    for (uint32_t b = 0; b < e->buckets; b++) {
        if (e->begin[b + 1] > e->largest)
            e->largest = e->begin[b + 1];
        e->begin[b + 1] += e->begin[b];
    }
    for (uint64_t k = 0; k < e->block_count; k++)
        for (uint32_t b = 0; b < e->buckets; b++)
            e->places[k * e->buckets + b] += e->begin[b];
    return e->begin[e->buckets];
}

static void choose_buckets(extension *e)
{
    const uint64_t diagonals = e->call->cpu->target.length + e->call->query->length + 1;
    while (diagonals >> e->shift > BUCKETS_MAX ||
           (diagonals >> e->shift > 1 && diagonals >> e->shift > e->anchors / 64))
        e->shift++;
    if (e->shift > 32)
        e->shift = 32;
    e->buckets = (uint32_t)(diagonals >> e->shift) + 1;
}

/* ---- all of it */

static hspz_status run(extension *e)
{
    hspz__host *host = e->call->cpu->host;
    hspz__pool *pool = e->call->cpu->pool;
    choose_buckets(e);
    e->places = hspz__alloc(host, e->buckets * e->block_count, sizeof *e->places);
    e->begin = hspz__alloc(host, (uint64_t)e->buckets + 1, sizeof *e->begin);
    if (e->places == NULL || e->begin == NULL)
        return HSPZ_E_MEMORY;
    const bool by_batch = e->how->kind == HSPZ__LABEL_CHUNK && !e->how->chunks->split;
    hspz__heavy_find(&e->heavy, e->call, e->blocks, e->block_count, e->anchors,
                     e->how->distinct && (by_batch || e->how->kind == HSPZ__LABEL_CONSTANT));
    hspz_status status = hspz__pool_run(pool, e->block_count, count_block, e, NULL);
    if (status != HSPZ_OK)
        return status;
    e->keys = hspz__scratch_get(&e->call->cpu->pairs, host, place_blocks(e), sizeof *e->keys);
    if (e->keys == NULL)
        return HSPZ_E_MEMORY;
    status = hspz__pool_run(pool, e->block_count, scatter_block, e, NULL);
    return status == HSPZ_OK ? work_all(e) : status;
}

static hspz_status gather_found(extension *e, hspz__found_list *found)
{
    for (uint32_t i = 0; i < e->threads; i++) {
        const hspz__collector *c = &e->workers[i].collector;
        e->call->output->statistics->gate_survivors += c->survivors;
        e->call->output->statistics->accepted += c->accepted;
        if (c->found.count == 0)
            continue;
        hspz_status status = hspz__found_reserve(found, e->call->cpu->host, c->found.count);
        if (status != HSPZ_OK)
            return status;
        memcpy(found->items + found->count, c->found.items, c->found.count * sizeof *found->items);
        found->count += c->found.count;
    }
    return HSPZ_OK;
}

static hspz_status start_extension(extension *e, const hspz__anchors *lists, uint32_t count)
{
    hspz__host *host = e->call->cpu->host;
    e->workers = hspz__alloc(host, e->threads, sizeof *e->workers);
    if (e->workers == NULL)
        return HSPZ_E_MEMORY;
    memset(e->workers, 0, e->threads * sizeof *e->workers);
    for (uint32_t i = 0; i < e->threads; i++) {
        e->workers[i].spare = e->call->cpu->spare[i]; /* its memory is handed on from call to call */
        e->workers[i].collector.call = e->call;
        e->workers[i].collector.how = e->how;
    }
    uint64_t blocks = 0;
    for (uint32_t i = 0; i < count; i++)
        for (hspz__anchor_block *block = lists[i].first; block != NULL; block = block->next)
            blocks++;
    e->blocks = hspz__alloc(host, blocks, sizeof *e->blocks);
    if (e->blocks == NULL)
        return HSPZ_E_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        for (hspz__anchor_block *block = lists[i].first; block != NULL; block = block->next)
            if (block->count > 0)
                e->blocks[e->block_count++] = block;
    return HSPZ_OK;
}

static void end_extension(extension *e)
{
    hspz__host *host = e->call->cpu->host;
    for (uint32_t i = 0; e->workers != NULL && i < e->threads; i++) {
        worker_state *w = &e->workers[i];
        e->call->cpu->spare[i] = w->spare;
        hspz__found_free(&w->collector.found, host);
        hspz__diagonal_free(&w->diagonal, host);
        hspz__heavy_marks_free(&e->heavy, &w->marks);
    }
    hspz__heavy_set_free(&e->heavy);
    hspz__free(host, e->workers);
    hspz__free(host, e->places);
    hspz__free(host, e->blocks);
    hspz__free(host, e->begin);
}

hspz_status hspz__extend(hspz__call *call, hspz__anchors *lists, uint32_t count, const hspz__extension *how,
                         hspz__found_list *found)
{
    const double start = hspz__seconds();
    extension e = {.call = call, .how = how, .threads = hspz__pool_threads(call->cpu->pool)};
    for (uint32_t i = 0; i < count; i++)
        e.anchors += lists[i].count;
    if (e.anchors == 0)
        return HSPZ_OK;
    hspz_status status = start_extension(&e, lists, count);
    if (status == HSPZ_OK)
        status = run(&e);
    if (status == HSPZ_OK)
        status = gather_found(&e, found);
    end_extension(&e);
    for (uint32_t i = 0; i < count; i++)
        hspz__anchors_cut(&lists[i], 0);
    call->output->statistics->seconds_extend += hspz__seconds() - start;
    if (status == HSPZ_E_MEMORY)
        hspz__fail(call->error, status, "no memory to extend %llu hits", (unsigned long long)e.anchors);
    return status;
}
