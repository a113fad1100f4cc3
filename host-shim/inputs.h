/* inputs.h -- the two genomes of a run, cut into blocks, and what is worth saying about them.
 *
 * Idea: both files load at the same time on two threads, since decompression and parsing are a good part of a short
 * run. The report names the share of soft-masked bases and of N, because a genome without masking is the most
 * common reason for a run that never ends, and one that is masked throughout for a run that finds nothing.
 */
#ifndef HSPZ_HOST_INPUTS_H
#define HSPZ_HOST_INPUTS_H

#include "genome.h"
#include "layout.h"
#include "log.h"
#include "options.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hspz_input {
    hspz_genome genome;
    hspz_layout layout;
    double seconds; /* wall time of loading */
} hspz_input;

typedef struct hspz_inputs {
    hspz_input target;
    hspz_input query;
} hspz_inputs;

/* Loads operands 0 and 1 of `options`; at most one of them is "-". Under HSPZ_DEDUP_LASTZ the target is one block, for
 * LASTZ searches it as one sequence. Release with hspz_inputs_free. 0, or an exit code or, once *stop is not zero (NULL allowed),
 * HSPZ_RUN_CANCELLED with *inputs cleared. */
int hspz_inputs_load(const hspz_options *options, const volatile sig_atomic_t *stop, hspz_inputs *inputs,
                     hspz_failure *failure) __attribute__((warn_unused_result));
void hspz_inputs_free(hspz_inputs *inputs);

/* One line for each input at level info; warnings where masking is poor or nothing can seed. */
void hspz_inputs_report(const hspz_inputs *inputs, const hspz_options *options, hspz_log *log);

#ifdef __cplusplus
}
#endif

#endif
