/* log.h -- one line a message on one stream, from any thread.
 *
 * Idea: results own stdout; everything said to a person goes through here to stderr. A message is one line that starts
 * with "hspz: ". On a terminal a single status line (progress) may stand below the messages: it is rewritten
 * in place, and taken away before a message is printed. Control characters in a text become '?', so that names out of a
 * file cannot break a line or a terminal. All functions are [any].
 */
#ifndef HSPZ_HOST_LOG_H
#define HSPZ_HOST_LOG_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hspz_log {
    FILE *stream;         /* borrowed; NULL says nothing */
    uint32_t level;       /* HSPZ_LOG_...: messages above it are dropped */
    bool status_shown;    /* a status line stands on the terminal */
    pthread_mutex_t lock; /* guards the stream and status_shown */
} hspz_log;

/* Levels are the ABI's HSPZ_LOG_ERROR..HSPZ_LOG_DEBUG. */
void hspz_log_init(hspz_log *log, FILE *stream, uint32_t level);
void hspz_log_destroy(hspz_log *log);

/* Prints a message if its level is wanted; `log` may be NULL. */
void hspz_log_say(hspz_log *log, uint32_t level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts `text` in the status line (NULL takes it away). For terminals only. */
void hspz_log_status(hspz_log *log, const char *text);

#ifdef __cplusplus
}
#endif

#endif
