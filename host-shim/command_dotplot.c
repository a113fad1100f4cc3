/* command_dotplot.c -- hspz dotplot FILE.segments [-o FILE.svg]: a picture of a segments file; "-" is stdin, stdout. */
#include "command.h"
#include "dotplot.h"
#include "stage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_file(const char *path, hspz_dotplot *plot, hspz_failure *failure)
{
    bool from_stdin = strcmp(path, "-") == 0;
    FILE *in = from_stdin ? stdin : fopen(path, "re");
    if (in == NULL)
        return hspz_failed(failure, HSPZ_EXIT_DATA, "%s cannot be opened: %s", path, strerror(errno));
    int code = hspz_segments_read(in, from_stdin ? "stdin" : path, hspz_dotplot_add, plot, failure);
    if (!from_stdin)
        fclose(in);
    return code;
}

/* Draws into memory first: a picture is small, and the stage wants whole bytes. */
static int draw(hspz_dotplot *plot, const char *title, const char *output, bool force, hspz_failure *failure)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);
    if (out == NULL)
        return hspz_failed_memory(failure, "the picture", 0);
    int code = hspz_dotplot_svg(plot, title, out, failure);
    bool bad = ferror(out) != 0;
    if ((fclose(out) != 0 || bad) && code == 0)
        code = hspz_failed_memory(failure, "the picture", size);
    if (code == 0 && (output[0] == '\0' || strcmp(output, "-") == 0)) {
        code = hspz__write_all(STDOUT_FILENO, bytes, size, "stdout", failure);
    } else if (code == 0) {
        hspz__stage stage;
        code = hspz__stage_open_file(output, force, &stage, failure);
        if (code == 0 && (code = hspz__write_all(stage.file, bytes, size, output, failure)) == 0)
            code = hspz__stage_publish(&stage, failure);
        else
            hspz__stage_abandon(&stage);
    }
    free(bytes);
    return code;
}

int hspz_command_dotplot(const hspz_context *context)
{
    const hspz_options *options = context->options;
    const char *path = options->operands[0];
    hspz_dotplot *plot = hspz_dotplot_new();
    if (plot == NULL)
        return hspz_failed_memory(context->failure, "the plot", sizeof(void *));
    int code = read_file(path, plot, context->failure);
    if (code == 0)
        code = draw(plot, path, options->output, options->force != 0, context->failure);
    if (code == 0)
        hspz_log_say(context->log, HSPZ_LOG_INFO, "%llu segments drawn",
                     (unsigned long long)hspz_dotplot_segments(plot));
    hspz_dotplot_free(plot);
    return code;
}
