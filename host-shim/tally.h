/* tally.h -- statistics of several engines as if there had been one.
 *
 * Idea: counts of hits and HSPs add up over engines. Target positions do not: two engines that both index a block
 * have not indexed twice as much genome, so they are kept a target block.
 */
#ifndef HSPZ_HOST_TALLY_H
#define HSPZ_HOST_TALLY_H

#include "hspz_abi.h"

#include <stdbool.h>

typedef struct hspz_tally {
    hspz_statistics sum;        /* without target_positions */
    uint64_t *target_positions; /* one a target block */
    size_t target_blocks;
} hspz_tally;

/* False when memory is short. */
bool hspz__tally_init(hspz_tally *tally, size_t target_blocks);
void hspz__tally_free(hspz_tally *tally);
void hspz__tally_target(hspz_tally *tally, size_t block, uint64_t positions);
void hspz__tally_engine(hspz_tally *tally, const hspz_statistics *engine);
hspz_statistics hspz__tally_sum(const hspz_tally *tally);

/* X(member): the counts and the seconds, in the order of the ABI, for whoever sums or prints them. */
#define HSPZ_STATISTICS_COUNTS(X)                                                                            \
    X(target_positions)                                                                                      \
    X(query_positions)                                                                                       \
    X(seeds)                                                                                                 \
    X(hits)                                                                                                  \
    X(batches)                                                                                               \
    X(chunks)                                                                                                \
    X(gate_survivors)                                                                                        \
    X(skipped)                                                                                               \
    X(accepted)                                                                                              \
    X(kept)
#define HSPZ_STATISTICS_SECONDS(X)                                                                           \
    X(index)                                                                                                 \
    X(query)                                                                                                 \
    X(expand)                                                                                                \
    X(gate)                                                                                                  \
    X(extend)                                                                                                \
    X(dedup)                                                                                                 \
    X(transfer)                                                                                              \
    X(total)

#endif
