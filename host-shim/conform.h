/* conform.h -- tries the rules of the ABI on a plugin, one after another.
 *
 * Idea: authors of plugins get each rule of hspz_abi.h as a line "ok" or "not ok" with what was seen. Everything runs
 * in this process, on a generated pair of sequences that is the same on every machine, small enough for a
 * reference in plain C. Where a second plugin is given, every dedup policy must give its very bytes.
 */
#ifndef HSPZ_HOST_CONFORM_H
#define HSPZ_HOST_CONFORM_H

#include "engine_host.h"

typedef struct hspz__checks {
    const hspz_library *library;   /* the plugin on trial */
    const hspz_library *reference; /* NULL: none, for the reason why_no_reference */
    const char *why_no_reference;
    int out; /* descriptor for the report: each line goes there at once, so that a crash shows where */
    bool out_failed;
    uint32_t passed;
    uint32_t failed;
    uint32_t skipped;
} hspz__checks;

/* Notes a rule as kept or broken; the format says what was seen and is printed when it is broken. Answers `ok`. */
bool hspz__check(hspz__checks *checks, bool ok, const char *rule, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void hspz__check_skipped(hspz__checks *checks, const char *rule, const char *why);

/* The groups of rules. */
void hspz__conform_entry(hspz__checks *checks);  /* symbols, negotiation, texts, devices */
void hspz__conform_create(hspz__checks *checks); /* parameters, refusals, services */
void hspz__conform_calls(hspz__checks *checks);  /* states, bad arguments, empty sequences */
void hspz__conform_results(
    hspz__checks *checks); /* levels agree, sinks, cancellation, statistics, the reference */

/* The generated pair, and what a host of levels (b) and (c) makes of it. */
typedef struct hspz__pair {
    uint8_t *target; /* three records with '&' between */
    uint64_t target_length;
    uint8_t *query;
    uint64_t query_length;
    uint64_t *seeds; /* of the whole plus strand as one batch, SPEC section 4 */
    uint64_t seed_count;
    hspz_anchor *anchors; /* their hits in raw order, SPEC section 5 */
    uint64_t anchor_count;
    uint32_t *index_table; /* SPEC section 3 */
    uint64_t index_entries;
    uint32_t *positions;
    uint64_t position_count;
} hspz__pair;

/* False when memory is short. Free with hspz__pair_free. */
bool hspz__pair_make(hspz__pair *pair);
void hspz__pair_free(hspz__pair *pair);

/* Parameters at their defaults: 12of19, HOXD70, all that SPEC names; the dedup policy is the first that the plugin offers. */
hspz_engine_params hspz__conform_params(const hspz_library *library);

/* Creates an engine with the pair set (slot 0); NULL with the failed call in *what on failure. */
hspz_engine *hspz__conform_engine(const hspz_library *library, const hspz_engine_params *params,
                                  const hspz_host_services *services, const hspz__pair *pair,
                                  const char **what, hspz_error *error);

#endif
