/* dedup_maximal.c -- SPEC section 7, dedup `maximal`.
 *
 * Idea: of all accepted segments of a call those stay that no other one of their diagonal contains; of equal ones, one stays. Sorted by
 * diagonal, start, and longest first, a segment is contained exactly if it ends no later than the furthest end seen on
 * its diagonal. The result does not depend on how hits were grouped, so it may also thin out an unfinished list. Here the
 * diagonal is the true difference, not the wrapped one: blocks of more than 2^31 bases must not confuse it.
 */
#include "oracle.h"

static int64_t diagonal(const hspz_hsp *hsp)
{
    return (int64_t)hsp->target_start - (int64_t)hsp->query_start;
}

static bool outermost_first(const hspz_hsp *a, const hspz_hsp *b)
{
    if (diagonal(a) != diagonal(b))
        return diagonal(a) < diagonal(b);
    if (a->target_start != b->target_start)
        return a->target_start < b->target_start;
    if (a->extent != b->extent)
        return a->extent > b->extent;
    return a->score > b->score;
}

hspz_status hspz__oracle_dedup_maximal(hspz__oracle_call *call, hspz__oracle_list *list)
{
    hspz_status status = hspz__oracle_sort(call, list, outermost_first);
    if (status != HSPZ_OK)
        return status;
    uint64_t kept = 0;
    int64_t line = 0;
    uint64_t furthest = 0;
    for (uint64_t i = 0; i < list->count; i++) {
        hspz_hsp item = list->items[i];
        uint64_t end = (uint64_t)item.target_start + item.extent;
        if (kept > 0 && diagonal(&item) == line && end <= furthest)
            continue;
        line = diagonal(&item);
        furthest = end;
        list->items[kept++] = item;
    }
    list->count = kept;
    return hspz__oracle_sort(call, list, hspz__oracle_query_order);
}
