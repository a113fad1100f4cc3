/* backend_cuda_marks.c -- level (a) under `lastz`: the mark rule on the hits of a word join; see kernels/cuda/marks.h.
 * Where hits are very many, backend_cuda_near.c makes records of those only that matter.
 *
 * Idea: a unit's hits become records of 8 bytes, sorted by slot and query window; its marks go on into the next unit. Neither units nor
 * batches show in the result. The separator at the end of a query record stops every scan, and a mark never lies beyond the
 * separator, so marks need no reset where a record begins.
 */
#include "backend_cuda_marks.h"

#include "../kernels/cuda/primitives.h"

#include <string.h>

#define FEW_RECORDS ((uint64_t)1 << 22)
#define LAST_BITS 8u      /* of a query window: not sorted with the others */
#define TIE_BITS 9u       /* variant and target position begin here: the raw order of one window's hits */
#define LONGEST_RUN 2048u /* of hits that one thread puts in order */
#define MOST_WINDOWS ((uint64_t)1 << 24)

#define DO(what, step) HSPZ__TRY(hspz__cuda_check((step), (what), call->error))

/* ---- a unit */

static hspz__cuda_mark_layout layout_of(const hspz__marks_run *run, const hspz__cuda_unit *u)
{
    return (hspz__cuda_mark_layout){
        .begin = u->begin, .window = run->call->cuda->word.window, .target_bits = run->target_bits};
}

/* Stable sort by bits low .. high - 1; *in becomes the array that holds the result. */
static hspz_status sort_bits(hspz__marks_run *run, hspz__cuda_unit *u, uint64_t hits, uint32_t low,
                             uint32_t high, int *in)
{
    hspz__cuda_call *call = run->call;
    hspz__cuda_candidates *c = &u->candidates;
    int second = 0;
    if (low >= high)
        return HSPZ_OK;
    DO("sorting hits by slot",
       hspz__cuda_sort_u64(c->temp, &c->temp_bytes, u->records[*in], u->records[1 - *in], hits, (int)low,
                           (int)high, &second, call->cuda->stream));
    *in = second ? 1 - *in : *in;
    return HSPZ_OK;
}

/* Records by slot, then by query window. The last bits of the window, so many that hardly two hits of a slot agree above them, are left to
 * a pass that sorts short runs in place; where runs are long, all bits are sorted. */
hspz_status hspz__marks_sort(hspz__marks_run *run, hspz__cuda_unit *u, uint64_t hits, int *in)
{
    hspz__cuda_call *call = run->call;
    hspz__cuda *cuda = call->cuda;
    const uint32_t shift = run->target_bits + HSPZ__MARK_LOW_BITS, bits = hspz__cuda_bits(u->count);
    const uint32_t left = bits > 24 ? bits - 16 : bits < LAST_BITS ? bits : LAST_BITS;
    *in = 0;
    HSPZ__TRY(sort_bits(run, u, hits, shift + left, shift + bits, in));
    HSPZ__TRY(sort_bits(run, u, hits, 48, 64, in));
    DO("sorting hits by slot",
       cudaMemsetAsync(&cuda->counters->longer, 0, sizeof cuda->counters->longer, cuda->stream));
    DO("sorting hits by slot", hspz__cuda_mark_order(u->records[*in], (uint32_t)hits, shift + left,
                                                     LONGEST_RUN, &cuda->counters->longer, cuda->stream));
    HSPZ__TRY(hspz__cuda_read_counters(call));
    if (cuda->host_counters->longer == 0)
        return HSPZ_OK;
    HSPZ__TRY(sort_bits(run, u, hits, TIE_BITS, shift + bits, in));
    return sort_bits(run, u, hits, 48, 64, in);
}

/* The sorted records, walked; survivors are in the candidates' arrays, their number and the skipped hits in the counters. */
static hspz_status walk_records(hspz__marks_run *run, hspz__cuda_unit *u, uint64_t *records, uint32_t hits)
{
    hspz__cuda_call *call = run->call;
    hspz__cuda *cuda = call->cuda;
    hspz__cuda_candidates *c = &u->candidates;
    hspz__cuda_counters *counters = cuda->counters;
    const hspz__cuda_mark_layout layout = layout_of(run, u);
    const uint32_t capacity = (uint32_t)u->record_capacity;
    DO("finding slots", hspz__cuda_mark_ends(records, hits, u->slot_ends, cuda->stream));
    DO("finding close hits",
       hspz__cuda_mark_close(&layout, records, hits, u->list, capacity, &counters->listed, cuda->stream));
    DO("reading close hits", hspz__cuda_mark_reads(&layout, records, u->list, hits, &counters->listed,
                                                   &call->target, &call->strand, &cuda->rules, cuda->stream));
    DO("walking slots", cudaMemsetAsync(&counters->candidates, 0, sizeof counters->candidates, cuda->stream));
    DO("walking slots", hspz__cuda_mark_walk(&layout, records, u->slot_ends, &call->target, &call->strand,
                                             &cuda->rules, cuda->marks.start, c->keys[1], c->ranks[1],
                                             c->order, c->capacity, counters, cuda->stream));
    DO("extending hits", hspz__cuda_mark_extend(&layout, c->keys[1], c->ranks[1], c->order, c->capacity,
                                                &call->target, &call->strand, &cuda->rules, c->keys[0],
                                                c->right, c->left, counters, cuda->stream));
    return hspz__cuda_read_counters(call);
}

static hspz_status finish_unit(hspz__marks_run *run, hspz__cuda_unit *u, uint64_t hits)
{
    hspz__cuda_call *call = run->call;
    hspz_statistics *statistics = call->output->statistics;
    const hspz__cuda_counters found = *call->cuda->host_counters;
    const hspz__cuda_finish_plan plan = {.count = (uint32_t)found.extended,
                                         .extended = 1,
                                         .labels = {.begin = u->begin, .word = call->cuda->word}};
    if (found.candidates > u->candidates.capacity)
        return hspz__fail(call->error, HSPZ_E_INTERNAL, "more survivors than hits that may survive");
    statistics->skipped += found.skipped;
    statistics->gate_survivors += hits - found.skipped;
    u->candidates.second = 0;
    return hspz__cuda_finish(call, &u->candidates, &plan);
}

/* Batches and chunks of the unit, when it holds whole batches; else hits of the batch it is part of. */
static hspz_status note_batches(hspz__marks_run *run, const hspz__cuda_unit *u,
                                const hspz__cuda_counters *found, int ends_batch)
{
    hspz_statistics *statistics = run->call->output->statistics;
    if (u->batch_size >= run->batch_size) {
        statistics->batches += u->batches;
        statistics->chunks += found->chunks;
        return HSPZ_OK;
    }
    run->batch_hits += found->hits;
    if (run->batch_hits > UINT32_MAX)
        return hspz__unit_refuse(u, 0);
    if (ends_batch) {
        statistics->batches++;
        statistics->chunks += run->batch_hits / run->call->cuda->plan->max_hits + 1;
        run->batch_hits = 0;
    }
    return HSPZ_OK;
}

/* A record of every hit, of which there are `hits`; the first to come get their order in u->records[*in]. */
static hspz_status gather_all(hspz__marks_run *run, hspz__cuda_unit *u, uint64_t hits, uint64_t *capacity,
                              int *in, int *outcome)
{
    hspz__cuda *cuda = run->call->cuda;
    uint64_t parts = 0;
    if (hits > u->record_capacity) {
        const uint64_t wanted = hits + hits / 16;
        const uint64_t beside =
            *capacity * HSPZ__CANDIDATE_BYTES + (uint64_t)u->count * 64 + ((uint64_t)64 << 20);
        const int room =
            wanted < UINT32_MAX && wanted * HSPZ__RECORD_BYTES + beside < hspz__cuda_budget(cuda);
        *outcome = room ? HSPZ__MARKS_AGAIN : HSPZ__MARKS_SMALLER;
        u->record_capacity = room ? wanted : u->record_capacity;
        return HSPZ_OK;
    }
    HSPZ__TRY(hspz__unit_join(u, &parts));
    const uint64_t maybe = cuda->host_counters->candidates;
    if (parts > u->part_capacity || maybe > *capacity) {
        u->part_capacity = parts > u->part_capacity ? parts + parts / 8 : u->part_capacity;
        *capacity = maybe > *capacity ? maybe + maybe / 16 : *capacity;
        *outcome = *capacity <= hspz__unit_most_capacity(u) ? HSPZ__MARKS_AGAIN : HSPZ__MARKS_SMALLER;
        return HSPZ_OK;
    }
    *outcome = HSPZ__MARKS_DONE;
    return hits > 0 ? hspz__marks_sort(run, u, hits, in) : HSPZ_OK;
}

/* Where a unit lies in the call. */
typedef struct unit_place {
    int ends_batch, last, silent;
} unit_place;

/* One try. */
static hspz_status try_unit(hspz__marks_run *run, hspz__cuda_unit *u, uint64_t *capacity, unit_place place,
                            int *outcome)
{
    hspz__cuda_call *call = run->call;
    hspz_statistics *statistics = call->output->statistics;
    const hspz_status reserved = hspz__unit_reserve(u, (uint32_t)*capacity);
    if (reserved == HSPZ_E_DEVICE_MEMORY && u->count > 1) { /* less than the plan counted on */
        hspz__cuda_forget(call->error);
        *outcome = HSPZ__MARKS_SMALLER;
        return HSPZ_OK;
    }
    HSPZ__TRY(reserved);
    double start = hspz__seconds();
    HSPZ__TRY(hspz__unit_sort(u));
    u->join.layout = layout_of(run, u);
    HSPZ__TRY(hspz__unit_count(u));
    HSPZ__TRY(hspz__cuda_read_counters(call));
    statistics->seconds_query += hspz__seconds() - start;
    const hspz__cuda_counters found = *call->cuda->host_counters;
    if (found.refused != UINT64_MAX)
        return hspz__unit_refuse(u, found.refused);
    start = hspz__seconds();
    uint64_t records = found.hits;
    int in = 0;
    HSPZ__TRY(run->near ? hspz__near_gather(run, u, place.last, capacity, &records, &in, outcome)
                        : gather_all(run, u, found.hits, capacity, &in, outcome));
    statistics->seconds_expand += hspz__seconds() - start;
    if (*outcome != HSPZ__MARKS_DONE)
        return HSPZ_OK;
    if (!place.silent) {
        hspz__unit_note(u, &found);
        HSPZ__TRY(note_batches(run, u, &found, place.ends_batch));
    }
    start = hspz__seconds();
    if (records > 0)
        HSPZ__TRY(walk_records(run, u, u->records[in], (uint32_t)records));
    if (run->near)
        hspz__near_end(run);
    statistics->seconds_gate += hspz__seconds() - start;
    if (place.silent)
        return HSPZ_OK;
    if (records == 0) {
        statistics->gate_survivors += found.hits;
        return HSPZ_OK;
    }
    return finish_unit(run, u, found.hits);
}

/* Hits to expect: windows and target positions spread over the words evenly, twice that, and some. */
static uint64_t first_records(const hspz__cuda_unit *u)
{
    hspz__cuda *cuda = u->call->cuda;
    const double each = (double)cuda->word.variant_count * cuda->target.index.count /
                        (double)((uint64_t)1 << cuda->word.bits);
    double hits = 2.0 * each * u->count + (double)FEW_RECORDS;
    const double most = (double)(hspz__cuda_budget(cuda) / 2 / HSPZ__RECORD_BYTES);
    if (hits > most)
        hits = most;
    return hits < 4e9 ? (uint64_t)hits : (uint64_t)4000000000u;
}

/* ---- the call */

/* All over again, with records of all hits; no output before window `from`, which was given out already. */
static hspz_status begin_again(hspz__marks_run *run, uint64_t from)
{
    hspz__cuda_call *call = run->call;
    run->near = 0;
    run->silent = from;
    DO("clearing marks",
       cudaMemsetAsync(call->cuda->marks.start, 0, HSPZ__MARK_SLOTS * sizeof(uint32_t), call->cuda->stream));
    return HSPZ_OK;
}

/* Fewer windows for the unit that did not fit. */
static void halve(hspz__marks_run *run, uint64_t count, uint64_t in_batch)
{
    run->most = (count + 1) / 2;
    if (run->most > run->batch_size)
        run->most = run->most / run->batch_size * run->batch_size;
    if (in_batch != 0 && run->most >= run->batch_size) /* never leave a batch half counted */
        run->most = run->batch_size - 1;
}

static hspz_status next_unit(hspz__marks_run *run, const hspz_find_request *request, uint64_t end,
                             uint64_t *next, int *declined)
{
    hspz__cuda_call *call = run->call;
    const int silent = *next < run->silent;
    const uint64_t in_batch = (*next - request->begin) % run->batch_size;
    const uint64_t left = (silent ? run->silent : end) - *next;
    uint64_t count = left < run->most ? left : run->most;
    const int part = run->most < run->batch_size; /* of a batch */
    if (part && count > run->batch_size - in_batch)
        count = run->batch_size - in_batch;
    hspz__cuda_unit u = {
        .call = call, .begin = (uint32_t)*next, .count = (uint32_t)count, .part_capacity = HSPZ__PARTS};
    u.batch_size = (uint32_t)(part ? count : run->batch_size);
    u.batches = (uint32_t)((count + u.batch_size - 1) / u.batch_size);
    u.record_capacity = run->near ? hspz__near_records(&u) : first_records(&u);
    uint64_t capacity = hspz__unit_first_capacity(&u);
    const unit_place place = {.ends_batch = in_batch + count == run->batch_size || *next + count == end,
                              .last = *next + count == end,
                              .silent = silent};
    int outcome = HSPZ__MARKS_AGAIN;
    while (outcome == HSPZ__MARKS_AGAIN)
        HSPZ__TRY(try_unit(run, &u, &capacity, place, &outcome));
    if (outcome == HSPZ__MARKS_DONE) {
        *next += count;
        return HSPZ_OK;
    }
    if (outcome == HSPZ__MARKS_LOST) {
        const uint64_t from = *next;
        *next = request->begin;
        return begin_again(run, from);
    }
    if (count ==
        1) { /* the seed pipeline cuts even the hits of one window into pieces, but it cannot take over marks */
        *declined = *next == request->begin && run->silent == 0;
        return *declined ? HSPZ_OK
                         : hspz__fail(
                               call->error, HSPZ_E_DEVICE_MEMORY,
                               "the hits of query position %llu do not fit the device's memory; mask repeats",
                               (unsigned long long)*next);
    }
    halve(run, count, silent ? 0 : in_batch);
    return HSPZ_OK;
}

hspz_status hspz__cuda_find_by_marks(hspz__cuda_call *call, const hspz_find_request *request, uint64_t end,
                                     int *declined)
{
    hspz__cuda *cuda = call->cuda;
    hspz__marks_run run = {
        .call = call, .target_bits = hspz__cuda_bits((uint64_t)call->target.length >> HSPZ__MARK_SLOT_BITS)};
    run.batch_size = request->batch_size < end - request->begin ? request->batch_size : end - request->begin;
    run.most = hspz__unit_windows(cuda, run.batch_size);
    const uint64_t field = (uint64_t)1 << HSPZ__MARK_QUERY_BITS(run.target_bits);
    const uint64_t most = field < MOST_WINDOWS ? field : MOST_WINDOWS;
    if (run.most > most)
        run.most = most < run.batch_size ? most : most / run.batch_size * run.batch_size;
    HSPZ__TRY(hspz__near_begin(&run, run.most < end - request->begin ? run.most : end - request->begin));
    DO("clearing marks",
       cudaMemsetAsync(cuda->marks.start, 0, HSPZ__MARK_SLOTS * sizeof(uint32_t), cuda->stream));
    *declined = 0;
    for (uint64_t next = request->begin; next < end && !*declined;) {
        call->done = next - request->begin;
        if (hspz__cancelled(cuda->host, call->done, call->total))
            return hspz__fail(call->error, HSPZ_E_CANCELLED, "cancelled by the host");
        HSPZ__TRY(next_unit(&run, request, end, &next, declined));
    }
    return HSPZ_OK;
}
