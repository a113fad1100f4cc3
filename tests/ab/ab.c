/* ab.c -- runs random cases through two plugins and compares what comes out, byte for byte.
 *
 *   ab [options] REFERENCE.so PLUGIN.so
 *     --cases N        number of cases (2000)         --first SEED   first seed (1); the cases are SEED, SEED + 1, ...
 *     --seeds FILE     seeds of FILE first, one a line; text after the number is a remark
 *     --forever        until stopped                  --seconds S    until S seconds have passed
 *     --way LIST       knobs of the plugin as key=value,key=value; may repeat: each way runs every case. Without it: the ways below
 *     --each           every way runs every case; else the ways take turns
 *     --self-test      the plugin gets other parameters in 50 cases; succeeds when that is noticed
 *
 * Compared: status of each call, the stream of HSPs of each call, and the counts of the statistics at the end. A difference is
 * printed with the seed, the way and the first differing record; the exit status is 1.
 */
#include "generate.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAYS_MAX 32

typedef struct way {
    char text[256];
    struct {
        char *key, *value;
    } knob[16];
    int knobs;
} way;

static const char *const standard_ways[] = {
    "backend=cpu,backend.cpu_isa=avx512,threads=1",
    "backend=cpu,backend.cpu_isa=avx512,threads=3,seed_index=hash",
    "backend=cpu,backend.cpu_isa=avx512,threads=2,cpu.tile_hits=20000",
    "backend=cpu,backend.cpu_isa=avx2,threads=1",
    "backend=cpu,backend.cpu_isa=avx2,threads=4",
    "backend=cpu,backend.cpu_isa=avx2,threads=1,cpu.tile_hits=4096",
    "backend=cpu,backend.cpu_isa=scalar,threads=1,seed_index=hash",
    "backend=cpu,backend.cpu_isa=scalar,threads=2",
};

/* What one plugin made of a case. */
typedef struct outcome {
    hspz_hsp *hsps;
    uint64_t count, room;
    int short_of_memory;
    hspz_status create;
    hspz_status status[AB_WORKS_MAX];
    uint64_t ends[AB_WORKS_MAX]; /* records up to the end of each call */
    hspz_statistics statistics;
    char text[HSPZ_ERROR_TEXT];
} outcome;

static const hspz_plugin *load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "ab: %s\n", dlerror());
        return NULL;
    }
    const hspz_plugin *plugin = dlsym(library, HSPZ_PLUGIN_SYMBOL);
    if (plugin == NULL || plugin->magic != HSPZ_MAGIC || plugin->abi_major != HSPZ_ABI_MAJOR) {
        fprintf(stderr, "ab: %s is no plugin of this ABI\n", path);
        return NULL;
    }
    return plugin;
}

static const char *config_get(void *ctx, const char *key)
{
    const way *w = ctx;
    for (int i = 0; i < w->knobs; i++)
        if (strcmp(w->knob[i].key, key) == 0)
            return w->knob[i].value;
    return NULL;
}

static int parse_way(way *w, const char *text)
{
    memset(w, 0, sizeof *w);
    snprintf(w->text, sizeof w->text, "%s", text);
    static char storage[WAYS_MAX][256];
    static int used;
    char *at = storage[used++];
    snprintf(at, sizeof storage[0], "%s", text);
    for (char *part = strtok(at, ","); part != NULL; part = strtok(NULL, ",")) {
        char *equals = strchr(part, '=');
        if (equals == NULL || w->knobs == 16)
            return 0;
        *equals = '\0';
        w->knob[w->knobs].key = part;
        w->knob[w->knobs++].value = equals + 1;
    }
    return 1;
}

static int32_t take(void *ctx, const hspz_hsp *records, uint64_t count, uint32_t stride)
{
    outcome *o = ctx;
    if (o->count + count > o->room) {
        o->room = 2 * (o->count + count);
        hspz_hsp *larger = realloc(o->hsps, o->room * sizeof *larger);
        if (larger == NULL) {
            o->short_of_memory = 1;
            return 1;
        }
        o->hsps = larger;
    }
    for (uint64_t i = 0; i < count; i++)
        memcpy(&o->hsps[o->count++], (const char *)records + i * stride, sizeof(hspz_hsp));
    return 0;
}

static hspz_status run_work(const hspz_plugin *plugin, hspz_engine *engine, uint32_t slot,
                            const ab_work *work, const hspz_sink *sink, hspz_error *error)
{
    if (work->level == AB_LEVEL_FIND) {
        hspz_find_request request = work->find;
        request.slot = slot;
        return plugin->find_hsps(engine, &request, sink, error);
    }
    if (work->level == AB_LEVEL_SEEDS) {
        const hspz_seed_batch batch = {.struct_size = sizeof batch,
                                       .slot = slot,
                                       .strand = work->strand,
                                       .seeds = work->seeds,
                                       .count = work->count};
        return plugin->expand_and_extend(engine, &batch, sink, error);
    }
    const hspz_anchor_batch batch = {.struct_size = sizeof batch,
                                     .slot = slot,
                                     .strand = work->strand,
                                     .stride = work->stride,
                                     .anchors = work->anchors,
                                     .count = work->count};
    return plugin->extend_anchors(engine, &batch, sink, error);
}

static void run_case(const hspz_plugin *plugin, const ab_case *c, way *w, outcome *o)
{
    o->count = 0;
    o->text[0] = '\0';
    const hspz_host_services services = {.struct_size = sizeof services, .ctx = w, .config_get = config_get};
    hspz_error error = {.struct_size = sizeof error};
    hspz_engine *engine = NULL;
    o->create = plugin->engine_create(&c->params, &services, &engine, &error);
    const uint32_t slot = c->params.query_slots - 1;
    const hspz_target target = {.struct_size = sizeof target,
                                .bases = c->target,
                                .length = c->target_length,
                                .index_table = c->index_table,
                                .index_entries = c->index_entries,
                                .positions = c->positions,
                                .position_count = c->position_count};
    const hspz_query query = {.struct_size = sizeof query, .bases = c->query, .length = c->query_length};
    if (o->create == HSPZ_OK)
        o->create = plugin->set_target(engine, &target, &error);
    if (o->create == HSPZ_OK)
        o->create = plugin->set_query(engine, slot, &query, &error);
    const hspz_sink sink = {.struct_size = sizeof sink, .ctx = o, .hsps = take};
    for (uint32_t i = 0; i < c->work_count && o->create == HSPZ_OK; i++) {
        const uint64_t before = o->count;
        o->status[i] = run_work(plugin, engine, slot, &c->works[i], &sink, &error);
        if (o->status[i] != HSPZ_OK)
            o->count = before; /* what a failed call gave is not specified */
        o->ends[i] = o->count;
    }
    o->statistics = (hspz_statistics){.struct_size = sizeof o->statistics};
    if (engine != NULL)
        plugin->get_statistics(engine, &o->statistics, &error);
    memcpy(o->text, error.text, sizeof o->text);
    plugin->engine_destroy(engine);
}

/* ---- comparison */

static int compare_counts(const outcome *a, const outcome *b, char *why, size_t size)
{
    const struct {
        const char *name;
        uint64_t a, b;
    } rows[] = {
#define ROW(field) {#field, a->statistics.field, b->statistics.field}
        ROW(target_positions), ROW(query_positions), ROW(seeds),    ROW(hits),    ROW(batches),
        ROW(chunks),           ROW(gate_survivors),  ROW(accepted), ROW(skipped), ROW(kept),
#undef ROW
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].a != rows[i].b) {
            snprintf(why, size, "%s: %llu against %llu", rows[i].name, (unsigned long long)rows[i].a,
                     (unsigned long long)rows[i].b);
            return 0;
        }
    return 1;
}

static int compare(const ab_case *c, const outcome *a, const outcome *b, char *why, size_t size)
{
    if (a->create != b->create) {
        snprintf(why, size, "setting up: status %d against %d (%s%s)", a->create, b->create, a->text,
                 b->text);
        return 0;
    }
    int failed = a->create != HSPZ_OK;
    uint64_t begin = 0;
    for (uint32_t i = 0; i < c->work_count && a->create == HSPZ_OK; i++) {
        if (a->status[i] != b->status[i]) {
            snprintf(why, size, "call %u: status %d against %d (%s%s)", i, a->status[i], b->status[i],
                     a->text, b->text);
            return 0;
        }
        failed |= a->status[i] != HSPZ_OK;
        const uint64_t end = a->ends[i] < b->ends[i] ? a->ends[i] : b->ends[i];
        for (uint64_t k = begin; k < end; k++)
            if (memcmp(&a->hsps[k], &b->hsps[k], sizeof(hspz_hsp)) != 0) {
                snprintf(why, size, "call %u, record %llu: (%u %u %u %d) against (%u %u %u %d)", i,
                         (unsigned long long)(k - begin), a->hsps[k].target_start, a->hsps[k].query_start,
                         a->hsps[k].extent, a->hsps[k].score, b->hsps[k].target_start, b->hsps[k].query_start,
                         b->hsps[k].extent, b->hsps[k].score);
                return 0;
            }
        if (a->ends[i] != b->ends[i]) {
            snprintf(why, size, "call %u: %llu records against %llu", i,
                     (unsigned long long)(a->ends[i] - begin), (unsigned long long)(b->ends[i] - begin));
            return 0;
        }
        begin = a->ends[i];
    }
    return failed || compare_counts(a, b, why, size);
}

/* ---- the run */

typedef struct run {
    const hspz_plugin *reference, *plugin;
    way ways[WAYS_MAX];
    int way_count, each, self_test;
    uint64_t cases, differences, hits, survivors, hsps, by_mode[HSPZ_DEDUP_COUNT], failed_calls;
    outcome a, b;
} run;

static int try_case(run *r, uint64_t seed)
{
    ab_case c;
    if (!ab_case_make(&c, seed)) {
        fprintf(stderr, "ab: no memory for case %llu\n", (unsigned long long)seed);
        return 0;
    }
    static way none;
    run_case(r->reference, &c, &none, &r->a);
    r->cases++;
    r->hits += r->a.statistics.hits;
    r->survivors += r->a.statistics.gate_survivors;
    r->hsps += r->a.count;
    r->by_mode[c.params.dedup]++;
    for (int i = 0; i < r->way_count; i++) {
        if (!r->each && (uint64_t)i != seed % (uint64_t)r->way_count)
            continue;
        char why[1600], what[512];
        if (r->self_test)
            c.params.hspthresh += c.params.hspthresh / 4;
        run_case(r->plugin, &c, &r->ways[i], &r->b);
        if (r->a.short_of_memory || r->b.short_of_memory) {
            fprintf(stderr, "ab: no memory for the records of case %llu\n", (unsigned long long)seed);
            return 0;
        }
        if (compare(&c, &r->a, &r->b, why, sizeof why))
            continue;
        ab_case_describe(&c, what, sizeof what);
        r->differences++;
        if (r->self_test)
            continue;
        printf("DIFFERENT seed %llu, way %s: %s\n  %s\n", (unsigned long long)seed, r->ways[i].text, why,
               what);
        fflush(stdout);
    }
    ab_case_free(&c);
    return 1;
}

static int try_file(run *r, const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        fprintf(stderr, "ab: %s cannot be read\n", path);
        return 0;
    }
    char line[512];
    int good = 1;
    const int each = r->each;
    r->each = 1;
    while (good && fgets(line, sizeof line, file) != NULL)
        if (line[0] >= '0' && line[0] <= '9')
            good = try_case(r, strtoull(line, NULL, 10));
    r->each = each;
    fclose(file);
    return good;
}

/* A way the machine cannot run is left out, and said. */
static void drop_unusable(run *r)
{
    int kept = 0;
    for (int i = 0; i < r->way_count; i++) {
        ab_case c;
        hspz_engine *engine = NULL;
        hspz_error error = {.struct_size = sizeof error};
        const hspz_host_services services = {
            .struct_size = sizeof services, .ctx = &r->ways[i], .config_get = config_get};
        if (!ab_case_make(&c, 1))
            return;
        hspz_status status = r->plugin->engine_create(&c.params, &services, &engine, &error);
        r->plugin->engine_destroy(engine);
        ab_case_free(&c);
        if (status == HSPZ_OK)
            r->ways[kept++] = r->ways[i];
        else
            printf("left out: %s (%s)\n", r->ways[i].text, error.text);
    }
    r->way_count = kept;
}

static int usage(void)
{
    fprintf(
        stderr,
        "usage: ab [--cases N] [--first SEED] [--seeds FILE] [--forever] [--seconds S] [--way K=V,...]... "
        "[--each] [--self-test] REFERENCE.so PLUGIN.so\n");
    return 2;
}

int main(int argc, char **argv)
{
    static run r;
    uint64_t cases = 2000, first = 1;
    double seconds = 0;
    const char *seeds = NULL, *paths[2] = {NULL, NULL};
    int path_count = 0;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--forever") == 0) {
            cases = UINT64_MAX;
        } else if (strcmp(argv[i], "--each") == 0) {
            r.each = 1;
        } else if (strcmp(argv[i], "--self-test") == 0) {
            r.self_test = 1;
            cases = 50;
        } else if (strncmp(argv[i], "--", 2) == 0) {
            if (*value == '\0')
                return usage();
            if (strcmp(argv[i], "--cases") == 0)
                cases = strtoull(value, NULL, 10);
            else if (strcmp(argv[i], "--first") == 0)
                first = strtoull(value, NULL, 10);
            else if (strcmp(argv[i], "--seconds") == 0)
                seconds = strtod(value, NULL);
            else if (strcmp(argv[i], "--seeds") == 0)
                seeds = value;
            else if (strcmp(argv[i], "--way") != 0 || r.way_count == WAYS_MAX ||
                     !parse_way(&r.ways[r.way_count++], value))
                return usage();
            i++;
        } else if (path_count < 2) {
            paths[path_count++] = argv[i];
        } else {
            return usage();
        }
    }
    if (path_count != 2)
        return usage();
    if (r.way_count == 0)
        for (size_t i = 0; i < sizeof standard_ways / sizeof standard_ways[0]; i++)
            parse_way(&r.ways[r.way_count++], standard_ways[i]);
    r.reference = load(paths[0]);
    r.plugin = load(paths[1]);
    if (r.reference == NULL || r.plugin == NULL)
        return 2;
    drop_unusable(&r);
    if (r.way_count == 0)
        return 2;
    const time_t start = time(NULL);
    int good = seeds == NULL || try_file(&r, seeds);
    for (uint64_t i = 0; i < cases && good; i++) {
        if (seconds > 0 && difftime(time(NULL), start) >= seconds)
            break;
        good = try_case(&r, first + i);
    }
    printf("%llu cases (chunk %llu, interval %llu, maximal %llu, lastz %llu, none %llu), %llu hits, %llu "
           "past the gate, "
           "%llu HSPs: %llu differences\n",
           (unsigned long long)r.cases, (unsigned long long)r.by_mode[0], (unsigned long long)r.by_mode[1],
           (unsigned long long)r.by_mode[2], (unsigned long long)r.by_mode[3],
           (unsigned long long)r.by_mode[4], (unsigned long long)r.hits, (unsigned long long)r.survivors,
           (unsigned long long)r.hsps, (unsigned long long)r.differences);
    free(r.a.hsps);
    free(r.b.hsps);
    return good && (r.differences == 0) == !r.self_test ? 0 : 1;
}
