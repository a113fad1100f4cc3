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

typedef struct worker_state {
    hspz__found_list found;
    uint64_t survivors, accepted;
    hspz__diagonal diagonal;
    uint64_t *spare; /* for the sort */
    uint32_t *queries;
    uint64_t capacity; /* anchors that the scratch holds */
} worker_state;

typedef struct extension {
    hspz__call *call;
    hspz__anchors *lists;
    uint32_t list_count;
    const hspz__extension *how;
    uint32_t shift;   /* bucket: diagonal >> shift, with diagonal = r - q + query length */
    uint32_t buckets; /* a diagonal less its bucket's first has at most 32 bits */
    uint64_t *places; /* [list][bucket] */
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

static hspz_status count_list(void *context, uint32_t worker, uint64_t list)
{
    (void)worker;
    extension *e = context;
    uint64_t *counts = e->places + list * e->buckets;
    memset(counts, 0, e->buckets * sizeof *counts);
    for (uint64_t i = 0; i < e->lists[list].count; i++)
        counts[diagonal_of(e, &e->lists[list].items[i]) >> e->shift]++;
    return HSPZ_OK;
}

static hspz_status scatter_list(void *context, uint32_t worker, uint64_t list)
{
    (void)worker;
    extension *e = context;
    uint64_t *places = e->places + list * e->buckets;
    const uint64_t low = (UINT64_C(1) << e->shift) - 1;
    for (uint64_t i = 0; i < e->lists[list].count; i++) {
        const hspz_anchor *a = &e->lists[list].items[i];
        const uint64_t diagonal = diagonal_of(e, a);
        e->keys[places[diagonal >> e->shift]++] = (diagonal & low) << 32 | a->query_end;
    }
    e->lists[list].count = 0;
    return HSPZ_OK;
}

static uint64_t place_lists(extension *e)
{
    uint64_t sum = 0;
    for (uint32_t b = 0; b < e->buckets; b++) {
        e->begin[b] = sum;
        for (uint32_t list = 0; list < e->list_count; list++) {
            const uint64_t count = e->places[(uint64_t)list * e->buckets + b];
            e->places[(uint64_t)list * e->buckets + b] = sum;
            sum += count;
        }
    }
    e->begin[e->buckets] = sum;
    return sum;
}

/* ---- one bucket */

static void sort_keys(uint64_t *keys, uint64_t *spare, uint64_t n)
{
    if (n <= 32) {
        for (uint64_t i = 1; i < n; i++) {
            const uint64_t key = keys[i];
            uint64_t j = i;
            for (; j > 0 && keys[j - 1] > key; j--)
                keys[j] = keys[j - 1];
            keys[j] = key;
        }
        return;
    }
    uint64_t differ = 0;
    for (uint64_t i = 1; i < n; i++)
        differ |= keys[i] ^ keys[0];
    uint64_t *from = keys, *to = spare;
    for (uint32_t shift = 0; shift < 64; shift += 8) {
        if ((differ >> shift & 0xff) == 0)
            continue;
        uint64_t place[256] = {0};
        for (uint64_t i = 0; i < n; i++)
            place[from[i] >> shift & 0xff]++;
        uint64_t sum = 0;
        for (uint32_t d = 0; d < 256; d++) {
            const uint64_t count = place[d];
            place[d] = sum;
            sum += count;
        }
        for (uint64_t i = 0; i < n; i++)
            to[place[from[i] >> shift & 0xff]++] = from[i];
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != keys)
        memcpy(keys, from, n * sizeof *keys);
}

static hspz_status reserve_scratch(worker_state *w, hspz__host *host, uint64_t n)
{
    if (w->capacity >= n)
        return HSPZ_OK;
    hspz__free(host, w->spare);
    hspz__free(host, w->queries);
    hspz__free(host, w->diagonal.right);
    hspz__free(host, w->diagonal.left);
    w->spare = hspz__alloc(host, n, sizeof *w->spare);
    w->queries = hspz__alloc(host, n, sizeof *w->queries);
    w->diagonal.right = hspz__alloc(host, n, sizeof *w->diagonal.right);
    w->diagonal.left = hspz__alloc(host, n, sizeof *w->diagonal.left);
    w->capacity = 0;
    if (w->spare == NULL || w->queries == NULL || w->diagonal.right == NULL || w->diagonal.left == NULL)
        return HSPZ_E_MEMORY;
    w->capacity = n;
    return HSPZ_OK;
}

static uint64_t label_of(const extension *e, uint32_t r, uint32_t q)
{
    switch (e->how->kind) {
    case HSPZ__LABEL_CHUNK:
        return hspz__chunks_label(e->how->chunks, e->call, r, q);
    case HSPZ__LABEL_ANCHOR:
        return (uint64_t)r << 32 | q;
    case HSPZ__LABEL_CONSTANT:
        break;
    }
    return e->how->constant;
}

/* Gate, entropy and collection of one diagonal whose extents are known. */
static hspz_status collect(extension *e, worker_state *w, const hspz__diagonal *d)
{
    const int32_t keep = e->call->cpu->plan->keep_total;
    hspz__found last = {.label = UINT64_MAX};
    bool last_accepted = false, any = false;
    for (uint64_t i = 0; i < d->count; i++) {
        const int32_t total = hspz__total(d->left[i].score, d->right[i].score);
        if (total < keep)
            continue;
        w->survivors++;
        const int64_t q = d->anchors[i];
        const int64_t start = d->left[i].at >= 0 ? d->left[i].at : q;
        const int64_t end = d->right[i].at >= 0 ? d->right[i].at : q - 1;
        hspz__found found = {.label = label_of(e, (uint32_t)(q + d->shift), (uint32_t)q),
                             .hsp = {.target_start = (uint32_t)(start + d->shift),
                                     .query_start = (uint32_t)start,
                                     .extent = (uint32_t)(end - start)}};
        if (any && last.hsp.query_start == found.hsp.query_start && last.hsp.extent == found.hsp.extent) {
            w->accepted += last_accepted;
            if (!last_accepted || last.label == found.label)
                continue;
            found.hsp.score = last.hsp.score;
        } else {
            found.hsp.score =
                hspz__accept(e->call, found.hsp.target_start, found.hsp.query_start, found.hsp.extent, total);
            last_accepted = found.hsp.score != INT32_MIN;
            any = true;
            w->accepted += last_accepted;
        }
        last = found;
        if (!last_accepted)
            continue;
        hspz_status status = hspz__found_reserve(&w->found, e->call->cpu->host, 1);
        if (status != HSPZ_OK)
            return status;
        w->found.items[w->found.count++] = found;
    }
    return HSPZ_OK;
}

static hspz_status work_bucket(void *context, uint32_t worker, uint64_t bucket)
{
    extension *e = context;
    worker_state *w = &e->workers[worker];
    const uint64_t n = e->begin[bucket + 1] - e->begin[bucket];
    if (n == 0)
        return HSPZ_OK;
    hspz_status status = reserve_scratch(w, e->call->cpu->host, n);
    if (status != HSPZ_OK)
        return status;
    uint64_t *keys = e->keys + e->begin[bucket];
    sort_keys(keys, w->spare, n);
    for (uint64_t i = 0; i < n; i++)
        w->queries[i] = (uint32_t)keys[i];
    hspz__diagonal *d = &w->diagonal;
    d->call = e->call;
    hspz__reach *right = d->right, *left = d->left;
    uint64_t end = 0;
    for (uint64_t begin = 0; begin < n && status == HSPZ_OK; begin = end) {
        for (end = begin + 1; end < n && keys[end] >> 32 == keys[begin] >> 32; end++)
            ;
        d->shift = (int64_t)((bucket << e->shift) + (keys[begin] >> 32)) - (int64_t)e->call->query->length;
        d->anchors = w->queries + begin;
        d->count = end - begin;
        d->right = right + begin;
        d->left = left + begin;
        status = hspz__diagonal_extend(d);
        if (status == HSPZ_OK)
            status = collect(e, w, d);
    }
    d->right = right;
    d->left = left;
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
    e->places = hspz__alloc(host, (uint64_t)e->buckets * e->list_count, sizeof *e->places);
    e->begin = hspz__alloc(host, (uint64_t)e->buckets + 1, sizeof *e->begin);
    e->keys = hspz__scratch_get(&e->call->cpu->diagonals, host, anchors, sizeof *e->keys);
    if (e->places == NULL || e->begin == NULL || e->keys == NULL)
        return HSPZ_E_MEMORY;
    hspz_status status = hspz__pool_run(pool, e->list_count, count_list, e, NULL);
    if (status != HSPZ_OK)
        return status;
    place_lists(e);
    status = hspz__pool_run(pool, e->list_count, scatter_list, e, NULL);
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
        hspz__found_free(&w->found, host);
        hspz__free(host, w->spare);
        hspz__free(host, w->queries);
        hspz__free(host, w->diagonal.right);
        hspz__free(host, w->diagonal.left);
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
    extension e = {.call = call, .lists = lists, .list_count = count, .how = how};
    uint64_t anchors = 0;
    for (uint32_t i = 0; i < count; i++)
        anchors += lists[i].count;
    if (anchors == 0)
        return HSPZ_OK;
    choose_buckets(&e, anchors);
    const uint32_t threads = hspz__pool_threads(call->cpu->pool);
    e.workers = hspz__alloc(host, threads, sizeof *e.workers);
    hspz_status status = HSPZ_E_MEMORY;
    if (e.workers != NULL) {
        memset(e.workers, 0, threads * sizeof *e.workers);
        status = run(&e, anchors);
    }
    if (status == HSPZ_OK)
        status = gather_found(&e, found);
    free_workers(&e);
    hspz__free(host, e.places);
    hspz__free(host, e.begin);
    call->output->statistics->seconds_extend += hspz__seconds() - start;
    if (status == HSPZ_E_MEMORY)
        hspz__fail(call->error, status, "no memory to extend %llu hits", (unsigned long long)anchors);
    return status;
}
