/* dedup_maximal.c -- SPEC section 7, `maximal`: segments that no other of their diagonal contains, each once.
 *
 * Idea: sorted by (true diagonal, target start, longest first), a segment is contained exactly when it ends no later than the furthest end
 * before it on its diagonal. What a part of the segments eliminates, the whole eliminates too, so that a long list
 * may be thinned out while it grows. Labels are ignored and cleared.
 */
#include "dedup.h"

static int64_t diagonal_of(const hspz_hsp *h)
{
    return (int64_t)h->target_start - (int64_t)h->query_start;
}

hspz_status hspz__dedup_maximal(hspz__found_list *list, hspz__host *host)
{
    for (uint64_t i = 0; i < list->count; i++)
        list->items[i].label = 0;
    hspz_status status = hspz__found_sort(list, host, HSPZ__ORDER_OUTERMOST);
    if (status != HSPZ_OK)
        return status;
    uint64_t kept = 0, furthest = 0;
    int64_t diagonal = 0;
    for (uint64_t i = 0; i < list->count; i++) {
        const hspz__found item = list->items[i];
        const uint64_t end = (uint64_t)item.hsp.target_start + item.hsp.extent;
        if (kept > 0 && diagonal_of(&item.hsp) == diagonal && end <= furthest)
            continue;
        diagonal = diagonal_of(&item.hsp);
        furthest = end;
        list->items[kept++] = item;
    }
    list->count = kept;
    return hspz__found_sort(list, host, HSPZ__ORDER_QUERY);
}
