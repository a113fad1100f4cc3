/* progress.c -- see progress.h */
#include "progress.h"

#include "clock.h"
#include "hspz_abi.h"
#include "options.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define TERMINAL_SECONDS 0.5
#define PLAIN_SECONDS 60.0

void hspz_progress_init(hspz_progress *progress, hspz_log *log, int64_t mode)
{
    memset(progress, 0, sizeof *progress);
    progress->log = log;
    progress->wanted = mode == HSPZ_PROGRESS_ON ||
                       (mode == HSPZ_PROGRESS_AUTO && log != NULL && log->level >= HSPZ_LOG_INFO);
    progress->terminal = log != NULL && log->stream != NULL && isatty(fileno(log->stream));
    pthread_mutex_init(&progress->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&progress->wake, &attributes);
    pthread_condattr_destroy(&attributes);
}

void hspz_progress_text(uint64_t done, uint64_t total, double seconds, char *text, size_t size)
{
    double share = total == 0 ? 1.0 : (double)done / (double)total;
    double rate = seconds > 0 ? (double)done / seconds : 0;
    int n = snprintf(text, size, "%.1f %%, %.2f M positions/s", 100.0 * share, rate / 1e6);
    if (n < 0 || (size_t)n >= size || done == 0 || done >= total)
        return;
    double left = (double)(total - done) / rate;
    if (left < 359999.0) {
        unsigned whole = (unsigned)(left + 0.5);
        if (whole >= 3600)
            snprintf(text + n, size - (size_t)n, ", %u:%02u:%02u left", whole / 3600, whole / 60 % 60,
                     whole % 60);
        else
            snprintf(text + n, size - (size_t)n, ", %u:%02u left", whole / 60, whole % 60);
    }
}

static void tell(hspz_progress *progress)
{
    uint64_t done = atomic_load(&progress->finished);
    if (progress->running != NULL)
        done += progress->running(progress->running_ctx);
    if (done > progress->total)
        done = progress->total;
    char text[128];
    hspz_progress_text(done, progress->total, hspz__now() - progress->started, text, sizeof text);
    if (progress->terminal)
        hspz_log_status(progress->log, text);
    else
        hspz_log_say(progress->log, HSPZ_LOG_INFO, "%s", text);
}

static void *watch(void *argument)
{
    hspz_progress *progress = argument;
    double period = progress->terminal ? TERMINAL_SECONDS : PLAIN_SECONDS;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    pthread_mutex_lock(&progress->lock);
    while (!progress->ending) {
        double at = (double)until.tv_sec + 1e-9 * (double)until.tv_nsec + period;
        until.tv_sec = (time_t)at;
        until.tv_nsec = (long)((at - (double)until.tv_sec) * 1e9);
        int waited = 0;
        while (!progress->ending && waited != ETIMEDOUT)
            waited = pthread_cond_timedwait(&progress->wake, &progress->lock, &until);
        if (!progress->ending)
            tell(progress);
    }
    pthread_mutex_unlock(&progress->lock);
    return NULL;
}

void hspz_progress_start(hspz_progress *progress, uint64_t total, hspz_progress_running *running, void *ctx)
{
    progress->total = total;
    atomic_store(&progress->finished, 0);
    progress->running = running;
    progress->running_ctx = ctx;
    progress->started = hspz__now();
    progress->ending = false;
    progress->alive = progress->wanted && pthread_create(&progress->thread, NULL, watch, progress) == 0;
}

void hspz_progress_stop(hspz_progress *progress)
{
    if (!progress->alive)
        return;
    pthread_mutex_lock(&progress->lock);
    progress->ending = true;
    pthread_cond_signal(&progress->wake);
    pthread_mutex_unlock(&progress->lock);
    pthread_join(progress->thread, NULL);
    progress->alive = false;
    hspz_log_status(progress->log, NULL);
}

void hspz_progress_destroy(hspz_progress *progress)
{
    hspz_progress_stop(progress);
    pthread_cond_destroy(&progress->wake);
    pthread_mutex_destroy(&progress->lock);
}
