/* output.h -- where the HSPs of a run go: KegAlign's files in a directory, one segments file, or stdout.
 *
 * Idea: the scheduler delivers calls in order. In a directory each call that found something is a file of its own, written
 * when it arrives. A single stream must please LASTZ (records of the query in file order, each plus before minus), so the
 * calls of a query block are held, 16 bytes an HSP, until all of them are there; with one target block that is a
 * block at a time, with several it is everything. Nothing appears under a final name before hspz_output_publish (stage.h).
 * One thread at a time.
 */
#ifndef HSPZ_HOST_OUTPUT_H
#define HSPZ_HOST_OUTPUT_H

#include "scheduler.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hspz_output hspz_output;

/* Refuses what can be refused before genomes are loaded: no -o, a directory with results in it, ... [any] */
int hspz_output_check(const hspz_options *options, hspz_failure *failure) __attribute__((warn_unused_result));

/* Starts; refuses record names that LASTZ cannot take (record_names.h). `library` is named in failures. Everything is
 * borrowed until hspz_output_free. */
int hspz_output_open(const hspz_options *options, const hspz_inputs *inputs, const hspz_library *library,
                     hspz_log *log, hspz_output **output, hspz_failure *failure)
    __attribute__((warn_unused_result));

/* A hspz_consumer's `take`; ctx is the hspz_output. */
int hspz_output_take(void *output, const hspz_call *call, hspz_hsps *hsps, hspz_failure *failure);

/* The results appear; then, with gapped output wanted, the lastz commands go to stdout. */
int hspz_output_publish(hspz_output *output, hspz_failure *failure) __attribute__((warn_unused_result));

/* HSPs and files written so far. */
uint64_t hspz_output_hsps(const hspz_output *output);
uint64_t hspz_output_files(const hspz_output *output);

/* Releases; takes unpublished files away. Accepts NULL. */
void hspz_output_free(hspz_output *output);

#ifdef __cplusplus
}
#endif

#endif
