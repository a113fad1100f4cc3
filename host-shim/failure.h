/* failure.h -- how the host library reports what went wrong.
 *
 * Idea: every fallible function returns 0 or a positive exit code of the command (the table below) and leaves one
 * sentence in the caller's hspz_failure: where (file, line, record, option), what was found, what is expected.
 * Nothing in the library prints or exits.
 */
#ifndef HSPZ_HOST_FAILURE_H
#define HSPZ_HOST_FAILURE_H

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, exit code, meaning): the command's exit codes, printed by `hspz --help` and tested. */
#define HSPZ_EXIT_TABLE(X)                                                                                   \
    X(HSPZ_EXIT_OK, 0, "success; finding no HSP is success")                                                 \
    X(HSPZ_EXIT_DATA, 1, "data or I/O: an input is unusable, an output cannot be written, results differ")   \
    X(HSPZ_EXIT_USAGE, 2, "usage or configuration: an option, key or value is wrong")                        \
    X(HSPZ_EXIT_PLUGIN, 3, "the plugin, its ABI or the device cannot be used")                               \
    X(HSPZ_EXIT_MEMORY, 4, "out of memory")

#define HSPZ_EXIT_ENUMERATOR(name, code, text) name = (code),
enum { HSPZ_EXIT_TABLE(HSPZ_EXIT_ENUMERATOR) HSPZ_EXIT_COUNT };

/* In place of an exit code: a signal asked for the end, and the command ends by that signal. */
#define HSPZ_RUN_CANCELLED 130

typedef struct hspz_failure {
    int exit_code;
    char text[2048];
} hspz_failure;

/* Fills `failure` (NULL allowed), truncating safely, and returns `exit_code`. [any] */
int hspz_failed(hspz_failure *failure, int exit_code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "… out of memory (N bytes for WHAT)". Returns HSPZ_EXIT_MEMORY. [any] */
int hspz_failed_memory(hspz_failure *failure, const char *what, unsigned long long bytes);

#ifdef __cplusplus
}
#endif

#endif
