/* heavy_diagonal.h -- a diagonal that holds very many survivors, as nearly identical sequences have them.
 *
 * Idea: its anchors are a bitmap of query positions. Neighbouring anchors mostly end at the same place, so each pass notes where that place
 * changes and nothing for the anchors between, and goes over 64 anchors at once where sequence is identical. The two passes need
 * nothing of each other and may run side by side; the collection then goes from change to change.
 */
#ifndef HSPZ__HEAVY_DIAGONAL_H
#define HSPZ__HEAVY_DIAGONAL_H

#include "collect.h"

/* Anchors from `anchor` on, in the order of the pass, end at `at` (or HSPZ__NOWHERE), where the sum along the diagonal is `level`. */
typedef struct hspz__change {
    uint32_t anchor, at;
    int64_t level;
} hspz__change;

typedef struct hspz__changes {
    hspz__change *items;
    uint64_t count, capacity;
} hspz__changes;

/* A stretch of a diagonal. Zero-initialised but for the first five; owns all of it. */
typedef struct hspz__heavy {
    const hspz__call *call;
    int64_t shift;   /* query position q pairs with target position q + shift */
    uint64_t first;  /* query position of bit 0, a multiple of 64 */
    uint64_t words;  /* of bits */
    uint64_t *bits;  /* bit i: an anchor just before query position first + i */
    int64_t *sums;   /* [words + 1]: of the scores of all pairs from `first` up to word i */
    uint8_t *rising; /* [words]: all 64 pairs gain */
    hspz__diagonal diagonal[2];
    hspz__changes changes[2]; /* right, left */
} hspz__heavy;

/* The sums; `bits` are complete, or NULL where there is no anchor. HSPZ_E_MEMORY without an error text, as of the others. */
hspz_status hspz__heavy_start(hspz__heavy *h);
/* The pass to the right (0) or to the left (1); each may run in a thread of its own. */
hspz_status hspz__heavy_pass(hspz__heavy *h, uint32_t side);
/* After both passes. The collector's labels must not be those of single anchors, nor of chunks smaller than batches. */
hspz_status hspz__heavy_collect(const hspz__heavy *h, hspz__collector *collector);
void hspz__heavy_free(hspz__heavy *h);

#endif
