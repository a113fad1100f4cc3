/* dedup_chunk.c -- SPEC section 7, the chunk rule (KegAlign 0.1 and hspZ).
 *
 * Idea: sorted by diagonal and target start, the duplicates that neighbouring seeds produce stand next to each other. An element goes if it
 * and the element before it in the input contain one another. It is always the previous input element, also when that
 * one was itself dropped: of three nested segments in a row the last two go, but a segment inside the first that
 * does not touch the second stays.
 */
#include "oracle.h"

static uint32_t diagonal(const hspz_hsp *hsp)
{
    return hsp->target_start - hsp->query_start; /* wraps, and is compared unsigned */
}

static bool diagonal_order(const hspz_hsp *a, const hspz_hsp *b)
{
    if (diagonal(a) != diagonal(b))
        return diagonal(a) < diagonal(b);
    if (a->target_start != b->target_start)
        return a->target_start < b->target_start;
    if (a->extent != b->extent)
        return a->extent < b->extent;
    return a->score > b->score;
}

/* The closed interval of `inner` lies in that of `outer`. */
static bool contains(const hspz_hsp *outer, const hspz_hsp *inner)
{
    return outer->target_start <= inner->target_start &&
           inner->target_start + inner->extent <= outer->target_start + outer->extent;
}

hspz_status hspz__oracle_dedup_chunk(hspz__oracle_call *call, hspz__oracle_list *list)
{
    hspz_status status = hspz__oracle_sort(call, list, diagonal_order);
    if (status != HSPZ_OK || list->count == 0)
        return status;
    uint64_t kept = 1;
    hspz_hsp previous = list->items[0];
    for (uint64_t i = 1; i < list->count; i++) {
        hspz_hsp item = list->items[i];
        if (diagonal(&item) != diagonal(&previous) ||
            !(contains(&previous, &item) || contains(&item, &previous)))
            list->items[kept++] = item;
        previous = item;
    }
    list->count = kept;
    return hspz__oracle_sort(call, list, hspz__oracle_query_order);
}
