/* scheduler.h -- cuts a genome pair into calls of find_hsps and runs them on all engines, in any order, with results
 * delivered in one fixed order.
 *
 * Idea: a call is (target block, query block, interval, strand). The list of calls is made first and its order is the
 * order of the output: target blocks, in them query blocks, intervals, plus before minus. Every engine has a worker
 * thread that takes the next call that suits what the engine already holds: of the same two blocks, else of the same
 * target block, longest first. While it works, a helper puts the next query block in the engine's second slot. The thread
 * that called hspz_schedule waits for the next call in output order and hands its HSPs to the consumer, so that
 * formatting and writing overlap with the search and no consumer needs a lock.
 */
#ifndef HSPZ_SCHEDULER_H
#define HSPZ_SCHEDULER_H

#include "engine_host.h"
#include "inputs.h"
#include "progress.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hspz_call {
    size_t target_block;
    size_t query_block;
    uint64_t interval; /* 0-based within the query block */
    uint32_t strand;   /* HSPZ_STRAND_... */
    uint64_t begin;    /* hspz_find_request's */
    uint64_t end;
} hspz_call;

typedef struct hspz_calls {
    hspz_call *items; /* in output order */
    size_t count;
    uint64_t positions; /* sum of the calls' query positions: the progress total */
} hspz_calls;

/* The calls of a run. Under HSPZ_DEDUP_LASTZ and HSPZ_DEDUP_MAXIMAL a strand of a block pair is one call, else one interval
 * (SPEC sections 4 and 7). Release with hspz_calls_free. 0 or HSPZ_EXIT_MEMORY. [any] */
int hspz_calls_make(const hspz_inputs *inputs, const hspz_options *options, hspz_calls *calls,
                    hspz_failure *failure) __attribute__((warn_unused_result));
void hspz_calls_free(hspz_calls *calls);

/* True when a dedup policy works on whole blocks and answers in LASTZ's order. */
bool hspz_dedup_spans_block(int64_t dedup);

/* Query slots worth having: 2 when an engine will see more than one query block, else 1. */
uint32_t hspz_slots_wanted(const hspz_inputs *inputs);

/* Takes the results of one call, in output order; it may take the array over by zeroing *hsps. Called on
 * hspz_schedule's thread. Non-zero, an exit code with `failure` filled, ends the run. */
typedef struct hspz_consumer {
    void *ctx;
    int (*take)(void *ctx, const hspz_call *call, hspz_hsps *hsps, hspz_failure *failure);
} hspz_consumer;

typedef struct hspz_totals {
    hspz_statistics statistics; /* summed over engines; target_positions once a target block */
    double seconds;             /* wall time of hspz_schedule */
    double seconds_consumer;    /* of it, inside the consumer */
} hspz_totals;

/* Runs every call. `progress` may be NULL. HSPZ_RUN_CANCELLED when a stop was asked for, else 0 or an exit code; the consumer
 * has then seen a prefix of the calls. The engines hold target and queries no more afterwards. */
int hspz_schedule(const hspz_inputs *inputs, const hspz_options *options, const hspz_calls *calls,
                  hspz_engine_host *engines, uint32_t engine_count, hspz_progress *progress,
                  const hspz_consumer *consumer, hspz_totals *totals, hspz_failure *failure)
    __attribute__((warn_unused_result));

#ifdef __cplusplus
}
#endif

#endif
