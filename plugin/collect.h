/* collect.h -- from the extents of anchors to found segments. */
#ifndef HSPZ__COLLECT_H
#define HSPZ__COLLECT_H

#include "diagonal.h"

/* One worker's collection; zero-initialised but for the first two. */
typedef struct hspz__collector {
    const hspz__call *call;
    const hspz__extension *how;
    hspz__found_list found;
    uint64_t survivors, accepted;
    hspz__found
        last; /* the segment before on the diagonal, if any; its score is INT32_MIN when it was not accepted */
    bool any;
    uint64_t label, label_begin, label_end; /* the batch of query positions [label_begin, label_end) */
} hspz__collector;

/* Before the anchors of a diagonal. */
void hspz__collect_start(hspz__collector *collector);
/* Anchors of the diagonal in ascending order, in parts: gate, entropy, label. A segment equal to the one before it with the same label is
 * counted but not stored. HSPZ_E_MEMORY without an error text. */
hspz_status hspz__collect(hspz__collector *collector, int64_t shift, const uint32_t *anchors, uint64_t count,
                          const hspz__reach *left, const hspz__reach *right);
/* Anchors as bits: bit i stands for query position first + i; those of [begin, end) are meant. */
typedef struct hspz__marked {
    const uint64_t *bits;
    uint64_t first, begin, end;
} hspz__marked;

/* The same for anchors that all have the same two reaches. Labels must be constant within a batch. */
hspz_status hspz__collect_marked(hspz__collector *collector, int64_t shift, const hspz__marked *anchors,
                                 const hspz__reach *left, const hspz__reach *right);

#endif
