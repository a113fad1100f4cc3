/* oracle_bench.c -- see oracle_bench.h */
#include "oracle_bench.h"

#include <criterion/criterion.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const hspz_plugin *load_plugin(void)
{
    char path[4096];
    const char *given_path = getenv("HSPZ_TEST_PLUGIN");
    const char *build = getenv("HSPZ_BUILD");
    snprintf(path, sizeof path, "%s%s",
             given_path != NULL ? given_path
             : build != NULL    ? build
                                : "build",
             given_path != NULL ? "" : "/hspz_oracle.so");
    cr_assert(strchr(path, '/') != NULL, "%s is no path", path);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    cr_assert(library != NULL, "%s", dlerror());
    const hspz_plugin *plugin = dlsym(library, HSPZ_PLUGIN_SYMBOL);
    cr_assert(plugin != NULL, "%s has no %s", path, HSPZ_PLUGIN_SYMBOL);
    // cppcheck-suppress resourceLeak ; the library stays loaded as long as the test runs
    return plugin;
}

bench new_bench(void)
{
    bench b = {.plugin = load_plugin(),
               .params = {.struct_size = sizeof(hspz_engine_params),
                          .device = HSPZ_DEVICE_AUTO,
                          .seed_pattern = "1111",
                          .transitions = 0,
                          .step = 1,
                          .xdrop = 25,
                          .hspthresh = 1,
                          .entropy = 0,
                          .bad_score = -1000,
                          .fill_score = -100,
                          .dedup = HSPZ_DEDUP_NONE,
                          .query_slots = 1,
                          .max_hits = HSPZ_MAX_HITS_DEFAULT},
               .error = {.struct_size = sizeof(hspz_error)}};
    for (int i = 0; i < 16; i++)
        b.params.scores[i] = i % 5 == 0 ? 10 : -10;
    return b;
}

void end_bench(bench *b)
{
    b->plugin->engine_destroy(b->engine);
    b->engine = NULL;
    free(b->hsps);
    b->hsps = NULL;
}

void given(bench *b, const char *target, const char *query)
{
    const hspz_host_services *services = b->services.struct_size > 0 ? &b->services : NULL;
    b->plugin->engine_destroy(b->engine);
    hspz_status status = b->plugin->engine_create(&b->params, services, &b->engine, &b->error);
    cr_assert_eq(status, HSPZ_OK, "%s", b->error.text);
    hspz_target t = {.struct_size = sizeof t, .bases = (const uint8_t *)target, .length = strlen(target)};
    hspz_query q = {.struct_size = sizeof q, .bases = (const uint8_t *)query, .length = strlen(query)};
    status = b->plugin->set_target(b->engine, &t, &b->error);
    cr_assert_eq(status, HSPZ_OK, "%s", b->error.text);
    status = b->plugin->set_query(b->engine, 0, &q, &b->error);
    cr_assert_eq(status, HSPZ_OK, "%s", b->error.text);
}

static int32_t collect(void *ctx, const hspz_hsp *records, uint64_t count, uint32_t stride)
{
    bench *b = ctx;
    cr_assert(count >= 1 && stride >= sizeof *records);
    if (b->refuse_from > 0 && b->count + count >= b->refuse_from)
        return 7;
    while (b->count + count > b->capacity) {
        b->capacity = b->capacity == 0 ? 64 : 2 * b->capacity;
        b->hsps = realloc(b->hsps, b->capacity * sizeof *b->hsps);
        cr_assert(b->hsps != NULL);
    }
    for (uint64_t i = 0; i < count; i++)
        memcpy(&b->hsps[b->count++], (const char *)records + i * stride, sizeof *b->hsps);
    return 0;
}

static hspz_sink sink_of(bench *b)
{
    b->count = 0;
    return (hspz_sink){.struct_size = sizeof(hspz_sink), .ctx = b, .hsps = collect};
}

hspz_status try_find(bench *b, uint32_t strand, uint64_t begin, uint64_t end, uint32_t batch)
{
    hspz_sink sink = sink_of(b);
    hspz_find_request request = {
        .struct_size = sizeof request, .strand = strand, .batch_size = batch, .begin = begin, .end = end};
    return b->plugin->find_hsps(b->engine, &request, &sink, &b->error);
}

hspz_status try_expand(bench *b, uint32_t strand, const uint64_t *seeds, uint64_t count)
{
    hspz_sink sink = sink_of(b);
    hspz_seed_batch batch = {.struct_size = sizeof batch, .strand = strand, .seeds = seeds, .count = count};
    return b->plugin->expand_and_extend(b->engine, &batch, &sink, &b->error);
}

hspz_status try_extend(bench *b, uint32_t strand, const hspz_anchor *anchors, uint64_t count)
{
    hspz_sink sink = sink_of(b);
    hspz_anchor_batch batch = {.struct_size = sizeof batch,
                               .strand = strand,
                               .stride = sizeof *anchors,
                               .anchors = anchors,
                               .count = count};
    return b->plugin->extend_anchors(b->engine, &batch, &sink, &b->error);
}

static const char *as_text(bench *b, hspz_status status)
{
    cr_assert_eq(status, HSPZ_OK, "status %d: %s", status, b->error.text);
    size_t at = 0;
    b->text[0] = '\0';
    for (uint64_t i = 0; i < b->count && at < sizeof b->text; i++) {
        const hspz_hsp *h = &b->hsps[i];
        at += (size_t)snprintf(b->text + at, sizeof b->text - at, "%s%u,%u,%u,%d", i > 0 ? " " : "",
                               h->target_start, h->query_start, h->extent, h->score);
    }
    return b->text;
}

const char *find(bench *b, uint32_t strand, uint64_t begin, uint64_t end, uint32_t batch)
{
    return as_text(b, try_find(b, strand, begin, end, batch));
}

const char *expand(bench *b, const uint64_t *seeds, uint64_t count)
{
    return as_text(b, try_expand(b, HSPZ_STRAND_PLUS, seeds, count));
}

const char *extend(bench *b, const hspz_anchor *anchors, uint64_t count)
{
    return as_text(b, try_extend(b, HSPZ_STRAND_PLUS, anchors, count));
}

const char *extend_one(bench *b, uint32_t target_end, uint32_t query_end)
{
    hspz_anchor anchor = {target_end, query_end};
    return extend(b, &anchor, 1);
}

hspz_statistics statistics(bench *b)
{
    hspz_statistics s = {.struct_size = sizeof s};
    hspz_status status = b->plugin->get_statistics(b->engine, &s, &b->error);
    cr_assert_eq(status, HSPZ_OK, "%s", b->error.text);
    return s;
}

void append(char *to, size_t size, const char *text)
{
    cr_assert(strlen(to) + strlen(text) < size, "the test's text buffer is too small");
    strcat(to, text);
}

void append_run(char *to, size_t size, char letter, unsigned count)
{
    char one[2] = {letter, '\0'};
    for (unsigned i = 0; i < count; i++)
        append(to, size, one);
}
