/* compare.h -- do two lists of HSPs of the same call differ, and how.
 *
 * Idea: equal lists are equal bytes, and that is the only thing that counts as IDENTICAL. When they differ, both are sorted
 * by diagonal and compared as multisets, so that each difference falls in a class that tells where to look:
 *   missing         in A, not in B, and not inside an HSP of B on the same diagonal
 *   extra           in B, not in A, and not inside an HSP of A
 *   duplicate-only  in both, but not equally often
 *   contained-only  in one of them, and inside an HSP of the other on the same diagonal
 *   reordered       the same HSPs, in another order (counted once a call)
 */
#ifndef HSPZ_HOST_COMPARE_H
#define HSPZ_HOST_COMPARE_H

#include "engine_host.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HSPZ_DIFFERENCE_MISSING,
    HSPZ_DIFFERENCE_EXTRA,
    HSPZ_DIFFERENCE_DUPLICATE,
    HSPZ_DIFFERENCE_CONTAINED,
    HSPZ_DIFFERENCE_REORDERED,
    HSPZ_DIFFERENCE_COUNT
};

typedef struct hspz_difference {
    int kind;  /* HSPZ_DIFFERENCE_... */
    bool in_a; /* the record is of A (contained-only: which side has it) */
    hspz_hsp hsp;
    uint64_t count_a; /* how often each side has it */
    uint64_t count_b;
} hspz_difference;

typedef struct hspz_comparison {
    uint64_t counts[HSPZ_DIFFERENCE_COUNT];
    hspz_difference *first; /* as many as there was room for, by query position */
    size_t first_count;
    size_t first_room;
} hspz_comparison;

/* Compares the HSPs of one call, adds to *comparison (first, first_room set by the caller). True in *same when the two
 * are equal bytes. The arrays are not changed. 0 or HSPZ_EXIT_MEMORY. [any] */
int hspz_compare_call(const hspz_hsps *a, const hspz_hsps *b, hspz_comparison *comparison, bool *same,
                      hspz_failure *failure) __attribute__((warn_unused_result));

/* "missing", ... */
const char *hspz_difference_name(int kind);

#ifdef __cplusplus
}
#endif

#endif
