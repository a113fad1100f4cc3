/* sort.c -- lists of HSPs and a stable sort.
 *
 * Idea: section 7 orders HSPs by stable sorts. A bottom-up merge sort is the plain stable sort; its passes report to the pulse, so that a
 * long sort can be cancelled.
 */
#include "oracle.h"

#include <string.h>

hspz_status hspz__oracle_list_add(hspz__oracle_call *call, hspz__oracle_list *list, const hspz_hsp *hsp)
{
    if (list->count == list->capacity) {
        uint64_t capacity = list->capacity < 1024 ? 1024 : 2 * list->capacity;
        hspz_hsp *items = hspz__oracle_alloc(call->host, capacity, sizeof *items);
        if (items == NULL)
            return hspz__oracle_fail(call->error, HSPZ_E_MEMORY, "no memory for %llu segments",
                                     (unsigned long long)capacity);
        if (list->count > 0)
            memcpy(items, list->items, list->count * sizeof *items);
        hspz__oracle_free(call->host, list->items);
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = *hsp;
    return HSPZ_OK;
}

void hspz__oracle_list_free(hspz__oracle_host *host, hspz__oracle_list *list)
{
    hspz__oracle_free(host, list->items);
    memset(list, 0, sizeof *list);
}

/* Merges from[low, middle) and from[middle, high) into to[low, high); of equals the left one goes first. */
static void merge(const hspz_hsp *from, hspz_hsp *to, uint64_t low, uint64_t middle, uint64_t high,
                  hspz__oracle_before *before)
{
    uint64_t left = low;
    uint64_t right = middle;
    for (uint64_t out = low; out < high; out++) {
        bool take_right = right < high && (left == middle || before(&from[right], &from[left]));
        to[out] = take_right ? from[right++] : from[left++];
    }
}

hspz_status hspz__oracle_sort(hspz__oracle_call *call, hspz__oracle_list *list, hspz__oracle_before *before)
{
    const uint64_t count = list->count;
    if (count < 2)
        return HSPZ_OK;
    hspz_hsp *to = hspz__oracle_alloc(call->host, count, sizeof *to);
    if (to == NULL)
        return hspz__oracle_fail(call->error, HSPZ_E_MEMORY, "no memory to sort %llu segments",
                                 (unsigned long long)count);
    hspz_hsp *from = list->items;
    hspz_status status = HSPZ_OK;
    for (uint64_t width = 1; width < count && status == HSPZ_OK; width *= 2) {
        for (uint64_t low = 0; low < count && status == HSPZ_OK; low += 2 * width) {
            uint64_t middle = low + width < count ? low + width : count;
            uint64_t high = middle + width < count ? middle + width : count;
            merge(from, to, low, middle, high, before);
            status = hspz__oracle_pulse_beat(&call->pulse, 8 * (high - low), call->error);
        }
        hspz_hsp *swap = from;
        from = to;
        to = swap;
    }
    if (from != list->items)
        list->capacity = count;
    list->items = from;
    hspz__oracle_free(call->host, to);
    return status;
}

bool hspz__oracle_query_order(const hspz_hsp *a, const hspz_hsp *b)
{
    if (a->query_start != b->query_start)
        return a->query_start < b->query_start;
    if (a->target_start != b->target_start)
        return a->target_start < b->target_start;
    if (a->extent != b->extent)
        return a->extent < b->extent;
    return a->score > b->score;
}
