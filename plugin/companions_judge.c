/* companions_judge.c -- argument checks and worker threads that both companion systems share.
 *
 * Idea: a request may name thousands of chunks; whether a written range overlaps any other is found by sorting all
 * ranges by address and sweeping once, n log n. Work on the CPU is handed out in ascending pieces by one atomic
 * counter, so that a piece may wait for an earlier one: that one is always running or done.
 */
#include "companions.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct hspz__judge_range {
    uintptr_t begin;
    uintptr_t end;
    int written;
};

void hspz__judge_refuse(hspz__judge *judge, hspz_status status, const char *format, ...)
{
    if (judge->status != HSPZ_OK)
        return;
    judge->status = status;
    hspz_error *error = judge->error;
    if (error == NULL || !HSPZ_HAS_FIELD(hspz_error, error, text))
        return;
    error->status = status;
    error->device_code = 0;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
}

static int make_room(hspz__judge *judge)
{
    if (judge->count < judge->capacity)
        return 1;
    uint64_t capacity = judge->capacity == 0 ? 64 : judge->capacity * 2;
    struct hspz__judge_range *grown = NULL;
    if (capacity <= SIZE_MAX / sizeof *grown)
        grown = realloc(judge->ranges, capacity * sizeof *grown);
    if (grown == NULL) {
        hspz__judge_refuse(judge, HSPZ_E_MEMORY, "no memory to check %llu ranges",
                           (unsigned long long)judge->count);
        return 0;
    }
    judge->ranges = grown;
    judge->capacity = capacity;
    return 1;
}

void hspz__judge_range(hspz__judge *judge, const char *name, const void *data, uint64_t count, uint64_t size,
                       int written)
{
    uintptr_t begin = (uintptr_t)data;
    if (count == 0 || judge->status != HSPZ_OK)
        return;
    if (data == NULL)
        hspz__judge_refuse(judge, HSPZ_E_ARGUMENT, "%s is NULL, needed are %llu elements of %llu bytes", name,
                           (unsigned long long)count, (unsigned long long)size);
    else if (begin % size != 0)
        hspz__judge_refuse(judge, HSPZ_E_ARGUMENT, "%s is not aligned to %llu bytes", name,
                           (unsigned long long)size);
    else if (count > (UINTPTR_MAX - begin) / size)
        hspz__judge_refuse(judge, HSPZ_E_ARGUMENT, "%s reaches beyond the address space", name);
    else if (make_room(judge))
        judge->ranges[judge->count++] = (struct hspz__judge_range){begin, begin + count * size, written};
}

static int by_begin(const void *left, const void *right)
{
    const struct hspz__judge_range *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

hspz_status hspz__judge_finish(hspz__judge *judge)
{
    uintptr_t any_end = 0, written_end = 0;
    if (judge->count > 1)
        qsort(judge->ranges, judge->count, sizeof *judge->ranges, by_begin);
    for (uint64_t i = 0; i < judge->count && judge->status == HSPZ_OK; i++) {
        const struct hspz__judge_range *r = &judge->ranges[i];
        if (r->begin < (r->written ? any_end : written_end))
            hspz__judge_refuse(judge, HSPZ_E_ARGUMENT, "an output overlaps another buffer of the same call");
        if (r->end > any_end)
            any_end = r->end;
        if (r->written && r->end > written_end)
            written_end = r->end;
    }
    free(judge->ranges);
    judge->ranges = NULL;
    return judge->status;
}

/* Threads ---------------------------------------------------------------------------------------------- */

#define THREADS_MAX 256u

typedef struct parallel_job {
    _Atomic uint64_t next;
    _Atomic uint32_t workers; /* numbers handed out */
    uint64_t count;
    void (*step)(void *context, uint32_t worker, uint64_t i);
    void *context;
} parallel_job;

uint32_t hspz__companion_threads(uint32_t wanted)
{
    cpu_set_t allowed;
    if (wanted == 0)
        wanted = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? (uint32_t)CPU_COUNT(&allowed) : 1;
    return wanted < 1 ? 1 : wanted > THREADS_MAX ? THREADS_MAX : wanted;
}

static void *work(void *argument)
{
    parallel_job *job = argument;
    uint32_t worker = atomic_fetch_add(&job->workers, 1);
    for (;;) {
        uint64_t i = atomic_fetch_add(&job->next, 1);
        if (i >= job->count)
            return NULL;
        job->step(job->context, worker, i);
    }
}

void hspz__companion_parallel(uint32_t threads, uint64_t count,
                              void (*step)(void *context, uint32_t worker, uint64_t i), void *context)
{
    parallel_job job = {.count = count, .step = step, .context = context};
    pthread_t started[THREADS_MAX];
    uint32_t running = 0;
    uint32_t wanted = hspz__companion_threads(threads);
    if (wanted > count)
        wanted = (uint32_t)count;
    while (running + 1 < wanted && pthread_create(&started[running], NULL, work, &job) == 0)
        running++;
    work(&job);
    for (uint32_t i = 0; i < running; i++)
        pthread_join(started[i], NULL);
}
