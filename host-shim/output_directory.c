/* output_directory.c -- KegAlign's files: one segments file a call that found something, the names of each block, copies
 * of inputs that LASTZ cannot read, and the commands (output.h, lastz_commands.h). */
#include "output_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The path LASTZ is told for an input: the user's, or that of the copy. */
static const char *lastz_path(const hspz_output *o, const hspz_genome *genome, const char *prefix,
                              bool mapped, const char *copy, char *buffer, size_t size)
{
    if (hspz__lastz_input_problem(genome, prefix, mapped, o->options->ambiguous) == NULL)
        return genome->path;
    snprintf(buffer, size, "%s/%s", o->stage.final, copy);
    return buffer;
}

static void add_command(hspz_output *o, const hspz_call *call, const char *name)
{
    char target[HSPZ_OPTION_PATH + 64], query[HSPZ_OPTION_PATH + 64], targets[64], queries[64];
    const hspz_options *options = o->options;
    hspz__lastz lastz = {
        .options = options,
        .target_path = lastz_path(o, &o->inputs->target.genome, options->target_prefix,
                                  o->names.target_mapped, HSPZ__TARGET_COPY, target, sizeof target),
        .query_path = lastz_path(o, &o->inputs->query.genome, options->query_prefix, o->names.query_mapped,
                                 HSPZ__QUERY_COPY, query, sizeof query)};
    snprintf(targets, sizeof targets, "ref_block%zu.name", call->target_block);
    snprintf(queries, sizeof queries, "query_block%zu.name", call->query_block);
    hspz__lastz_command(&lastz, o->stage.final, name, targets, queries,
                        call->strand == HSPZ_STRAND_PLUS ? "plus" : "minus", &o->commands);
}

int hspz__directory_take(hspz_output *o, const hspz_call *call, hspz_hsps *hsps, hspz_failure *failure)
{
    if (hsps->count == 0)
        return 0;
    hspz__placer placer;
    hspz__placer_init(&placer, o->inputs, &o->names, o->library, call);
    o->text.length = 0;
    for (uint64_t i = 0; i < hsps->count; i++) {
        int code = hspz__placer_seek(&placer, &hsps->items[i], failure);
        if (code != 0)
            return code;
        hspz__placer_line(&placer, &hsps->items[i], &o->text);
    }
    if (o->text.failed)
        return hspz_failed_memory(failure, "the lines of a segments file", 64 * hsps->count);
    char name[128];
    snprintf(name, sizeof name, "tmp%llu.block%zu.r%llu.%s.segments", (unsigned long long)call->interval + 1,
             call->query_block,
             (unsigned long long)o->inputs->target.layout.blocks[call->target_block].offset,
             call->strand == HSPZ_STRAND_PLUS ? "plus" : "minus");
    int code = hspz__stage_add(&o->stage, name, o->text.data, o->text.length, failure);
    if (code == 0)
        o->files++;
    if (code == 0 && o->options->gapped)
        add_command(o, call, name);
    return code;
}

/* ref_block<k>.name, query_block<k>.name: one record name a line, in file order. */
static int write_name_files(hspz_output *o, const hspz_layout *layout, const char *role,
                            const char *const *names, hspz_failure *failure)
{
    int code = 0;
    for (size_t b = 0; b < layout->block_count && code == 0; b++) {
        const hspz_block *block = &layout->blocks[b];
        char name[64];
        o->text.length = 0;
        for (size_t i = 0; i < block->record_count; i++) {
            hspz__text_string(&o->text, names[block->first_record + i]);
            hspz__text_string(&o->text, "\n");
        }
        if (o->text.failed)
            return hspz_failed_memory(failure, "the names of a block", o->text.length);
        snprintf(name, sizeof name, "%s_block%zu.name", role, b);
        code = hspz__stage_add(&o->stage, name, o->text.data, o->text.length, failure);
    }
    return code;
}

static int write_copy(hspz_output *o, const hspz_genome *genome, const char *prefix, bool mapped,
                      const char *const *names, const char *copy, hspz_failure *failure)
{
    const char *problem = hspz__lastz_input_problem(genome, prefix, mapped, o->options->ambiguous);
    if (problem == NULL)
        return 0;
    hspz_log_say(o->log, HSPZ_LOG_INFO, "%s %s: writing %s/%s for LASTZ", genome->path, problem,
                 o->stage.final, copy);
    bool plain = genome->composition.iupac != 0 && o->options->ambiguous != HSPZ_AMBIGUOUS_IUPAC;
    if (plain)
        hspz_log_say(o->log, HSPZ_LOG_WARN,
                     "%s: %llu IUPAC codes stand as N in %s/%s, LASTZ would refuse them", genome->path,
                     (unsigned long long)genome->composition.iupac, o->stage.final, copy);
    int file;
    int code = hspz__stage_begin_file(&o->stage, copy, &file, failure);
    if (code != 0)
        return code;
    code = hspz__lastz_write_copy(genome, names, plain, file, copy, failure);
    if (code != 0) {
        close(file);
        return code;
    }
    return hspz__stage_end_file(&o->stage, copy, file, failure);
}

static int write_gapped_files(hspz_output *o, hspz_failure *failure)
{
    const hspz_options *options = o->options;
    const hspz_inputs *inputs = o->inputs;
    int code = write_name_files(o, &inputs->target.layout, "ref", o->names.target, failure);
    if (code == 0)
        code = write_name_files(o, &inputs->query.layout, "query", o->names.query, failure);
    if (code == 0 && o->files != 0)
        code = write_copy(o, &inputs->target.genome, options->target_prefix, o->names.target_mapped,
                          o->names.target, HSPZ__TARGET_COPY, failure);
    if (code == 0 && o->files != 0)
        code = write_copy(o, &inputs->query.genome, options->query_prefix, o->names.query_mapped,
                          o->names.query, HSPZ__QUERY_COPY, failure);
    return code;
}

static int write_name_table(hspz_output *o, hspz_failure *failure)
{
    if (!o->names.target_mapped && !o->names.query_mapped)
        return 0;
    o->text.length = 0;
    hspz__names_table(o->inputs, &o->names, &o->text);
    if (o->text.failed)
        return hspz_failed_memory(failure, "the table of names", o->text.length);
    hspz_log_say(o->log, HSPZ_LOG_INFO, "%zu records have new names: %s/hspz.names.tsv", o->names.owned_count,
                 o->stage.final);
    return hspz__stage_add(&o->stage, "hspz.names.tsv", o->text.data, o->text.length, failure);
}

int hspz__directory_publish(hspz_output *o, hspz_failure *failure)
{
    int code = o->options->gapped ? write_gapped_files(o, failure) : 0;
    if (code == 0)
        code = write_name_table(o, failure);
    if (code == 0 && o->commands.failed)
        code = hspz_failed_memory(failure, "the lastz commands", o->commands.length);
    if (code == 0)
        code = hspz__stage_publish(&o->stage, failure);
    if (code == 0)
        code = hspz__write_all(STDOUT_FILENO, o->commands.data, o->commands.length, "stdout", failure);
    return code;
}
