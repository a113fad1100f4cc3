/* pool.c -- worker threads; see pool.h.
 *
 * Idea: a run is a job whose items are shared out in equal stretches, worker by worker, so that what a worker wrote in one run lies
 * in its own cache in the next; who is done takes from the others' stretches. Workers wait for the number of the job to change, a moment
 * awake, then asleep. A job that fails or is cancelled simply has no items left.
 */
#include "pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#define AWAKE 1e-4 /* seconds: what falling asleep and waking up cost together */

typedef struct job {
    hspz__work *work;
    void *context;
    uint64_t items;
    uint32_t stretches;
    _Atomic int32_t status;
} job;

typedef struct worker {
    _Alignas(64) _Atomic uint64_t next; /* of the worker's stretch */
    hspz__pool *pool;
    uint32_t number;
    pthread_t thread;
} worker;

struct hspz__pool {
    hspz__host *host;
    uint32_t threads; /* the caller included */
    pthread_mutex_t busy;
    pthread_mutex_t lock; /* over what follows */
    pthread_cond_t wake, finished;
    _Atomic uint64_t generation;
    _Atomic uint32_t active;
    bool ending;
    job *current;
    worker workers[];
};

uint32_t hspz__allowed_threads(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? (uint32_t)count : 1;
}

void hspz__pulse_init(hspz__pulse *pulse, const hspz__host *host, uint64_t total)
{
    *pulse = (hspz__pulse){.host = host, .total = total, .last = hspz__seconds()};
    atomic_init(&pulse->stopped, false);
}

bool hspz__pulse_stop(hspz__pulse *pulse, uint64_t done)
{
    const double interval = 0.1;
    double now = hspz__seconds();
    if (now - pulse->last < interval)
        return false;
    pulse->last = now;
    if (hspz__cancelled(pulse->host, done, pulse->total))
        atomic_store(&pulse->stopped, true);
    return atomic_load(&pulse->stopped);
}

bool hspz__pulse_poll(hspz__pulse *pulse, uint32_t worker)
{
    return worker == 0 ? hspz__pulse_stop(pulse, pulse->done) : atomic_load(&pulse->stopped);
}

/* Items of stretch `number` begin here; number = stretches gives the end of the last. */
static uint64_t stretch(const job *j, uint32_t number)
{
    return (uint64_t)((unsigned __int128)j->items * number / j->stretches);
}

static void stop(hspz__pool *pool, job *j, hspz_status status)
{
    int32_t none = HSPZ_OK;
    atomic_compare_exchange_strong(&j->status, &none, status);
    for (uint32_t i = 0; i < j->stretches; i++)
        atomic_store(&pool->workers[i].next, j->items);
}

/* Takes the items of a stretch until none is left. Only the caller has a pulse. */
static void take_stretch(hspz__pool *pool, job *j, uint32_t number, uint32_t from, hspz__pulse *pulse)
{
    const uint64_t begin = stretch(j, from), end = stretch(j, from + 1);
    for (;;) {
        const uint64_t item = atomic_fetch_add(&pool->workers[from].next, 1);
        if (item >= end)
            return;
        hspz_status status = j->work(j->context, number, item);
        if (status != HSPZ_OK)
            stop(pool, j, status);
        /* all stretches progress alike; when others' items are taken the end is near */
        const double part = from == number ? (double)(item - begin) / (double)(end - begin) : 1.0;
        if (pulse != NULL && hspz__pulse_stop(pulse, pulse->done + (uint64_t)((double)pulse->share * part)))
            stop(pool, j, HSPZ_E_CANCELLED);
    }
}

static void take_items(hspz__pool *pool, job *j, uint32_t number, hspz__pulse *pulse)
{
    for (uint32_t i = 0; i < j->stretches; i++)
        take_stretch(pool, j, number, (number + i) % j->stretches, pulse);
}

static void breathe(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Waits a moment for another job than number `seen`. */
static void await_job(hspz__pool *pool, uint64_t seen)
{
    for (const double start = hspz__seconds(); hspz__seconds() - start < AWAKE;)
        for (uint32_t i = 0; i < 64; i++) {
            if (atomic_load(&pool->generation) != seen)
                return;
            breathe();
        }
}

/* Waits a moment for the other workers. */
static void await_workers(hspz__pool *pool)
{
    for (const double start = hspz__seconds(); hspz__seconds() - start < AWAKE;)
        for (uint32_t i = 0; i < 64; i++) {
            if (atomic_load(&pool->active) == 0)
                return;
            breathe();
        }
}

static void *worker_main(void *argument)
{
    worker *self = argument;
    hspz__pool *pool = self->pool;
    uint64_t seen = 0;
    for (;;) {
        await_job(pool, seen);
        pthread_mutex_lock(&pool->lock);
        while (!pool->ending && atomic_load(&pool->generation) == seen)
            pthread_cond_wait(&pool->wake, &pool->lock);
        const bool ending = pool->ending;
        seen = atomic_load(&pool->generation);
        job *j = pool->current;
        pthread_mutex_unlock(&pool->lock);
        if (ending)
            return NULL;
        take_items(pool, j, self->number, NULL);
        pthread_mutex_lock(&pool->lock);
        if (atomic_fetch_sub(&pool->active, 1) == 1)
            pthread_cond_signal(&pool->finished);
        pthread_mutex_unlock(&pool->lock);
    }
}

/* Workers take no signals: those belong to the host's threads. */
static bool start_workers(hspz__pool *pool, uint32_t threads)
{
    sigset_t all, old;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &old) != 0)
        return false;
    bool good = true;
    for (uint32_t i = 1; i < threads && good; i++) {
        worker *w = &pool->workers[i];
        *w = (worker){.pool = pool, .number = i};
        good = pthread_create(&w->thread, NULL, worker_main, w) == 0;
        if (good)
            pool->threads = i + 1;
    }
    return pthread_sigmask(SIG_SETMASK, &old, NULL) == 0 && good;
}

hspz__pool *hspz__pool_create(hspz__host *host, uint32_t threads)
{
    hspz__pool *pool = hspz__alloc(host, 1, sizeof *pool + threads * sizeof(worker));
    if (pool == NULL)
        return NULL;
    memset(pool, 0, sizeof *pool);
    pool->host = host;
    pool->threads = 1;
    pthread_mutex_init(&pool->busy, NULL);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->finished, NULL);
    if (start_workers(pool, threads))
        return pool;
    hspz__pool_destroy(pool);
    return NULL;
}

void hspz__pool_destroy(hspz__pool *pool)
{
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 1; i < pool->threads; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->finished);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    pthread_mutex_destroy(&pool->busy);
    hspz__free(pool->host, pool);
}

uint32_t hspz__pool_threads(const hspz__pool *pool)
{
    return pool->threads;
}

/* The caller's items are done; others may still be busy with long ones, and the host wants to hear of it. */
static void wait_a_moment(hspz__pool *pool, job *j, hspz__pulse *pulse)
{
    struct timespec until;
    if (pulse == NULL || clock_gettime(CLOCK_REALTIME, &until) != 0) {
        pthread_cond_wait(&pool->finished, &pool->lock);
        return;
    }
    until.tv_nsec += 100000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&pool->finished, &pool->lock, &until);
    pthread_mutex_unlock(&pool->lock);
    if (hspz__pulse_stop(pulse, pulse->done))
        stop(pool, j, HSPZ_E_CANCELLED);
    pthread_mutex_lock(&pool->lock);
}

/* The caller alone: the pool is small, busy, or not worth waking. */
static hspz_status run_alone(uint64_t items, hspz__work *work, void *context, hspz__pulse *pulse)
{
    for (uint64_t item = 0; item < items; item++) {
        hspz_status status = work(context, 0, item);
        if (status != HSPZ_OK)
            return status;
        const double part = (double)item / (double)items;
        if (pulse != NULL && hspz__pulse_stop(pulse, pulse->done + (uint64_t)((double)pulse->share * part)))
            return HSPZ_E_CANCELLED;
    }
    return HSPZ_OK;
}

hspz_status hspz__pool_run(hspz__pool *pool, uint64_t items, hspz__work *work, void *context,
                           hspz__pulse *pulse)
{
    if (pool->threads == 1 || items <= 1 || pthread_mutex_trylock(&pool->busy) != 0)
        return run_alone(items, work, context, pulse);
    job j = {.work = work, .context = context, .items = items, .stretches = pool->threads};
    atomic_init(&j.status, HSPZ_OK);
    for (uint32_t i = 0; i < j.stretches; i++)
        atomic_store(&pool->workers[i].next, stretch(&j, i));
    pthread_mutex_lock(&pool->lock);
    pool->current = &j;
    atomic_store(&pool->active, pool->threads - 1);
    atomic_fetch_add(&pool->generation, 1);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    take_items(pool, &j, 0, pulse);
    await_workers(pool);
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->active) > 0)
        wait_a_moment(pool, &j, pulse);
    pthread_mutex_unlock(&pool->lock);
    pthread_mutex_unlock(&pool->busy);
    return atomic_load(&j.status);
}
