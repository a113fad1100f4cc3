/* host_run.c -- pieces of a run: calls of each policy, sinks, summed statistics, progress, the log. */
#include "clock.h"
#include "command.h"
#include "scheduler.h"
#include "tally.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls -------------------------------------------------------------------------------------------- */

static void load(hspz_inputs *inputs, hspz_options *options, int64_t block_size)
{
    static char text[4096];
    hspz_failure failure;
    int n = 0;
    for (int record = 0; record < 3; record++) {
        n += snprintf(text + n, sizeof text - (size_t)n, ">r%d\n", record);
        for (int i = 0; i < 100; i++)
            text[n++] = "ACGT"[(i * 7 + i / 5 + record) & 3];
        text[n++] = '\n';
    }
    hspz_options_defaults(options);
    options->seq_block_size = block_size;
    cr_assert_eq(hspz_options_check(options, &failure), 0, "%s", failure.text);
    memset(inputs, 0, sizeof *inputs);
    cr_assert_eq(hspz_genome_load_memory(text, (size_t)n, "t", NULL, &inputs->target.genome, &failure), 0);
    cr_assert_eq(hspz_genome_load_memory(text, (size_t)n, "q", NULL, &inputs->query.genome, &failure), 0);
    cr_assert_eq(
        hspz_layout_make(&inputs->target.genome, (uint64_t)block_size, &inputs->target.layout, &failure), 0);
    cr_assert_eq(
        hspz_layout_make(&inputs->query.genome, (uint64_t)block_size, &inputs->query.layout, &failure), 0);
}

Test(host_run, calls_by_interval)
{
    hspz_inputs inputs;
    hspz_options *options = calloc(1, sizeof *options);
    hspz_calls calls;
    hspz_failure failure;
    load(&inputs, options, 1000000);
    options->lastz_interval_size = 120;
    cr_assert_eq(hspz_calls_make(&inputs, options, &calls, &failure), 0);
    /* a block of 302 with a seed of 19: [0,120) [120,240) [240,283), plus then minus; position b is searched too */
    const uint64_t expected[6][2] = {{0, 120}, {163, 283}, {120, 240}, {43, 163}, {240, 283}, {0, 43}};
    cr_assert_eq(calls.count, 6);
    uint64_t positions = 0;
    for (size_t i = 0; i < 6; i++) {
        cr_expect_eq(calls.items[i].begin, expected[i][0], "%zu", i);
        cr_expect_eq(calls.items[i].end, expected[i][1], "%zu", i);
        cr_expect_eq(calls.items[i].strand, i & 1);
        cr_expect_eq(calls.items[i].interval, i / 2);
        positions += expected[i][1] - expected[i][0] + 1;
    }
    cr_expect_eq(calls.positions, positions);
    hspz_calls_free(&calls);
    hspz_inputs_free(&inputs);
    free(options);
}

Test(host_run, calls_of_whole_blocks_and_one_strand)
{
    hspz_inputs inputs;
    hspz_options *options = calloc(1, sizeof *options);
    hspz_calls calls;
    hspz_failure failure;
    load(&inputs, options, 50); /* three blocks each */
    options->lastz_interval_size = 10;
    options->dedup = HSPZ_DEDUP_MAXIMAL;
    options->strand = HSPZ_STRANDS_MINUS;
    cr_assert_eq(hspz_calls_make(&inputs, options, &calls, &failure), 0);
    cr_assert_eq(calls.count, 9);
    for (size_t i = 0; i < 9; i++) {
        const hspz_call *c = &calls.items[i];
        cr_expect(c->target_block == i / 3 && c->query_block == i % 3 && c->strand == HSPZ_STRAND_MINUS);
        cr_expect(c->begin == 0 && c->end == 81 && c->interval == 0);
    }
    cr_expect_eq(hspz_slots_wanted(&inputs), 2);
    hspz_calls_free(&calls);
    hspz_inputs_free(&inputs);
    free(options);
}

/* Sinks and statistics ------------------------------------------------------------------------------- */

Test(host_run, sink_copies_with_any_stride)
{
    struct {
        hspz_hsp hsp;
        uint64_t later_member;
    } wide[300];
    hspz_hsps hsps = {0};
    hspz_sink sink = hspz_hsps_sink(&hsps);
    for (uint32_t i = 0; i < 300; i++)
        wide[i].hsp = (hspz_hsp){i, 2 * i, 3 * i, (int32_t)i};
    for (int times = 0; times < 3; times++)
        cr_assert_eq(sink.hsps(sink.ctx, &wide[0].hsp, 300, sizeof wide[0]), 0);
    cr_assert_eq(hsps.count, 900);
    for (uint32_t i = 0; i < 900; i++)
        cr_assert_eq(hsps.items[i].extent, 3 * (i % 300));
    cr_expect_neq(sink.hsps(sink.ctx, &wide[0].hsp, 1, 8), 0, "a stride below the record is refused");
    cr_expect_neq(sink.hsps(sink.ctx, &wide[0].hsp, UINT64_MAX / 2, 16), 0,
                  "and so is a count beyond memory");
    hspz_hsps_free(&hsps);
}

Test(host_run, tally_counts_a_target_block_once)
{
    hspz_tally tally;
    hspz_statistics engine = {
        .hits = 10, .kept = 3, .target_positions = 500, .seconds_gate = 0.5, .host_memory_peak = 7};
    cr_assert(hspz__tally_init(&tally, 2));
    hspz__tally_target(&tally, 0, 500);
    hspz__tally_target(&tally, 0, 500); /* by a second engine */
    hspz__tally_target(&tally, 1, 200);
    hspz__tally_engine(&tally, &engine);
    hspz__tally_engine(&tally, &engine);
    hspz_statistics sum = hspz__tally_sum(&tally);
    cr_expect_eq(sum.target_positions, 700);
    cr_expect_eq(sum.hits, 20);
    cr_expect_eq(sum.kept, 6);
    cr_expect_eq(sum.host_memory_peak, 14);
    cr_expect_float_eq(sum.seconds_gate, 1.0, 1e-12);
    hspz__tally_free(&tally);
}

/* Words ---------------------------------------------------------------------------------------------- */

Test(host_run, progress_text)
{
    char text[128];
    hspz_progress_text(0, 1000, 5, text, sizeof text);
    cr_expect_str_eq(text, "0.0 %, 0.00 M positions/s");
    hspz_progress_text(25000000, 100000000, 30, text, sizeof text);
    cr_expect_str_eq(text, "25.0 %, 0.83 M positions/s, 1:30 left");
    hspz_progress_text(1000000, 100000000, 100, text, sizeof text);
    cr_expect_str_eq(text, "1.0 %, 0.01 M positions/s, 2:45:00 left");
    hspz_progress_text(5, 5, 1, text, sizeof text);
    cr_expect_str_eq(text, "100.0 %, 0.00 M positions/s");
    hspz_progress_text(0, 0, 0, text, sizeof text);
    cr_expect_str_eq(text, "100.0 %, 0.00 M positions/s");
}

Test(host_run, grouped_numbers)
{
    char text[32];
    static const struct {
        uint64_t value;
        const char *text;
    } cases[] = {{0, "0"},
                 {999, "999"},
                 {1000, "1,000"},
                 {1234567, "1,234,567"},
                 {UINT64_MAX, "18,446,744,073,709,551,615"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hspz_grouped(cases[i].value, text, sizeof text);
        cr_expect_str_eq(text, cases[i].text);
    }
}

Test(host_run, log_keeps_one_line_a_message)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&bytes, &size);
    hspz_log log;
    hspz_log_init(&log, stream, HSPZ_LOG_WARN);
    hspz_log_say(&log, HSPZ_LOG_ERROR, "bad name \"%s\"", "a\nb\033[2J");
    hspz_log_say(&log, HSPZ_LOG_INFO, "not wanted");
    hspz_log_status(&log, "50 %");
    hspz_log_say(&log, HSPZ_LOG_WARN, "careful");
    hspz_log_destroy(&log);
    fclose(stream);
    cr_expect_str_eq(bytes,
                     "hspz: error: bad name \"a?b?[2J\"\n\r50 %\033[K\r\033[Khspz: warning: careful\n");
    free(bytes);
}
