/* rescore_segments.c -- segments of a file with their records; see rescore.h.
 *
 * Idea: names are found by binary search in a sorted list of record numbers, one list per genome; names repeat from line to
 * line, so the last record is tried first.
 */
#include "rescore.h"
#include "segments_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Records of a genome by name. */
typedef struct name_index {
    const hspz_genome *genome;
    const char *what; /* "target" or "query" */
    uint32_t *order;
    uint32_t last;
} name_index;

typedef struct reading {
    const char *label;
    name_index target;
    name_index query;
    hspz__rescored_list *list;
} reading;

static int by_name(const void *a, const void *b, void *records)
{
    const hspz_record *r = records;
    return strcmp(r[*(const uint32_t *)a].name, r[*(const uint32_t *)b].name);
}

static int index_names(name_index *index, const hspz_genome *genome, const char *what, hspz_failure *failure)
{
    *index = (name_index){.genome = genome, .what = what};
    index->order = calloc(genome->record_count, sizeof *index->order);
    if (index->order == NULL)
        return hspz_failed_memory(failure, "record names", genome->record_count * sizeof *index->order);
    for (size_t i = 0; i < genome->record_count; i++)
        index->order[i] = (uint32_t)i;
    qsort_r(index->order, genome->record_count, sizeof *index->order, by_name, genome->records);
    return 0;
}

static int look_up(name_index *index, const char *name, const reading *r, uint32_t *record,
                   hspz_failure *failure)
{
    const hspz_record *records = index->genome->records;
    if (strcmp(records[index->last].name, name) == 0) {
        *record = index->last;
        return 0;
    }
    size_t low = 0, high = index->genome->record_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(records[index->order[middle]].name, name);
        if (order == 0) {
            *record = index->last = index->order[middle];
            return 0;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return hspz_failed(failure, HSPZ_EXIT_DATA, "%s: there is no record \"%.200s\" in the %s %s", r->label,
                       name, index->what, index->genome->path);
}

static int check_end(const reading *r, const name_index *index, uint32_t record, uint64_t end,
                     hspz_failure *failure)
{
    const hspz_record *of = &index->genome->records[record];
    if (end <= of->length)
        return 0;
    return hspz_failed(failure, HSPZ_EXIT_DATA,
                       "%s: a segment ends at %llu of %s record %s, which has %llu bases", r->label,
                       (unsigned long long)end, index->what, of->name, (unsigned long long)of->length);
}

static int grow(hspz__rescored_list *list, hspz_failure *failure)
{
    if (list->count < list->capacity)
        return 0;
    uint64_t capacity = list->capacity == 0 ? 1024 : 2 * list->capacity;
    hspz__rescored *items =
        capacity > SIZE_MAX / sizeof *items ? NULL : realloc(list->items, capacity * sizeof *items);
    if (items == NULL)
        return hspz_failed_memory(failure, "segments", capacity * sizeof *items);
    list->items = items;
    list->capacity = capacity;
    return 0;
}

static int visit(void *ctx, const hspz_segment *segment, hspz_failure *failure)
{
    reading *r = ctx;
    hspz__rescored item = {.target_start = segment->target_start,
                           .target_end = segment->target_end,
                           .query_start = segment->query_start,
                           .query_end = segment->query_end,
                           .score = segment->score,
                           .order = r->list->count,
                           .strand = segment->strand};
    int code = look_up(&r->target, segment->target, r, &item.target, failure);
    if (code == 0)
        code = look_up(&r->query, segment->query, r, &item.query, failure);
    if (code == 0)
        code = check_end(r, &r->target, item.target, item.target_end, failure);
    if (code == 0)
        code = check_end(r, &r->query, item.query, item.query_end, failure);
    if (code == 0)
        code = grow(r->list, failure);
    if (code == 0)
        r->list->items[r->list->count++] = item;
    return code;
}

int hspz__rescored_read(const char *path, const hspz_inputs *inputs, hspz__rescored_list *list,
                        hspz_failure *failure)
{
    bool from_stdin = strcmp(path, "-") == 0;
    reading r = {.label = from_stdin ? "stdin" : path, .list = list};
    FILE *in = from_stdin ? stdin : fopen(path, "re");
    if (in == NULL)
        return hspz_failed(failure, HSPZ_EXIT_DATA, "%s cannot be opened: %s", path, strerror(errno));
    int code = index_names(&r.target, &inputs->target.genome, "target", failure);
    if (code == 0)
        code = index_names(&r.query, &inputs->query.genome, "query", failure);
    if (code == 0)
        code = hspz_segments_read(in, r.label, visit, &r, failure);
    free(r.target.order);
    free(r.query.order);
    if (!from_stdin)
        fclose(in);
    return code;
}

void hspz__rescored_free(hspz__rescored_list *list)
{
    free(list->items);
    memset(list, 0, sizeof *list);
}
