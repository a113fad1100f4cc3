/* calls.c -- the list of calls of a run (scheduler.h). */
#include "scheduler.h"

#include <stdlib.h>
#include <string.h>

bool hspz_dedup_spans_block(int64_t dedup)
{
    return dedup == HSPZ_DEDUP_LASTZ || dedup == HSPZ_DEDUP_MAXIMAL;
}

uint32_t hspz_slots_wanted(const hspz_inputs *inputs)
{
    return inputs->query.layout.block_count > 1 ? 2 : 1;
}

/* What the loops below need to know of the options. */
typedef struct shape {
    uint32_t width; /* pattern length */
    uint64_t interval_size;
    bool whole_block;
    bool strands[2];
} shape;

static uint64_t intervals_of(const shape *s, const hspz_block *query)
{
    if (s->whole_block)
        return query->length >= s->width ? 1 : 0;
    return hspz_interval_count(query->length, s->width, s->interval_size);
}

static hspz_interval interval_of(const shape *s, const hspz_block *query, uint64_t k, uint32_t strand)
{
    if (s->whole_block)
        return (hspz_interval){.begin = 0, .end = query->length - s->width};
    return hspz_interval_at(query->length, s->width, s->interval_size, k, strand);
}

static void append_block_pair(hspz_calls *calls, const shape *s, size_t target, size_t query,
                              const hspz_block *block)
{
    uint64_t count = intervals_of(s, block);
    for (uint64_t k = 0; k < count; k++)
        for (uint32_t strand = 0; strand < 2; strand++) {
            if (!s->strands[strand])
                continue;
            hspz_interval i = interval_of(s, block, k, strand);
            calls->items[calls->count++] = (hspz_call){.target_block = target,
                                                       .query_block = query,
                                                       .interval = k,
                                                       .strand = strand,
                                                       .begin = i.begin,
                                                       .end = i.end};
            calls->positions += i.end - i.begin + 1;
        }
}

int hspz_calls_make(const hspz_inputs *inputs, const hspz_options *options, hspz_calls *calls,
                    hspz_failure *failure)
{
    const hspz_layout *targets = &inputs->target.layout, *queries = &inputs->query.layout;
    shape s = {.width = (uint32_t)strlen(options->seed_pattern),
               .interval_size = (uint64_t)options->lastz_interval_size,
               .whole_block = hspz_dedup_spans_block(options->dedup),
               .strands = {options->strand != HSPZ_STRANDS_MINUS, options->strand != HSPZ_STRANDS_PLUS}};
    memset(calls, 0, sizeof *calls);
    uint64_t intervals = 0, most = SIZE_MAX / sizeof(hspz_call) / 4;
    for (size_t q = 0; q < queries->block_count; q++)
        intervals += intervals_of(&s, &queries->blocks[q]);
    if (intervals != 0 && targets->block_count > most / intervals)
        return hspz_failed_memory(failure, "the list of calls", UINT64_MAX);
    size_t count = (size_t)(2 * intervals * targets->block_count);
    calls->items = malloc((count ? count : 1) * sizeof *calls->items);
    if (calls->items == NULL)
        return hspz_failed_memory(failure, "the list of calls", count * sizeof *calls->items);
    for (size_t t = 0; t < targets->block_count; t++)
        for (size_t q = 0; q < queries->block_count; q++)
            append_block_pair(calls, &s, t, q, &queries->blocks[q]);
    return 0;
}

void hspz_calls_free(hspz_calls *calls)
{
    free(calls->items);
    memset(calls, 0, sizeof *calls);
}
