/* near.h -- the hits that matter to the mark rule, picked out of all of a unit (marks.h does the rest).
 *
 * Idea: a mark shows in the output only through hits that may survive: it forbids them, or it ends their left scan. A hit that the
 * filter rejects and that reads at most HSPZ__NEAR_READ bases to the right can do so only from close before such a hit or
 * from within its left scan. So the filter runs first and leaves the few hits that may survive or read for long (the
 * items); their surroundings in (slot, query position) are entered into a bit table; a second pass over all hits, without the
 * filter, makes records of those in marked cells only. Cells of other slots share bits: a few hits more, of no effect.
 *
 * What is recorded must be decided as if all hits were: a hit is skipped because of an earlier one within `reach`, that one because of
 * another, and so on until a gap. The cells before an item reach farther back than a gap is wide; where there is
 * none, the chain is followed hit by hit through the index until there is.
 *
 * The table may claim too much, never too little: records beside those that matter are true hits, so that they are harmless where
 * they are undecided: a gap later the state of the slot is right again.
 */
#ifndef HSPZ__CUDA_NEAR_H
#define HSPZ__CUDA_NEAR_H

#include "join.h"

#define HSPZ__NEAR_READ (HSPZ__MARK_LONG - 1) /* bases that a hit which is no item reads at most */
#define HSPZ__NEAR_CELL 7u                    /* log2 of a cell's query positions */

/* Query positions are those just after a window, as everywhere in marks.h. */
typedef struct hspz__cuda_near {
    uint32_t *cells, *items; /* tables of 2^(32 - shift) words: marked cells; items themselves */
    uint32_t shift;
    uint32_t reach;   /* window + HSPZ__NEAR_READ: a hit that is no item forbids none this far behind it */
    uint32_t q_begin; /* first position of the unit */
    uint32_t q_tail;  /* from here on all hits are wanted: they set the marks that the next unit meets */
    uint32_t
        unsure; /* marks from before the unit: exact where they are not below this position, and none that is hidden
                         lies beyond it */
} hspz__cuda_near;

#ifdef __cplusplus
extern "C" {
#endif

/* items: keys sorted by (diagonal, target position). Fills the tables, which must be zero; requests[..] = slot << 48 | position from which on
 * the slot's hits have to be decided, counters->requests of them, at most `count`. counters->lost grows by items that
 * depend on marks which are not known. */
cudaError_t hspz__cuda_near_mark(const hspz__cuda_near *near, const uint64_t *items, uint32_t count,
                                 const hspz__cuda_strand *target, const hspz__cuda_strand *query,
                                 const hspz__cuda_rules *rules, const uint32_t *marks, uint64_t *requests,
                                 hspz__cuda_counters *counters, cudaStream_t stream);
/* Records of the hits in marked cells, from join->records on, counters->written of them, also beyond `capacity`. Items get
 * HSPZ__MARK_LONG and `maybe`, counters->candidates of them: a few more than there are items, as the table may claim too much; others
 * the bound HSPZ__NEAR_READ. Both counters must be 0 before. The join is over the whole index; `parts` as in
 * hspz__cuda_join_run, and counters->next must be 0 likewise. */
cudaError_t hspz__cuda_near_select(const hspz__cuda_join *join, const hspz__cuda_near *near, int parts,
                                   unsigned blocks, uint32_t capacity, cudaStream_t stream);
/* Follows the chains that the `count` sorted records leave open, and appends the records that close them; a hit may come twice. `most`:
 * an upper bound of counters->requests. */
cudaError_t hspz__cuda_near_chains(const hspz__cuda_join *join, const hspz__cuda_near *near,
                                   const uint32_t *slot_ends, uint32_t count, const uint64_t *requests,
                                   uint32_t most, uint32_t capacity, cudaStream_t stream);
/* The walk skips the second of two equal records; counters->skipped is lowered by their number beforehand (below 0, for the moment). The
 * records are sorted. */
cudaError_t hspz__cuda_near_repeats(const uint64_t *records, uint32_t count, hspz__cuda_counters *counters,
                                    cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
