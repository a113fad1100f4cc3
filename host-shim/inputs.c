/* inputs.c -- see inputs.h */
#include "inputs.h"

#include "clock.h"

#include <pthread.h>
#include <string.h>

#define MASKING_MATTERS 50000000u /* bases from which poor masking earns a warning */
#define MASKING_POOR 0.20         /* share of soft-masked bases below which it does */

/* One file to load; the thread's argument. */
typedef struct load_job {
    const char *path;
    hspz_genome_options genome_options;
    hspz_input *input;
    hspz_failure failure;
    int code;
} load_job;

static void *load(void *argument)
{
    load_job *job = argument;
    double start = hspz__now();
    job->code = hspz_genome_load(job->path, &job->genome_options, &job->input->genome, &job->failure);
    job->input->seconds = hspz__now() - start;
    return NULL;
}

static int make_layouts(const hspz_options *options, hspz_inputs *inputs, hspz_failure *failure)
{
    uint64_t block = (uint64_t)options->seq_block_size;
    uint64_t target_block = options->dedup == HSPZ_DEDUP_LASTZ ? HSPZ_BLOCK_MAX : block;
    int code = hspz_layout_make(&inputs->target.genome, target_block, &inputs->target.layout, failure);
    return code ? code : hspz_layout_make(&inputs->query.genome, block, &inputs->query.layout, failure);
}

int hspz_inputs_load(const hspz_options *options, const volatile sig_atomic_t *stop, hspz_inputs *inputs,
                     hspz_failure *failure)
{
    memset(inputs, 0, sizeof *inputs);
    load_job jobs[2] = {
        {.path = options->operands[0],
         .genome_options = {.unmask = options->unmask != 0,
                            .name_prefix = options->target_prefix,
                            .stop = stop},
         .input = &inputs->target},
        {.path = options->operands[1],
         .genome_options = {.unmask = options->unmask != 0,
                            .name_prefix = options->query_prefix,
                            .stop = stop},
         .input = &inputs->query},
    };
    if (strcmp(jobs[0].path, "-") == 0 && strcmp(jobs[1].path, "-") == 0)
        return hspz_failed(failure, HSPZ_EXIT_USAGE,
                           "target and query are both \"-\", but standard input holds one of them only");
    pthread_t thread;
    bool beside = pthread_create(&thread, NULL, load, &jobs[0]) == 0;
    load(&jobs[1]);
    if (beside)
        pthread_join(thread, NULL);
    else
        load(&jobs[0]);
    int code = 0;
    for (int i = 0; i < 2 && code == 0; i++)
        if ((code = jobs[i].code) != 0)
            hspz_failed(failure, code, "%s", jobs[i].failure.text);
    if (code == 0)
        code = make_layouts(options, inputs, failure);
    if (code != 0)
        hspz_inputs_free(inputs);
    return code;
}

void hspz_inputs_free(hspz_inputs *inputs)
{
    hspz_layout_free(&inputs->target.layout);
    hspz_layout_free(&inputs->query.layout);
    hspz_genome_free(&inputs->target.genome);
    hspz_genome_free(&inputs->query.genome);
    memset(inputs, 0, sizeof *inputs);
}

/* Report ----------------------------------------------------------------------------------------- */

static double percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0.0 : 100.0 * (double)part / (double)whole;
}

static bool can_seed(const hspz_layout *layout, uint32_t width)
{
    for (size_t i = 0; i < layout->block_count; i++)
        if (hspz_can_seed(layout->blocks[i].bases, layout->blocks[i].length, width))
            return true;
    return false;
}

static void report_one(const char *role, const hspz_input *input, uint32_t width, hspz_log *log)
{
    const hspz_genome *genome = &input->genome;
    const hspz_composition *c = &genome->composition;
    hspz_log_say(log, HSPZ_LOG_INFO,
                 "%s %s: %s, %zu record%s, %llu bases, %.1f %% masked, %.1f %% N, %zu block%s", role,
                 genome->path, genome->format, genome->record_count, genome->record_count == 1 ? "" : "s",
                 (unsigned long long)c->bases, percent(c->masked, c->bases), percent(c->n, c->bases),
                 input->layout.block_count, input->layout.block_count == 1 ? "" : "s");
    if (!can_seed(&input->layout, width))
        hspz_log_say(log, HSPZ_LOG_WARN,
                     "%s %s: nothing can seed, no window of %u bases is all upper-case A, C, G and T%s", role,
                     genome->path, width,
                     2 * c->masked >= c->bases && c->masked > 0 ? "; --unmask ignores the soft-masking" : "");
    else if (c->bases > MASKING_MATTERS && (double)c->masked < MASKING_POOR * (double)c->bases)
        hspz_log_say(
            log, HSPZ_LOG_WARN,
            "%s %s: only %.1f %% is soft-masked; with repeats in capitals the search takes far longer, "
            "mask them first",
            role, genome->path, percent(c->masked, c->bases));
}

void hspz_inputs_report(const hspz_inputs *inputs, const hspz_options *options, hspz_log *log)
{
    uint32_t width = (uint32_t)strlen(options->seed_pattern);
    report_one("target", &inputs->target, width, log);
    report_one("query", &inputs->query, width, log);
}
