/* options_values.c -- every option by every spelling; numbers, sizes, and what reaches the plugin. */
#include "options_load.h"
#include "sizes.h"

#include <criterion/criterion.h>

#include <string.h>

/* A value that differs from the default, for any row. */
static const char *other_value(const hspz__option *option)
{
    switch (option->type) {
    case HSPZ__TYPE_SWITCH:
        return option->initial != 0 ? "off" : "on";
    case HSPZ__TYPE_CHOICE:
        return option->choices[option->initial == 0 ? 1 : 0];
    case HSPZ__TYPE_INTEGER:
    case HSPZ__TYPE_SIZE:
        return "17";
    case HSPZ__TYPE_SEED:
        return "14of22";
    case HSPZ__TYPE_FORMAT:
        return "general:name1,start1";
    case HSPZ__TYPE_AMBIGUOUS:
        return "iupac,3,4";
    case HSPZ__TYPE_DEVICE:
        return "cuda:2";
    default:
        return "some_text.x";
    }
}

static int command_of(const hspz__option *option)
{
    for (int command = 0; command < HSPZ_COMMAND_COUNT; command++)
        if (option->commands >> command & 1u)
            return command;
    return -1;
}

static void expect_row(const hspz_options *options, const hspz__option *option, const char *spelling)
{
    char text[HSPZ__VALUE_TEXT];
    hspz__option_format(options, option, text);
    cr_expect(strcmp(text, other_value(option)) == 0, "%s %s became '%s'", spelling, other_value(option),
              text);
    cr_expect(options->origin[hspz__option_index(option)].source == HSPZ_ORIGIN_COMMAND_LINE);
}

/* Reads one option in a spelling through read_arguments, which judges values but not combinations. */
static void try_spelling(const hspz__option *option, const char *name, bool joined)
{
    hspz_options options;
    hspz_failure failure;
    char first[160], second[64];
    snprintf(second, sizeof second, "%s", other_value(option));
    if (joined || option->type == HSPZ__TYPE_SWITCH)
        snprintf(first, sizeof first, "--%s=%s", name, second);
    else
        snprintf(first, sizeof first, "--%s", name);
    char *arguments[] = {first, second, NULL};
    hspz_options_defaults(&options);
    options.command = command_of(option);
    const int count = joined || option->type == HSPZ__TYPE_SWITCH ? 1 : 2;
    const int rc = hspz_options_read_arguments(&options, count, arguments, &failure);
    cr_assert(rc == HSPZ_EXIT_OK, "%s: %s", first, failure.text);
    expect_row(&options, option, first);
}

Test(options_values, every_option_by_its_spellings)
{
    for (size_t i = 0; i < hspz__options_count; i++) {
        const hspz__option *option = &hspz__options_table[i];
        const char *const names[2] = {option->name, option->other_name};
        for (size_t k = 0; k < 2 && names[k] != NULL; k++) {
            char under[64], dotted[64];
            snprintf(under, sizeof under, "%s", names[k]);
            snprintf(dotted, sizeof dotted, "%s", names[k]);
            for (char *p = under; *p != '\0'; p++)
                *p = *p == '-' ? '_' : *p;
            for (char *p = dotted; *p != '\0'; p++)
                *p = *p == '-' ? '.' : *p;
            for (int joined = 0; joined < 2; joined++) {
                try_spelling(option, names[k], joined);
                try_spelling(option, under, joined);
                try_spelling(option, dotted, joined);
            }
        }
    }
}

Test(options_values, every_switch_can_be_turned)
{
    for (size_t i = 0; i < hspz__options_count; i++) {
        const hspz__option *option = &hspz__options_table[i];
        if (option->type != HSPZ__TYPE_SWITCH)
            continue;
        static const char *const openings[] = {"--", "--no", "--no-"};
        for (size_t form = 0; form < 3; form++) {
            hspz_options options;
            hspz_failure failure;
            char word[80];
            snprintf(word, sizeof word, "%s%s", openings[form], option->name);
            char *arguments[] = {word, NULL};
            hspz_options_defaults(&options);
            options.command = command_of(option);
            *hspz__option_number(&options, option) = form != 0;
            cr_assert(hspz_options_read_arguments(&options, 1, arguments, &failure) == HSPZ_EXIT_OK, "%s",
                      failure.text);
            cr_expect(*hspz__option_number(&options, option) == (form == 0), "%s", word);
        }
    }
}

Test(options_values, every_row_by_environment_and_key)
{
    for (size_t i = 0; i < hspz__options_count; i++) {
        const hspz__option *option = &hspz__options_table[i];
        const char *const names[2] = {option->environment, option->other_environment};
        hspz_options options;
        hspz_failure failure;
        char text[HSPZ__VALUE_TEXT];
        for (size_t k = 0; k < 2 && names[k] != NULL; k++) {
            char variable[160];
            snprintf(variable, sizeof variable, "%s=%s", names[k], other_value(option));
            char *environment[] = {variable, NULL};
            hspz_options_defaults(&options);
            cr_assert(hspz_options_read_environment(&options, environment, &failure) == HSPZ_EXIT_OK, "%s",
                      failure.text);
            hspz__option_format(&options, option, text);
            cr_expect(strcmp(text, other_value(option)) == 0, "%s", variable);
            cr_expect(options.origin[i].source == HSPZ_ORIGIN_ENVIRONMENT);
        }
        if (option->key == NULL)
            continue;
        hspz_options_defaults(&options);
        cr_assert(hspz_options_set(&options, HSPZ_ORIGIN_CONFIG, option->key, other_value(option),
                                   &failure) == HSPZ_EXIT_OK);
        cr_assert(hspz_options_value(&options, option->key, text, sizeof text, &failure) == HSPZ_EXIT_OK);
        cr_expect(strcmp(text, other_value(option)) == 0, "%s", option->key);
    }
}

/* No two rows share a name, and every name is found again. */
Test(options_values, names_are_unique)
{
    for (size_t i = 0; i < hspz__options_count; i++) {
        const hspz__option *option = &hspz__options_table[i];
        cr_expect(hspz__option_find(option->name) == option, "%s", option->name);
        cr_expect(option->help != NULL && *option->help != '\0' && option->commands != 0, "%s", option->name);
        cr_expect(option->key == NULL || hspz__option_by_key(option->key) == option, "%s", option->name);
        cr_expect(option->environment == NULL ||
                      hspz__option_by_environment(option->environment, strlen(option->environment)) == option,
                  "%s", option->name);
    }
}

Test(options_values, the_commands_of_kegalign)
{
    hspz_options o;
    load_or_fail(
        &o,
        "align|t.fa|q.fa|--output|d|--strand|minus|--seed|14of22|--step=3|--notransition|--xdrop|800|"
        "--hspthresh|2500|--noentropy|--ambiguous|n,10,20|--wga_chunk_size|50000|--lastz_interval_size|"
        "1000000|"
        "--seq_block_size|1000|--nogapped|--ydrop|5000|--gappedthresh|2800|--notrivial|--format|axt+|"
        "--target_prefix|hg38.|--query_prefix|mm39.|--num_threads|3",
        NULL);
    cr_expect(o.strand == HSPZ_STRANDS_MINUS && strcmp(o.seed_pattern, "1110101100110010101111") == 0);
    cr_expect(o.step == 3 && o.transition == 0 && o.xdrop == 800 && o.hspthresh == 2500 && o.entropy == 0);
    cr_expect(o.ambiguous == HSPZ_AMBIGUOUS_N && o.ambiguous_reward == 10 && o.ambiguous_penalty == 20);
    cr_expect(o.wga_chunk_size == 50000 && o.lastz_interval_size == 1000000 && o.seq_block_size == 1000);
    cr_expect(o.gapped == 0 && o.ydrop == 5000 && o.gappedthresh == 2800 && o.trivial == 0);
    cr_expect(strcmp(o.format, "axt+") == 0 && strcmp(o.target_prefix, "hg38.") == 0);
    cr_expect(strcmp(o.query_prefix, "mm39.") == 0 && o.threads == 3);
    cr_expect(o.operand_count == 2 && strcmp(o.operands[0], "t.fa") == 0 &&
              strcmp(o.operands[1], "q.fa") == 0);
}

Test(options_values, operands_and_values_that_look_like_options)
{
    hspz_options o;
    load_or_fail(&o, "align|--target-prefix|--a_b.c|--output|out_dir|--|-t_t|--q_q", NULL);
    cr_expect(strcmp(o.target_prefix, "--a_b.c") == 0, "values keep their spelling: %s", o.target_prefix);
    cr_expect(strcmp(o.output, "out_dir") == 0);
    cr_expect(strcmp(o.operands[0], "-t_t") == 0 && strcmp(o.operands[1], "--q_q") == 0);
    load_or_fail(&o, "align|a_b|-|-oout_dir", NULL);
    cr_expect(strcmp(o.operands[0], "a_b") == 0 && strcmp(o.operands[1], "-") == 0);
    cr_expect(strcmp(o.output, "out_dir") == 0);
    load_or_fail(&o, "align|a|b|--output=x=y_z|-v", NULL);
    cr_expect(strcmp(o.output, "x=y_z") == 0 && o.log_level == HSPZ_LOG_DEBUG);
    load_or_fail(&o, "align|a|b|-qo|x", NULL);
    cr_expect(o.log_level == HSPZ_LOG_ERROR);
}

Test(options_values, what_the_check_resolves)
{
    hspz_options o;
    load_or_fail(&o, "align|a|b|-o|x|--hspthresh|2200", NULL);
    cr_expect(o.gappedthresh == 2200 && strcmp(o.seed_pattern, "1110100110010101111") == 0);
    load_or_fail(&o, "align|a|b|-o|x|--hspthresh|2200|--gappedthresh|hspthresh", NULL);
    cr_expect(o.gappedthresh == 2200);
    load_or_fail(&o, "align|a|b|-o|x|--backend|cpu", NULL);
    cr_expect(o.device == HSPZ_BACKEND_CPU);
    load_or_fail(&o, "align|a|b|-o|x|--device|cuda:all|--backend|cuda", NULL);
    cr_expect(o.device == HSPZ_BACKEND_CUDA && o.device_index == HSPZ_DEVICE_INDEX_ALL);
    load_or_fail(&o, "align|a|b|-o|-", NULL);
    cr_expect(o.gapped == 0, "segments on stdout leave no room for lastz commands");
    load_or_fail(&o, "align|a|b|-o|x|--seed|0011101T0110|--dedup|lastz", NULL);
    cr_expect_str_eq(o.seed_pattern, "11101T011", "LASTZ drops outer zeros");
    load_or_fail(&o, "align|a|b|-o|x|--seed|0011101T0110", NULL);
    cr_expect_str_eq(o.seed_pattern, "0011101T0110", "KegAlign keeps them");
    load_or_fail(&o, "align|a|b|-o|x|--ambiguous|iupac,7", NULL);
    cr_expect(o.ambiguous == HSPZ_AMBIGUOUS_IUPAC && o.ambiguous_reward == 0 && o.ambiguous_penalty == 7);
    load_or_fail(&o, "align|--help|--nonsense|-o", NULL);
    cr_expect(o.show_help == 1 && o.show_version == 0);
    load_or_fail(&o, "align|--version", NULL);
    cr_expect(o.show_version == 1);
}

Test(options_values, engine_parameters)
{
    hspz_options o;
    hspz_engine_params p;
    load_or_fail(
        &o,
        "align|a|b|-o|x|--seed|11T10111|--notransition|--step|7|--xdrop|500|--hspthresh|1000|--noentropy|"
        "--ambiguous|n,1,2|--dedup|maximal|--max-hits|64Ki",
        NULL);
    hspz_options_engine_params(&o, &p);
    cr_expect(p.struct_size == sizeof p && p.device == HSPZ_DEVICE_AUTO && p.query_slots == 1);
    cr_expect(strcmp(p.seed_pattern, "11T10111") == 0 && p.transitions == 0 && p.step == 7);
    cr_expect(p.xdrop == 500 && p.hspthresh == 1000 && p.entropy == 0 && p.dedup == HSPZ_DEDUP_MAXIMAL);
    cr_expect(p.ambiguous == HSPZ_AMBIGUOUS_N && p.ambiguous_reward == 1 && p.ambiguous_penalty == 2);
    cr_expect(p.max_hits == 65536 && p.bad_score == -1000 && p.fill_score == -100);
    cr_expect(p.scores[0] == 91 && p.scores[1] == -114 && p.scores[5] == 100 && p.scores[15] == 91);
    load_or_fail(&o, "align|a|b|-o|x|--max-hits|device", NULL);
    hspz_options_engine_params(&o, &p);
    cr_expect(p.max_hits == HSPZ_MAX_HITS_DEVICE && p.transitions == 1 && p.entropy == 1);
}

Test(options_values, knobs_reach_the_plugin_only_when_set)
{
    hspz_options o;
    load_or_fail(&o, "align|a|b|-o|x", NULL);
    for (size_t i = 0; i < hspz__options_count; i++)
        if (hspz__options_table[i].key != NULL)
            cr_expect(hspz_options_knob(&o, hspz__options_table[i].key) == NULL, "%s",
                      hspz__options_table[i].key);
    load_or_fail(
        &o,
        "align|a|b|-o|x|--set|device.memory_limit=2Gi|--threads|4|--gate=join|--backend-cpu-isa|avx2|"
        "--set|HSPZ_REF_BUCKETS=0|--xdrop|800",
        "HSPZ_CHUNK_WALK=full|HSPZ_REF_BUCKET_SHIFT=20");
    cr_expect(strcmp(hspz_options_knob(&o, "device.memory_limit"), "2147483648") == 0);
    cr_expect(strcmp(hspz_options_knob(&o, "threads"), "4") == 0);
    cr_expect(strcmp(hspz_options_knob(&o, "gate"), "join") == 0);
    cr_expect(strcmp(hspz_options_knob(&o, "backend.cpu_isa"), "avx2") == 0);
    cr_expect(strcmp(hspz_options_knob(&o, "HSPZ_REF_BUCKETS"), "0") == 0);
    cr_expect(strcmp(hspz_options_knob(&o, "HSPZ_CHUNK_WALK"), "full") == 0);
    cr_expect(strcmp(hspz_options_knob(&o, "HSPZ_REF_BUCKET_SHIFT"), "20") == 0);
    cr_expect(hspz_options_knob(&o, "xdrop") == NULL, "results do not depend on knobs");
    cr_expect(hspz_options_knob(&o, "no such knob") == NULL);
}

Test(options_values, numbers)
{
    static const struct {
        const char *text;
        bool suffixes;
        hspz__number answer;
        int64_t value;
    } rows[] = {
        {"0", false, HSPZ__NUMBER_OK, 0},
        {"+7", false, HSPZ__NUMBER_OK, 7},
        {"-7", false, HSPZ__NUMBER_OK, -7},
        {"007", false, HSPZ__NUMBER_OK, 7},
        {"9223372036854775807", false, HSPZ__NUMBER_OK, INT64_MAX},
        {"-9223372036854775808", false, HSPZ__NUMBER_OK, INT64_MIN},
        {"9223372036854775808", false, HSPZ__NUMBER_RANGE, 0},
        {"-9223372036854775809", false, HSPZ__NUMBER_RANGE, 0},
        {"", false, HSPZ__NUMBER_EMPTY, 0},
        {"-", false, HSPZ__NUMBER_GARBAGE, 0},
        {"--1", false, HSPZ__NUMBER_GARBAGE, 0},
        {"1K", false, HSPZ__NUMBER_GARBAGE, 0},
        {"K", true, HSPZ__NUMBER_GARBAGE, 0},
        {"1K", true, HSPZ__NUMBER_OK, 1000},
        {"1Ki", true, HSPZ__NUMBER_OK, 1024},
        {"2M", true, HSPZ__NUMBER_OK, 2000000},
        {"2Mi", true, HSPZ__NUMBER_OK, 2097152},
        {"3G", true, HSPZ__NUMBER_OK, 3000000000},
        {"3Gi", true, HSPZ__NUMBER_OK, 3221225472},
        {"3g", true, HSPZ__NUMBER_OK, 3000000000},
        {"1KiB", true, HSPZ__NUMBER_GARBAGE, 0},
        {"1 K", true, HSPZ__NUMBER_GARBAGE, 0},
        {"9223372036854775807K", true, HSPZ__NUMBER_RANGE, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t value = 4711;
        const hspz__number answer =
            hspz__number_parse(rows[i].text, rows[i].suffixes, INT64_MIN, INT64_MAX, &value);
        cr_expect(answer == rows[i].answer, "'%s' answers %d", rows[i].text, answer);
        cr_expect(value == (answer == HSPZ__NUMBER_OK ? rows[i].value : 4711), "'%s'", rows[i].text);
    }
    for (int64_t value = 1; value < INT64_MAX / 4; value = value * 3 / 2 + 3) {
        char text[32];
        int64_t back = 0;
        hspz__number_format(-value, true, text);
        cr_expect(hspz__number_parse(text, true, INT64_MIN, INT64_MAX, &back) == HSPZ__NUMBER_OK &&
                      back == -value,
                  "%s", text);
    }
}
