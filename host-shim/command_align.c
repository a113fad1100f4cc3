/* command_align.c -- hspz align TARGET QUERY -o DIR: the HSPs of two genomes as segments files (SPEC section 7). */
#include "clock.h"
#include "command.h"
#include "output.h"
#include "stats.h"
#include "version.h"

#include <stdio.h>
#include <string.h>

/* Everything a run holds. */
typedef struct alignment {
    const hspz_context *context;
    hspz_session session;
    hspz_inputs inputs;
    hspz_calls calls;
    hspz_output *output;
    hspz_progress progress;
    hspz_totals totals;
} alignment;

static int search(alignment *a)
{
    const hspz_context *c = a->context;
    hspz_consumer consumer = {.ctx = a->output, .take = hspz_output_take};
    hspz_progress_init(&a->progress, c->log, c->options->progress);
    int code = hspz_schedule(&a->inputs, c->options, &a->calls, a->session.engines, a->session.engine_count,
                             &a->progress, &consumer, &a->totals, c->failure);
    hspz_progress_destroy(&a->progress);
    return code;
}

/* The last words of a run: what was found, by whom, at what cost. */
static void say_summary(const alignment *a, const hspz_stats *stats)
{
    const hspz_context *c = a->context;
    char hits[32], hsps[32], who[512];
    hspz_grouped(a->totals.statistics.hits, hits, sizeof hits);
    hspz_grouped(stats->hsps, hsps, sizeof hsps);
    hspz_session_text(&a->session, who, sizeof who);
    hspz_log_say(c->log, HSPZ_LOG_INFO, "align: %s HSPs of %s hits in %llu file%s, dedup %s, -o %s", hsps,
                 hits, (unsigned long long)stats->files, stats->files == 1 ? "" : "s",
                 hspz_dedup_name((uint32_t)c->options->dedup), c->options->output);
    hspz_log_say(
        c->log, HSPZ_LOG_INFO,
        "hspz %s, plugin %s %s, %s; wall %.2f s (load %.2f, search %.2f), CPU %.2f s, peak memory %.1f MiB",
        HSPZ_VERSION, a->session.library.table.name, a->session.library.table.version, who, stats->wall,
        stats->seconds_load, a->totals.seconds, stats->cpu, (double)stats->peak_memory / 1048576.0);
}

static int finish(alignment *a)
{
    const hspz_context *c = a->context;
    double load_target = a->inputs.target.seconds, load_query = a->inputs.query.seconds;
    int code = hspz_output_publish(a->output, c->failure);
    if (code != 0)
        return code;
    hspz_stats stats = {.context = c,
                        .session = &a->session,
                        .inputs = &a->inputs,
                        .calls = &a->calls,
                        .totals = &a->totals,
                        .hsps = hspz_output_hsps(a->output),
                        .files = hspz_output_files(a->output),
                        .wall = hspz__now() - c->started,
                        .cpu = hspz__cpu_seconds(),
                        .seconds_load = load_target > load_query ? load_target : load_query,
                        .peak_memory = hspz__peak_memory()};
    if (c->options->stats[0] != '\0')
        code = hspz_stats_write(&stats, c->options->stats, c->failure);
    say_summary(a, &stats);
    return code;
}

/* Policies whose scope is cut by the layout deserve a word. */
static void warn(const alignment *a)
{
    const hspz_options *o = a->context->options;
    if (o->dedup == HSPZ_DEDUP_MAXIMAL && a->inputs.target.layout.block_count > 1)
        hspz_log_say(a->context->log, HSPZ_LOG_WARN,
                     "--dedup maximal works within each of the %zu target blocks; a larger --seq-block-size "
                     "makes fewer",
                     a->inputs.target.layout.block_count);
}

int hspz_command_align(const hspz_context *context)
{
    const hspz_options *options = context->options;
    alignment a = {.context = context};
    int code = hspz_output_check(options, context->failure);
    if (code != 0 || (code = hspz_stats_check(options, context->failure)) != 0 ||
        (code = hspz_session_and_inputs(context, options->plugin, &a.session, &a.inputs)) != 0)
        return code;
    if ((code = hspz_output_open(options, &a.inputs, &a.session.library, context->log, &a.output,
                                 context->failure)) != 0 ||
        (code = hspz_calls_make(&a.inputs, options, &a.calls, context->failure)) != 0)
        goto done;
    hspz_inputs_report(&a.inputs, options, context->log);
    warn(&a);
    if ((code = search(&a)) == 0)
        code = finish(&a);
done:
    hspz_output_free(a.output);
    hspz_calls_free(&a.calls);
    hspz_inputs_free(&a.inputs);
    hspz_session_close(&a.session);
    return code;
}
