/* output_stream.c -- one stream in the order LASTZ demands: query records in file order, each plus before minus
 * (output.h). Every held call is in record order already, so this is a merge by record. */
#include "output_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STREAM_BUFFER (1u << 20) /* bytes gathered before a write */

int hspz__merge_open(hspz_output *o, hspz_failure *failure)
{
    /* the array is grown as calls arrive; a first piece here keeps the other places simple */
    o->held_capacity = 64;
    o->held = calloc(o->held_capacity, sizeof *o->held);
    return o->held != NULL ? 0
                           : hspz_failed_memory(failure, "held results", o->held_capacity * sizeof *o->held);
}

void hspz__merge_free(hspz_output *o)
{
    for (size_t i = 0; i < o->held_count; i++)
        hspz_hsps_free(&o->held[i].hsps);
    free(o->held);
    o->held = NULL;
    o->held_count = 0;
}

static int flush(hspz_output *o, hspz_failure *failure)
{
    if (o->text.failed)
        return hspz_failed_memory(failure, "the lines of a stream", STREAM_BUFFER);
    const char *name = o->kind == HSPZ__OUTPUT_STDOUT ? "stdout" : o->stage.final;
    int code = hspz__write_all(o->file, o->text.data, o->text.length, name, failure);
    o->text.length = 0;
    return code;
}

/* Writes the HSPs of a held call that belong to `record`. */
static int drain(hspz_output *o, hspz__held *held, size_t record, hspz_failure *failure)
{
    int code = 0;
    for (; held->at < held->hsps.count && code == 0; held->at++) {
        const hspz_hsp *hsp = &held->hsps.items[held->at];
        if ((code = hspz__placer_seek(&held->placer, hsp, failure)) != 0 ||
            held->placer.query.record != record)
            break;
        hspz__placer_line(&held->placer, hsp, &o->text);
        if (o->text.length >= STREAM_BUFFER || o->text.failed)
            code = flush(o, failure);
    }
    return code;
}

/* The lowest record that some call has next, or SIZE_MAX. Calls below `first` are done. */
static int next_record(hspz_output *o, size_t query_block, size_t *record, hspz_failure *failure)
{
    *record = SIZE_MAX;
    for (size_t i = 0; i < o->held_count; i++) {
        hspz__held *held = &o->held[i];
        if (held->call.query_block != query_block || held->at == held->hsps.count)
            continue;
        int code = hspz__placer_seek(&held->placer, &held->hsps.items[held->at], failure);
        if (code != 0)
            return code;
        if (held->placer.query.record < *record)
            *record = held->placer.query.record;
    }
    return 0;
}

static int write_query_block(hspz_output *o, size_t query_block, hspz_failure *failure)
{
    size_t record;
    int code = next_record(o, query_block, &record, failure);
    while (code == 0 && record != SIZE_MAX) {
        for (uint32_t strand = 0; strand < 2; strand++)
            for (size_t i = 0; i < o->held_count && code == 0; i++)
                if (o->held[i].call.query_block == query_block && o->held[i].call.strand == strand)
                    code = drain(o, &o->held[i], record, failure);
        if (code == 0)
            code = next_record(o, query_block, &record, failure);
    }
    return code;
}

/* Writes and lets go of everything that is held. */
static int write_held(hspz_output *o, hspz_failure *failure)
{
    int code = 0;
    for (size_t b = 0; b < o->inputs->query.layout.block_count && code == 0; b++)
        code = write_query_block(o, b, failure);
    for (size_t i = 0; i < o->held_count; i++)
        hspz_hsps_free(&o->held[i].hsps);
    o->held_count = 0;
    return code;
}

int hspz__merge_take(hspz_output *o, const hspz_call *call, hspz_hsps *hsps, hspz_failure *failure)
{
    bool one_target = o->inputs->target.layout.block_count == 1;
    int code = 0;
    if (one_target && o->held_count != 0 && o->held[o->held_count - 1].call.query_block != call->query_block)
        code = write_held(o, failure);
    if (code != 0 || hsps->count == 0)
        return code;
    if (o->held_count == o->held_capacity) {
        size_t capacity = 2 * o->held_capacity + 64;
        hspz__held *grown = realloc(o->held, capacity * sizeof *grown);
        if (grown == NULL)
            return hspz_failed_memory(failure, "held results", capacity * sizeof *grown);
        o->held = grown;
        o->held_capacity = capacity;
    }
    hspz__held *held = &o->held[o->held_count++];
    *held = (hspz__held){.call = *call, .hsps = *hsps};
    hspz__placer_init(&held->placer, o->inputs, &o->names, o->library, call);
    memset(hsps, 0, sizeof *hsps);
    return 0;
}

/* One command for the file, if LASTZ can read both inputs as they are. */
static int print_command(hspz_output *o, const char *path, hspz_failure *failure)
{
    static const char *const strands[] = {"both", "plus", "minus"};
    const hspz_options *options = o->options;
    const hspz_genome *target = &o->inputs->target.genome, *query = &o->inputs->query.genome;
    const char *problem =
        hspz__lastz_input_problem(target, options->target_prefix, o->names.target_mapped, options->ambiguous);
    const hspz_genome *culprit = target;
    if (problem == NULL) {
        culprit = query;
        problem = hspz__lastz_input_problem(query, options->query_prefix, o->names.query_mapped,
                                            options->ambiguous);
    }
    if (problem != NULL) {
        hspz_log_say(o->log, HSPZ_LOG_WARN,
                     "no lastz command is printed: %s %s; with -o DIRECTORY a copy for LASTZ is written",
                     culprit->path, problem);
        return 0;
    }
    hspz__lastz lastz = {.options = options, .target_path = target->path, .query_path = query->path};
    o->text.length = 0;
    hspz__lastz_command(&lastz, "", path, NULL, NULL, strands[options->strand], &o->text);
    if (o->text.failed)
        return hspz_failed_memory(failure, "a lastz command", o->text.length);
    return hspz__write_all(STDOUT_FILENO, o->text.data, o->text.length, "stdout", failure);
}

/* FILE.segments.names.tsv, when records have new names. */
static int write_name_table(hspz_output *o, const char *path, hspz_failure *failure)
{
    if (!o->names.target_mapped && !o->names.query_mapped)
        return 0;
    char name[HSPZ_OPTION_PATH + 16];
    snprintf(name, sizeof name, "%s.names.tsv", path);
    o->text.length = 0;
    hspz__names_table(o->inputs, &o->names, &o->text);
    if (o->text.failed)
        return hspz_failed_memory(failure, "the table of names", o->text.length);
    hspz__stage stage;
    int code = hspz__stage_open_file(name, true, &stage, failure);
    if (code == 0)
        code = hspz__write_all(stage.file, o->text.data, o->text.length, name, failure);
    if (code == 0)
        code = hspz__stage_publish(&stage, failure);
    else
        hspz__stage_abandon(&stage);
    if (code == 0)
        hspz_log_say(o->log, HSPZ_LOG_INFO, "%zu records have new names: %s", o->names.owned_count, name);
    return code;
}

int hspz__merge_publish(hspz_output *o, hspz_failure *failure)
{
    int code = write_held(o, failure);
    if (code == 0)
        code = flush(o, failure);
    if (code != 0 || o->kind == HSPZ__OUTPUT_STDOUT)
        return code;
    const char *path = o->options->output;
    if ((code = write_name_table(o, path, failure)) != 0 ||
        (code = hspz__stage_publish(&o->stage, failure)) != 0)
        return code;
    o->files = 1;
    return o->options->gapped && o->hsps != 0 ? print_command(o, path, failure) : 0;
}
