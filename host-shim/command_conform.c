/* command_conform.c -- hspz conform FILE.so: every rule of the ABI, tried on a plugin; exit 1 when one is broken. */
#include "command.h"
#include "conform.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* stdout and stderr kept aside while the plugin runs: it must print nothing. */
typedef struct silence {
    int file; /* what was printed */
    int out, err;
} silence;

static bool begin_silence(silence *s)
{
    FILE *kept = tmpfile();
    s->file = kept != NULL ? fcntl(fileno(kept), F_DUPFD_CLOEXEC, 3) : -1;
    if (kept != NULL)
        fclose(kept);
    s->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    s->err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (s->file < 0 || s->out < 0 || s->err < 0)
        return false;
    fflush(stdout);
    return dup2(s->file, STDOUT_FILENO) >= 0 && dup2(s->file, STDERR_FILENO) >= 0;
}

/* Bytes printed meanwhile, or -1 when that is not known. */
static long long end_silence(silence *s)
{
    struct stat status;
    fflush(stdout);
    long long bytes = s->file >= 0 && fstat(s->file, &status) == 0 ? (long long)status.st_size : -1;
    if (s->out >= 0)
        dup2(s->out, STDOUT_FILENO);
    if (s->err >= 0)
        dup2(s->err, STDERR_FILENO);
    for (int *file = (int[]){s->file, s->out, s->err, -2}; *file != -2; file++)
        if (*file >= 0)
            close(*file);
    return bytes;
}

static void try_rules(hspz__checks *checks)
{
    silence s;
    bool silent = begin_silence(&s);
    checks->out = s.out >= 0 ? s.out : STDOUT_FILENO;
    hspz__conform_entry(checks);
    hspz__conform_create(checks);
    hspz__conform_calls(checks);
    hspz__conform_results(checks);
    checks->out = STDOUT_FILENO;
    long long bytes = end_silence(&s);
    if (silent && bytes >= 0)
        hspz__check(checks, bytes == 0, "the plugin prints nothing", "%lld bytes", bytes);
    else
        hspz__check_skipped(checks, "the plugin prints nothing", "its output cannot be caught");
}

/* The oracle, unless it is the plugin on trial or is not there: then the reason is answered, else NULL. */
static const char *open_reference(const hspz_library *library, hspz_library *reference)
{
    hspz_failure ignored;
    if (hspz_library_open(HSPZ_FALLBACK_PLUGIN, reference, &ignored) != 0)
        return HSPZ_FALLBACK_PLUGIN " is not installed";
    if (reference->table.engine_create != library->table.engine_create)
        return NULL;
    hspz_library_close(reference);
    return "this is the reference";
}

int hspz_command_conform(const hspz_context *context)
{
    const hspz_options *options = context->options;
    const char *name = options->operand_count > 0 ? options->operands[0] : options->plugin;
    hspz_library library, reference;
    hspz__checks checks = {.library = &library};
    int code = hspz_library_open(name, &library, context->failure);
    if (code != 0)
        return code;
    checks.why_no_reference = open_reference(&library, &reference);
    if (checks.why_no_reference == NULL)
        checks.reference = &reference;
    library.stays_mapped = (library.table.capabilities & HSPZ_CAP_CUDA) != 0;
    printf("%s: %s %s, ABI %u.%u\n", library.path, library.table.name, library.table.version,
           library.table.abi_major, library.table.abi_minor);
    fflush(stdout);
    try_rules(&checks);
    printf("1..%u\n%u rules kept, %u broken, %u not tried\n", checks.passed + checks.failed + checks.skipped,
           checks.passed, checks.failed, checks.skipped);
    code = hspz_finish_stdout(context);
    if (code == 0 && checks.out_failed)
        code = hspz_failed(context->failure, HSPZ_EXIT_DATA, "stdout cannot be written");
    if (code == 0 && checks.failed != 0)
        code = hspz_failed(context->failure, HSPZ_EXIT_DATA, "%s breaks %u rules of the ABI", library.path,
                           checks.failed);
    if (checks.reference != NULL)
        hspz_library_close(&reference);
    hspz_library_close(&library);
    return code;
}
