/* command.h -- the subcommands of `hspz`, and what they share.
 *
 * Idea: main.c reads the options, makes a log and installs the signal handler; a command gets all that in a context, does its
 * work with the library, and returns an exit code with one sentence in context->failure. Only main.c prints that
 * sentence. Results go to stdout, everything else to the log.
 */
#ifndef HSPZ_HOST_COMMAND_H
#define HSPZ_HOST_COMMAND_H

#include "engine_host.h"
#include "inputs.h"
#include "log.h"
#include "options.h"
#include "scheduler.h"

typedef struct hspz_context {
    const hspz_options *options;
    hspz_log *log;
    const volatile sig_atomic_t *stop; /* non-zero once SIGINT or SIGTERM came */
    hspz_failure *failure;
    double started; /* hspz__now() at the start of main */
    int argc;
    char **argv;
} hspz_context;

/* A plugin with its engines. */
typedef struct hspz_session {
    hspz_library library;
    hspz_engine_host *engines;
    uint32_t engine_count;
} hspz_session;

/* Opens the plugin called `name` and makes the engines the options ask for. Close before exit. */
int hspz_session_open(const hspz_context *context, const char *name, hspz_session *session)
    __attribute__((warn_unused_result));
void hspz_session_close(hspz_session *session);

/* The same, while the genomes load on other threads. On failure neither is left open. */
int hspz_session_and_inputs(const hspz_context *context, const char *name, hspz_session *session,
                            hspz_inputs *inputs) __attribute__((warn_unused_result));

/* "oracle (plain C) on cpu" for the engines of a session. */
void hspz_session_text(const hspz_session *session, char *text, size_t size);

/* Prints a whole number with a comma every three digits. */
void hspz_grouped(uint64_t value, char *text, size_t size);

int hspz_command_align(const hspz_context *context);
int hspz_command_compare(const hspz_context *context);
int hspz_command_info(const hspz_context *context);
int hspz_command_config(const hspz_context *context);
int hspz_command_conform(const hspz_context *context);
int hspz_command_bench(const hspz_context *context);
int hspz_command_dotplot(const hspz_context *context);
int hspz_command_rescore(const hspz_context *context);

/* After printing results: HSPZ_EXIT_DATA when stdout did not take them all. */
int hspz_finish_stdout(const hspz_context *context) __attribute__((warn_unused_result));

#endif
