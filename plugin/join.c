/* join.c -- level (a): hits as a join of two lists sorted by seed word.
 *
 * Idea: the raw order of hits is an order of text positions and would cost a cache miss or more for each hit. Here the target's words are
 * walked in ascending order and each meets the query's buckets of its variants, so that all reads run along sorted lists. Words
 * come in blocks of 64 with a bitmap each: the words of a block whose variant v has query positions are the AND of the target's
 * bitmap with the query's at id XOR (mask >> 6), its bits exchanged by the low six bits of the mask. Query contexts lie in word
 * order; target contexts are gathered for a window of a few hundred positions, which then meet their query contexts in
 * cache. Only hits that pass the filter are ever stored, and chunks are labels (chunks.c).
 */
#include "join.h"

#define RANGE 8388608u      /* most query positions joined at once: 256 MiB of contexts */
#define SURVIVORS 50331648u /* beyond this many they are extended before the join goes on */
#define BLOCKS_AN_ITEM 256u /* at most, see items_of */
#define PACKED_BASES                                                                                         \
    (UINT64_C(1) << 24) /* sequences of up to so many bases in all are read in the order of hits */
#define PACKED_RATE 2   /* longer ones too where a position has fewer hits than that */
#define SPARSE_RATE 1   /* below so many hits a target position, contexts are gathered when they are met */

/* ---- one range of the query */

/* Hits that a position has in `words` on average, if its seeds were random. */
static double rate_of(const hspz__keys *keys, const hspz__words *words)
{
    return (double)words->count * keys->variant_count / (double)(UINT64_C(1) << keys->bits);
}

static hspz_status context_item(void *context_of_run, uint32_t worker, uint64_t item)
{
    (void)worker;
    hspz__join *j = context_of_run;
    const uint64_t first = item * 4096;
    const uint64_t left = j->query->count - first;
    hspz__contexts(j->call->cpu, j->call->query, j->query->positions + first,
                   (uint32_t)(left < 4096 ? left : 4096), HSPZ__FLAG_QUERY, j->contexts + first);
    return HSPZ_OK;
}

static hspz_status prepare_query(hspz__join *j, uint64_t begin, uint64_t end)
{
    hspz__call *call = j->call;
    hspz__cpu *cpu = call->cpu;
    hspz_statistics *statistics = call->output->statistics;
    const double start = hspz__seconds();
    const hspz__builder builder = hspz__cpu_builder(cpu);
    hspz_status status = hspz__words_sort(j->query, &builder, call->query, begin, end - begin, call->error);
    j->sparse = rate_of(&cpu->keys, j->query) < SPARSE_RATE;
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

static void items_of(hspz__join *j)
{
    const uint32_t rows = j->call->cpu->index.block_count;
    j->rows = rows / (hspz__pool_threads(j->call->cpu->pool) * 64) + 1;
    if (j->rows > BLOCKS_AN_ITEM)
        j->rows = BLOCKS_AN_ITEM;
    j->items = (rows + j->rows - 1) / j->rows;
}

/* Joins window starts [begin, end); survivors pile up in the workers. */
static hspz_status join_range(hspz__join *j, uint64_t begin, uint64_t end)
{
    hspz__call *call = j->call;
    hspz__cpu *cpu = call->cpu;
    j->contexts = NULL;
    hspz_status status = prepare_query(j, begin, end);
    if (status == HSPZ_OK) {
        const double start = hspz__seconds();
        call->pulse.share = end - begin;
        for (uint32_t i = 0; i < hspz__pool_threads(cpu->pool); i++)
            j->workers[i].group = UINT32_MAX; /* the query's words are others now */
        status = hspz__pool_run(cpu->pool, j->items, hspz__join_item, j, &call->pulse);
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

static hspz_status extend_survivors(hspz__join *j, part *p)
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

static uint64_t sum_hits(const hspz__join *j)
{
    uint64_t hits = 0;
    for (uint32_t i = 0; i < hspz__pool_threads(j->call->cpu->pool); i++)
        hits += j->workers[i].hits;
    return hits;
}

static uint64_t sum_survivors(const hspz__join *j)
{
    uint64_t survivors = 0;
    for (uint32_t i = 0; i < hspz__pool_threads(j->call->cpu->pool); i++)
        survivors += j->workers[i].screen.survivors.count;
    return survivors;
}

static hspz_status label_part(hspz__join *j, part *p, uint64_t hits)
{
    if (p->labelled)
        return HSPZ_OK;
    p->labelled = true;
    j->counted = true;
    return hspz__chunks_init(&p->chunks, j->call, p->begin, p->end, p->batch_size, hits);
}

/* Joins a range. When it turns out to hold 2^32 hits or more, the batches are counted first: any of them may be too large. */
static hspz_status join_counted(hspz__join *j, part *p, uint64_t begin, uint64_t end)
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

static hspz_status find_part(hspz__join *j, part *p)
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

static hspz_status start_join(hspz__join *j, hspz__call *call, hspz__mark_lists *lists)
{
    hspz__cpu *cpu = call->cpu;
    const uint32_t threads = hspz__pool_threads(cpu->pool);
    *j = (hspz__join){.call = call, .query = &cpu->query_words};
    items_of(j);
    j->packed = call->query->risky == NULL &&
                (call->query->length <= PACKED_BASES || rate_of(&cpu->keys, &cpu->index) < PACKED_RATE);
    for (uint32_t v = 0; v < cpu->keys.variant_count; v++)
        j->low[v] = cpu->keys.variant_mask[v] & 63;
    j->workers = hspz__alloc(cpu->host, threads, sizeof *j->workers);
    if (j->workers == NULL)
        return hspz__fail(call->error, HSPZ_E_MEMORY, "no memory for %u threads", threads);
    for (uint32_t i = 0; i < threads; i++) {
        hspz__join_worker *w = &j->workers[i];
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

static void end_join(hspz__join *j)
{
    hspz__cpu *cpu = j->call->cpu;
    for (uint32_t i = 0; j->workers != NULL && i < hspz__pool_threads(cpu->pool); i++)
        cpu->survivors[i] = j->workers[i].screen.survivors; /* its memory, for the next call */
    hspz__free(cpu->host, j->workers);
}

hspz_status hspz__join_find(hspz__call *call, uint64_t begin, uint64_t end, uint64_t batch_size)
{
    hspz__join j;
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
    hspz__join j;
    hspz_status status = start_join(&j, call, lists);
    j.counted = true; /* hspz__marks_find looks at the batches when all is done */
    if (status == HSPZ_OK)
        status = join_range(&j, begin, end);
    if (status == HSPZ_OK)
        *hits = sum_hits(&j);
    end_join(&j);
    return status;
}
