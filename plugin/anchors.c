/* anchors.c -- see anchors.h. */
#include "anchors.h"

#include <string.h>

hspz_status hspz__anchors_grow(hspz__anchors *anchors, hspz__host *host)
{
    hspz__anchor_block *block = anchors->spare;
    if (block != NULL)
        anchors->spare = block->next;
    else
        block = hspz__alloc(host, 1, sizeof *block);
    if (block == NULL)
        return HSPZ_E_MEMORY;
    block->next = NULL;
    block->count = 0;
    if (anchors->last != NULL)
        anchors->last->next = block;
    else
        anchors->first = block;
    anchors->last = block;
    return HSPZ_OK;
}

void hspz__anchors_cut(hspz__anchors *anchors, uint64_t count)
{
    if (count >= anchors->count)
        return;
    anchors->count = count;
    hspz__anchor_block **link = &anchors->first;
    anchors->last = NULL;
    for (; count > 0; link = &(*link)->next) {
        anchors->last = *link;
        if ((*link)->count > count)
            (*link)->count = count;
        count -= (*link)->count;
    }
    hspz__anchor_block *block = *link;
    *link = NULL;
    while (block != NULL) {
        hspz__anchor_block *next = block->next;
        block->next = anchors->spare;
        anchors->spare = block;
        block = next;
    }
}

static void free_blocks(hspz__anchor_block *block, hspz__host *host)
{
    while (block != NULL) {
        hspz__anchor_block *next = block->next;
        hspz__free(host, block);
        block = next;
    }
}

void hspz__anchors_free(hspz__anchors *anchors, hspz__host *host)
{
    free_blocks(anchors->first, host);
    free_blocks(anchors->spare, host);
    memset(anchors, 0, sizeof *anchors);
}
