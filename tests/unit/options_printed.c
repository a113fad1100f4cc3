/* options_printed.c -- help, `hspz config`, the sample file and the files in configs/. */
#include "options_load.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

static void help_of(FILE *out, const hspz_options *options)
{
    hspz_options_print_help(out, options->command);
}

static void general_help(FILE *out, const hspz_options *options)
{
    (void)options;
    hspz_options_print_help(out, -1);
}

static void usage(FILE *out, const hspz_options *options)
{
    (void)options;
    hspz_options_print_usage(out);
}

static void sample(FILE *out, const hspz_options *options)
{
    (void)options;
    hspz_options_print_sample(out);
}

/* The text without line breaks and runs of blanks. */
static void flatten(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        const char c = (char)(*from == '\n' ? ' ' : *from);
        if (c != ' ' || (to > text && to[-1] != ' '))
            *to++ = c;
    }
    *to = '\0';
}

Test(options_printed, help_lists_every_row_with_its_default)
{
    hspz_options defaults;
    hspz_options_defaults(&defaults);
    for (int command = 0; command < HSPZ_COMMAND_COUNT; command++) {
        defaults.command = command;
        char *text = printed(help_of, &defaults);
        for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
            cr_expect(end - line <= 100 && (end == line || end[-1] != ' '), "'%.*s'", (int)(end - line),
                      line);
        flatten(text);
        for (size_t i = 0; i < hspz__options_count; i++) {
            const hspz__option *option = &hspz__options_table[i];
            char name[64], value[HSPZ__VALUE_TEXT], expected[HSPZ__VALUE_TEXT + 16];
            snprintf(name, sizeof name, " --%s ", option->name);
            const char *place = strstr(text, name);
            const bool takes = (option->commands >> command & 1u) != 0;
            cr_expect((place != NULL) == takes, "command %d, option %s", command, option->name);
            if (place == NULL)
                continue;
            hspz__option_format(&defaults, option, value);
            snprintf(expected, sizeof expected, "default %s)", *value != '\0' ? value : "none");
            cr_expect(strstr(place, option->help) != NULL && strstr(place, expected) != NULL, "%s: %s",
                      option->name, expected);
        }
        cr_expect(strstr(text, "Example") != NULL && strstr(text, "--help") != NULL);
        free(text);
    }
}

Test(options_printed, general_help_and_usage)
{
    hspz_options defaults;
    hspz_options_defaults(&defaults);
    char *help = printed(general_help, &defaults), *brief = printed(usage, &defaults);
#define NAMED(constant, name, operands, least, most, summary)                                                \
    cr_expect(strstr(help, "hspz " name) != NULL && strstr(help, summary) != NULL &&                         \
              strstr(brief, "hspz " name) != NULL);
    HSPZ_COMMAND_TABLE(NAMED)
#undef NAMED
#define TOLD(name, code, text) cr_expect(strstr(help, "  " #code "  " text) != NULL, "%s", text);
    HSPZ_EXIT_TABLE(TOLD)
#undef TOLD
    free(help);
    free(brief);
}

Test(options_printed, config_shows_value_and_origin)
{
    hspz_options options;
    const char *path = write_file("shown.ini", "[seeding]\nstep = 7\n", strlen("[seeding]\nstep = 7\n"));
    char line[256], expected[512];
    snprintf(line, sizeof line, "config|--config|%s|--xdrop|800", path);
    load_or_fail(&options, line, "HSPZ_GATE=warp");
    char *text = printed(hspz_options_print_config, &options);
    snprintf(
        expected, sizeof expected,
        "step                   = 7          ; number: 1..2147483647; bases; default 1; from %s, line 2\n",
        path);
    cr_expect(strstr(text, expected) != NULL, "%s", text);
    cr_expect(
        strstr(text,
               "xdrop                  = 800        ; number: 1..214748364; score; default 910; from command "
               "line\n") != NULL);
    cr_expect(
        strstr(
            text,
            "gate                   = warp       ; choice: auto | warp | thread | join; default auto; from "
            "environment\n") != NULL);
    cr_expect(strstr(text,
                     "hspthresh              = 3000       ; number: 1..2147483647; score; default 3000; from "
                     "default\n") != NULL);
    for (size_t i = 0; i < hspz__options_count; i++) {
        char key[80];
        if (hspz__options_table[i].key == NULL)
            continue;
        snprintf(key, sizeof key, "\n%-22s = ", hspz__options_table[i].key);
        cr_expect(strstr(text, key) != NULL, "%s", key);
    }
    free(text);
}

Test(options_printed, the_sample_is_the_defaults)
{
    hspz_options defaults, read;
    hspz_failure failure;
    hspz_options_defaults(&defaults);
    char *text = printed(sample, &defaults);
    hspz_options_defaults(&read);
    cr_assert(hspz_options_read_ini(&read, HSPZ_ORIGIN_CONFIG, "sample", text, strlen(text), &failure) ==
                  HSPZ_EXIT_OK,
              "%s", failure.text);
    for (size_t i = 0; i < hspz__options_count; i++) {
        char a[HSPZ__VALUE_TEXT], b[HSPZ__VALUE_TEXT];
        const hspz__option *option = &hspz__options_table[i];
        hspz__option_format(&defaults, option, a);
        hspz__option_format(&read, option, b);
        cr_expect(strcmp(a, b) == 0, "%s", option->name);
        cr_expect(read.origin[i].source == (option->key != NULL ? HSPZ_ORIGIN_CONFIG : HSPZ_ORIGIN_DEFAULT),
                  "%s", option->name);
    }
    free(text);
}

Test(options_printed, configs_hspz_ini_is_the_sample)
{
    static char file_text[65536];
    FILE *file = fopen("configs/hspz.ini", "rb");
    cr_assert(file != NULL, "run from the top of the repository");
    const size_t length = fread(file_text, 1, sizeof file_text - 1, file);
    cr_assert(fclose(file) == 0);
    file_text[length] = '\0';
    hspz_options defaults;
    hspz_options_defaults(&defaults);
    char *text = printed(sample, &defaults);
    cr_expect(strcmp(text, file_text) == 0, "hspz config --sample > configs/hspz.ini");
    free(text);
}

Test(options_printed, every_file_in_configs_loads)
{
    static const char *const names[] = {"hspz", "lastz", "close", "distant", "kegalign", "small-memory"};
    hspz_options options;
    char line[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(line, sizeof line, "align|a|b|-o|x|--config|configs/%s.ini", names[i]);
        load_or_fail(&options, line, NULL);
    }
    load_or_fail(&options, "align|a|b|-o|x|--config|configs/lastz.ini", NULL);
    cr_expect(options.dedup == HSPZ_DEDUP_LASTZ);
    load_or_fail(&options, "align|a|b|-o|x|--config|configs/kegalign.ini", NULL);
    cr_expect(options.max_hits == HSPZ_MAX_HITS_DEVICE);
}
