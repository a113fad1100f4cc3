/* main.c -- the command `hspz`: reads the options, runs one subcommand, says what went wrong, answers the exit code.
 *
 * SIGINT, SIGTERM and SIGHUP set a flag that every long call polls through the host services: engines return, staged files are taken
 * away, and the process ends by the same signal. A second one ends it at once.
 */
#include "clock.h"
#include "command.h"
#include "version.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

typedef int command_function(const hspz_context *context);

static command_function *const functions[HSPZ_COMMAND_COUNT] = {
    [HSPZ_COMMAND_ALIGN] = hspz_command_align,     [HSPZ_COMMAND_COMPARE] = hspz_command_compare,
    [HSPZ_COMMAND_INFO] = hspz_command_info,       [HSPZ_COMMAND_CONFIG] = hspz_command_config,
    [HSPZ_COMMAND_CONFORM] = hspz_command_conform, [HSPZ_COMMAND_BENCH] = hspz_command_bench,
    [HSPZ_COMMAND_DOTPLOT] = hspz_command_dotplot, [HSPZ_COMMAND_RESCORE] = hspz_command_rescore,
};

/* A handler can reach nothing else; read through hspz_context.stop. */
static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
    stop_signal = number;
}

static void install_handlers(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND}, before;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 &&
            before.sa_handler != SIG_IGN) /* nohup, & in a script */
            sigaction(numbers[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* a reader that went away is a failed write, with a sentence */
    signal(SIGXFSZ, SIG_IGN); /* and so is a file that may not grow */
}

static int flushed(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return HSPZ_EXIT_OK;
    fprintf(stderr, "hspz: error: stdout cannot be written: %s\n", strerror(errno));
    return HSPZ_EXIT_DATA;
}

static int usage(const char *problem, const char *word)
{
    if (problem != NULL)
        fprintf(stderr, "hspz: error: %s \"%s\"; hspz --help lists the commands\n", problem, word);
    else
        hspz_options_print_usage(stderr);
    return HSPZ_EXIT_USAGE;
}

/* The words before a subcommand: only help and version. */
static int without_command(int argc, char **argv)
{
    if (argc < 2)
        return usage(NULL, NULL);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        int command = argc > 2 ? hspz_command_by_name(argv[2]) : -1;
        if (argc > 2 && command < 0)
            return usage("there is no command", argv[2]);
        hspz_options_print_help(stdout, command);
        return flushed();
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("hspz %s (ABI %u.%u)\n", HSPZ_VERSION, HSPZ_ABI_MAJOR, HSPZ_ABI_MINOR);
        return flushed();
    }
    return usage(argv[1][0] == '-' ? "an option before a command:" : "there is no command", argv[1]);
}

/* Ends as the signal would have ended us, so that a shell sees it. */
static int end_by_signal(int number)
{
    signal(number, SIG_DFL);
    raise(number);
    return 128 + number;
}

static int run(int argc, char **argv, int command)
{
    double started = hspz__now();
    hspz_failure failure = {0};
    hspz_log log;
    hspz_options *options = calloc(1, sizeof *options);
    if (options == NULL) {
        fputs("hspz: error: out of memory for the options\n", stderr);
        return HSPZ_EXIT_MEMORY;
    }
    hspz_log_init(&log, stderr, HSPZ_LOG_INFO);
    int code = hspz_options_load(options, command, argc - 2, argv + 2, environ, &failure);
    if (code == 0 && options->show_help) {
        hspz_options_print_help(stdout, command);
        code = flushed();
    } else if (code == 0 && options->show_version) {
        printf("hspz %s (ABI %u.%u)\n", HSPZ_VERSION, HSPZ_ABI_MAJOR, HSPZ_ABI_MINOR);
        code = flushed();
    } else if (code == 0) {
        log.level = (uint32_t)options->log_level;
        hspz_context context = {.options = options,
                                .log = &log,
                                .stop = &stop_signal,
                                .failure = &failure,
                                .started = started,
                                .argc = argc,
                                .argv = argv};
        install_handlers();
        code = functions[command](&context);
    }
    if (code == HSPZ_RUN_CANCELLED)
        hspz_log_say(&log, HSPZ_LOG_WARN, "stopped by signal %d; nothing was written", (int)stop_signal);
    else if (code != 0 && failure.text[0] != '\0')
        hspz_log_say(&log, HSPZ_LOG_ERROR, "%s", failure.text);
    hspz_log_destroy(&log);
    free(options);
    return code == HSPZ_RUN_CANCELLED ? end_by_signal((int)stop_signal) : code;
}

int main(int argc, char **argv)
{
    int command = argc > 1 ? hspz_command_by_name(argv[1]) : -1;
    if (command < 0)
        return without_command(argc, argv);
    if (functions[command] == NULL)
        return usage("this build has no command", argv[1]);
    return run(argc, argv, command);
}
