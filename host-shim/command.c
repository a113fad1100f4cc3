/* command.c -- what the subcommands share (command.h). */
#include "command.h"

#include "clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* A query block is prefetched into the second slot; slots that stay empty cost nothing. */
#define SLOTS 2

int hspz_session_open(const hspz_context *context, const char *name, hspz_session *session)
{
    memset(session, 0, sizeof *session);
    int code = hspz_library_open(name, &session->library, context->failure);
    if (code != 0)
        return code;
    if (session->library.fell_back)
        hspz_log_say(context->log, HSPZ_LOG_WARN,
                     "%s is not installed, using the reference plugin %s, which is slow", HSPZ_DEFAULT_PLUGIN,
                     session->library.path);
    code = hspz_engines_create(&session->library, context->options, SLOTS, context->log, context->stop,
                               &session->engines, &session->engine_count, context->failure);
    if (code != 0)
        hspz_session_close(session);
    return code;
}

void hspz_session_close(hspz_session *session)
{
    hspz_engines_destroy(session->engines, session->engine_count);
    hspz_library_close(&session->library);
    memset(session, 0, sizeof *session);
}

/* Loading beside the start of the engines: a GPU takes a fraction of a second to start. */
typedef struct loading {
    const hspz_context *context;
    hspz_inputs *inputs;
    hspz_failure failure;
    int code;
} loading;

static void *load(void *argument)
{
    loading *job = argument;
    job->code = hspz_inputs_load(job->context->options, job->context->stop, job->inputs, &job->failure);
    return NULL;
}

int hspz_session_and_inputs(const hspz_context *context, const char *name, hspz_session *session,
                            hspz_inputs *inputs)
{
    loading job = {.context = context, .inputs = inputs};
    pthread_t thread;
    memset(session, 0, sizeof *session);
    bool beside = pthread_create(&thread, NULL, load, &job) == 0;
    int code = hspz_session_open(context, name, session);
    if (beside)
        pthread_join(thread, NULL);
    else
        load(&job);
    if (code == 0 && job.code != 0) {
        *context->failure = job.failure;
        hspz_session_close(session);
        return job.code;
    }
    if (code != 0 && job.code == 0)
        hspz_inputs_free(inputs);
    return code;
}

void hspz_session_text(const hspz_session *session, char *text, size_t size)
{
    char label[32];
    const hspz_engine_host *first = &session->engines[0];
    hspz_device_label(&first->device, label, sizeof label);
    if (session->engine_count > 1)
        snprintf(text, size, "%s (%s) on %u devices from %s, %s", first->info.backend, first->info.variant,
                 session->engine_count, label, first->device.name);
    else if (first->device.kind == HSPZ_DEVICE_CPU)
        snprintf(text, size, "%s (%s)", first->info.backend, first->info.variant);
    else
        snprintf(text, size, "%s (%s) on %s, %s", first->info.backend, first->info.variant, label,
                 first->device.name);
}

void hspz_grouped(uint64_t value, char *text, size_t size)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    size_t at = 0;
    for (int i = 0; i < n && at + 2 < size; i++) {
        if (i != 0 && (n - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = '\0';
}

int hspz_finish_stdout(const hspz_context *context)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    return hspz_failed(context->failure, HSPZ_EXIT_DATA, "stdout cannot be written: %s",
                       errno != 0 ? strerror(errno) : "write error");
}
