/* faults.c -- the CUDA backend on an emulated device that fails, runs short of memory, or is shared. Prints TAP.
 *
 *   faults ORACLE.so EMULATED.so [--cases N] [--seed S] [--size BASES]
 *
 * Idea: the emulator fails the N-th call of CUDA's runtime API (tests/gpu/emulator/emulate.cpp). Whatever N: results are right, or the
 * call says what happened. After a lack of memory the same engine does the same work; after a device error it refuses every
 * call, and a new engine on a device that works again does the work. Two engines at once share a device that is small for one, and
 * a query is set beside a running call under a limit that the call has used up.
 */
#include "sides.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUT_OF_MEMORY "2"
#define LAUNCH_FAILURE "719"

typedef struct settings {
    uint64_t cases, first, size;
} settings;

typedef struct tally {
    uint64_t unharmed, memory, device, wrong;
} tally;

static void set_fault(uint64_t call, const char *error)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, call);
    setenv("EMULATED_GPU_FAIL", text, 1);
    setenv("EMULATED_GPU_ERROR", error, 1);
}

static int same(const side *a, const side *b)
{
    return a->status == b->status && a->count == b->count &&
           (a->count == 0 || memcmp(a->hsps, b->hsps, a->count * sizeof *a->hsps) == 0);
}

static void report(int number, const char *what, const tally *t)
{
    printf("%s %d - %s: %" PRIu64 " unharmed, %" PRIu64 " out of memory, %" PRIu64 " device errors, %" PRIu64
           " wrong\n",
           t->wrong == 0 ? "ok" : "not ok", number, what, t->unharmed, t->memory, t->device, t->wrong);
}

/* ---- a call that fails */

/* What the engine says and does after the fault. NULL: as it should; else what is wrong. */
static const char *check_outcome(const side *a, side *b, hspz_engine *engine, const job *j, tally *t)
{
    const hspz_status status = b->status;
    if (status == HSPZ_OK || status == a->status) {
        t->unharmed++;
        return same(a, b) ? NULL : "other results";
    }
    if (b->text[0] == '\0')
        return "no sentence";
    if (status == HSPZ_E_DEVICE_MEMORY) {
        t->memory++;
        if (engine == NULL)
            return NULL;
        work(b, engine, j);
        return same(a, b) ? NULL : "the engine does not recover from a lack of memory";
    }
    if (status != HSPZ_E_DEVICE)
        return "another status";
    t->device++;
    if (engine == NULL)
        return NULL;
    work(b, engine, j);
    return b->status == HSPZ_E_DEVICE && b->text[0] != '\0' ? NULL : "a failed engine went on";
}

static void test_failing(const settings *s, side *a, side *b)
{
    tally t = {0};
    for (uint64_t seed = s->first; seed < s->first + s->cases; seed++) {
        job j;
        make_job(&j, seed, s->size, 14, NULL);
        b->knob_count = 0;
        if (one_in(3))
            set_knob(b, "gate", "warp");
        if (one_in(3))
            set_knob(b, "seed_index", "hash");
        if (one_in(3)) {
            set_number(b, "cuda.piece_hits", 200 + below(200));
            set_number(b, "cuda.candidates", 1 + below(400));
        }
        run_side(a, &j);
        const uint64_t call = 1 + below((uint64_t)1 << (4 + below(7)));
        const char *error = one_in(2) ? OUT_OF_MEMORY : LAUNCH_FAILURE;
        set_fault(call, error);
        hspz_engine *engine = make_engine(b, &j);
        if (engine != NULL)
            work(b, engine, &j);
        const char *wrong = check_outcome(a, b, engine, &j, &t);
        b->plugin->engine_destroy(engine);
        set_fault(0, error);
        run_side(b, &j);
        if (wrong == NULL && !same(a, b))
            wrong = "a new engine does not work";
        if (wrong != NULL) {
            t.wrong++;
            printf("# seed %" PRIu64 ", call %" PRIu64 " answers %s: %s (status %d, %s)\n", seed, call, error,
                   wrong, b->status, b->text);
        }
        free_job(&j);
    }
    report(1, "a call that fails", &t);
}

/* ---- two engines on one small device */

typedef struct runner {
    side *side;
    const job *job;
} runner;

static void *run_one(void *argument)
{
    const runner *r = argument;
    run_side(r->side, r->job);
    return NULL;
}

static void test_sharing(const settings *s, side *a, side *b, side *c)
{
    tally t = {0};
    setenv("EMULATED_GPU_MEMORY", "12000000", 1);
    b->knob_count = 0;
    c->knob_count = 0;
    for (uint64_t seed = s->first; seed < s->first + s->cases; seed++) {
        job j;
        make_job(&j, seed, s->size, 14, NULL);
        if (j.params.dedup == HSPZ_DEDUP_LASTZ)
            j.params.dedup = HSPZ_DEDUP_CHUNK;
        run_side(a, &j);
        runner other = {c, &j};
        pthread_t thread;
        const int started = pthread_create(&thread, NULL, run_one, &other) == 0;
        run_side(b, &j);
        if (started)
            pthread_join(thread, NULL);
        const side *const both[] = {b, c};
        for (int i = 0; i < (started ? 2 : 1); i++) {
            t.memory += both[i]->status == HSPZ_E_DEVICE_MEMORY;
            t.unharmed += same(a, both[i]);
            if (!same(a, both[i])) {
                t.wrong++;
                printf("# seed %" PRIu64 ": status %d, %s\n", seed, both[i]->status, both[i]->text);
            }
        }
        free_job(&j);
    }
    unsetenv("EMULATED_GPU_MEMORY");
    report(2, "two engines on a small device", &t);
}

/* ---- a query beside a running call */

typedef struct filler {
    const side *side;
    hspz_engine *engine;
    hspz_query query;
    uint32_t slot;
    hspz_status status;
    hspz_error error;
} filler;

static void *fill(void *argument)
{
    filler *f = argument;
    f->error.struct_size = sizeof f->error;
    f->status = f->side->plugin->set_query(f->engine, f->slot, &f->query, &f->error);
    return NULL;
}

static int32_t collect(void *ctx, const hspz_hsp *records, uint64_t count, uint32_t stride)
{
    uint64_t *sum = ctx;
    (void)stride;
    for (uint64_t i = 0; i < count; i++)
        *sum = *sum * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)records[i].target_start * 31 +
               records[i].query_start * UINT64_C(7) + records[i].extent + (uint32_t)records[i].score;
    return 0;
}

/* Slots take turns, the next query is set while the call on the other works; the sum over all results, 0 after a failure. */
static uint64_t take_turns(side *s, const job *j, int beside)
{
    uint64_t sum = 1;
    hspz_engine *engine = make_engine(s, j);
    hspz_target target = {.struct_size = sizeof target, .bases = j->target.bases, .length = j->target.length};
    filler f = {.side = s, .engine = engine, .query = {sizeof f.query, 0, j->query.bases, j->query.length}};
    const hspz_sink sink = {.struct_size = sizeof sink, .ctx = &sum, .hsps = collect};
    hspz_error error = {.struct_size = sizeof error};
    hspz_status status = engine != NULL ? s->plugin->set_target(engine, &target, &error) : s->status;
    if (status == HSPZ_OK)
        status = (fill(&f), f.status);
    for (uint32_t turn = 0; turn < 4 && status == HSPZ_OK; turn++) {
        const hspz_find_request request = {.struct_size = sizeof request,
                                           .slot = turn % 2,
                                           .strand = turn / 2,
                                           .batch_size = j->batch_size,
                                           .end = j->query.length};
        pthread_t thread;
        f.slot = 1 - turn % 2;
        const int started = beside && pthread_create(&thread, NULL, fill, &f) == 0;
        status = s->plugin->find_hsps(engine, &request, &sink, &error);
        if (started)
            pthread_join(thread, NULL);
        else
            fill(&f);
        status = status == HSPZ_OK ? f.status : status;
    }
    if (status != HSPZ_OK)
        printf("# status %d: %s%s\n", status, error.text, f.error.text);
    s->plugin->engine_destroy(engine);
    return status == HSPZ_OK ? sum : 0;
}

static void test_beside(const settings *s, side *a, side *b)
{
    tally t = {0};
    for (uint64_t seed = s->first; seed < s->first + s->cases; seed++) {
        job j;
        make_job(&j, seed, s->size, 14, NULL);
        j.params.query_slots = 2;
        if (j.params.dedup == HSPZ_DEDUP_LASTZ)
            j.params.dedup = HSPZ_DEDUP_CHUNK;
        b->knob_count = 0;
        set_number(b, "device.memory_limit", (uint64_t)3 << 20);
        const uint64_t wanted = take_turns(a, &j, 0), got = take_turns(b, &j, 1);
        t.unharmed += wanted == got;
        t.wrong += wanted != got;
        if (wanted != got)
            printf("# seed %" PRIu64 " differs\n", seed);
        free_job(&j);
    }
    report(3, "a query set beside a call, under a limit", &t);
}

int main(int argc, char **argv)
{
    settings s = {.cases = 40, .first = 1, .size = 800};
    if (argc < 3) {
        fprintf(stderr, "usage: faults ORACLE.so EMULATED.so [--cases N] [--seed S] [--size BASES]\n");
        return 2;
    }
    for (int i = 3; i + 1 < argc; i += 2) {
        const uint64_t value = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--cases") == 0)
            s.cases = value;
        else if (strcmp(argv[i], "--seed") == 0)
            s.first = value;
        else if (strcmp(argv[i], "--size") == 0)
            s.size = value;
    }
    side a = {.plugin = load(argv[1]), .device = HSPZ_DEVICE_AUTO};
    side b = {.plugin = load(argv[2])};
    b.device = find_device(b.plugin, "cuda");
    side c = {.plugin = b.plugin, .device = b.device};
    printf("1..3\n");
    test_failing(&s, &a, &b);
    test_sharing(&s, &a, &b, &c);
    test_beside(&s, &a, &b);
    free(a.hsps);
    free(b.hsps);
    free(c.hsps);
    return 0;
}
