/* sides.c -- see sides.h. */
#include "sides.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- settings and results */

void set_knob(side *s, const char *key, const char *value)
{
    knob *k = &s->knobs[s->knob_count++];
    k->key = key;
    snprintf(k->value, sizeof k->value, "%s", value);
}

void set_number(side *s, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    set_knob(s, key, text);
}

/* Settings that must not show in the result. */

static const char *config_get(void *ctx, const char *key)
{
    const side *s = ctx;
    for (uint32_t i = s->knob_count; i-- > 0;) /* the last one counts */
        if (strcmp(s->knobs[i].key, key) == 0)
            return s->knobs[i].value;
    return NULL;
}

static int32_t take(void *ctx, const hspz_hsp *records, uint64_t count, uint32_t stride)
{
    side *s = ctx;
    if (s->count + count > s->capacity) {
        s->capacity = 2 * (s->count + count);
        s->hsps = realloc(s->hsps, s->capacity * sizeof *s->hsps);
        if (s->hsps == NULL)
            return 1;
    }
    for (uint64_t i = 0; i < count; i++)
        memcpy(&s->hsps[s->count++], (const unsigned char *)records + i * stride, sizeof *records);
    return 0;
}

/* ---- a case */

static hspz_status do_calls(side *s, hspz_engine *engine, const job *j, hspz_error *error)
{
    const hspz_sink sink = {.struct_size = sizeof sink, .ctx = s, .hsps = take};
    if (j->level == 1) {
        const hspz_seed_batch batch = {
            .struct_size = sizeof batch, .strand = j->strand, .seeds = j->seeds, .count = j->count};
        return s->plugin->expand_and_extend(engine, &batch, &sink, error);
    }
    if (j->level == 2) {
        const hspz_anchor_batch batch = {.struct_size = sizeof batch,
                                         .strand = j->strand,
                                         .stride = sizeof(hspz_anchor),
                                         .anchors = j->anchors,
                                         .count = j->count};
        return s->plugin->extend_anchors(engine, &batch, &sink, error);
    }
    hspz_status status = HSPZ_OK;
    for (uint64_t at = j->begin; at < j->end && status == HSPZ_OK; at += j->interval) {
        const uint64_t end = at + j->interval < j->end ? at + j->interval : j->end;
        const hspz_find_request request = {.struct_size = sizeof request,
                                           .strand = j->strand,
                                           .batch_size = j->batch_size,
                                           .begin = at,
                                           .end = end};
        status = s->plugin->find_hsps(engine, &request, &sink, error);
    }
    return status;
}

hspz_engine *make_engine(side *s, const job *j)
{
    hspz_error error = {.struct_size = sizeof error};
    hspz_host_services services = {.struct_size = sizeof services, .ctx = s, .config_get = config_get};
    hspz_engine_params params = j->params;
    hspz_engine *engine = NULL;
    params.device = s->device;
    s->count = 0;
    memset(&s->statistics, 0, sizeof s->statistics);
    s->statistics.struct_size = sizeof s->statistics;
    s->status = s->plugin->engine_create(&params, &services, &engine, &error);
    memcpy(s->text, error.text, sizeof s->text);
    return engine;
}

void work(side *s, hspz_engine *engine, const job *j)
{
    hspz_error error = {.struct_size = sizeof error};
    hspz_target target = {.struct_size = sizeof target, .bases = j->target.bases, .length = j->target.length};
    if (j->index_table != NULL) {
        target.index_table = j->index_table;
        target.index_entries = j->index_entries;
        target.positions = j->positions;
        target.position_count = j->position_count;
    }
    const hspz_query query = {
        .struct_size = sizeof query, .bases = j->query.bases, .length = j->query.length};
    s->count = 0;
    s->status = s->plugin->set_target(engine, &target, &error);
    if (s->status == HSPZ_OK)
        s->status = s->plugin->set_query(engine, 0, &query, &error);
    if (s->status == HSPZ_OK)
        s->status = do_calls(s, engine, j, &error);
    if (s->status == HSPZ_OK)
        s->status = s->plugin->get_statistics(engine, &s->statistics, &error);
    memcpy(s->text, error.text, sizeof s->text);
}

void run_side(side *s, const job *j)
{
    hspz_engine *engine = make_engine(s, j);
    if (engine != NULL)
        work(s, engine, j);
    s->plugin->engine_destroy(engine);
}

/* ---- comparison */

int differ(const side *a, const side *b, uint64_t seed)
{
    if (b->status == HSPZ_E_CONFIG) /* a setting that cannot serve this case */
        return 0;
    if (a->status != b->status) {
        printf("# seed %" PRIu64 ": status %d (%s) and %d (%s)\n", seed, a->status, a->text, b->status,
               b->text);
        return 1;
    }
    for (uint64_t i = 0; i < a->count && i < b->count; i++)
        if (memcmp(&a->hsps[i], &b->hsps[i], sizeof *a->hsps) != 0) {
            const hspz_hsp *x = &a->hsps[i], *y = &b->hsps[i];
            printf("# seed %" PRIu64 ": HSP %" PRIu64 " of %" PRIu64 "/%" PRIu64
                   ": (%u %u %u %d) and (%u %u %u %d)\n",
                   seed, i, a->count, b->count, x->target_start, x->query_start, x->extent, x->score,
                   y->target_start, y->query_start, y->extent, y->score);
            return 1;
        }
    if (a->count != b->count) {
        printf("# seed %" PRIu64 ": %" PRIu64 " HSPs and %" PRIu64 "\n", seed, a->count, b->count);
        return 1;
    }
    if (a->status != HSPZ_OK)
        return 0;
    const uint64_t *x = &a->statistics.target_positions, *y = &b->statistics.target_positions;
    static const char *const names[] = {
        "target_positions", "query_positions", "seeds",   "hits",     "batches",
        "chunks",           "gate_survivors",  "skipped", "accepted", "kept"};
    int near = 0; /* then hits are passed over unseen: `skipped` counts fewer, and gate_survivors more */
    for (uint32_t i = 0; i < b->knob_count; i++)
        near = near || strcmp(b->knobs[i].key, "cuda.near_hits") == 0;
    for (int i = 0; i < 10; i++)
        if (x[i] != y[i] && !(near && y[7] < x[7] && (i == 6 || i == 7))) {
            printf("# seed %" PRIu64 ": %s %" PRIu64 " and %" PRIu64 "\n", seed, names[i], x[i], y[i]);
            return 1;
        }
    return 0;
}

/* ---- plugins */

const hspz_plugin *load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const hspz_plugin *plugin = library != NULL ? dlsym(library, HSPZ_PLUGIN_SYMBOL) : NULL;
    if (plugin == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    return plugin;
}

/* The first usable device of a kind, or HSPZ_DEVICE_AUTO. */
uint32_t find_device(const hspz_plugin *plugin, const char *kind)
{
    uint32_t count = 0;
    if (strcmp(kind, "any") == 0 || plugin->device_count(&count, NULL) != HSPZ_OK)
        return HSPZ_DEVICE_AUTO;
    for (uint32_t i = 0; i < count; i++) {
        hspz_device_info info = {.struct_size = sizeof info};
        const uint32_t wanted = strcmp(kind, "cuda") == 0 ? HSPZ_DEVICE_CUDA : HSPZ_DEVICE_CPU;
        if (plugin->device_info(i, &info, NULL) == HSPZ_OK && info.kind == wanted && info.score > 0)
            return i;
    }
    printf("1..0 # SKIP no %s device\n", kind);
    exit(0);
}
