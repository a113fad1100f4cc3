/* conform_results.c -- rules about results: the three levels agree, nothing that tunes speed shows, sinks and cancellation
 * are obeyed, and every dedup policy gives the bytes of the reference (conform.h). */
#include "clock.h"
#include "conform.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* How one search is done. */
typedef enum way { WAY_FIND, WAY_EXPAND, WAY_ANCHORS, WAY_HOST_INDEX, WAY_COUNT } way;

/* A search of one strand of the pair as a single batch by the given way, into *hsps. */
static hspz_status search(const hspz_library *library, const hspz_engine_params *params,
                          const hspz__pair *pair, way how, uint32_t strand, hspz_hsps *hsps,
                          hspz_statistics *statistics)
{
    const hspz_plugin *p = &library->table;
    const char *what;
    hspz_error error = {.struct_size = sizeof error};
    hspz_sink sink = hspz_hsps_sink(hsps);
    hspz_engine *engine = hspz__conform_engine(library, params, NULL, pair, &what, &error);
    if (engine == NULL)
        return error.status != 0 ? error.status : HSPZ_E_INTERNAL;
    hspz_status status = HSPZ_OK;
    if (how == WAY_HOST_INDEX) {
        hspz_target target = {.struct_size = sizeof target,
                              .bases = pair->target,
                              .length = pair->target_length,
                              .index_table = pair->index_table,
                              .index_entries = pair->index_entries,
                              .positions = pair->positions,
                              .position_count = pair->position_count};
        status = p->set_target(engine, &target, NULL);
    }
    hspz_find_request request = {
        .struct_size = sizeof request, .strand = strand, .batch_size = UINT32_MAX, .end = pair->query_length};
    hspz_seed_batch seeds = {.struct_size = sizeof seeds, .seeds = pair->seeds, .count = pair->seed_count};
    hspz_anchor_batch anchors = {.struct_size = sizeof anchors,
                                 .stride = sizeof(hspz_anchor),
                                 .anchors = pair->anchors,
                                 .count = pair->anchor_count};
    if (status == HSPZ_OK && (how == WAY_FIND || how == WAY_HOST_INDEX))
        status = p->find_hsps(engine, &request, &sink, NULL);
    else if (status == HSPZ_OK && how == WAY_EXPAND)
        status = p->expand_and_extend(engine, &seeds, &sink, NULL);
    else if (status == HSPZ_OK)
        status = p->extend_anchors(engine, &anchors, &sink, NULL);
    if (status == HSPZ_OK && statistics != NULL) {
        *statistics = (hspz_statistics){.struct_size = sizeof *statistics};
        status = p->get_statistics(engine, statistics, NULL);
    }
    p->engine_destroy(engine);
    return status;
}

static bool same(const hspz_hsps *a, const hspz_hsps *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->items, b->items, a->count * sizeof *a->items) == 0);
}

/* Levels (b) and (c) and a host's index give what level (a) gives. */
static void check_levels(hspz__checks *c, const hspz__pair *pair, const hspz_hsps *found,
                         const hspz_engine_params *params)
{
    static const struct {
        way how;
        uint64_t capability;
        const char *rule;
    } ways[] = {{WAY_EXPAND, HSPZ_CAP_EXPAND, "level (b) on the host's seeds equals level (a)"},
                {WAY_ANCHORS, HSPZ_CAP_ANCHORS, "level (c) on the host's hits equals level (a)"},
                {WAY_HOST_INDEX, HSPZ_CAP_HOST_INDEX, "the host's own index gives the same HSPs"}};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        hspz_hsps hsps = {0};
        if (!(c->library->table.capabilities & ways[i].capability)) {
            hspz__check_skipped(c, ways[i].rule, "not among the plugin's capabilities");
            continue;
        }
        hspz_status status = search(c->library, params, pair, ways[i].how, HSPZ_STRAND_PLUS, &hsps, NULL);
        hspz__check(c, status == HSPZ_OK && same(&hsps, found), ways[i].rule,
                    "status %d, %llu HSPs, level (a) %llu", status, (unsigned long long)hsps.count,
                    (unsigned long long)found->count);
        hspz_hsps_free(&hsps);
    }
}

static void check_counts(hspz__checks *c, const hspz__pair *pair, const hspz_hsps *found,
                         const hspz_statistics *s)
{
    hspz__check(c, s->target_positions == pair->position_count, "statistics count the indexed positions",
                "%llu, expected %llu", (unsigned long long)s->target_positions,
                (unsigned long long)pair->position_count);
    hspz__check(c, s->seeds == pair->seed_count, "and the seeds", "%llu, expected %llu",
                (unsigned long long)s->seeds, (unsigned long long)pair->seed_count);
    hspz__check(c, s->hits == pair->anchor_count, "and the hits", "%llu, expected %llu",
                (unsigned long long)s->hits, (unsigned long long)pair->anchor_count);
    hspz__check(c, s->kept == found->count && s->accepted >= s->kept && s->gate_survivors >= s->accepted,
                "and the HSPs, no stage gaining any", "gate %llu, accepted %llu, kept %llu, given %llu",
                (unsigned long long)s->gate_survivors, (unsigned long long)s->accepted,
                (unsigned long long)s->kept, (unsigned long long)found->count);
}

static void check_reference(hspz__checks *c, const hspz__pair *pair)
{
    static const uint64_t limits[] = {HSPZ_MAX_HITS_DEFAULT, 1000, 7, 1};
    for (uint32_t mode = 0; mode < HSPZ_DEDUP_COUNT; mode++) {
        char rule[96];
        snprintf(rule, sizeof rule, "--dedup %s gives the reference's bytes, both strands, any MAX_HITS",
                 hspz_dedup_name(mode));
        if (!(c->library->table.capabilities & HSPZ_CAP_DEDUP(mode))) {
            hspz__check_skipped(c, rule, "not among the plugin's capabilities");
            continue;
        }
        if (c->reference == NULL) {
            hspz__check_skipped(c, rule, c->why_no_reference);
            continue;
        }
        bool equal = true;
        uint64_t shown[4] = {0}; /* MAX_HITS, strand, counts where they first differ */
        for (size_t i = 0; i < 2 * sizeof limits / sizeof limits[0] && equal; i++) {
            hspz_engine_params params = hspz__conform_params(c->library);
            hspz_hsps mine = {0}, theirs = {0};
            uint32_t strand = (uint32_t)(i & 1);
            params.dedup = mode;
            params.max_hits = limits[i / 2];
            equal = search(c->library, &params, pair, WAY_FIND, strand, &mine, NULL) == HSPZ_OK &&
                    search(c->reference, &params, pair, WAY_FIND, strand, &theirs, NULL) == HSPZ_OK &&
                    same(&mine, &theirs);
            if (!equal)
                memcpy(shown, (uint64_t[4]){params.max_hits, strand, mine.count, theirs.count}, sizeof shown);
            hspz_hsps_free(&mine);
            hspz_hsps_free(&theirs);
        }
        hspz__check(c, equal, rule, "MAX_HITS %llu, strand %llu: %llu HSPs, the reference has %llu",
                    (unsigned long long)shown[0], (unsigned long long)shown[1], (unsigned long long)shown[2],
                    (unsigned long long)shown[3]);
    }
}

/* Sinks and cancellation --------------------------------------------------------------------------- */

typedef struct watched_sink {
    pthread_t thread;
    bool stray; /* called on another thread, without records, or with a stride too small */
    uint64_t calls;
} watched_sink;

static int32_t refuse(void *ctx, const hspz_hsp *records, uint64_t count, uint32_t stride)
{
    watched_sink *w = ctx;
    w->calls++;
    w->stray = w->stray || !pthread_equal(w->thread, pthread_self()) || records == NULL || count == 0 ||
               stride < sizeof(hspz_hsp);
    return 1;
}

static int32_t cancel(void *ctx, uint64_t done, uint64_t total)
{
    atomic_int *asked = ctx;
    (void)done;
    (void)total;
    atomic_fetch_add(asked, 1);
    return 1;
}

static void check_stopping(hspz__checks *c, const hspz__pair *pair, const hspz_hsps *found)
{
    const hspz_plugin *p = &c->library->table;
    hspz_engine_params params = hspz__conform_params(c->library);
    watched_sink watched = {.thread = pthread_self()};
    hspz_sink refusing = {.struct_size = sizeof refusing, .ctx = &watched, .hsps = refuse};
    hspz_find_request request = {
        .struct_size = sizeof request, .batch_size = 1000, .end = pair->query_length};
    const char *what;
    hspz_error error;
    hspz_hsps again = {0};
    hspz_sink sink = hspz_hsps_sink(&again);

    hspz_engine *engine = hspz__conform_engine(c->library, &params, NULL, pair, &what, &error);
    if (!hspz__check(c, engine != NULL, "an engine for a sink that refuses", "%s: %.200s", what, error.text))
        return;
    hspz_status status = p->find_hsps(engine, &request, &refusing, NULL);
    hspz__check(c, status == HSPZ_E_SINK && watched.calls == 1,
                "a sink that refuses ends the call with HSPZ_E_SINK at once", "status %d after %llu calls",
                status, (unsigned long long)watched.calls);
    hspz__check(c, !watched.stray, "sinks get records, on the calling thread", "%s", "");
    request.batch_size = UINT32_MAX;
    status = p->find_hsps(engine, &request, &sink, NULL);
    hspz__check(c, status == HSPZ_OK && same(&again, found), "and the engine goes on working",
                "status %d, %llu HSPs", status, (unsigned long long)again.count);
    status = p->reset_statistics(engine, NULL);
    hspz_statistics zero = {.struct_size = sizeof zero};
    hspz_status got = p->get_statistics(engine, &zero, NULL);
    hspz__check(c, status == HSPZ_OK && got == HSPZ_OK && zero.hits == 0 && zero.kept == 0 && zero.seeds == 0,
                "reset_statistics starts from zero", "%llu hits", (unsigned long long)zero.hits);
    p->engine_destroy(engine);

    hspz_hsps_free(&again);
}

/* A call long enough that even a patient plugin asks: 2 kb of CA against itself is two million hits on long diagonals. */
static void check_cancel(hspz__checks *c)
{
    static const char rule[] = "a host that answers non-zero to progress cancels the call";
    const hspz_plugin *p = &c->library->table;
    uint8_t repeat[2000];
    hspz__pair pair = {
        .target = repeat, .target_length = sizeof repeat, .query = repeat, .query_length = sizeof repeat};
    hspz_engine_params params = hspz__conform_params(c->library);
    atomic_int asked = 0;
    hspz_host_services services = {.struct_size = sizeof services, .ctx = &asked, .progress = cancel};
    hspz_find_request request = {
        .struct_size = sizeof request, .batch_size = UINT32_MAX, .end = sizeof repeat};
    const char *what;
    hspz_error error;
    hspz_hsps hsps = {0};
    hspz_sink sink = hspz_hsps_sink(&hsps);
    for (size_t i = 0; i < sizeof repeat; i++)
        repeat[i] = i & 1 ? 'A' : 'C';
    double start = hspz__now();
    hspz_engine *engine = hspz__conform_engine(c->library, &params, &services, &pair, &what, &error);
    /* a plugin may ask while it sets sequences, and is then cancelled there */
    hspz_status status = engine != NULL ? p->find_hsps(engine, &request, &sink, NULL) : error.status;
    double seconds = hspz__now() - start;
    if (atomic_load(&asked) == 0 && status == HSPZ_OK && seconds < 1.0)
        hspz__check_skipped(c, rule, "the plugin was done before it had to ask");
    else
        hspz__check(c, status == HSPZ_E_CANCELLED && seconds < 3.0, rule,
                    "status %d after %.1f s, asked %d times", status, seconds, atomic_load(&asked));
    p->engine_destroy(engine);
    hspz_hsps_free(&hsps);
}

/* Independence ------------------------------------------------------------------------------------- */

typedef struct beside {
    const hspz_library *library;
    const hspz__pair *pair;
    hspz_hsps hsps;
    hspz_status status;
} beside;

static void *search_beside(void *argument)
{
    beside *b = argument;
    hspz_engine_params params = hspz__conform_params(b->library);
    b->status = search(b->library, &params, b->pair, WAY_FIND, HSPZ_STRAND_PLUS, &b->hsps, NULL);
    return NULL;
}

static void check_two_engines(hspz__checks *c, const hspz__pair *pair, const hspz_hsps *found)
{
    beside b[2] = {{.library = c->library, .pair = pair}, {.library = c->library, .pair = pair}};
    pthread_t thread;
    bool started = pthread_create(&thread, NULL, search_beside, &b[0]) == 0;
    search_beside(&b[1]);
    if (started)
        pthread_join(thread, NULL);
    else
        search_beside(&b[0]);
    hspz__check(c,
                b[0].status == HSPZ_OK && b[1].status == HSPZ_OK && same(&b[0].hsps, found) &&
                    same(&b[1].hsps, found),
                "two engines at once do not disturb one another", "status %d and %d, %llu and %llu HSPs",
                b[0].status, b[1].status, (unsigned long long)b[0].hsps.count,
                (unsigned long long)b[1].hsps.count);
    hspz_hsps_free(&b[0].hsps);
    hspz_hsps_free(&b[1].hsps);
}

void hspz__conform_results(hspz__checks *c)
{
    hspz__pair pair;
    hspz_hsps found = {0};
    hspz_statistics statistics = {.struct_size = sizeof statistics};
    hspz_engine_params params = hspz__conform_params(c->library);
    if (!(c->library->table.capabilities & HSPZ_CAP_FIND)) {
        hspz__check_skipped(c, "results", "the plugin offers no find_hsps");
        return;
    }
    if (!hspz__pair_make(&pair)) {
        hspz__check_skipped(c, "results", "out of memory");
        return;
    }
    hspz_status status = search(c->library, &params, &pair, WAY_FIND, HSPZ_STRAND_PLUS, &found, &statistics);
    if (hspz__check(c, status == HSPZ_OK && found.count > 0, "level (a) finds HSPs in the generated pair",
                    "status %d, %llu HSPs", status, (unsigned long long)found.count)) {
        check_counts(c, &pair, &found, &statistics);
        check_levels(c, &pair, &found, &params);
        check_stopping(c, &pair, &found);
        check_cancel(c);
        check_two_engines(c, &pair, &found);
        check_reference(c, &pair);
    }
    hspz_hsps_free(&found);
    hspz__pair_free(&pair);
}
