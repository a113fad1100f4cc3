/* options.c -- defaults, setting by name, the judgement of combinations, and the way to the plugin; see options.h */
#include "options.h"

#include "option_table.h"
#include "scores.h"

#include <inttypes.h>
#include <string.h>

void hspz_options_defaults(hspz_options *options)
{
    memset(options, 0, sizeof *options);
    options->command = HSPZ_COMMAND_CONFIG;
    options->device_index = HSPZ_DEVICE_INDEX_BEST;
    for (size_t i = 0; i < hspz__options_count; i++) {
        const hspz__option *option = &hspz__options_table[i];
        if (option->initial_text != NULL)
            snprintf(hspz__option_text(options, option), option->capacity, "%s", option->initial_text);
        else
            *hspz__option_number(options, option) = option->initial;
    }
    hspz__scores scores;
    hspz__scores_default(&scores);
    memcpy(options->scores, scores.matrix, sizeof options->scores);
    options->bad_score = scores.bad_score;
    options->fill_score = scores.fill_score;
}

int hspz_command_by_name(const char *name)
{
#define NAME(constant, text, operands, least, most, summary) text,
    static const char *const names[HSPZ_COMMAND_COUNT] = {HSPZ_COMMAND_TABLE(NAME)};
#undef NAME
    for (int i = 0; i < HSPZ_COMMAND_COUNT; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static int refuse_key(const char *key, hspz_failure *failure)
{
    const char *keys[2 * HSPZ_OPTION_ROWS_MAX];
    for (size_t i = 0; i < hspz__options_count; i++) {
        keys[2 * i] = hspz__options_table[i].key;
        keys[2 * i + 1] = hspz__options_table[i].name;
    }
    const char *near = hspz__nearest(key, keys, 2 * hspz__options_count);
    return hspz_failed(failure, HSPZ_EXIT_USAGE, "unknown key '%.100s'%s%s%s", key,
                       near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                       near != NULL ? "'?" : "; `hspz config` lists all keys");
}

int hspz_options_set(hspz_options *options, int origin, const char *key, const char *value,
                     hspz_failure *failure)
{
    const hspz__option *option = hspz__option_find(key);
    if (option == NULL || option->key == NULL)
        return refuse_key(key, failure);
    char where[160];
    snprintf(where, sizeof where, "key '%.100s'", key);
    return hspz__option_assign(options, option, origin, 0, where, value, failure);
}

int hspz_options_value(const hspz_options *options, const char *key, char *text, size_t size,
                       hspz_failure *failure)
{
    const hspz__option *option = hspz__option_find(key);
    if (option == NULL)
        return refuse_key(key, failure);
    char value[HSPZ__VALUE_TEXT];
    hspz__option_format(options, option, value);
    if (strlen(value) >= size)
        return hspz_failed(failure, HSPZ_EXIT_USAGE, "the value of '%.100s' has %zu bytes, more than %zu",
                           key, strlen(value), size == 0 ? 0 : size - 1);
    memcpy(text, value, strlen(value) + 1);
    return HSPZ_EXIT_OK;
}

/* Judgement ------------------------------------------------------------------------------------------------- */

static int origin_of(const hspz_options *options, const char *key)
{
    return options->origin[hspz__option_index(hspz__option_find(key))].source;
}

/* The right number of operands, and what a command cannot do without. */
static int check_command(const hspz_options *options, hspz_failure *failure)
{
    static const struct {
        const char *name, *operands;
        int least, most;
    } commands[HSPZ_COMMAND_COUNT] = {
#define ROW(constant, name, operands, least, most, summary) {name, operands, least, most},
        HSPZ_COMMAND_TABLE(ROW)
#undef ROW
    };
    const char *name = commands[options->command].name;
    if (options->operand_count < commands[options->command].least)
        return hspz_failed(failure, HSPZ_EXIT_USAGE, "hspz %s: expected %s, found %d operand%s", name,
                           commands[options->command].operands, options->operand_count,
                           options->operand_count == 1 ? "" : "s");
    if (options->operand_count > commands[options->command].most)
        return hspz_failed(failure, HSPZ_EXIT_USAGE, "hspz %s: unexpected operand '%.200s'; expected %s",
                           name, options->operands[commands[options->command].most],
                           commands[options->command].most == 0 ? "none"
                                                                : commands[options->command].operands);
    int inputs_on_stdin = 0;
    for (int i = 0; i < options->operand_count; i++)
        inputs_on_stdin += strcmp(options->operands[i], "-") == 0;
    if (inputs_on_stdin > 1)
        return hspz_failed(failure, HSPZ_EXIT_USAGE, "hspz %s: only one input can come from stdin (-)", name);
    if (options->command == HSPZ_COMMAND_ALIGN && options->output[0] == '\0')
        return hspz_failed(
            failure, HSPZ_EXIT_USAGE,
            "hspz align: --output is missing; expected a directory, FILE.segments, or - for stdout");
    if (options->command == HSPZ_COMMAND_COMPARE && options->against[0] == '\0')
        return hspz_failed(failure, HSPZ_EXIT_USAGE,
                           "hspz compare: --against is missing; expected the plugin to compare with");
    return HSPZ_EXIT_OK;
}

/* stdout has one use. */
static int check_stdout(hspz_options *options, hspz_failure *failure)
{
    const bool segments = strcmp(options->output, "-") == 0, stats = strcmp(options->stats, "-") == 0;
    if (options->command != HSPZ_COMMAND_ALIGN)
        return HSPZ_EXIT_OK;
    if (segments && options->gapped && origin_of(options, "gapped") == HSPZ_ORIGIN_COMMAND_LINE)
        return hspz_failed(failure, HSPZ_EXIT_USAGE,
                           "--output - and --gapped both want stdout; give a directory or drop --gapped");
    if (segments)
        options->gapped = 0;
    if (stats && (segments || options->gapped))
        return hspz_failed(
            failure, HSPZ_EXIT_USAGE, "--stats - and %s both want stdout; give --stats a file%s",
            segments ? "--output -" : "the lastz commands", segments ? "" : " or add --nogapped");
    return HSPZ_EXIT_OK;
}

/* `device` and the knob `backend` say the same; one may be silent, they may not differ. */
static int check_device(hspz_options *options, hspz_failure *failure)
{
    static const char *const names[] = {"auto", "cpu", "cuda"};
    if (options->backend == HSPZ_BACKEND_AUTO || options->backend == options->device)
        return HSPZ_EXIT_OK;
    if (options->device != HSPZ_BACKEND_AUTO)
        return hspz_failed(failure, HSPZ_EXIT_USAGE, "device = %s contradicts backend = %s",
                           names[options->device], names[options->backend]);
    options->device = options->backend;
    options->origin[hspz__option_index(hspz__option_find("device"))] =
        options->origin[hspz__option_index(hspz__option_find("backend"))];
    return HSPZ_EXIT_OK;
}

/* LASTZ drops the 0s at both ends of a pattern; positions, windows and anchors then count from what is left. KegAlign keeps
 * them. The pattern holds a 1 or a T, or it would have been refused. */
static void drop_outer_zeros(char *pattern)
{
    const size_t first = strspn(pattern, "0");
    size_t last = strlen(pattern);
    while (last > first && pattern[last - 1] == '0')
        last--;
    memmove(pattern, pattern + first, last - first);
    pattern[last - first] = '\0';
}

static int check_values(hspz_options *options, hspz_failure *failure)
{
    char reason[256];
    if (!hspz__seed_pattern(options->seed, options->seed_pattern, reason))
        return hspz_failed(failure, HSPZ_EXIT_USAGE, "seed '%.100s' %s", options->seed, reason);
    if (options->dedup == HSPZ_DEDUP_LASTZ)
        drop_outer_zeros(options->seed_pattern);
    if (origin_of(options, "gappedthresh") == HSPZ_ORIGIN_DEFAULT || options->gappedthresh == 0)
        options->gappedthresh = options->hspthresh;
    if (options->ambiguous == HSPZ_AMBIGUOUS_NONE)
        options->ambiguous_reward = options->ambiguous_penalty = 0;

    hspz__scores scores;
    hspz__scores_default(&scores);
    if (options->scoring[0] != '\0') {
        const int rc = hspz__scores_read(&scores, options->scoring, failure);
        if (rc != HSPZ_EXIT_OK)
            return rc;
    }
    memcpy(options->scores, scores.matrix, sizeof options->scores);
    options->bad_score = scores.bad_score;
    options->fill_score = scores.fill_score;
    return HSPZ_EXIT_OK;
}

/* Texts of the knobs that do not stand at their default. */
static void prepare_knobs(hspz_options *options)
{
    for (size_t i = 0; i < hspz__options_count; i++) {
        const hspz__option *option = &hspz__options_table[i];
        options->knob_text[i][0] = '\0';
        if (option->kind != HSPZ__KIND_TUNING || *hspz__option_number(options, option) == option->initial)
            continue;
        char text[HSPZ__VALUE_TEXT];
        hspz__option_format(options, option, text);
        snprintf(options->knob_text[i], sizeof options->knob_text[i], "%.31s", text);
    }
}

int hspz_options_check(hspz_options *options, hspz_failure *failure)
{
    int rc = check_command(options, failure);
    if (rc == HSPZ_EXIT_OK)
        rc = check_stdout(options, failure);
    if (rc == HSPZ_EXIT_OK)
        rc = check_device(options, failure);
    if (rc == HSPZ_EXIT_OK)
        rc = check_values(options, failure);
    if (rc == HSPZ_EXIT_OK)
        prepare_knobs(options);
    return rc;
}

/* To the plugin --------------------------------------------------------------------------------------------- */

const char *hspz_options_knob(const hspz_options *options, const char *key)
{
    const hspz__option *option = hspz__option_by_key(key);
    if (option == NULL)
        return NULL;
    const char *text = options->knob_text[hspz__option_index(option)];
    return *text != '\0' ? text : NULL;
}

void hspz_options_engine_params(const hspz_options *options, hspz_engine_params *params)
{
    *params = (hspz_engine_params){
        .struct_size = sizeof *params,
        .device = HSPZ_DEVICE_AUTO,
        .seed_pattern = options->seed_pattern,
        .transitions = (uint32_t)options->transition,
        .step = (uint32_t)options->step,
        .xdrop = (int32_t)options->xdrop,
        .hspthresh = (int32_t)options->hspthresh,
        .entropy = (uint32_t)options->entropy,
        .ambiguous = (uint32_t)options->ambiguous,
        .ambiguous_reward = (int32_t)options->ambiguous_reward,
        .ambiguous_penalty = (int32_t)options->ambiguous_penalty,
        .bad_score = options->bad_score,
        .fill_score = options->fill_score,
        .dedup = (uint32_t)options->dedup,
        .query_slots = 1,
        .max_hits = (uint64_t)options->max_hits,
    };
    memcpy(params->scores, options->scores, sizeof params->scores);
}
