/* log.c -- see log.h */
#include "log.h"

#include "hspz_abi.h"

#include <stdarg.h>
#include <string.h>

#define LINE_MAX_BYTES 4096

void hspz_log_init(hspz_log *log, FILE *stream, uint32_t level)
{
    log->stream = stream;
    log->level = level;
    log->status_shown = false;
    pthread_mutex_init(&log->lock, NULL);
}

void hspz_log_destroy(hspz_log *log)
{
    hspz_log_status(log, NULL);
    pthread_mutex_destroy(&log->lock);
}

static const char *prefix_of(uint32_t level)
{
    switch (level) {
    case HSPZ_LOG_ERROR:
        return "hspz: error: ";
    case HSPZ_LOG_WARN:
        return "hspz: warning: ";
    case HSPZ_LOG_INFO:
        return "hspz: ";
    default:
        return "hspz: debug: ";
    }
}

static void make_printable(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

/* The status line goes away with carriage return and "erase to the end of the line". */
static void erase_status(hspz_log *log)
{
    if (log->status_shown)
        fputs("\r\033[K", log->stream);
    log->status_shown = false;
}

void hspz_log_say(hspz_log *log, uint32_t level, const char *format, ...)
{
    if (log == NULL || log->stream == NULL || level > log->level)
        return;
    char line[LINE_MAX_BYTES];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    make_printable(line);
    pthread_mutex_lock(&log->lock);
    erase_status(log);
    fprintf(log->stream, "%s%s\n", prefix_of(level), line);
    fflush(log->stream);
    pthread_mutex_unlock(&log->lock);
}

void hspz_log_status(hspz_log *log, const char *text)
{
    if (log == NULL || log->stream == NULL)
        return;
    pthread_mutex_lock(&log->lock);
    if (text == NULL) {
        erase_status(log);
    } else {
        fprintf(log->stream, "\r%s\033[K", text);
        log->status_shown = true;
    }
    fflush(log->stream);
    pthread_mutex_unlock(&log->lock);
}
