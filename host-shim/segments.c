/* segments.c -- see segments.h */
#include "segments.h"

#include <string.h>

/* Places ----------------------------------------------------------------------------------------- */

void hspz__placer_init(hspz__placer *placer, const hspz_inputs *inputs, const hspz__names *names,
                       const hspz_library *library, const hspz_call *call)
{
    const hspz_layout *targets = &inputs->target.layout, *queries = &inputs->query.layout;
    *placer = (hspz__placer){
        .names = names,
        .library = library,
        .target = {.layout = targets,
                   .block = &targets->blocks[call->target_block],
                   .strand = HSPZ_STRAND_PLUS},
        .query = {.layout = queries, .block = &queries->blocks[call->query_block], .strand = call->strand}};
}

/* True when position .. position+extent lies in one record, which is then remembered. */
static bool locate(hspz__locator *locator, uint64_t position, uint64_t extent)
{
    if (position < locator->start || position >= locator->end) {
        hspz_place place;
        if (!hspz_layout_locate(locator->layout, locator->block, locator->strand, position, &place))
            return false;
        locator->record = place.record_index;
        locator->start = position - place.position;
        locator->end = locator->start + place.record->length;
    }
    return extent < locator->end - position;
}

int hspz__placer_seek(hspz__placer *placer, const hspz_hsp *hsp, hspz_failure *failure)
{
    if (locate(&placer->target, hsp->target_start, hsp->extent) &&
        locate(&placer->query, hsp->query_start, hsp->extent))
        return 0;
    return hspz_failed(
        failure, HSPZ_EXIT_PLUGIN,
        "%s: internal error of the plugin: HSP target %u, query %u, extent %u is not within one record",
        placer->library->path, hsp->target_start, hsp->query_start, hsp->extent);
}

/* Lines ------------------------------------------------------------------------------------------ */

/* Decimal digits of `value` and a following `end` character at `out`; answers where the text goes on. */
static char *put_number(char *out, uint64_t value, char end)
{
    char digits[24];
    int n = 0;
    do
        digits[n++] = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    while (n > 0)
        *out++ = digits[--n];
    *out++ = end;
    return out;
}

static char *put_side(char *out, const char *name, size_t name_size, const hspz__locator *locator,
                      uint64_t position, uint64_t extent)
{
    uint64_t start = position - locator->start + 1;
    memcpy(out, name, name_size);
    out += name_size;
    *out++ = '\t';
    out = put_number(out, start, '\t');
    return put_number(out, start + extent, '\t');
}

void hspz__placer_line(const hspz__placer *placer, const hspz_hsp *hsp, hspz__text *text)
{
    const char *target = placer->names->target[placer->target.record];
    const char *query = placer->names->query[placer->query.record];
    size_t target_size = strlen(target), query_size = strlen(query);
    char *room = hspz__text_room(text, target_size + query_size + 160);
    if (room == NULL)
        return;
    char *out = put_side(room, target, target_size, &placer->target, hsp->target_start, hsp->extent);
    out = put_side(out, query, query_size, &placer->query, hsp->query_start, hsp->extent);
    *out++ = placer->query.strand == HSPZ_STRAND_PLUS ? '+' : '-';
    *out++ = '\t';
    if (hsp->score < 0)
        *out++ = '-';
    out = put_number(out, hsp->score < 0 ? (uint64_t) - (int64_t)hsp->score : (uint64_t)hsp->score, '\n');
    text->length += (size_t)(out - room);
}

/* Order ------------------------------------------------------------------------------------------ */

static void reverse(hspz_hsp *items, uint64_t count)
{
    for (uint64_t i = 0, j = count; i + 1 < j; i++) {
        hspz_hsp kept = items[i];
        items[i] = items[--j];
        items[j] = kept;
    }
}

/* Reverses the order of the records and, by a second reversal, keeps the order within each. */
static int reverse_records(hspz__placer *placer, hspz_hsps *hsps, hspz_failure *failure)
{
    reverse(hsps->items, hsps->count);
    uint64_t first = 0;
    size_t record = 0;
    for (uint64_t i = 0; i < hsps->count; i++) {
        int code = hspz__placer_seek(placer, &hsps->items[i], failure);
        if (code != 0)
            return code;
        if (i != 0 && placer->query.record != record) {
            reverse(hsps->items + first, i - first);
            first = i;
        }
        record = placer->query.record;
    }
    reverse(hsps->items + first, hsps->count - first);
    return 0;
}

int hspz__segments_order(hspz__placer *placer, int64_t dedup, hspz_hsps *hsps, hspz_failure *failure)
{
    int code = 0;
    if (placer->query.strand == HSPZ_STRAND_MINUS && hspz_dedup_spans_block(dedup))
        code = reverse_records(placer, hsps, failure);
    else if (placer->query.strand == HSPZ_STRAND_MINUS)
        reverse(hsps->items, hsps->count);
    size_t record = 0;
    for (uint64_t i = 0; i < hsps->count && code == 0; i++) {
        code = hspz__placer_seek(placer, &hsps->items[i], failure);
        if (code == 0 && placer->query.record < record)
            code = hspz_failed(
                failure, HSPZ_EXIT_PLUGIN,
                "%s: internal error of the plugin: HSPs of query record %zu come after those of record %zu",
                placer->library->path, placer->query.record + 1, record + 1);
        record = placer->query.record;
    }
    return code;
}
