/* marks_slot.h -- what the two files of the mark rule at full speed share: marks_find.c makes tiles, marks_slot.c walks their slots. */
#ifndef HSPZ__MARKS_SLOT_H
#define HSPZ__MARKS_SLOT_H

#include "marks.h"
#include "marks_list.h"

/* A slot's mark. With q > 0 it is where the right scan of anchor (r, q) ends, which is at most `bound` and not worked out
 * yet; with q = 0 it is `bound`. */
typedef struct hspz__mark {
    uint32_t r, q, bound;
} hspz__mark;

typedef struct hspz__mark_worker {
    hspz__found_list found; /* label: anchor, r << 32 | q */
    hspz__scratch keys;
    uint64_t survivors, skipped, accepted;
} hspz__mark_worker;

typedef struct hspz__mark_finder {
    hspz__call *call;
    hspz__mark *marks;          /* [HSPZ__MARK_SLOTS] */
    hspz__mark_lists *lists;    /* [threads] the backend's */
    hspz__mark_worker *workers; /* [threads] */
    uint32_t threads;
    uint32_t tile_begin;
    uint64_t longest; /* hits of the tile's longest list */
    hspz__result result;
    uint64_t hits;
} hspz__mark_finder;

/* Hits of list `number` of the tile. */
uint64_t hspz__mark_keys(const hspz__mark_finder *f, uint32_t number);
/* Sorts a list of the tile and walks its slots; `finder` is a hspz__mark_finder. HSPZ_E_MEMORY without an error text. */
hspz_status hspz__mark_work_list(void *finder, uint32_t worker, uint64_t number);

#endif
