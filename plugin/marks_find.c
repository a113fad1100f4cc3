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
#include "marks_slot.h"

#include <string.h>

#define HITS_A_POSITION 8192u /* more of them make a tile larger than aimed */
#define FIRST_RATE 16u        /* hits a position, before there is a tile to learn from */

/* ---- a tile */

static hspz_status gather(hspz__mark_finder *f)
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

/* Query positions that a tile has at least. */
static uint64_t least_tile(const hspz__mark_finder *f)
{
    return f->call->cpu->tile_hits / HITS_A_POSITION + 1;
}

/* Joins as many positions from `begin` on as the memory for a tile takes; *end is lowered until they fit. */
static hspz_status make_tile(hspz__mark_finder *f, uint64_t begin, uint64_t *end, uint64_t *hits)
{
    const uint64_t least = least_tile(f);
    for (;;) {
        f->tile_begin = (uint32_t)begin;
        for (uint32_t i = 0; i < f->threads; i++) {
            hspz__mark_lists_clear(&f->lists[i]);
            f->lists[i].tile_begin = f->tile_begin;
            f->lists[i].most = *end - begin > least ? 2 * f->call->cpu->tile_hits / f->threads : UINT64_MAX;
        }
        hspz_status status = hspz__join_tile(f->call, begin, *end, f->lists, hits);
        if (status != HSPZ_E_TOO_MANY_HITS)
            return status;
        *end = begin + (*end - begin) / 4;
        if (*end < begin + least)
            *end = begin + least;
    }
}

static hspz_status work_tile(hspz__mark_finder *f, uint64_t begin, uint64_t *end, uint64_t *hits)
{
    hspz__call *call = f->call;
    hspz_status status = make_tile(f, begin, end, hits);
    if (status != HSPZ_OK)
        return status;
    f->hits += *hits;
    const double start = hspz__seconds();
    f->longest = 0;
    for (uint32_t i = 0; i < HSPZ__MARK_LISTS; i++)
        if (hspz__mark_keys(f, i) > f->longest)
            f->longest = hspz__mark_keys(f, i);
    status = hspz__pool_run(call->cpu->pool, HSPZ__MARK_LISTS, hspz__mark_work_list, f, &call->pulse);
    call->output->statistics->seconds_gate += hspz__seconds() - start;
    return status == HSPZ_OK ? gather(f) : status;
}

/* ---- the call */

static hspz_status start_finder(hspz__mark_finder *f)
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

static void free_finder(hspz__mark_finder *f)
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
static hspz_status count_chunks(hspz__mark_finder *f, uint64_t begin, uint64_t end, uint64_t batch_size)
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

static hspz_status work_tiles(hspz__mark_finder *f, uint64_t begin, uint64_t end)
{
    hspz__cpu *cpu = f->call->cpu;
    uint64_t rate = cpu->mark_rate != 0 ? cpu->mark_rate : FIRST_RATE;
    hspz_status status = HSPZ_OK;
    for (uint64_t at = begin; at < end && status == HSPZ_OK;) {
        uint64_t size = cpu->tile_hits / rate, hits = 0;
        if (size > UINT64_C(1) << (HSPZ__TILE_BITS - 1))
            size = UINT64_C(1) << (HSPZ__TILE_BITS - 1);
        if (size < least_tile(f))
            size = least_tile(f);
        const uint64_t tiles =
            (end - at + size - 1) / size; /* of one size: less memory than full ones and a rest */
        uint64_t stop = at + (end - at + tiles - 1) / tiles;
        status = work_tile(f, at, &stop, &hits);
        rate = hits / (stop - at) + 1;
        cpu->mark_rate = rate;
        at = stop;
        f->call->pulse.done = at - begin;
    }
    return status;
}

hspz_status hspz__marks_find(hspz__call *call, uint64_t begin, uint64_t end, uint64_t batch_size)
{
    hspz__mark_finder f = {.call = call, .threads = hspz__pool_threads(call->cpu->pool)};
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
