/* scheduler.c -- see scheduler.h. A mutex guards everything in `work` that changes; engines are touched by their own
 * worker only, except that its helper fills the other query slot, which the ABI's [slot] label allows beside find_hsps. */
#include "scheduler.h"

#include "clock.h"
#include "tally.h"

#include <stdlib.h>
#include <string.h>

#define NONE SIZE_MAX

/* The calls of one block pair: order[first .. first+count) of `work`, taken from the front. */
typedef struct group {
    size_t target_block, query_block;
    size_t first, count, taken;
    uint64_t positions_left;
} group;

typedef struct outcome {
    bool done;
    hspz_hsps hsps;
} outcome;

struct work;

/* One engine, its thread, and what the engine holds. */
typedef struct worker {
    struct work *work;
    hspz_engine_host *host;
    pthread_t thread;
    bool running;
    size_t target_block;
    size_t slot_block[2]; /* query block in each slot */
    uint32_t slots;
    pthread_t helper;
    bool helping;
    uint32_t helper_slot;
    size_t helper_block;
    hspz_status helper_status;
    hspz_error helper_error;
    _Atomic uint64_t positions; /* of the running call, for the progress line */
} worker;

typedef struct work {
    const hspz_inputs *inputs;
    const hspz_options *options;
    const hspz_calls *calls;
    worker *workers;
    uint32_t worker_count;
    hspz_progress *progress;
    group *groups;
    size_t group_count;
    size_t *order; /* call numbers, group after group, each group longest first */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    outcome *outcomes; /* one a call */
    uint32_t alive;    /* workers that have not ended */
    int code;          /* first failure */
    hspz_failure failure;
    hspz_tally tally;
} work;

/* Failing ---------------------------------------------------------------------------------------- */

/* Keeps the first failure and asks every engine to stop. With the lock held. */
static void give_up(work *w, int code, const hspz_failure *failure)
{
    if (w->code != 0)
        return;
    w->code = code;
    w->failure = *failure;
    for (uint32_t i = 0; i < w->worker_count; i++)
        atomic_store(&w->workers[i].host->abandoned, 1);
    pthread_cond_broadcast(&w->changed);
}

static bool stop_wanted(const worker *me)
{
    return me->host->stop != NULL && *me->host->stop != 0;
}

/* Records that a call of the plugin failed; a cancellation that somebody asked for is no failure of its own. */
static void call_failed(worker *me, hspz_status status, const hspz_error *error, const char *what)
{
    hspz_failure failure;
    int code;
    if (status == HSPZ_E_CANCELLED && stop_wanted(me))
        code = hspz_failed(&failure, HSPZ_RUN_CANCELLED, "cancelled");
    else if (status == HSPZ_E_SINK)
        code = hspz_failed(&failure, HSPZ_EXIT_MEMORY, "out of memory for the HSPs of %s", what);
    else
        code = hspz_plugin_failed(me->host->library, status, error, what, &failure);
    pthread_mutex_lock(&me->work->lock);
    give_up(me->work, code, &failure);
    pthread_mutex_unlock(&me->work->lock);
}

/* Choosing --------------------------------------------------------------------------------------- */

/* How well a group suits a worker; 0 when nothing is left in it. */
static int fitness(const work *w, const worker *me, const group *g, size_t query_block)
{
    if (g->taken == g->count)
        return 0;
    if (g->target_block != me->target_block)
        return 1;
    if (g->query_block == query_block)
        return 4;
    /* an untouched block before one that another engine works on: fewer queries are set */
    return w->worker_count > 1 && g->taken != 0 ? 2 : 3;
}

/* The group whose call comes next for a worker that has just worked on `query_block`, or NONE; with `past`, the one it
 * will turn to once that block is finished. Lock held. */
static size_t choose_group(const work *w, const worker *me, size_t query_block, bool past)
{
    size_t best = NONE;
    int best_fitness = 0;
    for (size_t i = 0; i < w->group_count; i++) {
        const group *g = &w->groups[i];
        int fit = fitness(w, me, g, query_block);
        if (fit == 0 || (past && fit == 4))
            continue;
        bool longer = w->worker_count > 1 && best != NONE && fit != 1 &&
                      g->positions_left > w->groups[best].positions_left;
        if (fit > best_fitness || (fit == best_fitness && longer)) {
            best = i;
            best_fitness = fit;
        }
    }
    return best;
}

static uint64_t positions_of(const hspz_call *call)
{
    return call->end - call->begin + 1;
}

/* The next call for a worker; false when there is none or the run has ended. */
static bool take_call(worker *me, size_t query_block, size_t *number)
{
    work *w = me->work;
    pthread_mutex_lock(&w->lock);
    size_t at = w->code == 0 && !stop_wanted(me) ? choose_group(w, me, query_block, false) : NONE;
    if (at != NONE) {
        group *g = &w->groups[at];
        *number = w->order[g->first + g->taken++];
        g->positions_left -= positions_of(&w->calls->items[*number]);
    }
    pthread_mutex_unlock(&w->lock);
    return at != NONE;
}

/* The query block a worker will probably turn to after `query_block` without a change of target, or NONE. */
static size_t next_query_block(worker *me, size_t query_block)
{
    work *w = me->work;
    pthread_mutex_lock(&w->lock);
    size_t at = choose_group(w, me, query_block, true);
    size_t next =
        at != NONE && w->groups[at].target_block == me->target_block ? w->groups[at].query_block : NONE;
    pthread_mutex_unlock(&w->lock);
    return next;
}

/* Loading blocks ---------------------------------------------------------------------------------- */

static hspz_status set_query(worker *me, uint32_t slot, size_t block, hspz_error *error)
{
    const hspz_block *b = &me->work->inputs->query.layout.blocks[block];
    hspz_query query = {.struct_size = sizeof query, .bases = b->bases, .length = b->length};
    return me->host->library->table.set_query(me->host->engine, slot, &query, error);
}

static void *help(void *argument)
{
    worker *me = argument;
    me->helper_error = (hspz_error){.struct_size = sizeof me->helper_error};
    me->helper_status = set_query(me, me->helper_slot, me->helper_block, &me->helper_error);
    return NULL;
}

/* Waits for the helper. A failed prefetch only leaves its slot empty: the query is set again when it is needed, and fails
 * then if it must. */
static void end_help(worker *me)
{
    if (!me->helping)
        return;
    pthread_join(me->helper, NULL);
    me->helping = false;
    me->slot_block[me->helper_slot] = me->helper_status == HSPZ_OK ? me->helper_block : NONE;
}

/* Starts to set the next query block in the slot that is not in use. */
static void start_help(worker *me, uint32_t busy_slot, size_t query_block)
{
    uint32_t slot = busy_slot ^ 1;
    if (me->slots < 2 || me->helping)
        return;
    size_t next = next_query_block(me, query_block);
    if (next == NONE || me->slot_block[slot] == next)
        return;
    me->helper_slot = slot;
    me->helper_block = next;
    me->slot_block[slot] = NONE;
    me->helping = pthread_create(&me->helper, NULL, help, me) == 0;
}

static hspz_status read_statistics(worker *me, hspz_statistics *s, hspz_error *error)
{
    *s = (hspz_statistics){.struct_size = sizeof *s};
    return me->host->library->table.get_statistics(me->host->engine, s, error);
}

/* Gives the engine its target and notes how many positions it indexed. */
static bool load_target(worker *me, size_t block)
{
    if (me->target_block == block)
        return true;
    end_help(me);
    const hspz_block *b = &me->work->inputs->target.layout.blocks[block];
    hspz_target target = {.struct_size = sizeof target, .bases = b->bases, .length = b->length};
    hspz_error error = {.struct_size = sizeof error};
    hspz_statistics before, after;
    hspz_status status = read_statistics(me, &before, &error);
    me->target_block = NONE;
    if (status == HSPZ_OK)
        status = me->host->library->table.set_target(me->host->engine, &target, &error);
    if (status == HSPZ_OK)
        status = read_statistics(me, &after, &error);
    if (status != HSPZ_OK) {
        call_failed(me, status, &error, "the target block cannot be set");
        return false;
    }
    me->target_block = block;
    pthread_mutex_lock(&me->work->lock);
    hspz__tally_target(&me->work->tally, block, after.target_positions - before.target_positions);
    pthread_mutex_unlock(&me->work->lock);
    return true;
}

/* Puts a query block in a slot unless one holds it, and says which. */
static bool load_query(worker *me, size_t block, uint32_t *slot)
{
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < me->slots; i++)
            if (me->slot_block[i] == block) {
                *slot = i;
                return true;
            }
        end_help(me); /* it may be just coming */
    }
    hspz_error error = {.struct_size = sizeof error};
    *slot = 0;
    me->slot_block[0] = NONE;
    hspz_status status = set_query(me, 0, block, &error);
    if (status != HSPZ_OK) {
        call_failed(me, status, &error, "the query block cannot be set");
        return false;
    }
    me->slot_block[0] = block;
    return true;
}

/* Working ----------------------------------------------------------------------------------------- */

/* "target block 1, query block 1, interval 3, minus strand": for people, so 1-based. */
static void describe(const hspz_call *call, char *text, size_t size)
{
    snprintf(text, size, "target block %zu, query block %zu, interval %llu, %s strand",
             call->target_block + 1, call->query_block + 1, (unsigned long long)call->interval + 1,
             call->strand == HSPZ_STRAND_PLUS ? "plus" : "minus");
}

static bool find(worker *me, const hspz_call *call, uint32_t slot, hspz_hsps *hsps)
{
    hspz_find_request request = {.struct_size = sizeof request,
                                 .slot = slot,
                                 .strand = call->strand,
                                 .batch_size = (uint32_t)me->work->options->wga_chunk_size,
                                 .begin = call->begin,
                                 .end = call->end};
    hspz_sink sink = hspz_hsps_sink(hsps);
    hspz_error error = {.struct_size = sizeof error};
    atomic_store(&me->host->call_done, 0);
    atomic_store(&me->positions, positions_of(call));
    hspz_status status = me->host->library->table.find_hsps(me->host->engine, &request, &sink, &error);
    atomic_store(&me->positions, 0);
    if (status == HSPZ_OK)
        return true;
    char where[160];
    describe(call, where, sizeof where);
    call_failed(me, status, &error, where);
    return false;
}

static void post(worker *me, size_t number, const hspz_hsps *hsps)
{
    work *w = me->work;
    pthread_mutex_lock(&w->lock);
    w->outcomes[number].hsps = *hsps;
    w->outcomes[number].done = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    if (w->progress != NULL)
        atomic_fetch_add(&w->progress->finished, positions_of(&w->calls->items[number]));
}

/* Reads the engine's counts and takes the borrowed sequences away from it. */
static void finish(worker *me)
{
    work *w = me->work;
    const hspz_plugin *plugin = &me->host->library->table;
    hspz_error error = {.struct_size = sizeof error};
    hspz_statistics statistics;
    end_help(me);
    hspz_status status = read_statistics(me, &statistics, &error);
    if (status != HSPZ_OK)
        call_failed(me, status, &error, "the statistics cannot be read");
    for (uint32_t i = 0; i < me->slots; i++)
        if (me->slot_block[i] != NONE)
            (void)plugin->clear_query(me->host->engine, i, NULL);
    if (me->target_block != NONE)
        (void)plugin->clear_target(me->host->engine, NULL);
    pthread_mutex_lock(&w->lock);
    if (status == HSPZ_OK)
        hspz__tally_engine(&w->tally, &statistics);
    w->alive--;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static void *run_worker(void *argument)
{
    worker *me = argument;
    size_t number, query_block = NONE;
    while (take_call(me, query_block, &number)) {
        const hspz_call *call = &me->work->calls->items[number];
        hspz_hsps hsps = {0};
        uint32_t slot;
        query_block = call->query_block;
        if (!load_target(me, call->target_block) || !load_query(me, query_block, &slot))
            break;
        start_help(me, slot, query_block);
        if (!find(me, call, slot, &hsps)) {
            hspz_hsps_free(&hsps);
            break;
        }
        post(me, number, &hsps);
    }
    finish(me);
    return NULL;
}

/* Delivering -------------------------------------------------------------------------------------- */

static uint64_t positions_running(void *ctx)
{
    const work *w = ctx;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < w->worker_count; i++) {
        uint64_t all = atomic_load(&w->workers[i].positions);
        uint64_t total = atomic_load(&w->workers[i].host->call_total);
        uint64_t done = atomic_load(&w->workers[i].host->call_done);
        if (total != 0)
            sum += (uint64_t)((double)all * ((double)done / (double)total));
    }
    return sum;
}

/* Hands results over in order until all are delivered or the run ends early. */
static int deliver(work *w, const hspz_consumer *consumer, hspz_totals *totals)
{
    hspz_failure failure;
    for (size_t i = 0; i < w->calls->count; i++) {
        pthread_mutex_lock(&w->lock);
        while (!w->outcomes[i].done && w->code == 0 && w->alive != 0)
            pthread_cond_wait(&w->changed, &w->lock);
        bool ready = w->outcomes[i].done && w->code == 0;
        int code = w->code;
        pthread_mutex_unlock(&w->lock);
        if (!ready)
            return code;
        double start = hspz__now();
        code = consumer->take(consumer->ctx, &w->calls->items[i], &w->outcomes[i].hsps, &failure);
        totals->seconds_consumer += hspz__now() - start;
        hspz_hsps_free(&w->outcomes[i].hsps);
        if (code != 0) {
            pthread_mutex_lock(&w->lock);
            give_up(w, code, &failure);
            pthread_mutex_unlock(&w->lock);
            return code;
        }
    }
    return 0;
}

/* Setting up -------------------------------------------------------------------------------------- */

static int longer_first(const void *a, const void *b, void *ctx)
{
    const hspz_call *calls = ctx;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    uint64_t px = positions_of(&calls[x]), py = positions_of(&calls[y]);
    if (px != py)
        return px > py ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void make_groups(work *w)
{
    for (size_t i = 0; i < w->calls->count; i++) {
        const hspz_call *call = &w->calls->items[i];
        group *last = w->group_count ? &w->groups[w->group_count - 1] : NULL;
        if (last == NULL || last->target_block != call->target_block ||
            last->query_block != call->query_block) {
            last = &w->groups[w->group_count++];
            *last = (group){.target_block = call->target_block, .query_block = call->query_block, .first = i};
        }
        w->order[i] = i;
        last->count++;
        last->positions_left += positions_of(call);
    }
    /* with one engine, output order is as good and keeps the fewest results waiting */
    for (size_t i = 0; i < w->group_count && w->worker_count > 1; i++)
        qsort_r(w->order + w->groups[i].first, w->groups[i].count, sizeof *w->order, longer_first,
                w->calls->items);
}

static int start_workers(work *w, hspz_engine_host *engines, hspz_failure *failure)
{
    hspz_error error = {.struct_size = sizeof error};
    uint32_t slots = hspz_slots_wanted(w->inputs);
    for (uint32_t i = 0; i < w->worker_count; i++) {
        worker *me = &w->workers[i];
        me->work = w;
        me->host = &engines[i];
        me->target_block = me->slot_block[0] = me->slot_block[1] = NONE;
        me->slots = slots;
        atomic_store(&me->host->abandoned, 0);
        hspz_status status = me->host->library->table.reset_statistics(me->host->engine, &error);
        if (status != HSPZ_OK)
            return hspz_plugin_failed(me->host->library, status, &error, "the statistics cannot be reset",
                                      failure);
    }
    for (uint32_t i = 0; i < w->worker_count; i++) {
        worker *me = &w->workers[i];
        pthread_mutex_lock(&w->lock);
        w->alive++;
        pthread_mutex_unlock(&w->lock);
        me->running = pthread_create(&me->thread, NULL, run_worker, me) == 0;
        if (!me->running) {
            pthread_mutex_lock(&w->lock);
            w->alive--;
            pthread_mutex_unlock(&w->lock);
            return hspz_failed(failure, HSPZ_EXIT_MEMORY, "no thread can be started for engine %u", i + 1);
        }
    }
    return 0;
}

static bool allocate(work *w)
{
    size_t count = w->calls->count ? w->calls->count : 1;
    if (!hspz__tally_init(&w->tally, w->inputs->target.layout.block_count))
        return false;
    w->groups = calloc(count, sizeof *w->groups);
    w->order = calloc(count, sizeof *w->order);
    w->outcomes = calloc(count, sizeof *w->outcomes);
    w->workers = calloc(w->worker_count, sizeof *w->workers);
    return w->groups != NULL && w->order != NULL && w->outcomes != NULL && w->workers != NULL;
}

static void release(work *w)
{
    for (size_t i = 0; w->outcomes != NULL && i < w->calls->count; i++)
        hspz_hsps_free(&w->outcomes[i].hsps);
    hspz__tally_free(&w->tally);
    free(w->groups);
    free(w->order);
    free(w->outcomes);
    free(w->workers);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
}

int hspz_schedule(const hspz_inputs *inputs, const hspz_options *options, const hspz_calls *calls,
                  hspz_engine_host *engines, uint32_t engine_count, hspz_progress *progress,
                  const hspz_consumer *consumer, hspz_totals *totals, hspz_failure *failure)
{
    work w = {.inputs = inputs,
              .options = options,
              .calls = calls,
              .worker_count = engine_count,
              .progress = progress};
    double start = hspz__now();
    memset(totals, 0, sizeof *totals);
    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.changed, NULL);
    int code = HSPZ_EXIT_MEMORY;
    if (!allocate(&w)) {
        hspz_failed_memory(failure, "the schedule", calls->count * sizeof *w.groups);
    } else {
        make_groups(&w);
        code = start_workers(&w, engines, failure);
        if (code == 0) {
            if (progress != NULL)
                hspz_progress_start(progress, calls->positions, positions_running, &w);
            deliver(&w, consumer, totals);
        } else {
            pthread_mutex_lock(&w.lock);
            give_up(&w, code, failure);
            pthread_mutex_unlock(&w.lock);
        }
        for (uint32_t i = 0; i < w.worker_count; i++)
            if (w.workers[i].running)
                pthread_join(w.workers[i].thread, NULL);
        if (progress != NULL)
            hspz_progress_stop(progress);
        code = w.code;
        if (code != 0)
            *failure = w.failure;
        else if (engines[0].stop != NULL && *engines[0].stop != 0)
            code = hspz_failed(failure, HSPZ_RUN_CANCELLED, "cancelled");
        totals->statistics = hspz__tally_sum(&w.tally);
    }
    totals->seconds = hspz__now() - start;
    release(&w);
    return code;
}
