/* extend.c -- from survivors of the filter to accepted segments; see cpu.h.
 *
 * Idea: anchors are scattered into buckets of neighbouring diagonals; a bucket is one item of work. In a bucket they are sorted by (diagonal,
 * query position), each diagonal is extended in one pass a side (diagonal.c), and what passes the gate becomes a found
 * segment. Anchors of one HSP come one after the other there, so that a segment equal to the one before it with the same label is
 * counted but not stored.
 */
#include "diagonal.h"

#include <limits.h>
#include <string.h>

#define BUCKETS_MAX 2048u
#define LEFTS 512u   /* left extents at a time */
#define DENSE 65536u /* least keys of a bucket for which a bitmap is tried */

typedef struct worker_state {
    hspz__found_list found;
    uint64_t survivors, accepted;
    hspz__diagonal diagonal;
    hspz__found
        last; /* the segment before on the diagonal, if any; its score is INT32_MIN when it was not accepted */
    bool any;
    uint64_t label, label_begin, label_end; /* the batch of query positions [label_begin, label_end) */
    hspz__scratch bits, spare;              /* for the sort; `spare` for right extents too */
} worker_state;

typedef struct extension {
    hspz__call *call;
    hspz__anchor_block **blocks; /* of all lists */
    uint64_t block_count;
    const hspz__extension *how;
    uint32_t shift;   /* bucket: diagonal >> shift, with diagonal = r - q + query length */
    uint32_t buckets; /* a diagonal less its bucket's first has at most 32 bits */
    uint64_t *places; /* [block][bucket] */
    uint64_t *begin;  /* [buckets + 1] */
    uint64_t *keys;   /* diagonal in the bucket << 32 | q */
    worker_state *workers;
} extension;

/* ---- scalar scans of one anchor */

hspz__side hspz__extend_right(const hspz__call *call, uint32_t r, uint32_t q)
{
    const uint8_t *target = call->cpu->target.classes + r;
    const uint8_t *query = call->query->classes + q;
    const uint64_t target_room = call->cpu->target.length - r, query_room = call->query->length - q;
    const int64_t room = (int64_t)(target_room < query_room ? target_room : query_room);
    const int32_t(*score)[HSPZ__SYMBOL_ROW] = call->cpu->symbols.score;
    const int64_t xdrop = call->cpu->plan->xdrop;
    int64_t sum = 0, best = 0, at = -1, i = 0;
    while (i < room) {
        sum += score[target[i]][query[i]];
        i++;
        if (sum > best) {
            best = sum;
            at = i - 1;
        } else if (best - sum > xdrop) {
            break;
        }
    }
    return (hspz__side){.score = best, .extent = at, .read = (uint64_t)i};
}

hspz__side hspz__extend_left(const hspz__call *call, uint32_t r, uint32_t q, uint32_t query_floor)
{
    const uint8_t *target = call->cpu->target.classes + r;
    const uint8_t *query = call->query->classes + q;
    const int64_t query_room = q > query_floor ? (int64_t)q - query_floor : 0;
    const int64_t room = query_room < (int64_t)r ? query_room : (int64_t)r;
    const int32_t(*score)[HSPZ__SYMBOL_ROW] = call->cpu->symbols.score;
    const int64_t xdrop = call->cpu->plan->xdrop;
    int64_t sum = 0, best = 0, at = 0, i = 0;
    while (i < room) {
        i++;
        sum += score[target[-i]][query[-i]];
        if (sum > best) {
            best = sum;
            at = i;
        } else if (best - sum > xdrop) {
            break;
        }
    }
    return (hspz__side){.score = best, .extent = at, .read = (uint64_t)i};
}

int32_t hspz__accept(const hspz__call *call, uint32_t target_start, uint32_t query_start, uint32_t extent,
                     int32_t total)
{
    const hspz__plan *plan = call->cpu->plan;
    uint32_t matches[4] = {0, 0, 0, 0};
    if (plan->entropy && total <= 3 * (int64_t)plan->hspthresh)
        call->cpu->kernels->matches(call->cpu->target.classes + target_start,
                                    call->query->classes + query_start, (uint64_t)extent + 1, matches);
    return hspz__plan_accept(plan, total, extent, matches);
}

/* ---- scattering into buckets */

static uint64_t diagonal_of(const extension *e, const hspz_anchor *a)
{
    return (uint64_t)a->target_end + (e->call->query->length - a->query_end);
}

static hspz_status count_block(void *context, uint32_t worker, uint64_t number)
{
    (void)worker;
    extension *e = context;
    const hspz__anchor_block *block = e->blocks[number];
    uint64_t *counts = e->places + number * e->buckets;
    memset(counts, 0, e->buckets * sizeof *counts);
    for (uint64_t i = 0; i < block->count; i++)
        counts[diagonal_of(e, &block->items[i]) >> e->shift]++;
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

/* Counts become places: bucket by bucket, block by block. Row by row, to read along memory. */
static void place_blocks(extension *e)
{
    memset(e->begin, 0, ((uint64_t)e->buckets + 1) * sizeof *e->begin);
    for (uint64_t k = 0; k < e->block_count; k++)
        for (uint32_t b = 0; b < e->buckets; b++) {
            uint64_t *place = &e->places[k * e->buckets + b];
            const uint64_t count = *place;
            *place = e->begin[b + 1]; /* of the bucket's so far */
            e->begin[b + 1] += count;
        }
    for (uint32_t b = 0; b < e->buckets; b++)
        e->begin[b + 1] += e->begin[b];
    for (uint64_t k = 0; k < e->block_count; k++)
        for (uint32_t b = 0; b < e->buckets; b++)
            e->places[k * e->buckets + b] += e->begin[b];
}

/* ---- one bucket */

/* One pass of a stable radix sort over `width` bits. */
static void sort_pass(const uint64_t *from, uint64_t *to, uint64_t n, uint32_t shift, uint32_t width)
{
    uint64_t place[1u << 11];
    const uint64_t mask = (UINT64_C(1) << width) - 1;
    memset(place, 0, (mask + 1) * sizeof *place);
    for (uint64_t i = 0; i < n; i++)
        place[from[i] >> shift & mask]++;
    uint64_t sum = 0;
    for (uint64_t d = 0; d <= mask; d++) {
        const uint64_t count = place[d];
        place[d] = sum;
        sum += count;
    }
    for (uint64_t i = 0; i < n; i++)
        to[place[from[i] >> shift & mask]++] = from[i];
}

/* Bits in which all keys agree cost nothing. */
uint64_t *hspz__sort_keys(uint64_t *keys, uint64_t *spare, uint64_t count, uint32_t shift)
{
    if (count <= 32) {
        for (uint64_t i = 1; i < count; i++) {
            const uint64_t key = keys[i];
            uint64_t j = i;
            for (; j > 0 && keys[j - 1] >> shift > key >> shift; j--)
                keys[j] = keys[j - 1];
            keys[j] = key;
        }
        return keys;
    }
    uint64_t differ = 0;
    for (uint64_t i = 1; i < count; i++)
        differ |= keys[i] ^ keys[0];
    const uint32_t width = count < 2048 ? 7 : 11;
    for (; shift < 64 && differ >> shift != 0; shift += width) {
        shift += (uint32_t)__builtin_ctzll(differ >> shift);
        sort_pass(keys, spare, count, shift, shift + width > 64 ? 64 - shift : width);
        uint64_t *swap = keys;
        keys = spare;
        spare = swap;
    }
    return keys;
}

/* Neighbouring anchors mostly lie in one batch, whose bounds are kept. */
static uint64_t batch_of(const extension *e, worker_state *w, uint32_t r, uint32_t q)
{
    const hspz__chunks *chunks = e->how->chunks;
    if (chunks->split)
        return hspz__chunks_label(chunks, e->call, r, q);
    if (q >= w->label_begin && q < w->label_end)
        return w->label;
    w->label = hspz__chunks_label(chunks, e->call, r, q);
    w->label_begin = chunks->begin + w->label * chunks->batch_size + e->call->cpu->plan->pattern_length;
    w->label_end = w->label_begin + chunks->batch_size;
    return w->label;
}

static uint64_t label_of(const extension *e, worker_state *w, uint32_t r, uint32_t q)
{
    switch (e->how->kind) {
    case HSPZ__LABEL_CHUNK:
        return batch_of(e, w, r, q);
    case HSPZ__LABEL_ANCHOR:
        return (uint64_t)r << 32 | q;
    case HSPZ__LABEL_CONSTANT:
        break;
    }
    return e->how->constant;
}

/* Left extents, gate, entropy and collection of anchors [first, first + count) of a diagonal whose right extents are known. */
static hspz_status collect(extension *e, worker_state *w, uint64_t first, uint64_t count,
                           const hspz__reach *right)
{
    hspz__diagonal *d = &w->diagonal;
    const int32_t keep = e->call->cpu->plan->keep_total;
    hspz__reach left[LEFTS];
    hspz_status status = hspz__diagonal_left(d, first, count, left);
    for (uint64_t i = 0; i < count && status == HSPZ_OK; i++) {
        const hspz__reach *r_reach = &right[first + i];
        const int32_t total = hspz__total(left[i].score, r_reach->score);
        if (total < keep)
            continue;
        w->survivors++;
        const uint32_t q = (uint32_t)d->anchors[first + i], r = (uint32_t)(q + d->shift);
        const uint32_t start = left[i].at != HSPZ__NOWHERE ? left[i].at : q;
        const uint32_t end = r_reach->at != HSPZ__NOWHERE ? r_reach->at : q - 1;
        const bool same = w->any && w->last.hsp.query_start == start && w->last.hsp.extent == end - start;
        if (!same) {
            w->last.hsp = (hspz_hsp){
                .target_start = (uint32_t)(start + d->shift), .query_start = start, .extent = end - start};
            w->last.hsp.score = hspz__accept(e->call, w->last.hsp.target_start, start, end - start, total);
            w->any = true;
        }
        if (w->last.hsp.score == INT32_MIN)
            continue;
        w->accepted++;
        const uint64_t label = label_of(e, w, r, q);
        if (same && label == w->last.label)
            continue;
        w->last.label = label;
        status = hspz__found_reserve(&w->found, e->call->cpu->host, 1);
        if (status == HSPZ_OK)
            w->found.items[w->found.count++] = w->last;
    }
    return status;
}

/* The extents of a diagonal's sorted anchors; `right` has room for as many. */
static hspz_status work_diagonal(extension *e, worker_state *w, uint64_t bucket, const uint64_t *keys,
                                 uint64_t n, hspz__reach *right)
{
    hspz__diagonal *d = &w->diagonal;
    d->call = e->call;
    d->shift = (int64_t)((bucket << e->shift) + (keys[0] >> 32)) - (int64_t)e->call->query->length;
    d->anchors = keys;
    d->count = n;
    hspz_status status = hspz__diagonal_right(d, right);
    w->any = false;
    hspz__diagonal_left_start(d);
    for (uint64_t i = 0; i < n && status == HSPZ_OK; i += LEFTS)
        status = collect(e, w, i, n - i < LEFTS ? n - i : LEFTS, right);
    return status;
}

/* The diagonal that more than half of the keys lie on, or UINT64_MAX. */
static uint64_t main_diagonal(const uint64_t *keys, uint64_t n)
{
    uint64_t candidate = 0, votes = 0, count = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (votes == 0)
            candidate = keys[i] >> 32;
        votes += keys[i] >> 32 == candidate ? 1 : UINT64_MAX;
    }
    for (uint64_t i = 0; i < n; i++)
        count += keys[i] >> 32 == candidate;
    return count > n / 2 ? candidate : UINT64_MAX;
}

/* Nearly identical sequences have most of their survivors on one diagonal, densely: a bitmap sorts them. They come to the end of
 * `keys`, sorted; returns how many, 0 when they are too few for a bitmap. */
static uint64_t sort_main(const extension *e, worker_state *w, uint64_t *keys, uint64_t n)
{
    const uint64_t words = e->call->query->length / 64 + 1;
    const uint64_t diagonal =
        n >= DENSE && n >= words && e->how->distinct ? main_diagonal(keys, n) : UINT64_MAX;
    uint64_t *bits =
        diagonal != UINT64_MAX ? hspz__scratch_get(&w->bits, e->call->cpu->host, words, sizeof *bits) : NULL;
    if (bits == NULL)
        return 0;
    memset(bits, 0, words * sizeof *bits);
    uint64_t others = 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t q = keys[i] & UINT32_MAX;
        if (keys[i] >> 32 == diagonal)
            bits[q / 64] |= UINT64_C(1) << (q % 64);
        else
            keys[others++] = keys[i];
    }
    uint64_t at = others;
    for (uint64_t word = 0; word < words; word++)
        for (uint64_t rest = bits[word]; rest != 0; rest &= rest - 1)
            keys[at++] = diagonal << 32 | (64 * word + (uint64_t)__builtin_ctzll(rest));
    return n - others;
}

static hspz_status work_bucket(void *context, uint32_t worker, uint64_t bucket)
{
    extension *e = context;
    worker_state *w = &e->workers[worker];
    uint64_t *keys = e->keys + e->begin[bucket], n = e->begin[bucket + 1] - e->begin[bucket];
    hspz_status status = HSPZ_OK;
    const uint64_t dense = sort_main(e, w, keys, n);
    n -= dense;
    uint64_t *spare = hspz__scratch_get(&w->spare, e->call->cpu->host, n > dense ? n : dense, sizeof *spare);
    if (spare == NULL)
        return HSPZ_E_MEMORY;
    if (dense > 0)
        status = work_diagonal(e, w, bucket, keys + n, dense, (hspz__reach *)(void *)spare);
    const uint64_t *sorted = hspz__sort_keys(keys, spare, n, 0);
    hspz__reach *right = (hspz__reach *)(void *)(sorted == keys ? spare : keys);
    uint64_t end = 0;
    for (uint64_t begin = 0; begin < n && status == HSPZ_OK; begin = end) {
        for (end = begin + 1; end < n && sorted[end] >> 32 == sorted[begin] >> 32; end++)
            ;
        status = work_diagonal(e, w, bucket, sorted + begin, end - begin, right + begin);
    }
    return status;
}

/* ---- all of it */

static void choose_buckets(extension *e, uint64_t anchors)
{
    const uint64_t diagonals = e->call->cpu->target.length + e->call->query->length + 1;
    while (diagonals >> e->shift > BUCKETS_MAX ||
           (diagonals >> e->shift > 1 && diagonals >> e->shift > anchors / 64))
        e->shift++;
    if (e->shift > 32)
        e->shift = 32;
    e->buckets = (uint32_t)(diagonals >> e->shift) + 1;
}

static hspz_status run(extension *e, uint64_t anchors)
{
    hspz__host *host = e->call->cpu->host;
    hspz__pool *pool = e->call->cpu->pool;
    e->places = hspz__alloc(host, e->buckets * e->block_count, sizeof *e->places);
    e->begin = hspz__alloc(host, (uint64_t)e->buckets + 1, sizeof *e->begin);
    e->keys = hspz__scratch_get(&e->call->cpu->pairs, host, anchors, sizeof *e->keys);
    if (e->places == NULL || e->begin == NULL || e->keys == NULL)
        return HSPZ_E_MEMORY;
    hspz_status status = hspz__pool_run(pool, e->block_count, count_block, e, NULL);
    if (status != HSPZ_OK)
        return status;
    place_blocks(e);
    status = hspz__pool_run(pool, e->block_count, scatter_block, e, NULL);
    if (status != HSPZ_OK)
        return status;
    return hspz__pool_run(pool, e->buckets, work_bucket, e, &e->call->pulse);
}

static hspz_status gather_found(extension *e, hspz__found_list *found)
{
    hspz__host *host = e->call->cpu->host;
    for (uint32_t i = 0; i < hspz__pool_threads(e->call->cpu->pool); i++) {
        worker_state *w = &e->workers[i];
        e->call->output->statistics->gate_survivors += w->survivors;
        e->call->output->statistics->accepted += w->accepted;
        if (w->found.count == 0)
            continue;
        hspz_status status = hspz__found_reserve(found, host, w->found.count);
        if (status != HSPZ_OK)
            return status;
        memcpy(found->items + found->count, w->found.items, w->found.count * sizeof *found->items);
        found->count += w->found.count;
    }
    return HSPZ_OK;
}

static void free_workers(extension *e)
{
    hspz__host *host = e->call->cpu->host;
    for (uint32_t i = 0; e->workers != NULL && i < hspz__pool_threads(e->call->cpu->pool); i++) {
        worker_state *w = &e->workers[i];
        e->call->cpu->spare[i] = w->spare;
        hspz__found_free(&w->found, host);
        hspz__scratch_free(&w->bits, host);
        hspz__free(host, w->diagonal.chain.items);
        hspz__free(host, w->diagonal.fresh.items);
    }
    hspz__free(host, e->workers);
}

hspz_status hspz__extend(hspz__call *call, hspz__anchors *lists, uint32_t count, const hspz__extension *how,
                         hspz__found_list *found)
{
    const double start = hspz__seconds();
    hspz__host *host = call->cpu->host;
    extension e = {.call = call, .how = how};
    uint64_t anchors = 0;
    for (uint32_t i = 0; i < count; i++) {
        anchors += lists[i].count;
        for (hspz__anchor_block *block = lists[i].first; block != NULL; block = block->next)
            e.block_count++;
    }
    if (anchors == 0)
        return HSPZ_OK;
    choose_buckets(&e, anchors);
    const uint32_t threads = hspz__pool_threads(call->cpu->pool);
    e.workers = hspz__alloc(host, threads, sizeof *e.workers);
    e.blocks = hspz__alloc(host, e.block_count, sizeof *e.blocks);
    hspz_status status = HSPZ_E_MEMORY;
    if (e.workers != NULL && e.blocks != NULL) {
        memset(e.workers, 0, threads * sizeof *e.workers);
        for (uint32_t i = 0; i < threads; i++)
            e.workers[i].spare = call->cpu->spare[i]; /* its memory is handed on from call to call */
        e.block_count = 0;
        for (uint32_t i = 0; i < count; i++)
            for (hspz__anchor_block *block = lists[i].first; block != NULL; block = block->next)
                e.blocks[e.block_count++] = block;
        status = run(&e, anchors);
    }
    for (uint32_t i = 0; i < count; i++)
        hspz__anchors_cut(&lists[i], 0);
    if (status == HSPZ_OK)
        status = gather_found(&e, found);
    free_workers(&e);
    hspz__free(host, e.places);
    hspz__free(host, e.blocks);
    hspz__free(host, e.begin);
    call->output->statistics->seconds_extend += hspz__seconds() - start;
    if (status == HSPZ_E_MEMORY)
        hspz__fail(call->error, status, "no memory to extend %llu hits", (unsigned long long)anchors);
    return status;
}
