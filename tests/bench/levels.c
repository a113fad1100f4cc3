/* levels.c -- what each level of the ABI costs: the plugin's own seeds (a), the host's seeds (b), and level (a) over a host's index.
 *
 * usage: levels PLUGIN.so TARGET QUERY [BATCH]     BATCH: query positions a call at level (b), default 250000
 * Plus strand of the first block of each file, 12of19 with transitions, defaults otherwise, as hosts like KegAlign call it. Prints one line
 * a level: seconds of the best of three runs, hits, HSPs. `HSPZ_LEVELS_THREADS` and `_DEVICE` are the knobs `threads` and `backend`.
 */
#include "failure.h"
#include "genome.h"
#include "hspz_abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WIDTH 19u
#define CARE 12u
#define WORDS (1u << 2 * CARE)
static const char pattern[] = "1110100110010101111";

typedef struct host {
    const hspz_plugin *plugin;
    hspz_engine *engine;
    const uint8_t *target, *query;
    uint64_t target_length, query_length, batch;
    uint32_t *table, *positions; /* the host's index */
    uint64_t position_count;
    uint64_t *seeds; /* of one batch */
    uint64_t hsps;
} host;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "levels: %s: %s\n", what, why);
    exit(1);
}

static const char *config(void *ctx, const char *key)
{
    (void)ctx;
    if (strcmp(key, "threads") == 0)
        return getenv("HSPZ_LEVELS_THREADS");
    return strcmp(key, "backend") == 0 ? getenv("HSPZ_LEVELS_DEVICE") : NULL;
}

static int32_t count(void *ctx, const hspz_hsp *hsps, uint64_t n, uint32_t stride)
{
    (void)hsps, (void)stride;
    ((host *)ctx)->hsps += n;
    return 0;
}

/* SPEC section 3: false when a base of the window is no capital A, C, G, T. */
static bool word_at(const uint8_t *window, uint32_t *word)
{
    static const uint8_t codes[256] = {['A'] = 1, ['C'] = 2, ['G'] = 3, ['T'] = 4};
    *word = 0;
    for (uint32_t i = 0; i < WIDTH; i++) {
        const uint32_t code = codes[window[i]];
        if (code == 0)
            return false;
        if (pattern[i] == '1')
            *word = *word << 2 | (code - 1);
    }
    return true;
}

static void make_index(host *h)
{
    uint32_t word;
    h->table = calloc(WORDS, sizeof *h->table);
    h->positions = calloc(h->target_length, sizeof *h->positions);
    if (h->table == NULL || h->positions == NULL)
        fail("index", "no memory");
    for (uint64_t i = 1; i + WIDTH <= h->target_length; i++)
        if (word_at(h->target + i, &word))
            h->table[word]++;
    for (uint32_t w = 0; w < WORDS; w++) { /* counts become starts, and the filling makes them ends */
        const uint32_t size = h->table[w];
        h->table[w] = (uint32_t)h->position_count;
        h->position_count += size;
    }
    for (uint64_t i = 1; i + WIDTH <= h->target_length; i++)
        if (word_at(h->target + i, &word))
            h->positions[h->table[word]++] = (uint32_t)i;
}

static uint64_t make_seeds(host *h, uint64_t begin, uint64_t end)
{
    uint64_t n = 0;
    uint32_t word;
    for (uint64_t i = begin; i < end && i + WIDTH <= h->query_length; i++) {
        if (!word_at(h->query + i, &word))
            continue;
        h->seeds[n++] = (uint64_t)word << 32 | i;
        for (uint32_t care = 0; care < CARE; care++)
            h->seeds[n++] = (uint64_t)(word ^ 2u << 2 * care) << 32 | i;
    }
    return n;
}

static void check(hspz_status status, const hspz_error *error)
{
    if (status != HSPZ_OK)
        fail("plugin", error->text);
}

static double run_find(host *h)
{
    hspz_error error = {.struct_size = sizeof error};
    const hspz_sink sink = {.struct_size = sizeof sink, .ctx = h, .hsps = count};
    const hspz_find_request request = {
        .struct_size = sizeof request, .batch_size = (uint32_t)h->batch, .end = h->query_length};
    const double start = now();
    check(h->plugin->find_hsps(h->engine, &request, &sink, &error), &error);
    return now() - start;
}

/* The host's making of seeds is not counted. */
static double run_expand(host *h)
{
    hspz_error error = {.struct_size = sizeof error};
    const hspz_sink sink = {.struct_size = sizeof sink, .ctx = h, .hsps = count};
    double seconds = 0;
    for (uint64_t at = 0; at < h->query_length; at += h->batch) {
        const hspz_seed_batch seeds = {
            .struct_size = sizeof seeds, .seeds = h->seeds, .count = make_seeds(h, at, at + h->batch)};
        const double start = now();
        check(h->plugin->expand_and_extend(h->engine, &seeds, &sink, &error), &error);
        seconds += now() - start;
    }
    return seconds;
}

static void measure(host *h, const char *name, double (*run)(host *))
{
    hspz_statistics statistics = {.struct_size = sizeof statistics};
    hspz_error error = {.struct_size = sizeof error};
    double best = 1e9;
    for (int i = 0; i < 3; i++) {
        h->hsps = 0;
        check(h->plugin->reset_statistics(h->engine, &error), &error);
        const double seconds = run(h);
        best = seconds < best ? seconds : best;
    }
    check(h->plugin->get_statistics(h->engine, &statistics, &error), &error);
    printf("%-34s %9.4f s %12llu hits %9.1f M hits/s %8llu HSPs\n", name, best,
           (unsigned long long)statistics.hits, 1e-6 * (double)statistics.hits / best,
           (unsigned long long)h->hsps);
}

static void set_target(host *h, bool host_index)
{
    hspz_error error = {.struct_size = sizeof error};
    hspz_target target = {.struct_size = sizeof target, .bases = h->target, .length = h->target_length};
    if (host_index) {
        target.index_table = h->table;
        target.index_entries = WORDS;
        target.positions = h->positions;
        target.position_count = h->position_count;
    }
    check(h->plugin->set_target(h->engine, &target, &error), &error);
}

static void open_engine(host *h, const char *path)
{
    static const int32_t hoxd70[16] = {91,  -114, -31, -123, -114, 100, -125, -31,
                                       -31, -125, 100, -114, -123, -31, -114, 91};
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL || (h->plugin = dlsym(library, HSPZ_PLUGIN_SYMBOL)) == NULL)
        fail(path, dlerror());
    hspz_error error = {.struct_size = sizeof error};
    const hspz_host_services services = {.struct_size = sizeof services, .config_get = config};
    hspz_engine_params params = {.struct_size = sizeof params,
                                 .device = HSPZ_DEVICE_AUTO,
                                 .query_slots = 1,
                                 .seed_pattern = pattern,
                                 .transitions = 1,
                                 .step = 1,
                                 .entropy = 1,
                                 .xdrop = 910,
                                 .hspthresh = 3000,
                                 .bad_score = -1000,
                                 .fill_score = -100,
                                 .max_hits = HSPZ_MAX_HITS_DEFAULT};
    uint32_t minor;
    memcpy(params.scores, hoxd70, sizeof hoxd70);
    check(h->plugin->negotiate(0, HSPZ_ABI_MINOR, &minor, &error), &error);
    check(h->plugin->engine_create(&params, &services, &h->engine, &error), &error);
    const hspz_query query = {.struct_size = sizeof query, .bases = h->query, .length = h->query_length};
    check(h->plugin->set_query(h->engine, 0, &query, &error), &error);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        fail("usage", "levels PLUGIN.so TARGET QUERY [BATCH]");
    host h = {.batch = argc > 4 ? strtoull(argv[4], NULL, 10) : 250000};
    hspz_failure failure = {0};
    hspz_genome target, query;
    if (hspz_genome_load(argv[2], NULL, &target, &failure) != 0 ||
        hspz_genome_load(argv[3], NULL, &query, &failure) != 0)
        fail("input", failure.text);
    h.target = target.bases;
    h.target_length = target.length;
    h.query = query.bases;
    h.query_length = query.length;
    if (h.batch == 0 || h.batch > UINT32_MAX ||
        (h.seeds = calloc(h.batch, (CARE + 1) * sizeof *h.seeds)) == NULL)
        fail("BATCH", "expected a number of query positions");
    make_index(&h);
    open_engine(&h, argv[1]);
    set_target(&h, false);
    measure(&h, "(a) find_hsps", run_find);
    measure(&h, "(b) expand_and_extend", run_expand);
    set_target(&h, true);
    measure(&h, "(a) find_hsps, the host's index", run_find);
    measure(&h, "(b) expand_and_extend, its index", run_expand);
    h.plugin->engine_destroy(h.engine);
    hspz_genome_free(&query);
    hspz_genome_free(&target);
    return 0;
}
