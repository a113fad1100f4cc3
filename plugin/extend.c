/* extend.c -- from survivors of the filter to accepted segments; see cpu.h.
 *
 * Idea: anchors are scattered into buckets of neighbouring diagonals; a bucket is one item of work. In a bucket they are sorted by (diagonal,
 * query position), each diagonal is extended in one pass a side (diagonal.c), and what passes the gate is collected.
 *
 * Nearly identical sequences have most of their survivors on one diagonal. A sample tells; the anchors of this main diagonal go into a
 * bitmap of query positions, which sorts them in passing and takes a bit each.
 */
#include "collect.h"

#include <string.h>

#define BUCKETS_MAX 2048u
#define PART 512u     /* anchors at a time */
#define DENSE 131072u /* least anchors for which a main diagonal is looked for */
#define SAMPLE 2048u

typedef struct worker_state {
    hspz__collector collector;
    hspz__diagonal diagonal;
    hspz__scratch spare; /* the sort's other array, and right extents */
    uint64_t *main;      /* bitmap of the main diagonal's query positions that this worker saw */
    uint64_t main_count;
} worker_state;

typedef struct extension {
    hspz__call *call;
    const hspz__extension *how;
    hspz__anchor_block **blocks; /* of all lists */
    uint64_t block_count, anchors;
    uint64_t main;    /* the main diagonal, or UINT64_MAX */
    uint64_t words;   /* of its bitmap */
    uint32_t shift;   /* bucket: diagonal >> shift, with diagonal = r - q + query length */
    uint32_t buckets; /* a diagonal less its bucket's first has at most 32 bits */
    uint64_t *places; /* [block][bucket] */
    uint64_t *begin;  /* [buckets + 1] */
    uint64_t largest; /* keys of the largest bucket */
    uint64_t *keys;   /* diagonal in the bucket << 32 | q */
    worker_state *workers;
    uint32_t threads;
} extension;

static uint64_t diagonal_of(const extension *e, const hspz_anchor *a)
{
    return (uint64_t)a->target_end + (e->call->query->length - a->query_end);
}

/* ---- the main diagonal */

/* The diagonal of more than half of a sample (majority vote, then a count), or UINT64_MAX. */
static uint64_t find_main(const extension *e)
{
    if (e->anchors < DENSE || !e->how->distinct)
        return UINT64_MAX;
    uint64_t sample[SAMPLE], candidate = 0, votes = 0, count = 0;
    for (uint64_t i = 0; i < SAMPLE; i++) {
        const hspz__anchor_block *block = e->blocks[i * e->block_count / SAMPLE];
        sample[i] = diagonal_of(e, &block->items[i * UINT64_C(2654435761) % block->count]);
        if (votes == 0)
            candidate = sample[i];
        votes += sample[i] == candidate ? 1 : UINT64_MAX;
    }
    for (uint64_t i = 0; i < SAMPLE; i++)
        count += sample[i] == candidate;
    return count > SAMPLE / 2 ? candidate : UINT64_MAX;
}

static hspz_status alloc_main(extension *e)
{
    e->main = find_main(e);
    if (e->main == UINT64_MAX)
        return HSPZ_OK;
    e->words = e->call->query->length / 64 + 1;
    for (uint32_t i = 0; i < e->threads; i++) {
        worker_state *w = &e->workers[i];
        w->main = hspz__alloc(e->call->cpu->host, e->words, sizeof *w->main);
        if (w->main == NULL)
            return HSPZ_E_MEMORY;
        memset(w->main, 0, e->words * sizeof *w->main);
    }
    return HSPZ_OK;
}

/* All workers' bits into those of worker 0; returns how many. */
static uint64_t unite_main(extension *e)
{
    uint64_t *bits = e->workers[0].main, count = 0;
    for (uint64_t i = 0; i < e->words; i++) {
        for (uint32_t k = 1; k < e->threads; k++)
            bits[i] |= e->workers[k].main[i];
        count += (uint64_t)__builtin_popcountll(bits[i]);
    }
    return count;
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

/* The main diagonal, its anchors read off the bitmap, backwards for the right extents, then forwards. */
static hspz_status work_main(extension *e, worker_state *w, uint64_t count)
{
    const uint64_t *bits = e->workers[0].main;
    const int64_t shift = (int64_t)e->main - (int64_t)e->call->query->length;
    hspz__reach *right = hspz__scratch_get(&w->spare, e->call->cpu->host, count, sizeof *right);
    if (right == NULL)
        return HSPZ_E_MEMORY;
    uint32_t anchors[PART + 64];
    uint64_t at = count;
    hspz_status status = HSPZ_OK;
    hspz__diagonal_start_right(&w->diagonal, e->call, shift);
    for (uint64_t word = e->words; word-- > 0 && status == HSPZ_OK;) {
        uint32_t n = 0;
        for (uint64_t rest = bits[word]; rest != 0; rest &= rest - 1)
            anchors[n++] = (uint32_t)(64 * word + (uint64_t)__builtin_ctzll(rest));
        at -= n;
        status = hspz__diagonal_right(&w->diagonal, anchors, n, right + at);
    }
    hspz__diagonal_start_left(&w->diagonal, e->call, shift);
    hspz__collect_start(&w->collector);
    for (uint64_t word = 0, n = 0; word < e->words && status == HSPZ_OK; word++) {
        for (uint64_t rest = bits[word]; rest != 0; rest &= rest - 1)
            anchors[n++] = (uint32_t)(64 * word + (uint64_t)__builtin_ctzll(rest));
        if (n + 64 <= PART && word + 1 < e->words)
            continue;
        status = left_and_collect(w, anchors, n, right + at);
        at += n;
        n = 0;
    }
    return status;
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
    const uint64_t *sorted = hspz__sort_keys(keys, spare, n, 0);
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

/* The main diagonal is the first item: it is the longest. */
static hspz_status work_item(void *context, uint32_t worker, uint64_t item)
{
    extension *e = context;
    worker_state *w = &e->workers[worker];
    if (e->main == UINT64_MAX)
        return work_bucket(e, w, item);
    return item == 0 ? work_main(e, w, e->workers[0].main_count) : work_bucket(e, w, item - 1);
}

/* ---- scattering into buckets */

static hspz_status count_block(void *context, uint32_t worker, uint64_t number)
{
    extension *e = context;
    const hspz__anchor_block *block = e->blocks[number];
    uint64_t *counts = e->places + number * e->buckets, *bits = e->workers[worker].main;
    memset(counts, 0, e->buckets * sizeof *counts);
    for (uint64_t i = 0; i < block->count; i++) {
        const uint64_t diagonal = diagonal_of(e, &block->items[i]);
        const uint32_t q = block->items[i].query_end;
        if (diagonal == e->main)
            bits[q / 64] |= UINT64_C(1) << (q % 64);
        else
            counts[diagonal >> e->shift]++;
    }
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
        if (diagonal != e->main)
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
    hspz_status status = alloc_main(e);
    if (status == HSPZ_OK)
        status = hspz__pool_run(pool, e->block_count, count_block, e, NULL);
    if (status != HSPZ_OK)
        return status;
    e->keys = hspz__scratch_get(&e->call->cpu->pairs, host, place_blocks(e), sizeof *e->keys);
    if (e->keys == NULL)
        return HSPZ_E_MEMORY;
    status = hspz__pool_run(pool, e->block_count, scatter_block, e, NULL);
    if (status != HSPZ_OK)
        return status;
    const bool has_main = e->main != UINT64_MAX;
    if (has_main)
        e->workers[0].main_count = unite_main(e);
    return hspz__pool_run(pool, e->buckets + has_main, work_item, e, &e->call->pulse);
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
        hspz__free(host, w->main);
    }
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
