/* clock.h -- wall time and what the process used. All functions are [any]. */
#ifndef HSPZ_HOST_CLOCK_H
#define HSPZ_HOST_CLOCK_H

#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

/* Seconds of a clock that never jumps. */
static inline double hspz__now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of CPU, user and system, of all threads so far; 0 if unknown. */
static inline double hspz__cpu_seconds(void)
{
    struct rusage u;
    if (getrusage(RUSAGE_SELF, &u) != 0)
        return 0;
    return (double)u.ru_utime.tv_sec + 1e-6 * (double)u.ru_utime.tv_usec + (double)u.ru_stime.tv_sec +
           1e-6 * (double)u.ru_stime.tv_usec;
}

/* Most bytes of memory the process ever held; 0 if unknown. */
static inline uint64_t hspz__peak_memory(void)
{
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) == 0 ? (uint64_t)u.ru_maxrss * 1024u : 0;
}

#endif
