/* anchors.h -- a list of anchors that grows without moving.
 *
 * Idea: survivors are many on similar genomes, and a list that doubles touches three times the memory it needs. Blocks are linked, and those
 * of a cleared list are used again.
 */
#ifndef HSPZ__ANCHORS_H
#define HSPZ__ANCHORS_H

#include "host_services.h"

#define HSPZ__ANCHORS_A_BLOCK 262128u /* a huge page with all headers; what is not used is not touched */

typedef struct hspz__anchor_block {
    struct hspz__anchor_block *next;
    uint64_t count;
    hspz_anchor items[HSPZ__ANCHORS_A_BLOCK]; /* target_end = r, query_end = q */
} hspz__anchor_block;

typedef struct hspz__anchors {
    hspz__anchor_block *first, *last; /* last: the one being filled */
    hspz__anchor_block *spare;
    uint64_t count;
} hspz__anchors;

/* Makes room for one more. HSPZ_E_MEMORY without an error text. */
hspz_status hspz__anchors_grow(hspz__anchors *anchors, hspz__host *host);
/* Keeps the first `count`. */
void hspz__anchors_cut(hspz__anchors *anchors, uint64_t count);
void hspz__anchors_free(hspz__anchors *anchors, hspz__host *host);

static inline hspz_status hspz__anchors_add(hspz__anchors *anchors, hspz__host *host, hspz_anchor anchor)
{
    if (anchors->last == NULL || anchors->last->count == HSPZ__ANCHORS_A_BLOCK) {
        hspz_status status = hspz__anchors_grow(anchors, host);
        if (status != HSPZ_OK)
            return status;
    }
    anchors->last->items[anchors->last->count++] = anchor;
    anchors->count++;
    return HSPZ_OK;
}

#endif
