/* dedup_interval.c -- SPEC section 7, dedup `interval` (KegAlign from 0.3.1), second half.
 *
 * Idea: what the chunk rule left is checked against everything that the call has given out so far; exact duplicates go, the first
 * one stays where it was. A hash set of the kept HSPs answers that while chunks stream by.
 */
#include "oracle.h"

#include <string.h>

static bool equal(const hspz_hsp *a, const hspz_hsp *b)
{
    return a->target_start == b->target_start && a->query_start == b->query_start && a->extent == b->extent &&
           a->score == b->score;
}

static uint64_t hash(const hspz_hsp *hsp)
{
    uint64_t key = (uint64_t)hsp->target_start << 32 | hsp->query_start;
    key ^= (uint64_t)hsp->extent * 0x9e3779b97f4a7c15u;
    key *= 0xff51afd7ed558ccdu;
    return key ^ key >> 32;
}

/* The slot that holds `hsp`, or the free one where it belongs. */
static hspz_hsp *find(const hspz__oracle_seen *seen, const hspz_hsp *hsp)
{
    uint64_t at = hash(hsp) & (seen->capacity - 1);
    while (seen->slots[at].score != 0 && !equal(&seen->slots[at], hsp))
        at = (at + 1) & (seen->capacity - 1);
    return &seen->slots[at];
}

/* Keeps the set at most half full. */
static hspz_status reserve(hspz__oracle_call *call)
{
    hspz__oracle_seen *seen = &call->seen;
    if (2 * (seen->count + 1) <= seen->capacity)
        return HSPZ_OK;
    hspz__oracle_seen larger = {.capacity = seen->capacity == 0 ? 1024 : 2 * seen->capacity,
                                .count = seen->count};
    larger.slots = hspz__oracle_alloc(call->host, larger.capacity, sizeof *larger.slots);
    if (larger.slots == NULL)
        return hspz__oracle_fail(call->error, HSPZ_E_MEMORY, "no memory to remember %llu segments",
                                 (unsigned long long)larger.capacity);
    memset(larger.slots, 0, larger.capacity * sizeof *larger.slots);
    for (uint64_t i = 0; i < seen->capacity; i++)
        if (seen->slots[i].score != 0)
            *find(&larger, &seen->slots[i]) = seen->slots[i];
    hspz__oracle_free(call->host, seen->slots);
    *seen = larger;
    return HSPZ_OK;
}

hspz_status hspz__oracle_dedup_interval(hspz__oracle_call *call, hspz__oracle_list *list)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < list->count; i++) {
        hspz_status status = reserve(call);
        if (status != HSPZ_OK)
            return status;
        hspz_hsp *slot = find(&call->seen, &list->items[i]);
        if (slot->score != 0)
            continue;
        *slot = list->items[i];
        call->seen.count++;
        list->items[kept++] = *slot;
    }
    list->count = kept;
    return HSPZ_OK;
}

void hspz__oracle_seen_free(hspz__oracle_host *host, hspz__oracle_seen *seen)
{
    hspz__oracle_free(host, seen->slots);
    memset(seen, 0, sizeof *seen);
}
