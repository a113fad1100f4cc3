/* command_rescore.c -- hspz rescore TARGET QUERY FILE.segments: ranks segments by a soft local score, before gapped extension.
 *
 * By default lines keep their order and get a ninth field, "#soft=SCORE": a comment for LASTZ, which can read the result as
 * it is. --rank order writes the lines as they were, best soft score first. --top N keeps the N best of each query
 * record either way; equal scores keep the order of the file.
 */
#include "clock.h"
#include "command.h"
#include "rescore.h"
#include "stage.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int by_order(const void *left, const void *right)
{
    const hspz__rescored *a = left, *b = right;
    return (a->order > b->order) - (a->order < b->order);
}

static int by_soft(const void *left, const void *right)
{
    const hspz__rescored *a = left, *b = right;
    if (a->soft != b->soft)
        return a->soft > b->soft ? -1 : 1;
    return by_order(left, right);
}

static int by_query(const void *left, const void *right)
{
    const hspz__rescored *a = left, *b = right;
    if (a->query != b->query)
        return a->query < b->query ? -1 : 1;
    return by_soft(left, right);
}

/* Keeps the `top` best segments of each query record. */
static void keep_top(hspz__rescored_list *list, uint64_t top)
{
    uint64_t kept = 0, of_query = 0;
    qsort(list->items, list->count, sizeof *list->items, by_query);
    for (uint64_t i = 0; i < list->count; i++) {
        if (i == 0 || list->items[i].query != list->items[i - 1].query)
            of_query = 0;
        if (of_query++ < top)
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
}

static void add_line(hspz__text *text, const hspz_inputs *inputs, const hspz__rescored *s, bool column)
{
    hspz__text_string(text, inputs->target.genome.records[s->target].name);
    hspz__text_format(text, "\t%llu\t%llu\t", (unsigned long long)s->target_start,
                      (unsigned long long)s->target_end);
    hspz__text_string(text, inputs->query.genome.records[s->query].name);
    hspz__text_format(text, "\t%llu\t%llu\t%c\t%lld", (unsigned long long)s->query_start,
                      (unsigned long long)s->query_end, s->strand, (long long)s->score);
    if (column)
        hspz__text_format(text, "\t#soft=%.3f", (double)s->soft);
    hspz__text_string(text, "\n");
}

/* Puts the list in its final order and writes it. */
static int write_list(const hspz_context *context, const hspz_inputs *inputs, hspz__rescored_list *list)
{
    const hspz_options *options = context->options;
    bool ordered = options->rescore_rank == HSPZ_RANK_ORDER;
    hspz__text text = {0};
    if (options->rescore_top > 0)
        keep_top(list, (uint64_t)options->rescore_top);
    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, ordered ? by_soft : by_order);
    for (uint64_t i = 0; i < list->count; i++)
        add_line(&text, inputs, &list->items[i], !ordered);
    int code = text.failed ? hspz_failed_memory(context->failure, "the lines", text.length) : 0;
    if (code == 0 && (options->output[0] == '\0' || strcmp(options->output, "-") == 0)) {
        code = hspz__write_all(STDOUT_FILENO, text.data, text.length, "stdout", context->failure);
    } else if (code == 0) {
        hspz__stage stage;
        code = hspz__stage_open_file(options->output, options->force != 0, &stage, context->failure);
        if (code == 0 && (code = hspz__write_all(stage.file, text.data, text.length, options->output,
                                                 context->failure)) == 0)
            code = hspz__stage_publish(&stage, context->failure);
        else
            hspz__stage_abandon(&stage);
    }
    hspz__text_free(&text);
    return code;
}

int hspz_command_rescore(const hspz_context *context)
{
    const hspz_options *options = context->options;
    hspz_inputs inputs;
    hspz_library library;
    hspz__rescored_list list = {0};
    char device[64] = "";
    int code = hspz_library_open(options->plugin, &library, context->failure);
    if (code != 0)
        return code;
    code = hspz_inputs_load(options, context->stop, &inputs, context->failure);
    if (code != 0)
        goto close;
    code = hspz__rescored_read(options->operands[2], &inputs, &list, context->failure);
    double begun = hspz__now();
    if (code == 0 && list.count > 0)
        code = hspz__rescore(&library, options, &inputs, &list, device, sizeof device, context->log,
                             context->failure);
    double seconds = hspz__now() - begun;
    uint64_t read = list.count;
    if (code == 0)
        code = write_list(context, &inputs, &list);
    if (code == 0)
        hspz_log_say(context->log, HSPZ_LOG_INFO, "%llu segments rescored on %s in %.2f s, %llu written",
                     (unsigned long long)read, device[0] != '\0' ? device : "no device", seconds,
                     (unsigned long long)list.count);
    hspz__rescored_free(&list);
    hspz_inputs_free(&inputs);
close:
    library.stays_mapped = library.stays_mapped || strncmp(device, "cuda", 4) == 0;
    hspz_library_close(&library);
    return code;
}
