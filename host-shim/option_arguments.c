/* option_arguments.c -- the command line, by getopt_long over names made from the option table.
 *
 * Idea: getopt_long knows one spelling of a name, we accept three ('-', '_', '.'); so it works on a copy of the arguments in
 * which the names are spelt with '-', and values are taken from the originals. It accepts abbreviations, we do
 * not: a match must be as long as what was typed. getopt's state is global, so that one thread at a time may be here.
 */
#include "option_table.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum {
    CODE_OPTION = 256,
    CODE_NO = CODE_OPTION + HSPZ_OPTION_ROWS_MAX,
    CODE_SET = CODE_NO + HSPZ_OPTION_ROWS_MAX
};

/* name, other name, noNAME and no-NAME of every row, then --set and the end. */
#define NAMES_MOST (4 * HSPZ_OPTION_ROWS_MAX + 2)
#define NAME_SIZE 48

typedef struct command_line {
    hspz_options *options;
    hspz_failure *failure;
    int count;
    char *const *originals;
    char **copies; /* copies[0] is a program name that getopt skips */
    struct option names[NAMES_MOST];
    char spellings[NAMES_MOST][NAME_SIZE];
    size_t name_count;
    bool seen[HSPZ_OPTION_ROWS_MAX];
} command_line;

static void add_name(command_line *line, const char *prefix, const char *name, int has_argument, int code)
{
    char *spelling = line->spellings[line->name_count];
    snprintf(spelling, NAME_SIZE, "%s%s", prefix, name);
    line->names[line->name_count++] = (struct option){spelling, has_argument, NULL, code};
}

static void make_names(command_line *line)
{
    for (size_t i = 0; i < hspz__options_count; i++) {
        const hspz__option *option = &hspz__options_table[i];
        const bool is_switch = option->type == HSPZ__TYPE_SWITCH;
        add_name(line, "", option->name, is_switch ? optional_argument : required_argument,
                 CODE_OPTION + (int)i);
        if (option->other_name != NULL)
            add_name(line, "", option->other_name, required_argument, CODE_OPTION + (int)i);
        if (is_switch) {
            add_name(line, "no", option->name, no_argument, CODE_NO + (int)i);
            add_name(line, "no-", option->name, no_argument, CODE_NO + (int)i);
        }
    }
    add_name(line, "", "set", required_argument, CODE_SET);
}

/* Copies of the arguments whose names are spelt with '-'. Same lengths, so that places carry over. */
static int copy_arguments(command_line *line)
{
    line->copies = calloc((size_t)line->count + 2, sizeof *line->copies);
    if (line->copies == NULL)
        return hspz_failed_memory(line->failure, "the command line",
                                  (size_t)line->count * sizeof *line->copies);
    for (int i = 0; i <= line->count; i++) {
        char *copy = strdup(i == 0 ? "hspz" : line->originals[i - 1]);
        if (copy == NULL)
            return hspz_failed_memory(line->failure, "the command line", 0);
        line->copies[i] = copy;
        if (strncmp(copy, "--", 2) == 0)
            for (char *p = copy + 2; *p != '\0' && *p != '='; p++)
                if (*p == '_' || *p == '.')
                    *p = '-';
    }
    return HSPZ_EXIT_OK;
}

static void free_copies(command_line *line)
{
    for (int i = 0; line->copies != NULL && i <= line->count; i++)
        free(line->copies[i]);
    free(line->copies);
}

/* The original text behind a pointer that getopt gave into the copies. */
static const char *original(const command_line *line, const char *place)
{
    for (int i = 1; i <= line->count && line->copies[i] != NULL; i++)
        if (place >= line->copies[i] && place <= line->copies[i] + strlen(line->copies[i]))
            return line->originals[i - 1] + (place - line->copies[i]);
    return place;
}

static int refuse_unknown(const command_line *line, const char *argument)
{
    char name[128];
    const char *spellings[NAMES_MOST];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(argument, "="), argument);
    if (strncmp(argument, "--", 2) != 0)
        return hspz_failed(line->failure, HSPZ_EXIT_USAGE,
                           "unknown option '%s'; `hspz --help` lists what there is", name);
    for (size_t i = 0; i < line->name_count; i++)
        spellings[i] = line->spellings[i];
    const char *near = hspz__nearest(name + 2, spellings, line->name_count);
    return hspz_failed(line->failure, HSPZ_EXIT_USAGE, "unknown option '%s'%s%s%s", name,
                       near != NULL ? ", did you mean --" : "", near != NULL ? near : "",
                       near != NULL ? "?" : "; `hspz --help` lists what there is");
}

static int once(command_line *line, const hspz__option *option, const char *spelling)
{
    bool *seen = &line->seen[hspz__option_index(option)];
    if (*seen)
        return hspz_failed(line->failure, HSPZ_EXIT_USAGE,
                           "option %s: %s is set twice on the command line; one value is allowed", spelling,
                           option->name);
    *seen = true;
    return HSPZ_EXIT_OK;
}

static const char *command_name(int command)
{
#define NAME(constant, name, operands, least, most, summary) name,
    static const char *const names[] = {HSPZ_COMMAND_TABLE(NAME)};
#undef NAME
    return names[command];
}

static int assign(command_line *line, size_t row, const char *spelling, const char *value)
{
    const hspz__option *option = &hspz__options_table[row];
    char where[160];
    if ((option->commands >> line->options->command & 1u) == 0)
        return hspz_failed(line->failure, HSPZ_EXIT_USAGE, "option %s: hspz %s does not take it", spelling,
                           command_name(line->options->command));
    const int rc = once(line, option, spelling);
    if (rc != HSPZ_EXIT_OK)
        return rc;
    snprintf(where, sizeof where, "option %s", spelling);
    return hspz__option_assign(line->options, option, HSPZ_ORIGIN_COMMAND_LINE, 0, where, value,
                               line->failure);
}

static int assign_set(command_line *line, const char *text)
{
    char key[128];
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text || (size_t)(equals - text) >= sizeof key)
        return hspz_failed(line->failure, HSPZ_EXIT_USAGE, "option --set: '%.100s' is not KEY=VALUE", text);
    snprintf(key, sizeof key, "%.*s", (int)(equals - text), text);
    const hspz__option *option = hspz__option_find(key);
    const int rc = option != NULL ? once(line, option, "--set") : HSPZ_EXIT_OK;
    if (rc != HSPZ_EXIT_OK)
        return rc;
    return hspz_options_set(line->options, HSPZ_ORIGIN_COMMAND_LINE, key, equals + 1, line->failure);
}

/* -o and the like: the row that the letter belongs to. */
static size_t row_of_letter(int letter)
{
    for (size_t i = 0; i < hspz__options_count; i++)
        if (hspz__options_table[i].letter == letter)
            return i;
    return 0;
}

static int take_operand(command_line *line, const char *operand)
{
    hspz_options *options = line->options;
    if (options->operand_count == HSPZ_OPERANDS_MAX)
        return hspz_failed(line->failure, HSPZ_EXIT_USAGE, "too many operands, from '%.100s' on", operand);
    options->operands[options->operand_count++] = operand;
    return HSPZ_EXIT_OK;
}

static int take_long(command_line *line, int code, const char *argument, const char *matched)
{
    char spelling[NAME_SIZE + 2];
    const size_t typed = strcspn(argument + 2, "=");
    if (typed != strlen(matched)) /* getopt took an abbreviation */
        return refuse_unknown(line, argument);
    snprintf(spelling, sizeof spelling, "--%s", matched);
    const char *value = optarg != NULL ? original(line, optarg) : "on";
    if (code == CODE_SET)
        return assign_set(line, value);
    if (code >= CODE_NO)
        return assign(line, (size_t)(code - CODE_NO), spelling, "off");
    return assign(line, (size_t)(code - CODE_OPTION), spelling, value);
}

/* One answer of getopt_long. `argument` is the word it came from. */
static int take(command_line *line, int code, int index, const char *argument, const char *letters_argument)
{
    switch (code) {
    case 1: /* the leading '-' of the letters: an operand, in its place */
        return take_operand(line, original(line, optarg));
    case 'q':
        return assign(line, hspz__option_index(hspz__option_by_key("log_level")), "-q", "error");
    case 'v':
        return assign(line, hspz__option_index(hspz__option_by_key("log_level")), "-v", "debug");
    case 'o':
        return assign(line, row_of_letter(code), "-o", original(line, optarg));
    case ':':
        if (strncmp(argument, "--", 2) == 0 && strcspn(argument + 2, "=") != strlen(argument + 2))
            return refuse_unknown(line, argument);
        return hspz_failed(line->failure, HSPZ_EXIT_USAGE, "option %.100s: a value is missing", argument);
    case '?':
        if (strncmp(argument, "--no", 4) == 0 && strchr(argument, '=') != NULL)
            return hspz_failed(line->failure, HSPZ_EXIT_USAGE, "option %.100s: it takes no value", argument);
        return refuse_unknown(line, strncmp(argument, "--", 2) == 0 ? argument : letters_argument);
    default:
        return take_long(line, code, argument, line->names[index].name);
    }
}

static int walk(command_line *line)
{
    optind = 0; /* start anew; opterr off: we say what is wrong */
    opterr = 0;
    for (;;) {
        int index = 0;
        const int at = optind == 0 ? 1 : optind;
        const int code = getopt_long(line->count + 1, line->copies, "-:o:qv", line->names, &index);
        if (code == -1)
            break;
        char letter[3] = {'-', (char)optopt, '\0'};
        const char *argument = at <= line->count ? line->copies[at] : letter;
        const int rc = take(line, code, index, argument, letter);
        if (rc != HSPZ_EXIT_OK)
            return rc;
    }
    for (int i = optind; i <= line->count; i++) { /* behind "--" */
        const int rc = take_operand(line, line->originals[i - 1]);
        if (rc != HSPZ_EXIT_OK)
            return rc;
    }
    return HSPZ_EXIT_OK;
}

int hspz_options_read_arguments(hspz_options *options, int count, char *const arguments[],
                                hspz_failure *failure)
{
    command_line *line = calloc(1, sizeof *line);
    if (line == NULL)
        return hspz_failed_memory(failure, "the command line", sizeof *line);
    line->options = options;
    line->failure = failure;
    line->count = count;
    line->originals = arguments;
    options->operand_count = 0;
    make_names(line);
    int rc = copy_arguments(line);
    if (rc == HSPZ_EXIT_OK)
        rc = walk(line);
    free_copies(line);
    free(line);
    return rc;
}
