/* join.h -- what the two files of the join share.
 *
 * Idea: join_window.c makes hits, join.c decides what is joined: ranges of the query, parts of the call, what becomes of survivors.
 */
#ifndef HSPZ__JOIN_H
#define HSPZ__JOIN_H

#include "cpu.h"

#define HSPZ__JOIN_ROOM 4096u /* hits that wait for the filter */

#define HSPZ__NO_SLOT UINT16_MAX

typedef uint8_t hspz__context[HSPZ__CONTEXT];

typedef struct hspz__join_worker {
    hspz__screen screen;
    uint32_t number;
    uint32_t screened;                      /* calls of screen_hits */
    uint64_t hits;                          /* of the part */
    uint64_t hits_before, survivors_before; /* the range at work */
    hspz__hits hits_at_hand;
    uint32_t target_at[HSPZ__JOIN_ROOM + 64], query_at[HSPZ__JOIN_ROOM + 64]; /* of hits_at_hand */
    hspz__rank_pairs ranks;
    uint32_t
        group; /* of the block at work: its variants' groups serve 64 blocks in turn; UINT32_MAX: none yet */
    const hspz__group *groups[HSPZ__VARIANTS_MAX];
    uint32_t window;           /* place in index.positions of the window's first position */
    const uint32_t *positions; /* of contexts */
    uint32_t
        starts[HSPZ__WINDOW + 1];   /* compact index: of the window's keys, whose ranks count from 0 then */
    uint32_t slots;                 /* sparse: contexts so far */
    uint16_t slot_of[HSPZ__WINDOW]; /* by place in the window, HSPZ__NO_SLOT: none yet */
    uint32_t slot_position[HSPZ__WINDOW + 1]; /* written one further */
    _Alignas(64) hspz__context contexts[HSPZ__WINDOW];
} hspz__join_worker;

typedef struct hspz__join {
    hspz__call *call;
    hspz__words *query;
    bool sparse; /* most target positions have no hit: their contexts are gathered when one has */
    bool
        packed; /* hits are pairs of positions, contexts gathered by the filter; else pairs of places in contexts */
    hspz__context *contexts;         /* of query.positions */
    uint8_t low[HSPZ__VARIANTS_MAX]; /* of the variants' masks */
    uint32_t rows;                   /* of the target's blocks, an item */
    uint64_t items;
    hspz__join_worker *workers;
    bool counted; /* the batches of the part are known to have less than 2^32 hits each */
} hspz__join;

/* Joins the target's blocks numbered item * rows and up with the query's words; `join` is a hspz__join. HSPZ_E_TOO_MANY_HITS: the part has
 * 2^32 hits or more and is not `counted`. */
hspz_status hspz__join_item(void *join, uint32_t worker, uint64_t item);

#endif
