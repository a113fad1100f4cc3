/* progress.h -- how far a run is, told on stderr.
 *
 * Idea: workers only add to counters; one thread reads them. On a terminal it rewrites one line twice a second, elsewhere
 * it prints one plain line a minute, so that a log file of a long run stays short.
 */
#ifndef HSPZ_HOST_PROGRESS_H
#define HSPZ_HOST_PROGRESS_H

#include "log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Units done so far by what is still running, asked by the progress thread. */
typedef uint64_t hspz_progress_running(void *ctx);

typedef struct hspz_progress {
    hspz_log *log;             /* borrowed */
    bool wanted;               /* false: say nothing */
    bool terminal;             /* rewrite one line */
    uint64_t total;            /* query positions of all calls */
    _Atomic uint64_t finished; /* of calls that ended */
    hspz_progress_running *running;
    void *running_ctx;
    double started;
    bool alive; /* the thread runs; guarded by lock */
    bool ending;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
} hspz_progress;

/* `mode` is HSPZ_PROGRESS_...: AUTO and ON write, AUTO only when log level is at least info. */
void hspz_progress_init(hspz_progress *progress, hspz_log *log, int64_t mode);
/* Starts the thread; without one (no memory) the run goes on silently. `total` in query positions. */
void hspz_progress_start(hspz_progress *progress, uint64_t total, hspz_progress_running *running, void *ctx);
/* Ends the thread and takes the line away. */
void hspz_progress_stop(hspz_progress *progress);
void hspz_progress_destroy(hspz_progress *progress);

/* Writes "12.3 %, 45.6 M positions/s, 1:23 left" for `done` of `total` after `seconds`. [any] */
void hspz_progress_text(uint64_t done, uint64_t total, double seconds, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
