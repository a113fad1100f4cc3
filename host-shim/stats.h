/* stats.h -- `--stats FILE`: everything a run counted, as JSON, for scripts. The keys are a promise: they are only added to. */
#ifndef HSPZ_HOST_STATS_H
#define HSPZ_HOST_STATS_H

#include "command.h"
#include "scheduler.h"

typedef struct hspz_stats {
    const hspz_context *context;
    const hspz_session *session;
    const hspz_inputs *inputs;
    const hspz_calls *calls;
    const hspz_totals *totals;
    uint64_t hsps;
    uint64_t files;
    double wall;          /* seconds since the start of the process */
    double cpu;           /* seconds of CPU, all threads */
    double seconds_load;  /* loading of both genomes */
    uint64_t peak_memory; /* bytes */
} hspz_stats;

/* What can be refused before any work: --stats names no file that could be made. 0 or an exit code. */
int hspz_stats_check(const hspz_options *options, hspz_failure *failure) __attribute__((warn_unused_result));

/* Writes to `path`, "-" for stdout; a file appears whole or not at all. 0, HSPZ_EXIT_DATA or HSPZ_EXIT_MEMORY. */
int hspz_stats_write(const hspz_stats *stats, const char *path, hspz_failure *failure)
    __attribute__((warn_unused_result));

#endif
