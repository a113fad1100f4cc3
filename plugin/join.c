/* join.c -- level (a): hits as a join of two lists sorted by seed word.
 *
 * Idea: the raw order of hits is an order of text positions and would cost a cache miss or more for each hit. Here the target's words are
 * walked in ascending order and each meets the query's buckets of its variants, so that all reads run along sorted lists. Words
 * come in blocks of 64 with a bitmap each: the words of a block whose variant v has query positions are the AND of the target's
 * bitmap with the query's at id XOR (mask >> 6), its bits exchanged by the low six bits of the mask. Query contexts lie in word
 * order; target contexts are gathered for a window of a few hundred positions, which then meet their query contexts in
 * cache. Only hits that pass the filter are ever stored, and chunks are labels (chunks.c).
 */
#include "cpu.h"

#include <string.h>

#define WINDOW HSPZ__WINDOW /* most target positions whose contexts are at hand */
#define WINDOW_AIM 320u     /* a window takes further blocks up to here */
#define ROOM 4096u          /* hits that wait for the filter */
#define FULL 512u           /* from here on they are filtered */
#define RANGE 8388608u      /* most query positions joined at once: 256 MiB of contexts */
#define SURVIVORS 50331648u /* beyond this many they are extended before the join goes on */
#define BLOCKS_AN_ITEM 256u /* at most, see items_of */
#define PACKED_BASES                                                                                         \
    (UINT64_C(1) << 24) /* sequences of up to so many bases in all are read in the order of hits */

typedef uint8_t context[HSPZ__CONTEXT];

typedef struct join_worker {
    hspz__screen screen;
    uint32_t number;
    uint32_t screened;                      /* calls of screen_pairs */
    uint64_t hits;                          /* of the part */
    uint64_t hits_before, survivors_before; /* the range at work */
    hspz__hits hits_at_hand;
    uint32_t target_at[ROOM + 64], query_at[ROOM + 64]; /* of hits_at_hand */
    hspz__rank_pairs ranks;
    uint32_t window; /* place in index.positions of contexts[0] */
    _Alignas(64) context contexts[WINDOW];
} join_worker;

typedef struct join {
    hspz__call *call;
    hspz__words *query;
    bool
        packed; /* hits are pairs of positions, contexts gathered by the filter; else pairs of places in contexts */
    context *contexts;               /* of query.positions */
    uint8_t low[HSPZ__VARIANTS_MAX]; /* of the variants' masks */
    uint32_t rows;                   /* of the target's blocks, an item */
    uint64_t items;
    join_worker *workers;
    bool counted; /* the batches of the part are known to have less than 2^32 hits each */
} join;

/* ---- the filter on the hits of a window */

static uint64_t filter_lanes(const join *j, const join_worker *w, uint32_t i, uint32_t n, hspz__rows *rows,
                             uint64_t *likely)
{
    const hspz__cpu *cpu = j->call->cpu;
    if (j->packed)
        return cpu->kernels->filter_packed(&cpu->filter, (const context *)w->contexts, j->call->query->packed,
                                           hspz__context_offset(cpu), w->target_at + i, w->query_at + i, n,
                                           rows, likely);
    return cpu->kernels->filter(&cpu->filter, (const context *)w->contexts, (const context *)j->contexts,
                                w->target_at + i, w->query_at + i, n, rows, likely);
}

/* Under dedup lastz rejected hits count too: they leave marks. */
static hspz_status mark_rejected(const join *j, join_worker *w, uint32_t first, uint32_t n, uint64_t passed)
{
    const hspz__cpu *cpu = j->call->cpu;
    hspz_status status = HSPZ_OK;
    for (uint32_t i = 0; i < n && status == HSPZ_OK; i++) {
        if (passed >> i & 1)
            continue;
        const uint32_t q = w->query_at[first + i];
        status = hspz__mark_lists_add(w->screen.marks, cpu->host,
                                      cpu->index.positions[w->window + w->target_at[first + i]],
                                      j->packed ? q : j->query->positions[q], HSPZ__HIT_NARROW);
    }
    return status;
}

/* Filters what waits, in full groups; all of it when `all` is set. */
static hspz_status screen_hits(const join *j, join_worker *w, bool all)
{
    const hspz__cpu *cpu = j->call->cpu;
    hspz__hits *h = &w->hits_at_hand;
    hspz_status status = HSPZ_OK;
    if (++w->screened % 256 == 0 && hspz__pulse_poll(&j->call->pulse, w->number))
        return HSPZ_E_CANCELLED;
    if (w->hits > UINT32_MAX && !j->counted)
        return HSPZ_E_TOO_MANY_HITS; /* perhaps: join_counted counts, then decides */
    const uint32_t end = all ? h->count : h->count / HSPZ__LANES * HSPZ__LANES;
    memset(w->query_at + h->count, 0, HSPZ__LANES * sizeof *w->query_at); /* the filter looks ahead */
    for (uint32_t i = 0; i < end; i += HSPZ__LANES) {
        const uint32_t n = end - i < HSPZ__LANES ? end - i : HSPZ__LANES;
        hspz__rows rows;
        uint64_t likely;
        uint64_t passed = filter_lanes(j, w, i, n, &rows, &likely);
        if (w->screen.marks != NULL)
            status = mark_rejected(j, w, i, n, passed);
        for (; passed != 0 && status == HSPZ_OK; passed &= passed - 1) {
            const uint32_t lane = (uint32_t)__builtin_ctzll(passed);
            const uint32_t q = w->query_at[i + lane];
            status =
                hspz__screen_add(&w->screen, cpu->index.positions[w->window + w->target_at[i + lane]],
                                 j->packed ? q : j->query->positions[q], likely >> lane & 1, rows.row[lane]);
        }
    }
    h->count -= end;
    if (end > 0 && h->count > 0) {
        memmove(w->target_at, w->target_at + end, h->count * sizeof *w->target_at);
        memmove(w->query_at, w->query_at + end, h->count * sizeof *w->query_at);
    }
    return status;
}

/* ---- hits of a block */

/* All hits of target places [t, t_end) with query places [q, q_end), however many. */
static hspz_status add_product(const join *j, join_worker *w, uint32_t t, uint32_t t_end, uint32_t q,
                               uint32_t q_end)
{
    hspz__hits *h = &w->hits_at_hand;
    hspz_status status = HSPZ_OK;
    w->hits += (uint64_t)(t_end - t) * (q_end - q);
    for (; t < t_end && status == HSPZ_OK; t++)
        for (uint32_t at = q; at < q_end && status == HSPZ_OK;) {
            const uint32_t room = ROOM - h->count;
            const uint32_t stop = q_end - at < room ? q_end : at + room;
            for (; at < stop; at++) {
                h->target[h->count] = t - w->window;
                h->query[h->count++] = j->packed ? j->query->positions[at] : at;
            }
            if (h->count >= FULL)
                status = screen_hits(j, w, false);
        }
    return status;
}

static void pair_block(const join *j, join_worker *w, const hspz__block *block)
{
    const hspz__cpu *cpu = j->call->cpu;
    const hspz__block *others[HSPZ__VARIANTS_MAX];
    for (uint32_t v = 0; v < cpu->keys.variant_count; v++)
        others[v] = hspz__words_block(j->query, block->id ^ cpu->keys.variant_mask[v] >> 6);
    cpu->kernels->pair(block, others, j->low, cpu->keys.variant_count, &w->ranks);
}

/* The hits of the pairs that wait. The query's lists are read at as many places as there are variants; each step asks for what the next one
 * reads, a few hundred pairs ahead. */
static hspz_status expand_pairs(const join *j, join_worker *w)
{
    const hspz__words *index = &j->call->cpu->index, *query = j->query;
    hspz__rank_pairs *ranks = &w->ranks;
    hspz__hits *h = &w->hits_at_hand;
    for (uint32_t i = 0; i < ranks->multi_count; i++)
        __builtin_prefetch(query->positions + query->starts[ranks->multi_query[i]]);
    uint32_t *singles = h->query + h->count;
    for (uint32_t i = 0; i < ranks->count; i++) {
        h->target[h->count + i] = index->starts[ranks->target[i]] - w->window;
        singles[i] = query->starts[ranks->query[i]];
        __builtin_prefetch(query->positions + singles[i]);
    }
    for (uint32_t i = 0; j->packed && i < ranks->count; i++)
        singles[i] = query->positions[singles[i]];
    h->count += ranks->count;
    w->hits += ranks->count;
    hspz_status status = h->count >= FULL ? screen_hits(j, w, false) : HSPZ_OK;
    for (uint32_t i = 0; i < ranks->multi_count && status == HSPZ_OK;) {
        const uint32_t before = h->count;
        i = j->call->cpu->kernels->products(ranks, i, h);
        w->hits += h->count - before;
        if (h->count >= FULL)
            status = screen_hits(j, w, false);
        else if (i < ranks->multi_count) { /* too large for the list */
            const uint32_t t = ranks->multi_target[i], q = ranks->multi_query[i++];
            status = add_product(j, w, index->starts[t], index->starts[t + 1], query->starts[q],
                                 query->starts[q + 1]);
        }
    }
    ranks->count = 0;
    ranks->multi_count = 0;
    return status;
}

static hspz_status join_block(const join *j, join_worker *w, const hspz__block *block)
{
    const hspz__hits *h = &w->hits_at_hand;
    hspz__rank_pairs *ranks = &w->ranks;
    const uint32_t singles = ranks->count, multis = ranks->multi_count;
    pair_block(j, w, block);
    for (uint32_t i = singles; i < ranks->count; i++)
        __builtin_prefetch(h->query_starts + ranks->query[i]);
    for (uint32_t i = multis; i < ranks->multi_count; i++)
        __builtin_prefetch(h->query_starts + ranks->multi_query[i]);
    const uint32_t most = ranks->count > ranks->multi_count ? ranks->count : ranks->multi_count;
    return most < HSPZ__PAIRS_FULL ? HSPZ_OK : expand_pairs(j, w);
}

/* The same restricted to target places [first, last), for blocks larger than a window. */
static hspz_status join_part_of_block(const join *j, join_worker *w, const hspz__block *block, uint32_t first,
                                      uint32_t last)
{
    const hspz__words *index = &j->call->cpu->index, *query = j->query;
    hspz__rank_pairs *ranks = &w->ranks;
    pair_block(j, w, block);
    hspz_status status = HSPZ_OK;
    for (uint32_t i = 0; i < ranks->count + ranks->multi_count && status == HSPZ_OK; i++) {
        const bool single = i < ranks->count;
        const uint32_t q = single ? ranks->query[i] : ranks->multi_query[i - ranks->count];
        const uint32_t r = single ? ranks->target[i] : ranks->multi_target[i - ranks->count];
        uint32_t t = index->starts[r], t_end = index->starts[r + 1];
        if (t < first)
            t = first;
        if (t_end > last)
            t_end = last;
        if (t < t_end)
            status = add_product(j, w, t, t_end, query->starts[q], query->starts[q + 1]);
    }
    ranks->count = 0;
    ranks->multi_count = 0;
    return status;
}

/* The hits of rows [row, end) of the target's blocks with places [first, last) of its positions; of a single row, `part`
 * says that these are not all of its places. */
static hspz_status join_window(const join *j, join_worker *w, uint32_t row, uint32_t end, uint32_t first,
                               uint32_t last, bool part)
{
    const hspz__cpu *cpu = j->call->cpu;
    hspz_status status = HSPZ_OK;
    w->window = first;
    w->hits_at_hand = (hspz__hits){.target_starts = cpu->index.starts,
                                   .query_starts = j->query->starts,
                                   .query_positions = j->packed ? j->query->positions : NULL,
                                   .target_base = first,
                                   .room = ROOM,
                                   .target = w->target_at,
                                   .query = w->query_at};
    hspz__contexts(cpu, &cpu->target, cpu->index.positions + first, last - first, HSPZ__FLAG_TARGET,
                   w->contexts);
    for (; row < end && status == HSPZ_OK; row++) {
        const hspz__block *block = &cpu->index.blocks[row];
        if (block->bits == 0)
            continue;
        status = part ? join_part_of_block(j, w, block, first, last) : join_block(j, w, block);
    }
    if (status == HSPZ_OK)
        status = expand_pairs(j, w);
    return status == HSPZ_OK ? screen_hits(j, w, true) : status;
}

/* Place of the first position of a row's block; row = number of rows gives the end. */
static uint32_t place_of_row(const hspz__words *index, uint32_t row)
{
    return row < index->block_count ? index->starts[index->blocks[row].rank] : (uint32_t)index->count;
}

static hspz_status join_item(void *context_of_run, uint32_t worker, uint64_t item)
{
    join *j = context_of_run;
    join_worker *w = &j->workers[worker];
    const hspz__words *index = &j->call->cpu->index;
    uint32_t row = (uint32_t)item * j->rows;
    const uint32_t end = index->block_count - row < j->rows ? index->block_count : row + j->rows;
    hspz_status status = HSPZ_OK;
    while (row < end && status == HSPZ_OK) {
        uint32_t next = row + 1;
        uint32_t first = place_of_row(index, row), last = place_of_row(index, next);
        while (next < end && last - first < WINDOW_AIM) {
            const uint32_t further = place_of_row(index, next + 1);
            if (further - first > WINDOW)
                break;
            last = further;
            next++;
        }
        const bool part = last - first > WINDOW;
        for (; first < last && status == HSPZ_OK; first += WINDOW)
            status = join_window(j, w, row, next, first, last - first < WINDOW ? last : first + WINDOW, part);
        row = next;
    }
    return status;
}

/* ---- one range of the query */

static hspz_status context_item(void *context_of_run, uint32_t worker, uint64_t item)
{
    (void)worker;
    join *j = context_of_run;
    const uint64_t first = item * 4096;
    const uint64_t left = j->query->count - first;
    hspz__contexts(j->call->cpu, j->call->query, j->query->positions + first,
                   (uint32_t)(left < 4096 ? left : 4096), HSPZ__FLAG_QUERY, j->contexts + first);
    return HSPZ_OK;
}

static hspz_status prepare_query(join *j, uint64_t begin, uint64_t end)
{
    hspz__call *call = j->call;
    hspz__cpu *cpu = call->cpu;
    hspz_statistics *statistics = call->output->statistics;
    const double start = hspz__seconds();
    const hspz__builder builder = hspz__cpu_builder(cpu);
    hspz_status status =
        hspz__words_build(j->query, &builder, call->query, begin, 1, end - begin, cpu->form, call->error);
    if (status != HSPZ_OK || j->packed) {
        statistics->seconds_query += hspz__seconds() - start;
        return status;
    }
    j->contexts = hspz__scratch_get(&cpu->contexts, cpu->host, j->query->count, sizeof *j->contexts);
    if (j->contexts == NULL)
        return hspz__fail(call->error, HSPZ_E_MEMORY, "no memory for the contexts of %llu query positions",
                          (unsigned long long)j->query->count);
    status = hspz__pool_run(cpu->pool, (j->query->count + 4095) / 4096, context_item, j, NULL);
    statistics->seconds_query += hspz__seconds() - start;
    return status;
}

static void items_of(join *j)
{
    const uint32_t rows = j->call->cpu->index.block_count;
    j->rows = rows / (hspz__pool_threads(j->call->cpu->pool) * 64) + 1;
    if (j->rows > BLOCKS_AN_ITEM)
        j->rows = BLOCKS_AN_ITEM;
    j->items = (rows + j->rows - 1) / j->rows;
}

/* Joins window starts [begin, end); survivors pile up in the workers. */
static hspz_status join_range(join *j, uint64_t begin, uint64_t end)
{
    hspz__call *call = j->call;
    hspz__cpu *cpu = call->cpu;
    j->contexts = NULL;
    hspz_status status = prepare_query(j, begin, end);
    if (status == HSPZ_OK) {
        const double start = hspz__seconds();
        call->pulse.share = end - begin;
        status = hspz__pool_run(cpu->pool, j->items, join_item, j, &call->pulse);
        for (uint32_t i = 0; i < hspz__pool_threads(cpu->pool) && status == HSPZ_OK; i++)
            status = hspz__screen_flush(&j->workers[i].screen);
        if (status == HSPZ_OK) {
            call->output->statistics->query_positions += j->query->count;
            call->output->statistics->seeds += j->query->count * cpu->keys.variant_count;
            call->pulse.done += call->pulse.share;
        }
        call->pulse.share = 0;
        call->output->statistics->seconds_expand += hspz__seconds() - start;
        if (status == HSPZ_E_MEMORY)
            hspz__fail(call->error, status, "no memory for the surviving hits");
    }
    return status;
}

/* ---- a part of the call: whole batches, with their own chunks */

typedef struct part {
    uint64_t begin, end, batch_size;
    hspz__chunks chunks;
    bool labelled;
    hspz__found_list *found;
} part;

static hspz_status extend_survivors(join *j, part *p)
{
    hspz__call *call = j->call;
    const uint32_t dedup = call->cpu->plan->dedup;
    hspz__extension how = {.kind = HSPZ__LABEL_CHUNK, .chunks = &p->chunks, .distinct = true};
    if (dedup == HSPZ_DEDUP_MAXIMAL)
        how.kind = HSPZ__LABEL_CONSTANT;
    if (dedup == HSPZ_DEDUP_NONE)
        how.kind = HSPZ__LABEL_ANCHOR;
    const uint32_t threads = hspz__pool_threads(call->cpu->pool);
    hspz__anchors *lists = hspz__alloc(call->cpu->host, threads, sizeof *lists);
    if (lists == NULL)
        return hspz__fail(call->error, HSPZ_E_MEMORY, "no memory for the lists of %u threads", threads);
    for (uint32_t i = 0; i < threads; i++)
        lists[i] = j->workers[i].screen.survivors;
    hspz_status status = hspz__extend(call, lists, threads, &how, p->found);
    for (uint32_t i = 0; i < threads; i++)
        j->workers[i].screen.survivors = lists[i];
    hspz__free(call->cpu->host, lists);
    return status;
}

static uint64_t sum_hits(const join *j)
{
    uint64_t hits = 0;
    for (uint32_t i = 0; i < hspz__pool_threads(j->call->cpu->pool); i++)
        hits += j->workers[i].hits;
    return hits;
}

static uint64_t sum_survivors(const join *j)
{
    uint64_t survivors = 0;
    for (uint32_t i = 0; i < hspz__pool_threads(j->call->cpu->pool); i++)
        survivors += j->workers[i].screen.survivors.count;
    return survivors;
}

static hspz_status label_part(join *j, part *p, uint64_t hits)
{
    if (p->labelled)
        return HSPZ_OK;
    p->labelled = true;
    j->counted = true;
    return hspz__chunks_init(&p->chunks, j->call, p->begin, p->end, p->batch_size, hits);
}

/* Joins a range. When it turns out to hold 2^32 hits or more, the batches are counted first: any of them may be too large. */
static hspz_status join_counted(join *j, part *p, uint64_t begin, uint64_t end)
{
    const uint32_t threads = hspz__pool_threads(j->call->cpu->pool);
    for (uint32_t i = 0; i < threads; i++) {
        j->workers[i].hits_before = j->workers[i].hits;
        j->workers[i].survivors_before = j->workers[i].screen.survivors.count;
    }
    hspz_status status = join_range(j, begin, end);
    if (status != HSPZ_E_TOO_MANY_HITS || j->counted)
        return status;
    for (uint32_t i = 0; i < threads; i++) {
        j->workers[i].hits = j->workers[i].hits_before;
        hspz__anchors_cut(&j->workers[i].screen.survivors, j->workers[i].survivors_before);
        j->workers[i].screen.count = 0;
        j->workers[i].ranks.count = 0;
        j->workers[i].ranks.multi_count = 0;
    }
    status = label_part(j, p, UINT64_MAX);
    return status == HSPZ_OK ? join_range(j, begin, end) : status;
}

static hspz_status find_part(join *j, part *p)
{
    hspz_statistics *statistics = j->call->output->statistics;
    j->counted = false;
    for (uint32_t i = 0; i < hspz__pool_threads(j->call->cpu->pool); i++)
        j->workers[i].hits = 0;
    hspz_status status = HSPZ_OK;
    for (uint64_t at = p->begin; at < p->end && status == HSPZ_OK; at += RANGE) {
        status = join_counted(j, p, at, p->end - at < RANGE ? p->end : at + RANGE);
        if (status == HSPZ_OK && sum_survivors(j) > SURVIVORS) {
            status = label_part(j, p, UINT64_MAX); /* the hits of the part are not known yet: count them */
            if (status == HSPZ_OK)
                status = extend_survivors(j, p);
        }
    }
    const uint64_t hits = sum_hits(j);
    if (status == HSPZ_OK)
        status = label_part(j, p, hits);
    if (status == HSPZ_OK)
        status = extend_survivors(j, p);
    statistics->hits += hits;
    statistics->batches += (p->end - p->begin + p->batch_size - 1) / p->batch_size;
    statistics->chunks += p->chunks.chunks;
    hspz__chunks_free(&p->chunks, j->call->cpu->host);
    return status;
}

/* ---- the two ways to use it */

static hspz_status start_join(join *j, hspz__call *call, hspz__mark_lists *lists)
{
    hspz__cpu *cpu = call->cpu;
    const uint32_t threads = hspz__pool_threads(cpu->pool);
    *j = (join){.call = call, .query = &cpu->query_words};
    items_of(j);
    j->packed = call->query->length <= PACKED_BASES && call->query->risky == NULL;
    for (uint32_t v = 0; v < cpu->keys.variant_count; v++)
        j->low[v] = cpu->keys.variant_mask[v] & 63;
    j->workers = hspz__alloc(cpu->host, threads, sizeof *j->workers);
    if (j->workers == NULL)
        return hspz__fail(call->error, HSPZ_E_MEMORY, "no memory for %u threads", threads);
    for (uint32_t i = 0; i < threads; i++) {
        join_worker *w = &j->workers[i];
        w->screen.call = call;
        w->screen.count = 0;
        w->screen.survivors = cpu->survivors[i];
        w->screen.marks = lists != NULL ? &lists[i] : NULL;
        hspz__anchors_cut(&w->screen.survivors, 0);
        w->ranks.count = 0;
        w->ranks.multi_count = 0;
        w->number = i;
        w->screened = 0;
        w->hits = 0;
    }
    return HSPZ_OK;
}

static void end_join(join *j)
{
    hspz__cpu *cpu = j->call->cpu;
    for (uint32_t i = 0; j->workers != NULL && i < hspz__pool_threads(cpu->pool); i++)
        cpu->survivors[i] = j->workers[i].screen.survivors; /* its memory, for the next call */
    hspz__free(cpu->host, j->workers);
}

hspz_status hspz__join_find(hspz__call *call, uint64_t begin, uint64_t end, uint64_t batch_size)
{
    join j;
    hspz__result result;
    hspz__result_init(&result, call);
    hspz_status status = start_join(&j, call, NULL);
    /* As many whole batches at a time as a range holds, at least one. */
    const uint64_t size = batch_size < RANGE ? RANGE / batch_size * batch_size : batch_size;
    for (uint64_t at = begin; at < end && status == HSPZ_OK; at += size) {
        part p = {.begin = at,
                  .end = end - at < size ? end : at + size,
                  .batch_size = batch_size,
                  .found = &result.found};
        status = find_part(&j, &p);
        if (status == HSPZ_OK)
            status = hspz__result_scope_end(&result);
    }
    status = hspz__result_end(&result, status);
    end_join(&j);
    return status;
}

hspz_status hspz__join_tile(hspz__call *call, uint64_t begin, uint64_t end, hspz__mark_lists *lists,
                            uint64_t *hits)
{
    join j;
    hspz_status status = start_join(&j, call, lists);
    j.counted = true; /* hspz__marks_find looks at the batches when all is done */
    if (status == HSPZ_OK)
        status = join_range(&j, begin, end);
    if (status == HSPZ_OK)
        *hits = sum_hits(&j);
    end_join(&j);
    return status;
}
