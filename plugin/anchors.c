/* anchors.c -- growing lists of anchors. */
#include "cpu.h"

#include <string.h>

hspz_status hspz__anchors_reserve(hspz__anchors *anchors, hspz__host *host, uint64_t more)
{
    if (anchors->capacity - anchors->count >= more)
        return HSPZ_OK;
    uint64_t capacity = anchors->capacity < 4096 ? 4096 : 2 * anchors->capacity;
    if (capacity < anchors->count + more)
        capacity = anchors->count + more;
    hspz_anchor *items = hspz__alloc(host, capacity, sizeof *items);
    if (items == NULL)
        return HSPZ_E_MEMORY;
    if (anchors->count > 0)
        memcpy(items, anchors->items, anchors->count * sizeof *items);
    hspz__free(host, anchors->items);
    anchors->items = items;
    anchors->capacity = capacity;
    return HSPZ_OK;
}

void hspz__anchors_free(hspz__anchors *anchors, hspz__host *host)
{
    hspz__free(host, anchors->items);
    memset(anchors, 0, sizeof *anchors);
}
