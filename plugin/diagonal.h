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

typedef struct hspz__reach {
    int64_t score;
    int64_t at; /* query position of the best prefix's last base, -1 without a positive one */
} hspz__reach;

/* One diagonal: query position q pairs with target position q + shift. */
typedef struct hspz__diagonal {
    const hspz__call *call;
    int64_t shift;
    const uint32_t *anchors; /* query positions, ascending; equal ones allowed */
    uint64_t count;
    hspz__reach *right, *left;  /* [count] results */
    hspz__records chain, fresh; /* scratch; kept between diagonals */
} hspz__diagonal;

/* HSPZ_E_MEMORY without an error text. */
hspz_status hspz__diagonal_extend(hspz__diagonal *diagonal);

#endif
