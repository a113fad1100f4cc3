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

/* One diagonal: query position q pairs with target position q + shift. */
typedef struct hspz__diagonal {
    const hspz__call *call;
    int64_t shift;
    const uint64_t *anchors; /* query positions in the low 32 bits, ascending; equal ones allowed */
    uint64_t count;
    int64_t frame, next;        /* of the left pass */
    hspz__records chain, fresh; /* scratch; kept between diagonals */
} hspz__diagonal;

/* right[i] of all anchors. HSPZ_E_MEMORY without an error text. */
hspz_status hspz__diagonal_right(hspz__diagonal *diagonal, hspz__reach *right);
/* After the right pass: left[i] of anchor first + i, for anchors 0, 1, 2, ... in turn. */
void hspz__diagonal_left_start(hspz__diagonal *diagonal);
hspz_status hspz__diagonal_left(hspz__diagonal *diagonal, uint64_t first, uint64_t count, hspz__reach *left);

#endif
