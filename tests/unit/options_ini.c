/* options_ini.c -- INI text: what is accepted, what is refused with its line, and random settings there and back. */
#include "options_load.h"

#include <criterion/criterion.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int read_text(hspz_options *options, const char *text, size_t length, hspz_failure *failure)
{
    hspz_options_defaults(options);
    memset(failure, 0, sizeof *failure);
    return hspz_options_read_ini(options, HSPZ_ORIGIN_CONFIG, "file.ini", text, length, failure);
}

Test(options_ini, forms_that_are_accepted)
{
    static const char *const texts[] = {
        "[extension]\nxdrop = 77\n",
        "[extension]\nxdrop=77",
        "[extension]\r\nxdrop = 77\r\n",
        "\xef\xbb\xbf[extension]\nxdrop = 77\n",
        "\n\n; comment\n# comment\n   [extension]   ; comment\n\t xdrop\t=\t77\t# comment\n",
        "[extension]\nxdrop: 77\n",
        "[extension]\nentropy = off\n  xdrop = 77\n",
        "[seeding]\n[extension]\n[extension]\nxdrop = 77 ; once\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        hspz_options options;
        hspz_failure failure;
        const int rc = read_text(&options, texts[i], strlen(texts[i]), &failure);
        cr_expect(rc == HSPZ_EXIT_OK, "text %zu: %s", i, failure.text);
        cr_expect(options.xdrop == 77, "text %zu gives %ld", i, (long)options.xdrop);
    }
    hspz_options options;
    hspz_failure failure;
    char comment[10000];
    memset(comment, 'x', sizeof comment);
    comment[0] = '#';
    cr_expect(read_text(&options, comment, sizeof comment, &failure) == HSPZ_EXIT_OK,
              "a long comment is a comment");
    cr_expect(read_text(&options, "", 0, &failure) == HSPZ_EXIT_OK, "an empty file sets nothing");
}

typedef struct refusal {
    const char *text;
    const char *says[3];
} refusal;

Test(options_ini, refusals_name_the_line)
{
    static const refusal refusals[] = {
        {"[extension]\nxdrop = 12x\n",
         {"file.ini, line 2: key 'xdrop'", "'12x' is not a whole number", "1..214748364"}},
        {"[extension]\n\nxdrop = -5\n", {"file.ini, line 3", "out of range"}},
        {"[extension]\nxdrop =\n", {"line 2", "''"}},
        {"[extension]\nxdorp = 5\n", {"line 2: unknown key 'xdorp', did you mean 'xdrop'?"}},
        {"[seeding]\nmax_hits = 5\n", {"unknown key 'max_hits', did you mean 'MAX_HITS'?"}},
        {"[extension]\nfrobnicate = 5\n", {"unknown key 'frobnicate'; `hspz config`"}},
        {"[seeding]\nxdrop = 5\n", {"line 2: key 'xdrop' belongs in section [extension], not in [seeding]"}},
        {"xdrop = 5\n", {"line 1: key 'xdrop' belongs in section [extension], not before any section"}},
        {"[extension]\nxdrop = 5\nhspthresh = 3\nxdrop = 5\n",
         {"line 4: key 'xdrop' is already set in line 2"}},
        {"[seeding]\nMAX_HITS = 5\nMAX.HITS = 5\n", {"line 3: key 'MAX.HITS' is already set in line 2"}},
        {"[extensoin]\n", {"line 1: unknown section [extensoin], did you mean [extension]"}},
        {"[configuration]\n", {"unknown section [configuration]"}},
        {"[]\n", {"unknown section []"}},
        {"[extension\n", {"line 1: section '[extension' lacks its ']'"}},
        {"[extension] xdrop = 5\n", {"line 1:", "follows the section's ']'"}},
        {"[extension]\nxdrop\n", {"line 2: neither 'key = value' nor '[section]'"}},
        {"[extension]\n= 5\n", {"line 2: unknown key ''"}},
        {"[seeding]\nseed = 111\n", {"line 2: key 'seed'", "word of 6 bits"}},
        {"[device]\nHSPZ_REF_BUCKETS = 2\n", {"key 'HSPZ_REF_BUCKETS': '2' is unknown", "auto | 1 | 0"}},
        {"[device]\nconfig = x\n", {"unknown key 'config'"}},
        {"\xff\xfe[\n", {"line 1"}},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        hspz_options options;
        hspz_failure failure;
        const int rc = read_text(&options, refusals[i].text, strlen(refusals[i].text), &failure);
        cr_expect(rc == HSPZ_EXIT_USAGE, "'%s' answers %d", refusals[i].text, rc);
        for (size_t k = 0; k < 3 && refusals[i].says[k] != NULL; k++)
            cr_expect(strstr(failure.text, refusals[i].says[k]) != NULL, "says '%s', not '%s'", failure.text,
                      refusals[i].says[k]);
    }
}

Test(options_ini, lines_that_would_be_cut)
{
    hspz_options options;
    hspz_failure failure;
    char text[10240];
    for (size_t length = 150; length < 260; length++) { /* around what inih can hold */
        const int used = snprintf(text, sizeof text, "[device]\nplugin = ");
        memset(text + used, 'p', length);
        const int rc = read_text(&options, text, (size_t)used + length, &failure);
        if (rc == HSPZ_EXIT_OK)
            cr_expect(strlen(options.plugin) == length, "%zu of %zu bytes arrive", strlen(options.plugin),
                      length);
        else
            cr_expect(length > 185 && strstr(failure.text, "file.ini, line 2: a line of") != NULL, "%zu: %s",
                      length, failure.text);
    }
    memset(text, 'k', sizeof text);
    cr_expect(read_text(&options, text, sizeof text, &failure) == HSPZ_EXIT_USAGE);
    cr_expect(strstr(failure.text, "line 1: a line of 10240 bytes") != NULL, "%s", failure.text);
}

Test(options_ini, nul_bytes)
{
    static const char text[] = "[extension]\nxdrop = 5\0\n";
    hspz_options options;
    hspz_failure failure;
    cr_expect(read_text(&options, text, sizeof text - 1, &failure) == HSPZ_EXIT_USAGE);
    cr_expect(strstr(failure.text, "line 2: a NUL byte") != NULL, "%s", failure.text);
}

/* A random value of a row, as text. */
static void random_value(const hspz__option *option, char *text, size_t size)
{
    static const char *const seeds[] = {"12of19", "14of22", "1111", "T1T1T1T1T1", "10101010101T"};
    static const char *const devices[] = {"auto", "cpu", "cuda", "cuda:7", "cuda:all"};
    static const char *const ambiguous[] = {"none", "n", "n,3,4", "iupac", "iupac,0,9"};
    size_t choices = 0;
    switch (option->type) {
    case HSPZ__TYPE_SWITCH:
        snprintf(text, size, "%s", rand() % 2 ? "on" : "off");
        break;
    case HSPZ__TYPE_CHOICE:
    case HSPZ__TYPE_FORMAT:
        while (option->choices[choices] != NULL)
            choices++;
        cr_assert(choices > 0);
        snprintf(text, size, "%s", option->choices[(size_t)rand() % choices]);
        break;
    case HSPZ__TYPE_INTEGER:
    case HSPZ__TYPE_SIZE: {
        const int64_t span = option->most - option->least < 1000000 ? option->most - option->least : 1000000;
        snprintf(text, size, "%" PRId64, option->least + rand() % (span + 1));
        break;
    }
    case HSPZ__TYPE_SEED:
        snprintf(text, size, "%s", seeds[rand() % 5]);
        break;
    case HSPZ__TYPE_AMBIGUOUS:
        snprintf(text, size, "%s", ambiguous[rand() % 5]);
        break;
    case HSPZ__TYPE_DEVICE:
        snprintf(text, size, "%s", devices[rand() % 5]);
        break;
    default:
        snprintf(text, size, "text/%d", rand());
        break;
    }
}

static size_t write_setting(char *out, size_t size, const hspz__option *option, const hspz_options *options)
{
    char value[HSPZ__VALUE_TEXT];
    hspz__option_format(options, option, value);
    return (size_t)snprintf(out, size, "[%s]\n%s = %s\n", hspz__group_sections[option->group], option->key,
                            value);
}

Test(options_ini, random_settings_there_and_back)
{
    static char text[65536];
    srand(20240607);
    for (int round = 0; round < 300; round++) {
        hspz_options first, second;
        hspz_failure failure;
        size_t used = 0;
        hspz_options_defaults(&first);
        for (size_t i = 0; i < hspz__options_count; i++) {
            const hspz__option *option = &hspz__options_table[i];
            char value[128];
            if (option->key == NULL || rand() % 3 == 0)
                continue;
            random_value(option, value, sizeof value);
            cr_assert(hspz_options_set(&first, HSPZ_ORIGIN_CONFIG, option->key, value, &failure) ==
                          HSPZ_EXIT_OK,
                      "%s", failure.text);
            used += write_setting(text + used, sizeof text - used, option, &first);
        }
        cr_assert(read_text(&second, text, used, &failure) == HSPZ_EXIT_OK, "%s", failure.text);
        for (size_t i = 0; i < hspz__options_count; i++) {
            char a[HSPZ__VALUE_TEXT], b[HSPZ__VALUE_TEXT];
            hspz__option_format(&first, &hspz__options_table[i], a);
            hspz__option_format(&second, &hspz__options_table[i], b);
            cr_assert(strcmp(a, b) == 0, "round %d: %s is '%s' and '%s'", round, hspz__options_table[i].name,
                      a, b);
        }
    }
}
