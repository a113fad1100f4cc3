/* pool.h -- the worker threads of one CPU engine.
 *
 * Idea: work is cut into numbered items that threads take one at a time, each from a stretch of its own first; results belong to items, never
 * to threads, so that no outcome depends on who did what. The caller works too, and between its items it tells the host how far the
 * call is and asks whether to stop.
 */
#ifndef HSPZ__POOL_H
#define HSPZ__POOL_H

#include "host_services.h"

typedef struct hspz__pool hspz__pool;

/* Threads this process may use, at least 1. [any] */
uint32_t hspz__allowed_threads(void);

/* `threads` in all, the caller included. NULL when memory or threads are short. */
hspz__pool *hspz__pool_create(hspz__host *host, uint32_t threads);
/* No run may be under way. Accepts NULL. */
void hspz__pool_destroy(hspz__pool *pool);
uint32_t hspz__pool_threads(const hspz__pool *pool);

/* What the progress of a run means to the host: item i of n stands at done + (i / n) * share of total. */
typedef struct hspz__pulse {
    const hspz__host *host;
    uint64_t done, share, total; /* in the unit of the call */
    double last;                 /* when the host was told last */
    _Atomic bool stopped;        /* the host wants to stop: long items look at this */
} hspz__pulse;

void hspz__pulse_init(hspz__pulse *pulse, const hspz__host *host, uint64_t total);
/* Tells the host when a tenth of a second has passed; true when it wants to stop. For the calling thread alone. */
bool hspz__pulse_stop(hspz__pulse *pulse, uint64_t done);
/* For long items, now and then, from any worker: true when the item should end with HSPZ_E_CANCELLED. Worker 0 is the
 * calling thread. */
bool hspz__pulse_poll(hspz__pulse *pulse, uint32_t worker);

/* Work on one item by the thread numbered `worker` (0..threads-1); a status other than HSPZ_OK ends the run. */
typedef hspz_status hspz__work(void *context, uint32_t worker, uint64_t item);

/* Runs work(context, worker, item) for all items of [0, items) and waits. HSPZ_E_CANCELLED when the pulse (NULL allowed)
 * says so, else the status of a failed item. While another thread runs the pool, the caller works alone. [any] */
hspz_status hspz__pool_run(hspz__pool *pool, uint64_t items, hspz__work *work, void *context,
                           hspz__pulse *pulse);

#endif
