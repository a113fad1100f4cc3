/* output.c -- see output.h; what a directory holds besides segments is in output_directory.c, the single stream in
 * output_stream.c. */
#include "output.h"

#include "output_parts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int kind_of(const char *path)
{
    size_t size = strlen(path);
    if (strcmp(path, "-") == 0)
        return HSPZ__OUTPUT_STDOUT;
    return size > 9 && strcmp(path + size - 9, ".segments") == 0 ? HSPZ__OUTPUT_FILE : HSPZ__OUTPUT_DIRECTORY;
}

int hspz_output_check(const hspz_options *options, hspz_failure *failure)
{
    const char *path = options->output;
    if (path[0] == '\0')
        return hspz_failed(failure, HSPZ_EXIT_USAGE,
                           "no output: -o DIRECTORY, -o FILE.segments or -o - (stdout) is needed");
    switch (kind_of(path)) {
    case HSPZ__OUTPUT_STDOUT:
        if (options->map_names)
            return hspz_failed(
                failure, HSPZ_EXIT_USAGE,
                "--map-names writes a table of names beside the results, -o - has no place for it");
        if (strcmp(options->stats, "-") == 0)
            return hspz_failed(failure, HSPZ_EXIT_USAGE, "-o - and --stats - cannot both have stdout");
        return 0;
    case HSPZ__OUTPUT_FILE:
        return hspz__stage_check_file(path, options->force != 0, failure);
    default:
        if (strcmp(options->stats, "-") == 0 && options->gapped)
            return hspz_failed(
                failure, HSPZ_EXIT_USAGE,
                "--stats - and the lastz commands cannot both have stdout; --nogapped prints none");
        if (options->gapped && !hspz__lastz_path_is_safe(path))
            return hspz_failed(
                failure, HSPZ_EXIT_USAGE,
                "-o %s: LASTZ would misread this path in its commands ([ ] { } , :: mean something to it); "
                "choose another or --nogapped",
                path);
        return hspz__stage_check_directory(path, options->force != 0, failure);
    }
}

int hspz_output_open(const hspz_options *options, const hspz_inputs *inputs, const hspz_library *library,
                     hspz_log *log, hspz_output **output, hspz_failure *failure)
{
    *output = NULL;
    hspz_output *o = calloc(1, sizeof *o);
    if (o == NULL)
        return hspz_failed_memory(failure, "the output", sizeof *o);
    *o = (hspz_output){.options = options,
                       .inputs = inputs,
                       .library = library,
                       .log = log,
                       .kind = kind_of(options->output),
                       .file = -1};
    int code = hspz__names_make(inputs, options->map_names != 0, &o->names, failure);
    if (code == 0 && o->kind == HSPZ__OUTPUT_DIRECTORY)
        code = hspz__stage_open_directory(options->output, options->force != 0, &o->stage, failure);
    if (code == 0 && o->kind == HSPZ__OUTPUT_FILE) {
        code = hspz__stage_open_file(options->output, options->force != 0, &o->stage, failure);
        o->file = o->stage.file;
    }
    if (o->kind == HSPZ__OUTPUT_STDOUT)
        o->file = STDOUT_FILENO;
    if (code == 0 && o->kind != HSPZ__OUTPUT_DIRECTORY)
        code = hspz__merge_open(o, failure);
    if (code != 0)
        hspz_output_free(o);
    else
        *output = o;
    return code;
}

int hspz_output_take(void *output, const hspz_call *call, hspz_hsps *hsps, hspz_failure *failure)
{
    hspz_output *o = output;
    hspz__placer placer;
    hspz__placer_init(&placer, o->inputs, &o->names, o->library, call);
    int code = hspz__segments_order(&placer, o->options->dedup, hsps, failure);
    if (code != 0)
        return code;
    o->hsps += hsps->count;
    return o->kind == HSPZ__OUTPUT_DIRECTORY ? hspz__directory_take(o, call, hsps, failure)
                                             : hspz__merge_take(o, call, hsps, failure);
}

int hspz_output_publish(hspz_output *o, hspz_failure *failure)
{
    if (o->kind == HSPZ__OUTPUT_DIRECTORY)
        return hspz__directory_publish(o, failure);
    return hspz__merge_publish(o, failure);
}

uint64_t hspz_output_hsps(const hspz_output *output)
{
    return output->hsps;
}

uint64_t hspz_output_files(const hspz_output *output)
{
    return output->files;
}

void hspz_output_free(hspz_output *o)
{
    if (o == NULL)
        return;
    hspz__merge_free(o);
    hspz__stage_abandon(&o->stage);
    hspz__names_free(&o->names);
    hspz__text_free(&o->text);
    hspz__text_free(&o->commands);
    free(o);
}
