/* command_bench.c -- hspz bench TARGET QUERY: the search alone, several times, stage by stage; with --against two plugins. */
#include "command.h"
#include "tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Results are counted and dropped. */
static int count(void *ctx, const hspz_call *call, hspz_hsps *hsps, hspz_failure *failure)
{
    uint64_t *sum = ctx;
    (void)call;
    (void)failure;
    *sum += hsps->count;
    return 0;
}

static int by_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void print_head(void)
{
    printf("%-5s %10s %12s", "run", "wall s", "M hits/s");
#define HEAD(member) printf(" %9s", #member);
    HSPZ_STATISTICS_SECONDS(HEAD)
#undef HEAD
    printf("\n");
}

static void print_run(int64_t number, const hspz_totals *totals)
{
    const hspz_statistics *s = &totals->statistics;
    printf("%-5lld %10.4f %12.2f", (long long)number, totals->seconds,
           (double)s->hits / totals->seconds / 1e6);
#define STAGE(member) printf(" %9.4f", s->seconds_##member);
    HSPZ_STATISTICS_SECONDS(STAGE)
#undef STAGE
    printf("\n");
    fflush(stdout);
}

static void print_counts(const hspz_statistics *s, uint64_t hsps)
{
    char text[32];
#define COUNT(member)                                                                                        \
    hspz_grouped(s->member, text, sizeof text);                                                              \
    printf("%-17s %20s\n", #member, text);
    HSPZ_STATISTICS_COUNTS(COUNT)
#undef COUNT
    hspz_grouped(hsps, text, sizeof text);
    printf("%-17s %20s\n", "hsps", text);
    printf("%-17s %16.1f MiB\n%-17s %16.1f MiB\n", "engine memory", (double)s->host_memory_peak / 1048576.0,
           "device memory", (double)s->device_memory_peak / 1048576.0);
}

/* All runs of a session; the median of their wall times goes to *median. */
static int run_session(const hspz_context *context, hspz_session *session, const hspz_inputs *inputs,
                       const hspz_calls *calls, double *median)
{
    int64_t repeats = context->options->repeats;
    double *seconds = calloc((size_t)repeats, sizeof *seconds);
    char who[512];
    hspz_totals totals = {0};
    uint64_t hsps = 0;
    int code = 0;
    if (seconds == NULL)
        return hspz_failed_memory(context->failure, "the times",
                                  (unsigned long long)repeats * sizeof *seconds);
    hspz_session_text(session, who, sizeof who);
    printf("%s %s, %s\n", session->library.table.name, session->library.table.version, who);
    print_head();
    for (int64_t i = 0; i < repeats && code == 0; i++) {
        hsps = 0;
        hspz_consumer consumer = {.ctx = &hsps, .take = count};
        code = hspz_schedule(inputs, context->options, calls, session->engines, session->engine_count, NULL,
                             &consumer, &totals, context->failure);
        if (code == 0)
            print_run(i + 1, &totals);
        seconds[i] = totals.seconds;
    }
    if (code == 0) {
        qsort(seconds, (size_t)repeats, sizeof *seconds, by_seconds);
        *median = seconds[repeats / 2];
        printf("median %.4f s, best %.4f s, %.2f M hits/s\n", *median, seconds[0],
               (double)totals.statistics.hits / *median / 1e6);
        print_counts(&totals.statistics, hsps);
    }
    free(seconds);
    return code;
}

int hspz_command_bench(const hspz_context *context)
{
    const hspz_options *options = context->options;
    hspz_session session;
    hspz_inputs inputs;
    hspz_calls calls = {0};
    double median = 0, other = 0;
    int code = hspz_session_and_inputs(context, options->plugin, &session, &inputs);
    if (code != 0)
        return code;
    hspz_inputs_report(&inputs, options, context->log);
    if ((code = hspz_calls_make(&inputs, options, &calls, context->failure)) == 0)
        code = run_session(context, &session, &inputs, &calls, &median);
    hspz_session_close(&session);
    if (code == 0 && options->against[0] != '\0' &&
        (code = hspz_session_open(context, options->against, &session)) == 0) {
        printf("\n");
        code = run_session(context, &session, &inputs, &calls, &other);
        hspz_session_close(&session);
        if (code == 0 && median > 0)
            printf("\nthe first takes %.4f s, the other %.4f s: %.2f times as long\n", median, other,
                   other / median);
    }
    hspz_calls_free(&calls);
    hspz_inputs_free(&inputs);
    return code != 0 ? code : hspz_finish_stdout(context);
}
