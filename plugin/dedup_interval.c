/* dedup_interval.c -- SPEC section 7, `interval`: after the chunk rule, exact duplicates of the call go, the first one stays.
 *
 * Idea: a hash set of everything the call gave out, open addressing, at most half full. An accepted score is never 0.
 */
#include "dedup.h"

#include <string.h>

static uint64_t hash(const hspz_hsp *h)
{
    uint64_t x = (uint64_t)h->target_start << 32 | h->query_start;
    x = (x ^ (uint64_t)h->extent << 17) * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 31;
}

static hspz_hsp *place_of(const hspz__seen *seen, const hspz_hsp *h)
{
    uint64_t at = hash(h) & (seen->capacity - 1);
    while (seen->slots[at].score != 0 && memcmp(&seen->slots[at], h, sizeof *h) != 0)
        at = (at + 1) & (seen->capacity - 1);
    return &seen->slots[at];
}

static hspz_status grow(hspz__seen *seen, hspz__host *host, uint64_t more)
{
    uint64_t capacity = seen->capacity < 256 ? 256 : seen->capacity;
    while (capacity < 2 * (seen->count + more))
        capacity *= 2;
    if (capacity == seen->capacity)
        return HSPZ_OK;
    hspz__seen larger = {.capacity = capacity, .count = seen->count};
    larger.slots = hspz__alloc(host, capacity, sizeof *larger.slots);
    if (larger.slots == NULL)
        return HSPZ_E_MEMORY;
    memset(larger.slots, 0, capacity * sizeof *larger.slots);
    for (uint64_t i = 0; i < seen->capacity; i++)
        if (seen->slots[i].score != 0)
            *place_of(&larger, &seen->slots[i]) = seen->slots[i];
    hspz__free(host, seen->slots);
    *seen = larger;
    return HSPZ_OK;
}

hspz_status hspz__dedup_interval(hspz__found_list *list, hspz__host *host, hspz__seen *seen)
{
    hspz_status status = grow(seen, host, list->count);
    if (status != HSPZ_OK)
        return status;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < list->count; i++) {
        hspz_hsp *place = place_of(seen, &list->items[i].hsp);
        if (place->score != 0)
            continue;
        *place = list->items[i].hsp;
        seen->count++;
        list->items[kept++] = list->items[i];
    }
    list->count = kept;
    return HSPZ_OK;
}

void hspz__seen_free(hspz__seen *seen, hspz__host *host)
{
    hspz__free(host, seen->slots);
    memset(seen, 0, sizeof *seen);
}
