/* marks_list.c -- see marks_list.h. */
#include "marks_list.h"

#include <string.h>

#define CHUNKS_A_SLAB 2048u /* 8 MiB: large enough for huge pages */

typedef struct slab {
    struct slab *next;
    hspz__mark_chunk chunks[CHUNKS_A_SLAB];
} slab;

static hspz_status add_slab(hspz__mark_lists *lists, hspz__host *host)
{
    slab *more = hspz__alloc(host, 1, sizeof *more);
    if (more == NULL)
        return HSPZ_E_MEMORY;
    more->next = lists->slabs;
    lists->slabs = more;
    lists->unused = CHUNKS_A_SLAB; /* taken one by one, so that memory is touched when it is needed */
    return HSPZ_OK;
}

hspz_status hspz__mark_lists_grow(hspz__mark_lists *lists, hspz__host *host, uint32_t number)
{
    lists->hits += HSPZ__MARK_CHUNK;
    if (lists->hits > lists->most)
        return HSPZ_E_TOO_MANY_HITS;
    hspz__mark_chunk *chunk = lists->spare;
    if (chunk != NULL) {
        lists->spare = chunk->next;
    } else {
        if (lists->unused == 0) {
            hspz_status status = add_slab(lists, host);
            if (status != HSPZ_OK)
                return status;
        }
        chunk = &((slab *)lists->slabs)->chunks[CHUNKS_A_SLAB - lists->unused--];
    }
    chunk->next = lists->lists[number];
    chunk->count = 0;
    lists->lists[number] = chunk;
    return HSPZ_OK;
}

void hspz__mark_lists_clear(hspz__mark_lists *lists)
{
    lists->hits = 0;
    for (uint32_t i = 0; i < HSPZ__MARK_LISTS; i++)
        while (lists->lists[i] != NULL) {
            hspz__mark_chunk *chunk = lists->lists[i];
            lists->lists[i] = chunk->next;
            chunk->next = lists->spare;
            lists->spare = chunk;
        }
}

void hspz__mark_lists_free(hspz__mark_lists *lists, hspz__host *host)
{
    slab *one = lists->slabs;
    while (one != NULL) {
        slab *next = one->next;
        hspz__free(host, one);
        one = next;
    }
    memset(lists, 0, sizeof *lists);
}
