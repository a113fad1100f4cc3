/* marks_find.c -- the mark rule at full speed: level (a) over the plugin's own index.
 *
 * Idea: the hits of a slot of the mark table depend on each other, those of different slots do not, and what the filter says of a hit depends
 * on no mark. So the join of join.c makes and filters the hits of a tile of the query in word order; they are sorted by slot and
 * query position, and each slot is walked in text order. A rejected hit has no segment; it leaves a mark that nearly always nobody looks
 * at: only when the slot's next hit lies within what the rejected scan can have read is the mark worked out. Hits that
 * passed are extended exactly. Results carry their anchor and are put back into raw order when the tile ends.
 *
 * No table is cleared between query records: a right scan ends at the separator it reads, so a mark from an earlier record never
 * exceeds the start of this one, skips none of its hits, and as a floor stops a left scan where the separator does.
 */
#include "marks.h"

#include "marks_list.h"

#include <limits.h>
#include <string.h>

#define HITS_A_TILE (UINT64_C(1) << 25) /* aimed: 256 MiB */
#define LEAST_TILE 4096u
#define FIRST_RATE 16u /* hits a position, before there is a tile to learn from */

/* A slot's mark. With q > 0 it is where the right scan of anchor (r, q) ends, which is at most `bound` and not worked out
 * yet; with q = 0 it is `bound`. */
typedef struct mark {
    uint32_t r, q, bound;
} mark;

typedef struct mark_worker {
    hspz__found_list found; /* label: anchor, r << 32 | q */
    hspz__scratch keys;
    uint64_t survivors, skipped, accepted;
} mark_worker;

typedef struct finder {
    hspz__call *call;
    mark *marks;             /* [HSPZ__MARK_SLOTS] */
    hspz__mark_lists *lists; /* [threads] the backend's */
    mark_worker *workers;    /* [threads] */
    uint32_t threads;
    uint32_t tile_begin;
    hspz__result result;
    uint64_t hits;
} finder;

/* ---- one slot */

static uint32_t mark_value(const hspz__call *call, const mark *m)
{
    if (m->q == 0)
        return m->bound;
    return m->q + (uint32_t)hspz__extend_right(call, m->r, m->q).read;
}

static hspz_status extend_hit(const hspz__call *call, mark_worker *w, mark *m, uint32_t r, uint32_t q)
{
    const hspz__side left = hspz__extend_left(call, r, q, mark_value(call, m));
    const hspz__side right = hspz__extend_right(call, r, q);
    *m = (mark){.bound = q + (uint32_t)right.read};
    const int32_t total = hspz__total(left.score, right.score);
    if (total < call->cpu->plan->keep_total)
        return HSPZ_OK;
    hspz__found found = {.label = (uint64_t)r << 32 | q,
                         .hsp = {.target_start = r - (uint32_t)left.extent,
                                 .query_start = q - (uint32_t)left.extent,
                                 .extent = (uint32_t)(left.extent + right.extent)}};
    found.hsp.score =
        hspz__accept(call, found.hsp.target_start, found.hsp.query_start, found.hsp.extent, total);
    if (found.hsp.score == INT32_MIN)
        return HSPZ_OK;
    w->accepted++;
    hspz_status status = hspz__found_reserve(&w->found, call->cpu->host, 1);
    if (status == HSPZ_OK)
        w->found.items[w->found.count++] = found;
    return status;
}

static hspz_status work_hit(const finder *f, mark_worker *w, mark *m, uint64_t key)
{
    const uint32_t query = hspz__mark_query(key, f->tile_begin), target = hspz__mark_target(key, query);
    if (m->bound > query) {
        if (m->q != 0)
            *m = (mark){.bound = mark_value(f->call, m)};
        if (m->bound > query) {
            w->skipped++;
            return HSPZ_OK;
        }
    }
    w->survivors++;
    const uint32_t length = f->call->cpu->plan->pattern_length, said = (uint32_t)key & 3;
    const uint32_t r = target + length, q = query + length;
    if (said == HSPZ__HIT_PASSED)
        return extend_hit(f->call, w, m, r, q);
    const uint32_t reads = said == HSPZ__HIT_NARROW ? HSPZ__NARROW_READ : HSPZ__WIDE_READ;
    *m = (mark){.r = r, .q = q, .bound = q > UINT32_MAX - reads ? UINT32_MAX : q + reads};
    return HSPZ_OK;
}

/* Hits of one slot and query position, of which there is rarely more than one: variant first, then target descending. */
static void order_equals(const finder *f, uint64_t *keys, uint64_t n)
{
    const uint32_t w = f->call->cpu->plan->pattern_length;
    for (uint64_t i = 1; i < n; i++)
        for (uint64_t j = i; j > 0; j--) {
            const uint32_t q = hspz__mark_query(keys[j], f->tile_begin);
            const uint32_t a = hspz__mark_target(keys[j - 1], q), b = hspz__mark_target(keys[j], q);
            const uint32_t va = hspz__variant_of(f->call, a + w, q + w),
                           vb = hspz__variant_of(f->call, b + w, q + w);
            if (va < vb || (va == vb && a > b))
                break;
            const uint64_t swap = keys[j];
            keys[j] = keys[j - 1];
            keys[j - 1] = swap;
        }
}

/* ---- one list of slots */

/* Copies the list out of all workers' chunks; returns its length. */
static uint64_t collect_keys(const finder *f, uint64_t number, uint64_t *keys)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < f->threads; i++)
        for (const hspz__mark_chunk *c = f->lists[i].lists[number]; c != NULL; c = c->next) {
            if (keys != NULL)
                memcpy(keys + n, c->keys, c->count * sizeof *keys);
            n += c->count;
        }
    return n;
}

static hspz_status work_list(void *context, uint32_t worker, uint64_t number)
{
    finder *f = context;
    mark_worker *w = &f->workers[worker];
    const uint64_t n = collect_keys(f, number, NULL);
    uint64_t *keys = hspz__scratch_get(&w->keys, f->call->cpu->host, 2 * n, sizeof *keys);
    if (keys == NULL)
        return HSPZ_E_MEMORY;
    collect_keys(f, number, keys);
    keys = hspz__sort_keys(keys, keys + n, n, 24); /* by slot and query position */
    hspz_status status = HSPZ_OK;
    for (uint64_t i = 0; i < n && status == HSPZ_OK;) {
        mark *m = &f->marks[hspz__mark_slot(keys[i])];
        uint64_t end = i + 1;
        while (end < n && keys[end] >> 24 == keys[i] >> 24)
            end++;
        if (end - i > 1)
            order_equals(f, keys + i, end - i);
        for (; i < end && status == HSPZ_OK; i++)
            status = work_hit(f, w, m, keys[i]);
        if (i % 4096 == 0 && hspz__pulse_poll(&f->call->pulse, worker))
            return HSPZ_E_CANCELLED;
    }
    return status;
}

/* ---- a tile */

static hspz_status gather(finder *f)
{
    hspz_status status = HSPZ_OK;
    for (uint32_t i = 0; i < f->threads && status == HSPZ_OK; i++) {
        hspz__found_list *found = &f->workers[i].found;
        status = hspz__found_reserve(&f->result.found, f->call->cpu->host, found->count);
        if (status == HSPZ_OK && found->count > 0)
            memcpy(f->result.found.items + f->result.found.count, found->items,
                   found->count * sizeof *found->items);
        f->result.found.count += status == HSPZ_OK ? found->count : 0;
        found->count = 0;
    }
    return status == HSPZ_OK ? hspz__result_raw(&f->result) : status;
}

/* Joins as many positions from `begin` on as the memory for a tile takes; *end is lowered until they fit. */
static hspz_status make_tile(finder *f, uint64_t begin, uint64_t *end, uint64_t *hits)
{
    for (;;) {
        f->tile_begin = (uint32_t)begin;
        for (uint32_t i = 0; i < f->threads; i++) {
            hspz__mark_lists_clear(&f->lists[i]);
            f->lists[i].tile_begin = f->tile_begin;
            f->lists[i].most = *end - begin > LEAST_TILE ? 2 * HITS_A_TILE / f->threads : UINT64_MAX;
        }
        hspz_status status = hspz__join_tile(f->call, begin, *end, f->lists, hits);
        if (status != HSPZ_E_TOO_MANY_HITS)
            return status;
        *end = begin + (*end - begin) / 4;
        if (*end < begin + LEAST_TILE)
            *end = begin + LEAST_TILE;
    }
}

static hspz_status work_tile(finder *f, uint64_t begin, uint64_t *end, uint64_t *hits)
{
    hspz__call *call = f->call;
    hspz_status status = make_tile(f, begin, end, hits);
    if (status != HSPZ_OK)
        return status;
    f->hits += *hits;
    const double start = hspz__seconds();
    status = hspz__pool_run(call->cpu->pool, HSPZ__MARK_LISTS, work_list, f, &call->pulse);
    call->output->statistics->seconds_gate += hspz__seconds() - start;
    return status == HSPZ_OK ? gather(f) : status;
}

/* ---- the call */

static hspz_status start_finder(finder *f)
{
    hspz__host *host = f->call->cpu->host;
    f->marks = hspz__alloc(host, HSPZ__MARK_SLOTS, sizeof *f->marks);
    f->lists = f->call->cpu->mark_lists;
    f->workers = hspz__alloc(host, f->threads, sizeof *f->workers);
    if (f->workers != NULL)
        memset(f->workers, 0, f->threads * sizeof *f->workers);
    if (f->marks == NULL || f->workers == NULL)
        return HSPZ_E_MEMORY;
    memset(f->marks, 0, HSPZ__MARK_SLOTS * sizeof *f->marks);
    return HSPZ_OK;
}

static void free_finder(finder *f)
{
    hspz__host *host = f->call->cpu->host;
    for (uint32_t i = 0; i < f->threads; i++) {
        if (f->workers != NULL) {
            hspz__found_free(&f->workers[i].found, host);
            hspz__scratch_free(&f->workers[i].keys, host);
        }
    }
    hspz__free(host, f->marks);
    hspz__free(host, f->workers);
}

/* Batches and chunks do not show in the output, only in the statistics and in the limit of 2^32 hits a batch. */
static hspz_status count_chunks(finder *f, uint64_t begin, uint64_t end, uint64_t batch_size)
{
    hspz_statistics *statistics = f->call->output->statistics;
    hspz__chunks chunks;
    hspz_status status = hspz__chunks_init(&chunks, f->call, begin, end, batch_size, f->hits);
    statistics->hits += f->hits;
    statistics->batches += (end - begin + batch_size - 1) / batch_size;
    statistics->chunks += chunks.chunks;
    for (uint32_t i = 0; i < f->threads; i++) {
        statistics->gate_survivors += f->workers[i].survivors;
        statistics->skipped += f->workers[i].skipped;
        statistics->accepted += f->workers[i].accepted;
    }
    hspz__chunks_free(&chunks, f->call->cpu->host);
    return status;
}

static hspz_status work_tiles(finder *f, uint64_t begin, uint64_t end)
{
    uint64_t rate = FIRST_RATE;
    hspz_status status = HSPZ_OK;
    for (uint64_t at = begin; at < end && status == HSPZ_OK;) {
        uint64_t size = HITS_A_TILE / rate, hits = 0;
        if (size > UINT64_C(1) << (HSPZ__TILE_BITS - 1))
            size = UINT64_C(1) << (HSPZ__TILE_BITS - 1);
        if (size < LEAST_TILE)
            size = LEAST_TILE;
        uint64_t stop = end - at < size ? end : at + size;
        status = work_tile(f, at, &stop, &hits);
        rate = hits / (stop - at) + 1;
        at = stop;
        f->call->pulse.done = at - begin;
    }
    return status;
}

hspz_status hspz__marks_find(hspz__call *call, uint64_t begin, uint64_t end, uint64_t batch_size)
{
    finder f = {.call = call, .threads = hspz__pool_threads(call->cpu->pool)};
    hspz__result_init(&f.result, call);
    hspz_status status = start_finder(&f);
    if (status == HSPZ_OK)
        status = work_tiles(&f, begin, end);
    if (status == HSPZ_E_MEMORY)
        hspz__fail(call->error, status, "no memory for the hits of a tile");
    if (status == HSPZ_OK)
        status = count_chunks(&f, begin, end, batch_size);
    status = hspz__result_end(&f.result, status);
    free_finder(&f);
    return status;
}
