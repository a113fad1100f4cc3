/* options_load.c -- see options_load.h */
#include "options_load.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MOST 64
#define TEXT_MOST 16384

/* Cuts a copy of `text`, kept in `copy`, at '|' into `words`, NULL-terminated. */
static int split(const char *text, char copy[TEXT_MOST], char *words[WORDS_MOST])
{
    int count = 0;
    cr_assert(strlen(text) < TEXT_MOST);
    strcpy(copy, text);
    for (char *start = copy; count < WORDS_MOST - 1;) {
        words[count++] = start;
        char *bar = strchr(start, '|');
        if (bar == NULL)
            break;
        *bar = '\0';
        start = bar + 1;
    }
    words[count] = NULL;
    return count;
}

int load_line(hspz_options *options, const char *line, const char *environment, hspz_failure *failure)
{
    static char words_copy[TEXT_MOST], variables_copy[TEXT_MOST]; /* operands point into the first */
    static char nothing[] = "HSPZ_SYSTEM_CONFIG=/dev/null";
    char *words[WORDS_MOST], *variables[WORDS_MOST + 1];
    const int count = split(line, words_copy, words);
    const int command = hspz_command_by_name(words[0]);
    cr_assert(command >= 0, "no command in '%s'", line);
    int variable_count = 0;
    if (environment != NULL)
        variable_count = split(environment, variables_copy, variables);
    if (environment == NULL || strstr(environment, "HSPZ_SYSTEM_CONFIG=") == NULL)
        variables[variable_count++] = nothing; /* not the file of this machine */
    variables[variable_count] = NULL;
    memset(failure, 0, sizeof *failure);
    return hspz_options_load(options, command, count - 1, words + 1, variables, failure);
}

void load_or_fail(hspz_options *options, const char *line, const char *environment)
{
    hspz_failure failure;
    const int rc = load_line(options, line, environment, &failure);
    cr_assert(rc == HSPZ_EXIT_OK, "'%s': %s", line, failure.text);
}

const char *write_file(const char *name, const char *text, size_t length)
{
    static char directory[64] = "";
    static char paths[16][128];
    static size_t used = 0;
    if (directory[0] == '\0') {
        strcpy(directory, "/tmp/hspz_options_XXXXXX");
        cr_assert(mkdtemp(directory) != NULL);
    }
    char *path = paths[used++ % 16];
    snprintf(path, 128, "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    cr_assert(file != NULL);
    cr_assert(fwrite(text, 1, length, file) == length);
    cr_assert(fclose(file) == 0);
    return path;
}

char *printed(print_options *print, const hspz_options *options)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cr_assert(out != NULL);
    print(out, options);
    cr_assert(fclose(out) == 0);
    return text;
}
