/* help.c -- what the command says about itself: usage, help by stage, settings in force, sample file, scores.
 *
 * Idea: everything is printed from the option table and from a struct of defaults, so that no text can go stale.
 */
#include "option_table.h"
#include "scores.h"

#include <inttypes.h>
#include <string.h>

#define TEXT_COLUMN 30 /* where explanations start */
#define LINE_WIDTH 100

typedef struct command_text {
    const char *name, *operands, *summary;
} command_text;

#define ROW(constant, name, operands, least, most, summary) {name, operands, summary},
static const command_text commands[HSPZ_COMMAND_COUNT] = {HSPZ_COMMAND_TABLE(ROW)};
#undef ROW

static void print_commands(FILE *out)
{
    for (size_t i = 0; i < HSPZ_COMMAND_COUNT; i++)
        fprintf(out, "  hspz %-8s %-26s  %s\n", commands[i].name, commands[i].operands, commands[i].summary);
}

void hspz_options_print_usage(FILE *out)
{
    fprintf(out, "usage:\n");
    print_commands(out);
    fprintf(out, "`hspz --help` and `hspz COMMAND --help` say more.\n");
}

/* Words of `text` from column `column` on, wrapped and indented to `indent`. */
static void print_wrapped(FILE *out, const char *text, size_t column, size_t indent)
{
    bool first = true;
    while (*text != '\0') {
        const size_t length = strcspn(text, " ");
        if (!first && column + 1 + length > LINE_WIDTH) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
            first = true;
        }
        column += (size_t)fprintf(out, "%s%.*s", first ? "" : " ", (int)length, text);
        first = false;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

/* What a value is called in help. */
static void value_name(const hspz__option *option, char *text, size_t size)
{
    static const char *const names[HSPZ__TYPE_COUNT] = {
        [HSPZ__TYPE_INTEGER] = "N",   [HSPZ__TYPE_SIZE] = "SIZE",      [HSPZ__TYPE_TEXT] = "TEXT",
        [HSPZ__TYPE_PATH] = "FILE",   [HSPZ__TYPE_SEED] = "SEED",      [HSPZ__TYPE_FORMAT] = "FORMAT",
        [HSPZ__TYPE_CHOICE] = "WORD", [HSPZ__TYPE_AMBIGUOUS] = "WORD", [HSPZ__TYPE_DEVICE] = "DEVICE"};
    snprintf(text, size, "%s", names[option->type] != NULL ? names[option->type] : "");
}

/* Adds a part of the parenthesis behind an explanation. */
static void add_part(char *text, size_t size, const char *label, const char *part)
{
    const size_t used = strlen(text);
    if (part != NULL && *part != '\0' && used < size)
        snprintf(text + used, size - used, "%s%s%s", used > 0 ? "; " : "", label, part);
}

/* "--name VALUE", "--noname, --name" or "-o, --output FILE". */
static void option_head(const hspz__option *option, char *text, size_t size)
{
    char value[32];
    value_name(option, value, sizeof value);
    if (option->letter != 0)
        snprintf(text, size, "  -%c, --%s %s", option->letter, option->name, value);
    else if (option->type != HSPZ__TYPE_SWITCH)
        snprintf(text, size, "      --%s %s", option->name, value);
    else if (option->initial != 0)
        snprintf(text, size, "      --no%s, --%s", option->name, option->name);
    else
        snprintf(text, size, "      --%s", option->name);
}

static void print_option(FILE *out, const hspz__option *option, const hspz_options *defaults)
{
    char head[128], range[512], initial[HSPZ__VALUE_TEXT], parts[1024] = "", text[2048];
    option_head(option, head, sizeof head);
    hspz__option_range(option, range, sizeof range);
    hspz__option_format(defaults, option, initial);
    if (option->type != HSPZ__TYPE_TEXT &&
        option->type != HSPZ__TYPE_PATH) /* a number of bytes helps nobody */
        add_part(parts, sizeof parts, "", range);
    add_part(parts, sizeof parts, "", option->unit);
    add_part(parts, sizeof parts, "also --", option->other_name);
    add_part(parts, sizeof parts, "default ", *initial != '\0' ? initial : "none");
    snprintf(text, sizeof text, "%s (%s)", option->help, parts);

    size_t column = (size_t)fprintf(out, "%s", head);
    if (column + 2 > TEXT_COLUMN) {
        fputc('\n', out);
        column = 0;
    }
    column += (size_t)fprintf(out, "%*s", (int)(TEXT_COLUMN - column), "");
    print_wrapped(out, text, column, TEXT_COLUMN);
}

static void print_general(FILE *out)
{
    fprintf(
        out,
        "\nhspz finds the high-scoring ungapped segment pairs (HSPs) of two genomes through a plugin.\n\n");
    print_commands(out);
    fprintf(
        out,
        "\n  hspz --help | --version, hspz COMMAND --help\n\nSettings, each source over those before it\n");
    fprintf(out,
            "  defaults, /etc/hspz.ini (or the file named by HSPZ_SYSTEM_CONFIG),\n"
            "  $XDG_CONFIG_HOME/hspz/hspz.ini or ~/.config/hspz/hspz.ini, --config FILE, HSPZ_* variables,\n"
            "  command line. `hspz config` shows every setting with its value and where it came from.\n"
            "\nExit status\n");
#define EXIT_ROW(name, code, text) fprintf(out, "  %d  %s\n", code, text);
    HSPZ_EXIT_TABLE(EXIT_ROW)
#undef EXIT_ROW
    fprintf(
        out,
        "\nExample\n  hspz align target.2bit query.fa.gz -o out > commands.sh && sh commands.sh > out.maf\n");
}

static void print_group(FILE *out, int group, int command, const hspz_options *defaults)
{
    bool titled = false;
    for (size_t i = 0; i < hspz__options_count; i++) {
        const hspz__option *option = &hspz__options_table[i];
        if (option->group != group || (option->commands >> command & 1u) == 0)
            continue;
        if (!titled)
            fprintf(out, "\n%s\n", hspz__group_titles[group]);
        titled = true;
        print_option(out, option, defaults);
    }
    if (group == HSPZ__GROUP_OUTPUT)
        fprintf(out, "  -q, -v                      the same as --log-level error, --log-level debug\n");
    if (group == HSPZ__GROUP_CONFIGURATION)
        fprintf(out, "      --set KEY=VALUE         set any key of the INI file; `hspz config` lists them\n"
                     "  -h, --help                  print this and exit\n"
                     "      --version               print the version and exit\n");
}

static const char *example_of(int command)
{
    switch (command) {
    case HSPZ_COMMAND_ALIGN:
        return "hspz align hg38.2bit mm39.2bit -o out --device cuda --nogapped";
    case HSPZ_COMMAND_COMPARE:
        return "hspz compare t.fa q.fa --plugin build/hspz_plugin.so --against build/hspz_oracle.so";
    case HSPZ_COMMAND_INFO:
        return "hspz info --plugin build/hspz_plugin.so";
    case HSPZ_COMMAND_CONFIG:
        return "hspz config --sample > ~/.config/hspz/hspz.ini";
    case HSPZ_COMMAND_CONFORM:
        return "hspz conform ./my_plugin.so";
    case HSPZ_COMMAND_BENCH:
        return "hspz bench t.fa q.fa --threads 1";
    case HSPZ_COMMAND_DOTPLOT:
        return "hspz dotplot out.segments -o out.svg";
    default:
        return "hspz rescore t.fa q.fa out.segments -o best.segments";
    }
}

void hspz_options_print_help(FILE *out, int command)
{
    if (command < 0 || command >= HSPZ_COMMAND_COUNT) {
        fprintf(out, "usage: hspz COMMAND [operands] [options]\n");
        print_general(out);
        return;
    }
    hspz_options defaults;
    hspz_options_defaults(&defaults);
    const command_text *text = &commands[command];
    fprintf(out, "usage: hspz %s %s%s[options]\n\n%s\n", text->name, text->operands,
            *text->operands != '\0' ? " " : "", text->summary);
    for (int group = 0; group < HSPZ__GROUP_COUNT; group++)
        print_group(out, group, command, &defaults);
    fprintf(out, "\nIn names of options '-', '_' and '.' are the same. A switch is also --NAME=on|off.\n");
    fprintf(out, "\nExample\n  %s\n", example_of(command));
}

/* hspz config ----------------------------------------------------------------------------------------------- */

static void origin_text(const hspz_options *options, size_t row, char *text, size_t size)
{
    static const char *const names[HSPZ_ORIGIN_COUNT] = {"default",     "system file", "user file",
                                                         "config file", "environment", "command line"};
    const int source = options->origin[row].source;
    if (options->origin[row].line > 0)
        snprintf(text, size, "%s, line %" PRIu32, options->source_file[source], options->origin[row].line);
    else
        snprintf(text, size, "%s", names[source]);
}

void hspz_options_print_config(FILE *out, const hspz_options *options)
{
    hspz_options defaults;
    char value[HSPZ__VALUE_TEXT], initial[HSPZ__VALUE_TEXT], range[512], origin[HSPZ_OPTION_PATH + 32];
    hspz_options_defaults(&defaults);
    for (int group = 0; group < HSPZ__GROUP_CONFIGURATION; group++) {
        fprintf(out, "%s[%s]\n", group > 0 ? "\n" : "", hspz__group_sections[group]);
        for (size_t i = 0; i < hspz__options_count; i++) {
            const hspz__option *option = &hspz__options_table[i];
            if (option->group != group || option->key == NULL)
                continue;
            hspz__option_format(options, option, value);
            hspz__option_format(&defaults, option, initial);
            hspz__option_range(option, range, sizeof range);
            origin_text(options, i, origin, sizeof origin);
            fprintf(out, "%-22s = %-10s ; %s: %s%s%s; default %s; from %s\n", option->key, value,
                    hspz__option_type_name(option), range, option->unit != NULL ? "; " : "",
                    option->unit != NULL ? option->unit : "", *initial != '\0' ? initial : "none", origin);
        }
    }
}

/* A comment of several lines. */
static void print_comment(FILE *out, const char *text)
{
    size_t column = 0;
    while (*text != '\0') {
        const size_t length = strcspn(text, " ");
        if (column > 0 && column + 1 + length > LINE_WIDTH) {
            fputc('\n', out);
            column = 0;
        }
        column += (size_t)fprintf(out, "%s%.*s", column == 0 ? "; " : " ", (int)length, text);
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

void hspz_options_print_sample(FILE *out)
{
    hspz_options defaults;
    char value[HSPZ__VALUE_TEXT], range[512], text[2048];
    hspz_options_defaults(&defaults);
    fprintf(out, "; Settings of hspz, each with its default. `hspz config --sample` prints this file.\n"
                 "; Read from /etc/hspz.ini, then ~/.config/hspz/hspz.ini, then --config FILE; later ones "
                 "win, and so do\n"
                 "; the environment (HSPZ_XDROP=800) and the command line (--xdrop 800). A comment starts "
                 "with ; or #.\n"
                 "; Settings marked (tuning) change speed or memory, never results.\n");
    for (int group = 0; group < HSPZ__GROUP_CONFIGURATION; group++) {
        fprintf(out, "\n[%s]\n", hspz__group_sections[group]);
        for (size_t i = 0; i < hspz__options_count; i++) {
            const hspz__option *option = &hspz__options_table[i];
            if (option->group != group || option->key == NULL)
                continue;
            hspz__option_range(option, range, sizeof range);
            snprintf(text, sizeof text, "%s%s: %s%s%s%s", option->help,
                     option->kind == HSPZ__KIND_TUNING ? " (tuning)" : "", range,
                     option->unit != NULL ? " (" : "", option->unit != NULL ? option->unit : "",
                     option->unit != NULL ? ")" : "");
            hspz__option_format(&defaults, option, value);
            fputc('\n', out);
            print_comment(out, text);
            fprintf(out, "%s =%s%s\n", option->key, *value != '\0' ? " " : "", value);
        }
    }
}

void hspz_options_print_matrix(FILE *out, const hspz_options *options)
{
    static const char *const classes[HSPZ__SCORE_CLASSES] = {"A", "C",     "G", "T", "acgt",
                                                             "N", "IUPAC", "&", "X"};
    int64_t scores[HSPZ__SCORE_CLASSES][HSPZ__SCORE_CLASSES];
    hspz__scores_effective(options, scores);
    fprintf(out, "# rows: target, columns: query; acgt: soft-masked bases, IUPAC: B D H K M R S V W Y, &: "
                 "between records\n");
    fprintf(out, "%-6s", "");
    for (int query = 0; query < HSPZ__SCORE_CLASSES; query++)
        fprintf(out, " %8s", classes[query]);
    fputc('\n', out);
    for (int target = 0; target < HSPZ__SCORE_CLASSES; target++) {
        fprintf(out, "%-6s", classes[target]);
        for (int query = 0; query < HSPZ__SCORE_CLASSES; query++)
            fprintf(out, " %8" PRId64, scores[target][query]);
        fputc('\n', out);
    }
}
