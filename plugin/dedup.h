/* dedup.h -- the dedup policies of SPEC section 7, one file each; backends share them.
 *
 * Idea: a found segment carries a label, the number of its dedup scope (a MAX_HITS chunk), so that one sort serves all scopes of a call. The
 * order in which segments are found never matters: every policy sorts by values that tell any two kept segments apart.
 *
 * Exact duplicates may be dropped before a policy sees them, and are: the chunk rule compares an element with the one before it in sorted
 * order, where copies stand together; the second copy lies in the first and goes, the first is judged against
 * the same predecessor value as without copies. Equal start and extent on a diagonal imply an equal score.
 */
#ifndef HSPZ__DEDUP_H
#define HSPZ__DEDUP_H

#include "host_services.h"

typedef struct hspz__found {
    uint64_t label;
    hspz_hsp hsp;
} hspz__found;

typedef struct hspz__found_list {
    hspz__found *items;
    uint64_t count, capacity;
} hspz__found_list;

/* Room for `more` items; HSPZ_E_MEMORY without an error text. */
hspz_status hspz__found_reserve(hspz__found_list *list, hspz__host *host, uint64_t more);
void hspz__found_free(hspz__found_list *list, hspz__host *host);

/* Orders for hspz__found_sort: label first where the policy has scopes. */
typedef enum hspz__order {
    HSPZ__ORDER_LABEL,    /* label */
    HSPZ__ORDER_DIAGONAL, /* label, diagonal (wrapping), target start, extent */
    HSPZ__ORDER_QUERY,    /* label, query start, target start, extent */
    HSPZ__ORDER_OUTERMOST /* true diagonal, target start, extent descending */
} hspz__order;

/* Stable. HSPZ_E_MEMORY without an error text. */
hspz_status hspz__found_sort(hspz__found_list *list, hspz__host *host, hspz__order order);

/* chunk: neighbours of one label and diagonal that contain one another; leaves the list in output order. */
hspz_status hspz__dedup_chunk(hspz__found_list *list, hspz__host *host);

/* interval: what hspz__dedup_chunk left, less what was given out before in the call. Zero-initialised, freed at the end. */
typedef struct hspz__seen {
    hspz_hsp *slots; /* score 0: free */
    uint64_t capacity, count;
} hspz__seen;
hspz_status hspz__dedup_interval(hspz__found_list *list, hspz__host *host, hspz__seen *seen);
void hspz__seen_free(hspz__seen *seen, hspz__host *host);

/* maximal: segments not contained in another of their diagonal, in LASTZ order. May be applied to a part and again to the
 * whole. */
hspz_status hspz__dedup_maximal(hspz__found_list *list, hspz__host *host);

#endif
