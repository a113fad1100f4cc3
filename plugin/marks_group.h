/* marks_group.h -- the mark rule on one group of slots. */
#ifndef HSPZ__MARKS_GROUP_H
#define HSPZ__MARKS_GROUP_H

#include "cpu.h"

#define HSPZ__MARK_SLOTS 65536u
#define HSPZ__MARK_GROUPS 32u
#define HSPZ__GROUP_SLOTS (HSPZ__MARK_SLOTS / HSPZ__MARK_GROUPS)

/* Hits of a piece of text as window starts (the names of hspz_anchor notwithstanding), by group, raw order within a group. */
typedef struct hspz__mark_piece {
    hspz__scratch memory;
    hspz_anchor *hits;
    uint32_t begin[HSPZ__MARK_GROUPS + 1];
    uint64_t windows; /* query windows that the piece covers */
} hspz__mark_piece;

/* Sorts `count` hits into the piece. HSPZ_E_MEMORY without an error text. */
hspz_status hspz__mark_piece_sort(hspz__mark_piece *piece, hspz__host *host, const hspz_anchor *hits,
                                  uint32_t count);
void hspz__mark_piece_free(hspz__mark_piece *piece, hspz__host *host);

/* A slot's mark. With q > 0 it is where the right scan of anchor (r, q) ends, which is at most `bound` and not worked out
 * yet; with q = 0 it is `bound`. */
typedef struct hspz__mark {
    uint32_t r, q, bound;
} hspz__mark;

/* Hits that passed the mark and wait for the filter: window starts, and the mark they found. */
typedef struct hspz__mark_lanes {
    uint32_t count;
    uint32_t target[HSPZ__LANES], query[HSPZ__LANES];
    hspz__mark before[HSPZ__LANES];
    hspz__rows rows; /* of the wide stage */
} hspz__mark_lanes;

/* Zero-initialised but for its number. */
typedef struct hspz__mark_group {
    hspz__mark marks[HSPZ__GROUP_SLOTS];
    hspz__mark_lanes narrow, wide;
    hspz__found_list found; /* label: anchor, r << 32 | q */
    uint64_t survivors, skipped, accepted;
    uint32_t number, worker; /* of its slots: number * HSPZ__GROUP_SLOTS and up */
    uint32_t worked;
} hspz__mark_group;

/* Works the group's hits of all pieces, in order; nothing waits when it returns. */
hspz_status hspz__mark_group_work(hspz__mark_group *group, hspz__call *call, const hspz__mark_piece *pieces,
                                  uint64_t count);

#endif
