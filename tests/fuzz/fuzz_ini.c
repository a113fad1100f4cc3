/* fuzz_ini.c -- any bytes as an INI file.
 *
 * Either the text is refused with one sentence, or every setting is within its range and, written out and read again,
 * is the same.
 */
#include "option_table.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            abort();                                                                                         \
    } while (0)

static void check_range(hspz_options *options, const hspz__option *option)
{
    const int64_t value = *hspz__option_number(options, option);
    size_t choices = 0;
    switch (option->type) {
    case HSPZ__TYPE_SWITCH:
        MUST(value == 0 || value == 1);
        break;
    case HSPZ__TYPE_CHOICE:
        while (option->choices[choices] != NULL)
            choices++;
        MUST(value >= 0 && (size_t)value < choices);
        break;
    case HSPZ__TYPE_INTEGER:
    case HSPZ__TYPE_SIZE:
        MUST((value >= option->least && value <= option->most) ||
             (option->word != NULL && value == option->word_value));
        break;
    default:
        break;
    }
}

/* A value that was accepted is accepted again as it is printed, and printed alike. */
static void check_again(const hspz_options *options, const hspz__option *option)
{
    static hspz_options again;
    char text[HSPZ__VALUE_TEXT], second[HSPZ__VALUE_TEXT];
    hspz_failure failure;
    hspz__option_format(options, option, text);
    hspz_options_defaults(&again);
    MUST(hspz__option_parse(&again, option, "again", text, &failure) == HSPZ_EXIT_OK);
    hspz__option_format(&again, option, second);
    MUST(strcmp(text, second) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static hspz_options options;
    hspz_failure failure = {0};
    hspz_options_defaults(&options);
    const int rc =
        hspz_options_read_ini(&options, HSPZ_ORIGIN_CONFIG, "fuzz.ini", (const char *)data, size, &failure);
    if (rc != HSPZ_EXIT_OK) {
        MUST(rc == HSPZ_EXIT_USAGE && failure.exit_code == rc && failure.text[0] != '\0');
        MUST(strncmp(failure.text, "fuzz.ini, line ", 15) == 0);
        return 0;
    }
    for (size_t i = 0; i < hspz__options_count; i++) {
        if (options.origin[i].source == HSPZ_ORIGIN_DEFAULT)
            continue;
        MUST(options.origin[i].line > 0);
        check_range(&options, &hspz__options_table[i]);
        check_again(&options, &hspz__options_table[i]);
    }
    options.scoring[0] = '\0'; /* no file of the machine is opened */
    (void)!hspz_options_check(&options, &failure);
    return 0;
}
