/* command_compare.c -- hspz compare TARGET QUERY --plugin A --against B: the same search by two plugins, byte for byte. */
#include "command.h"
#include "compare.h"
#include "segments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 10 /* differing records printed */

/* A run of one of the two plugins. */
typedef struct side {
    char label;
    char name[160];   /* plugin and version */
    char engine[512]; /* backend on device */
    hspz_totals totals;
    uint64_t hsps;
    char path[4096];
} side;

typedef struct comparing {
    const hspz_context *context;
    hspz_inputs inputs;
    hspz_calls calls;
    hspz__names names;
    hspz_hsps *kept; /* A's HSPs, one list a call */
    side sides[2];
    hspz_library *library; /* of the running side */
    bool same;
    hspz_comparison comparison;
    hspz_difference first[SHOWN];
    const hspz_call *first_call[SHOWN];
} comparing;

static int keep(void *ctx, const hspz_call *call, hspz_hsps *hsps, hspz_failure *failure)
{
    comparing *c = ctx;
    (void)failure;
    c->sides[0].hsps += hsps->count;
    c->kept[call - c->calls.items] = *hsps;
    memset(hsps, 0, sizeof *hsps);
    return 0;
}

static int judge(void *ctx, const hspz_call *call, hspz_hsps *hsps, hspz_failure *failure)
{
    comparing *c = ctx;
    hspz_hsps *kept = &c->kept[call - c->calls.items];
    size_t before = c->comparison.first_count;
    bool same;
    c->sides[1].hsps += hsps->count;
    int code = hspz_compare_call(kept, hsps, &c->comparison, &same, failure);
    c->same = c->same && same;
    for (size_t i = before; i < c->comparison.first_count; i++)
        c->first_call[i] = call;
    hspz_hsps_free(kept);
    return code;
}

/* Runs a session whose engines exist, and describes it. */
static int run_side(comparing *c, hspz_session *session, side *s)
{
    const hspz_context *context = c->context;
    hspz_progress progress;
    hspz_consumer consumer = {.ctx = c, .take = s == &c->sides[0] ? keep : judge};
    hspz_session_text(session, s->engine, sizeof s->engine);
    snprintf(s->name, sizeof s->name, "%s %s", session->library.table.name, session->library.table.version);
    snprintf(s->path, sizeof s->path, "%s", session->library.path);
    hspz_progress_init(&progress, context->log, context->options->progress);
    int code = hspz_schedule(&c->inputs, context->options, &c->calls, session->engines, session->engine_count,
                             &progress, &consumer, &s->totals, context->failure);
    hspz_progress_destroy(&progress);
    return code;
}

/* Printing ---------------------------------------------------------------------------------------- */

static void print_side(const side *s)
{
    char hsps[32], hits[32];
    hspz_grouped(s->hsps, hsps, sizeof hsps);
    hspz_grouped(s->totals.statistics.hits, hits, sizeof hits);
    printf("%c  %s, %s\n   %s\n   %s HSPs, %s hits, %.3f s\n", s->label, s->name, s->engine, s->path, hsps,
           hits, s->totals.seconds);
}

static void print_difference(const comparing *c, size_t i)
{
    const hspz_difference *d = &c->first[i];
    hspz__placer placer;
    hspz__text text = {0};
    hspz_failure failure;
    hspz__placer_init(&placer, &c->inputs, &c->names, c->library, c->first_call[i]);
    printf("%-14s A %llu B %llu  ", hspz_difference_name(d->kind), (unsigned long long)d->count_a,
           (unsigned long long)d->count_b);
    if (hspz__placer_seek(&placer, &d->hsp, &failure) == 0)
        hspz__placer_line(&placer, &d->hsp, &text);
    if (text.length != 0 && !text.failed)
        fwrite(text.data, 1, text.length, stdout);
    else
        printf("target %u query %u extent %u score %d, not within one record\n", d->hsp.target_start,
               d->hsp.query_start, d->hsp.extent, d->hsp.score);
    hspz__text_free(&text);
}

static void print_verdict(const comparing *c)
{
    if (c->same) {
        printf("IDENTICAL: %llu HSPs in %zu calls\n", (unsigned long long)c->sides[0].hsps, c->calls.count);
        return;
    }
    printf("DIFFERENT:");
    for (int kind = 0; kind < HSPZ_DIFFERENCE_COUNT; kind++)
        printf("%s %llu %s", kind ? "," : "", (unsigned long long)c->comparison.counts[kind],
               hspz_difference_name(kind));
    printf("\n");
    for (size_t i = 0; i < c->comparison.first_count; i++)
        print_difference(c, i);
}

/* The command ------------------------------------------------------------------------------------- */

static int prepare(comparing *c)
{
    hspz_failure *failure = c->context->failure;
    int code = hspz_calls_make(&c->inputs, c->context->options, &c->calls, failure);
    if (code != 0)
        return code;
    c->kept = calloc(c->calls.count ? c->calls.count : 1, sizeof *c->kept);
    c->names.target = calloc(c->inputs.target.genome.record_count, sizeof *c->names.target);
    c->names.query = calloc(c->inputs.query.genome.record_count, sizeof *c->names.query);
    if (c->kept == NULL || c->names.target == NULL || c->names.query == NULL)
        return hspz_failed_memory(failure, "the comparison", c->calls.count * sizeof *c->kept);
    /* nothing is written for LASTZ here, so any name will do */
    for (size_t i = 0; i < c->inputs.target.genome.record_count; i++)
        c->names.target[i] = c->inputs.target.genome.records[i].name;
    for (size_t i = 0; i < c->inputs.query.genome.record_count; i++)
        c->names.query[i] = c->inputs.query.genome.records[i].name;
    return 0;
}

static void release(comparing *c)
{
    for (size_t i = 0; c->kept != NULL && i < c->calls.count; i++)
        hspz_hsps_free(&c->kept[i]);
    free(c->kept);
    hspz__names_free(&c->names);
    hspz_calls_free(&c->calls);
    hspz_inputs_free(&c->inputs);
}

int hspz_command_compare(const hspz_context *context)
{
    const hspz_options *options = context->options;
    const char *against = options->against[0] != '\0' ? options->against : HSPZ_FALLBACK_PLUGIN;
    comparing *c = calloc(1, sizeof *c);
    hspz_session session;
    if (c == NULL)
        return hspz_failed_memory(context->failure, "the comparison", sizeof *c);
    c->context = context;
    c->same = true;
    c->comparison.first = c->first;
    c->comparison.first_room = SHOWN;
    c->sides[0].label = 'A';
    c->sides[1].label = 'B';
    int code = hspz_session_and_inputs(context, options->plugin, &session, &c->inputs);
    if (code == 0) {
        c->library = &session.library;
        hspz_inputs_report(&c->inputs, options, context->log);
        if ((code = prepare(c)) == 0)
            code = run_side(c, &session, &c->sides[0]);
        hspz_session_close(&session);
    }
    if (code == 0 && (code = hspz_session_open(context, against, &session)) == 0) {
        c->library = &session.library;
        if ((code = run_side(c, &session, &c->sides[1])) == 0) {
            print_side(&c->sides[0]);
            print_side(&c->sides[1]);
            print_verdict(c);
            code = hspz_finish_stdout(context);
        }
        hspz_session_close(&session);
    }
    if (code == 0 && !c->same)
        code = hspz_failed(context->failure, HSPZ_EXIT_DATA, "the plugins' HSPs differ");
    release(c);
    free(c);
    return code;
}
