/* heavy_set.h -- which diagonals are heavy, and their anchors.
 *
 * Idea: a sample of the anchors tells which diagonals hold a large share of them, and where. Anchors there go into bitmaps of query
 * positions, which sorts them in passing and takes a bit each; all others take the way of extend.c. Every anchor is right on either way,
 * so a sample need not be exact. A bitmap is never larger than the list it saves.
 */
#ifndef HSPZ__HEAVY_SET_H
#define HSPZ__HEAVY_SET_H

#include "heavy_diagonal.h"

#define HSPZ__HEAVY_MAX 24u
#define HSPZ__HEAVY_SLOTS 256u

typedef struct hspz__heavy_set {
    uint32_t count;
    hspz__heavy diagonal[HSPZ__HEAVY_MAX];
    uint64_t slot[HSPZ__HEAVY_SLOTS]; /* a diagonal, r - q + query length, or UINT64_MAX */
    uint8_t number[HSPZ__HEAVY_SLOTS];
} hspz__heavy_set;

static inline uint32_t hspz__heavy_slot(uint64_t diagonal)
{
    return (uint32_t)(diagonal * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

typedef struct hspz__heavy_marks hspz__heavy_marks;
/* Memory for one diagonal's marks; false where there is none. */
bool hspz__heavy_marks_start(const hspz__heavy_set *set, hspz__heavy_marks *marks, uint32_t number);

/* The marks of one worker, so that no two threads write to the same memory; zero-initialised. */
struct hspz__heavy_marks {
    uint64_t *bits[HSPZ__HEAVY_MAX]; /* as hspz__heavy.bits; NULL until a mark needs them */
};

/* Marks the anchor; false when it takes the other way, which any anchor may. */
static inline bool hspz__heavy_take(const hspz__heavy_set *set, hspz__heavy_marks *marks, uint64_t diagonal,
                                    uint32_t q)
{
    const uint32_t slot = hspz__heavy_slot(diagonal);
    if (set->slot[slot] != diagonal)
        return false;
    const uint32_t number = set->number[slot];
    const uint64_t i = (uint64_t)q - set->diagonal[number].first; /* wraps where q lies before it */
    if (i / 64 >= set->diagonal[number].words ||
        (marks->bits[number] == NULL && !hspz__heavy_marks_start(set, marks, number)))
        return false;
    marks->bits[number][i / 64] |= UINT64_C(1) << (i % 64);
    return true;
}

/* A worker's marks of diagonal `number` are added to its anchors. */
void hspz__heavy_unite(hspz__heavy_set *set, hspz__heavy_marks *marks, uint32_t number);
void hspz__heavy_marks_free(const hspz__heavy_set *set, hspz__heavy_marks *marks);

/* Finds the heavy diagonals of the anchors in `blocks`, none of which is empty; none is heavy when `allowed` is false. */
void hspz__heavy_find(hspz__heavy_set *set, const hspz__call *call, hspz__anchor_block *const *blocks,
                      uint64_t block_count, uint64_t anchors, bool allowed);
void hspz__heavy_set_free(hspz__heavy_set *set);

#endif
