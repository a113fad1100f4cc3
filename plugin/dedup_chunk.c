/* dedup_chunk.c -- SPEC section 7, the chunk rule.
 *
 * Idea: within a chunk, sorted by (diagonal, target start, extent), an element goes when it and the element before it in the input (kept or
 * not) lie on one diagonal and one contains the other. The label in front of the sort key does all chunks at once.
 */
#include "dedup.h"

static bool contains(const hspz_hsp *outer, const hspz_hsp *inner)
{
    return outer->target_start <= inner->target_start &&
           inner->target_start + inner->extent <= outer->target_start + outer->extent;
}

static bool nested(const hspz__found *a, const hspz__found *b)
{
    return a->label == b->label &&
           a->hsp.target_start - a->hsp.query_start == b->hsp.target_start - b->hsp.query_start &&
           (contains(&a->hsp, &b->hsp) || contains(&b->hsp, &a->hsp));
}

hspz_status hspz__dedup_chunk(hspz__found_list *list, hspz__host *host)
{
    hspz_status status = hspz__found_sort(list, host, HSPZ__ORDER_DIAGONAL);
    if (status != HSPZ_OK || list->count == 0)
        return status;
    uint64_t kept = 1;
    hspz__found previous = list->items[0];
    for (uint64_t i = 1; i < list->count; i++) {
        const hspz__found item = list->items[i];
        if (!nested(&previous, &item))
            list->items[kept++] = item;
        previous = item;
    }
    list->count = kept;
    return hspz__found_sort(list, host, HSPZ__ORDER_QUERY);
}
