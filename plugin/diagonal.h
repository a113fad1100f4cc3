/* diagonal.h -- exact extents of all anchors of one diagonal in one pass a side. */
#ifndef HSPZ__DIAGONAL_H
#define HSPZ__DIAGONAL_H

#include "cpu.h"

/* A strict maximum of the running sum that a fall follows. */
typedef struct hspz__record {
    int64_t level; /* sum, in the frame of the diagonal */
    int64_t at;    /* its query position, or -1 for a start */
    int64_t dip;   /* least sum between this record and the next */
} hspz__record;

typedef struct hspz__records {
    hspz__record *items;
    uint64_t count, capacity;
} hspz__records;

/* The best prefix of one side of an anchor: its score, at most INT32_MAX, and the query position of its last base; without a positive
 * prefix score 0 and position HSPZ__NOWHERE. */
#define HSPZ__NOWHERE UINT32_MAX
typedef struct hspz__reach {
    int32_t score;
    uint32_t at;
} hspz__reach;

/* One diagonal: query position q pairs with target position q + shift. Zero-initialised; the memory of the records serves one
 * diagonal after the other. */
typedef struct hspz__diagonal {
    const hspz__call *call;
    int64_t shift;
    bool first; /* no anchor of the pass was worked yet */
    int64_t frame,
        next; /* sum at the start of the scan of the anchor before, and its query position in walking order */
    hspz__records chain, fresh;
    int64_t window; /* the query positions from here on are scored */
    int32_t score[64];
} hspz__diagonal;

/* Begins the pass to the right, or to the left. */
void hspz__diagonal_start_right(hspz__diagonal *diagonal, const hspz__call *call, int64_t shift);
void hspz__diagonal_start_left(hspz__diagonal *diagonal, const hspz__call *call, int64_t shift);
/* Works a part of the diagonal's anchors, given by ascending query positions; equal ones are allowed. The pass to the right gets the parts
 * from the last to the first, the pass to the left from the first to the last. HSPZ_E_MEMORY without an error text. */
hspz_status hspz__diagonal_right(hspz__diagonal *diagonal, const uint32_t *anchors, uint64_t count,
                                 hspz__reach *right);
hspz_status hspz__diagonal_left(hspz__diagonal *diagonal, const uint32_t *anchors, uint64_t count,
                                hspz__reach *left);
/* Anchors whose scans begin at first, first + step, ... last (step: to the right -1, to the left +1), with gains at all these places that
 * sum up to `gain`: true, and the pass is behind them, when all of them end where the anchor before them does. */
bool hspz__diagonal_pass_over(hspz__diagonal *diagonal, int64_t first, int64_t last, int64_t gain);
void hspz__diagonal_free(hspz__diagonal *diagonal, hspz__host *host);

#endif
