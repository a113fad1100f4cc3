/* option_sources.c -- files, environment and command line, in the order of their authority.
 *
 * Idea: each source turns what it holds into calls of hspz__option_assign with a phrase that says where the value
 * stood. Command lines are read by getopt_long over names made from the option table; abbreviations are refused,
 * because an abbreviation that works today is an error tomorrow.
 */
#include "option_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG_FILE_MOST ((size_t)1 << 20) /* bytes; an INI file longer than this is something else */
#define SYSTEM_FILE "/etc/hspz.ini"

/* Files ----------------------------------------------------------------------------------------------------- */

int hspz_options_read_ini(hspz_options *options, int origin, const char *name, const char *text,
                          size_t length, hspz_failure *failure)
{
    return hspz__ini_read(options, origin, name, text, length, failure);
}

static int read_open_file(hspz_options *options, int origin, const char *path, FILE *file, char *text,
                          hspz_failure *failure)
{
    const size_t length = fread(text, 1, CONFIG_FILE_MOST + 1, file);
    if (ferror(file))
        return hspz_failed(failure, HSPZ_EXIT_USAGE, "%s: cannot read this configuration file: %s", path,
                           strerror(errno));
    if (length > CONFIG_FILE_MOST)
        return hspz_failed(failure, HSPZ_EXIT_USAGE,
                           "%s: a configuration file of more than %zu bytes is not read", path,
                           CONFIG_FILE_MOST);
    snprintf(options->source_file[origin], HSPZ_OPTION_PATH, "%s", path);
    return hspz__ini_read(options, origin, path, text, length, failure);
}

int hspz_options_read_file(hspz_options *options, int origin, const char *path, bool must_exist,
                           hspz_failure *failure)
{
    if (strlen(path) >= HSPZ_OPTION_PATH)
        return hspz_failed(failure, HSPZ_EXIT_USAGE,
                           "the path of a configuration file has %zu bytes, more than %d", strlen(path),
                           HSPZ_OPTION_PATH - 1);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        if (!must_exist && (errno == ENOENT || errno == ENOTDIR))
            return HSPZ_EXIT_OK;
        return hspz_failed(failure, HSPZ_EXIT_USAGE, "%s: cannot open this configuration file: %s", path,
                           strerror(errno));
    }
    char *text = malloc(CONFIG_FILE_MOST + 1);
    const int rc = text == NULL ? hspz_failed_memory(failure, "a configuration file", CONFIG_FILE_MOST + 1)
                                : read_open_file(options, origin, path, file, text, failure);
    free(text);
    (void)fclose(file); /* was only read */
    return rc;
}

/* Environment ----------------------------------------------------------------------------------------------- */

static const char *variable(char *const environment[], const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; environment != NULL && environment[i] != NULL; i++)
        if (strncmp(environment[i], name, length) == 0 && environment[i][length] == '=')
            return environment[i] + length + 1;
    return NULL;
}

/* HSPZ_ names that are no settings: the system file, the loader's path, and what the project's tests and benchmarks hand around. */
static bool is_no_setting(const char *name, size_t length)
{
    static const char *const names[] = {"HSPZ_SYSTEM_CONFIG", "HSPZ_PLUGIN_PATH", "HSPZ_BUILD", "HSPZ_DATA"};
    static const char *const prefixes[] = {"HSPZ_TEST_", "HSPZ_BENCH_", "HSPZ_FUZZ_", "HSPZ_AB_"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
            return true;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (length > strlen(prefixes[i]) && memcmp(prefixes[i], name, strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static int refuse_variable(const char *name, size_t length, hspz_failure *failure)
{
    char copy[128];
    const char *names[HSPZ_OPTION_ROWS_MAX];
    snprintf(copy, sizeof copy, "%.*s", (int)(length < 100 ? length : 100), name);
    for (size_t i = 0; i < hspz__options_count; i++)
        names[i] = hspz__options_table[i].environment;
    const char *near = hspz__nearest(copy, names, hspz__options_count);
    return hspz_failed(failure, HSPZ_EXIT_USAGE, "environment: unknown variable %s%s%s%s", copy,
                       near != NULL ? ", did you mean " : "", near != NULL ? near : "",
                       near != NULL ? "?" : "");
}

int hspz_options_read_environment(hspz_options *options, char *const environment[], hspz_failure *failure)
{
    const char *seen[HSPZ_OPTION_ROWS_MAX] = {NULL};
    for (size_t i = 0; environment != NULL && environment[i] != NULL; i++) {
        const char *name = environment[i], *equals = strchr(name, '=');
        if (equals == NULL)
            continue;
        const size_t length = (size_t)(equals - name);
        const hspz__option *option = hspz__option_by_environment(name, length);
        if (option == NULL && (strncmp(name, "HSPZ_", 5) != 0 || is_no_setting(name, length)))
            continue;
        if (option == NULL)
            return refuse_variable(name, length, failure);
        const size_t row = hspz__option_index(option);
        if (seen[row] != NULL && strcmp(seen[row], equals + 1) != 0)
            return hspz_failed(
                failure, HSPZ_EXIT_USAGE,
                "environment: %.*s = '%.100s' contradicts '%.100s' of another variable for the same setting",
                (int)length, name, equals + 1, seen[row]);
        seen[row] = equals + 1;
        char where[128];
        snprintf(where, sizeof where, "environment: %.*s", (int)length, name);
        const int rc =
            hspz__option_assign(options, option, HSPZ_ORIGIN_ENVIRONMENT, 0, where, equals + 1, failure);
        if (rc != HSPZ_EXIT_OK)
            return rc;
    }
    return HSPZ_EXIT_OK;
}

/* The chain ------------------------------------------------------------------------------------------------- */

static int read_user_file(hspz_options *options, char *const environment[], hspz_failure *failure)
{
    char path[HSPZ_OPTION_PATH];
    const char *base = variable(environment, "XDG_CONFIG_HOME"), *home = variable(environment, "HOME");
    int length;
    if (base != NULL && base[0] == '/')
        length = snprintf(path, sizeof path, "%s/hspz/hspz.ini", base);
    else if (home != NULL && home[0] == '/')
        length = snprintf(path, sizeof path, "%s/.config/hspz/hspz.ini", home);
    else
        return HSPZ_EXIT_OK;
    if (length < 0 || (size_t)length >= sizeof path)
        return hspz_failed(failure, HSPZ_EXIT_USAGE,
                           "the path of the user's configuration file has more than %d bytes",
                           HSPZ_OPTION_PATH - 1);
    return hspz_options_read_file(options, HSPZ_ORIGIN_USER, path, false, failure);
}

/* Defaults, the three files, the environment. `config` is the file that the command line names, or "". */
static int read_below_arguments(hspz_options *options, const char *config, char *const environment[],
                                hspz_failure *failure)
{
    const char *system = variable(environment, "HSPZ_SYSTEM_CONFIG");
    int rc = hspz_options_read_file(options, HSPZ_ORIGIN_SYSTEM,
                                    system != NULL && *system != '\0' ? system : SYSTEM_FILE,
                                    system != NULL && *system != '\0', failure);
    if (rc == HSPZ_EXIT_OK)
        rc = read_user_file(options, environment, failure);
    if (rc == HSPZ_EXIT_OK && *config == '\0' && variable(environment, "HSPZ_CONFIG") != NULL)
        config = variable(environment, "HSPZ_CONFIG");
    if (rc == HSPZ_EXIT_OK && *config != '\0')
        rc = hspz_options_read_file(options, HSPZ_ORIGIN_CONFIG, config, true, failure);
    if (rc == HSPZ_EXIT_OK)
        rc = hspz_options_read_environment(options, environment, failure);
    return rc;
}

/* --help and --version win over whatever else is wrong. */
static void look_for_help(hspz_options *options, int count, char *const arguments[])
{
    for (int i = 0; i < count && strcmp(arguments[i], "--") != 0; i++) {
        if (strcmp(arguments[i], "--help") == 0 || strcmp(arguments[i], "-h") == 0)
            options->show_help = 1;
        if (strcmp(arguments[i], "--version") == 0)
            options->show_version = 1;
    }
}

int hspz_options_load(hspz_options *options, int command, int count, char *const arguments[],
                      char *const environment[], hspz_failure *failure)
{
    hspz_options_defaults(options);
    options->command = command;
    look_for_help(options, count, arguments);
    if (options->show_help || options->show_version)
        return HSPZ_EXIT_OK;

    /* The command line is read twice: for --config first, and again on top of everything below it. */
    char config[HSPZ_OPTION_PATH];
    int rc = hspz_options_read_arguments(options, count, arguments, failure);
    if (rc != HSPZ_EXIT_OK)
        return rc;
    memcpy(config, options->config, sizeof config);
    hspz_options_defaults(options);
    options->command = command;
    rc = read_below_arguments(options, config, environment, failure);
    if (rc == HSPZ_EXIT_OK)
        rc = hspz_options_read_arguments(options, count, arguments, failure);
    if (rc == HSPZ_EXIT_OK)
        rc = hspz_options_check(options, failure);
    return rc;
}
