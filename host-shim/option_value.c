/* option_value.c -- one value from text and back, by the type of its row.
 *
 * Idea: what parse accepts, format writes, and range describes; the three stand together for each type. A refusal
 * names the place, the value and what is allowed.
 */
#include "option_table.h"
#include "sizes.h"

#include <inttypes.h>
#include <string.h>

int64_t *hspz__option_number(hspz_options *options, const hspz__option *option)
{
    return (int64_t *)(void *)((char *)options + option->offset);
}

char *hspz__option_text(hspz_options *options, const hspz__option *option)
{
    return (char *)options + option->offset;
}

static int64_t number_of(const hspz_options *options, const hspz__option *option)
{
    int64_t value;
    memcpy(&value, (const char *)options + option->offset, sizeof value);
    return value;
}

static int refuse(const hspz__option *option, const char *where, const char *text, const char *what,
                  hspz_failure *failure)
{
    char range[512];
    hspz__option_range(option, range, sizeof range);
    return hspz_failed(failure, HSPZ_EXIT_USAGE, "%s: '%.100s' %s; allowed: %s", where, text, what, range);
}

/* Numbers --------------------------------------------------------------------------------------------------- */

static int parse_number(const hspz__option *option, const char *where, const char *text, int64_t *value,
                        hspz_failure *failure)
{
    if (option->word != NULL && strcmp(text, option->word) == 0) {
        *value = option->word_value;
        return HSPZ_EXIT_OK;
    }
    switch (hspz__number_parse(text, option->type == HSPZ__TYPE_SIZE, option->least, option->most, value)) {
    case HSPZ__NUMBER_OK:
        return HSPZ_EXIT_OK;
    case HSPZ__NUMBER_RANGE:
        return refuse(option, where, text, "is out of range", failure);
    case HSPZ__NUMBER_EMPTY:
    case HSPZ__NUMBER_GARBAGE:
    default:
        return refuse(option, where, text, "is not a whole number", failure);
    }
}

static int parse_switch(const hspz__option *option, const char *where, const char *text, int64_t *value,
                        hspz_failure *failure)
{
    static const char *const words[] = {"off", "on", "no", "yes", "false", "true", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(text, words[i]) == 0) {
            *value = (int64_t)(i % 2);
            return HSPZ_EXIT_OK;
        }
    }
    return refuse(option, where, text, "is neither on nor off", failure);
}

static size_t list_length(const char *const *list)
{
    size_t length = 0;
    while (list[length] != NULL)
        length++;
    return length;
}

static int parse_choice(const hspz__option *option, const char *where, const char *text, int64_t *value,
                        hspz_failure *failure)
{
    const size_t count = list_length(option->choices);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, option->choices[i]) == 0) {
            *value = (int64_t)i;
            return HSPZ_EXIT_OK;
        }
    }
    const char *near = hspz__nearest(text, option->choices, count);
    char what[96];
    snprintf(what, sizeof what, "is unknown%s%s%s", near != NULL ? ", did you mean '" : "",
             near != NULL ? near : "", near != NULL ? "'" : "");
    return refuse(option, where, text, what, failure);
}

/* n[,R,P] and iupac[,R,P]; LASTZ's n,P too, where the one number is the penalty. */
static int parse_ambiguous(hspz_options *options, const hspz__option *option, const char *where,
                           const char *text, hspz_failure *failure)
{
    static const char *const words[] = {"none", "n", "iupac"};
    char copy[64];
    if (strlen(text) >= sizeof copy)
        return refuse(option, where, text, "is not understood", failure);
    memcpy(copy, text, strlen(text) + 1);

    const char *field[4] = {copy, NULL, NULL, NULL};
    size_t fields = 1;
    for (char *p = copy; *p != '\0'; p++) {
        if (*p != ',')
            continue;
        if (fields == 3)
            return refuse(option, where, text, "has too many numbers", failure);
        *p = '\0';
        field[fields++] = p + 1;
    }
    int64_t kind = -1, number[2] = {0, 0};
    for (int64_t i = 0; i < 3; i++)
        if (strcmp(field[0], words[i]) == 0)
            kind = i;
    if (kind < 0)
        return refuse(option, where, text, "is not understood", failure);
    if (kind == HSPZ_AMBIGUOUS_NONE && fields > 1)
        return refuse(option, where, text, "takes no numbers", failure);
    for (size_t i = 1; i < fields; i++) {
        const size_t place = fields == 2 ? 1 : i - 1;
        if (hspz__number_parse(field[i], false, option->least, option->most, &number[place]) !=
            HSPZ__NUMBER_OK)
            return refuse(option, where, text, "has a reward or penalty that is not in 0..1000000", failure);
    }
    options->ambiguous = kind;
    options->ambiguous_reward = number[0];
    options->ambiguous_penalty = number[1];
    return HSPZ_EXIT_OK;
}

static int parse_device(hspz_options *options, const hspz__option *option, const char *where,
                        const char *text, hspz_failure *failure)
{
    int64_t index = HSPZ_DEVICE_INDEX_BEST, kind;
    if (strcmp(text, "auto") == 0)
        kind = HSPZ_BACKEND_AUTO;
    else if (strcmp(text, "cpu") == 0)
        kind = HSPZ_BACKEND_CPU;
    else if (strcmp(text, "cuda") == 0)
        kind = HSPZ_BACKEND_CUDA;
    else if (strcmp(text, "cuda:all") == 0) {
        kind = HSPZ_BACKEND_CUDA;
        index = HSPZ_DEVICE_INDEX_ALL;
    } else if (strncmp(text, "cuda:", 5) == 0) {
        kind = HSPZ_BACKEND_CUDA;
        if (hspz__number_parse(text + 5, false, option->least, option->most, &index) != HSPZ__NUMBER_OK)
            return refuse(option, where, text, "has no device number that is usable", failure);
    } else
        return refuse(option, where, text, "is no device", failure);
    options->device = kind;
    options->device_index = index;
    return HSPZ_EXIT_OK;
}

/* Texts ----------------------------------------------------------------------------------------------------- */

static int check_text(const hspz__option *option, const char *where, const char *text, hspz_failure *failure)
{
    char reason[256], pattern[64];
    if (strlen(text) >= option->capacity)
        return hspz_failed(failure, HSPZ_EXIT_USAGE, "%s: the value has %zu bytes; allowed: at most %zu",
                           where, strlen(text), option->capacity - 1);
    for (const char *p = text; option->type != HSPZ__TYPE_PATH && *p != '\0'; p++)
        if ((unsigned char)*p <= ' ' || *p == 0x7f)
            return refuse(option, where, text, "contains white space or a control character", failure);
    if (option->type == HSPZ__TYPE_SEED && !hspz__seed_pattern(text, pattern, reason))
        return refuse(option, where, text, reason, failure);
    if (option->type == HSPZ__TYPE_FORMAT && strncmp(text, "general:", 8) != 0 &&
        strncmp(text, "general-:", 9) != 0) {
        int64_t index;
        return parse_choice(option, where, text, &index, failure);
    }
    return HSPZ_EXIT_OK;
}

bool hspz__seed_pattern(const char *text, char pattern[64], char reason[256])
{
    if (strcmp(text, "12of19") == 0)
        text = "1110100110010101111";
    else if (strcmp(text, "14of22") == 0)
        text = "1110101100110010101111";
    const size_t length = strlen(text);
    if (length == 0 || length > 32) {
        snprintf(reason, 256, "is a pattern of %zu symbols, not of 1..32", length);
        return false;
    }
    unsigned bits = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] != '0' && text[i] != '1' && text[i] != 'T') {
            snprintf(reason, 256, "has %s at place %zu of the pattern",
                     text[i] > ' ' && text[i] < 0x7f ? (char[]){'\'', text[i], '\'', '\0'} : "an odd byte",
                     i + 1);
            return false;
        }
        bits += text[i] == '1' ? 2 : text[i] == 'T';
    }
    if (bits < 8 || bits > 30) {
        snprintf(reason, 256, "has a word of %u bits (two a 1, one a T), not of 8..30", bits);
        return false;
    }
    memcpy(pattern, text, length + 1);
    return true;
}

/* By type --------------------------------------------------------------------------------------------------- */

int hspz__option_parse(hspz_options *options, const hspz__option *option, const char *where, const char *text,
                       hspz_failure *failure)
{
    int64_t value = 0;
    int rc;
    switch (option->type) {
    case HSPZ__TYPE_AMBIGUOUS:
        return parse_ambiguous(options, option, where, text, failure);
    case HSPZ__TYPE_DEVICE:
        return parse_device(options, option, where, text, failure);
    case HSPZ__TYPE_SWITCH:
        rc = parse_switch(option, where, text, &value, failure);
        break;
    case HSPZ__TYPE_CHOICE:
        rc = parse_choice(option, where, text, &value, failure);
        break;
    case HSPZ__TYPE_INTEGER:
    case HSPZ__TYPE_SIZE:
        rc = parse_number(option, where, text, &value, failure);
        break;
    default: /* texts */
        rc = check_text(option, where, text, failure);
        if (rc == HSPZ_EXIT_OK)
            memcpy(hspz__option_text(options, option), text, strlen(text) + 1);
        return rc;
    }
    if (rc == HSPZ_EXIT_OK)
        *hspz__option_number(options, option) = value;
    return rc;
}

int hspz__option_assign(hspz_options *options, const hspz__option *option, int origin, uint32_t line,
                        const char *where, const char *text, hspz_failure *failure)
{
    const int rc = hspz__option_parse(options, option, where, text, failure);
    if (rc == HSPZ_EXIT_OK) {
        options->origin[hspz__option_index(option)].source = (uint8_t)origin;
        options->origin[hspz__option_index(option)].line = line;
    }
    return rc;
}

static void format_device(const hspz_options *options, char text[HSPZ__VALUE_TEXT])
{
    static const char *const names[] = {"auto", "cpu", "cuda"};
    if (options->device_index >= 0)
        snprintf(text, HSPZ__VALUE_TEXT, "cuda:%" PRId64, options->device_index);
    else
        snprintf(text, HSPZ__VALUE_TEXT, "%s%s", names[options->device],
                 options->device_index == HSPZ_DEVICE_INDEX_ALL ? ":all" : "");
}

static void format_ambiguous(const hspz_options *options, char text[HSPZ__VALUE_TEXT])
{
    static const char *const names[] = {"none", "n", "iupac"};
    if (options->ambiguous_reward != 0 || options->ambiguous_penalty != 0)
        snprintf(text, HSPZ__VALUE_TEXT, "%s,%" PRId64 ",%" PRId64, names[options->ambiguous],
                 options->ambiguous_reward, options->ambiguous_penalty);
    else
        snprintf(text, HSPZ__VALUE_TEXT, "%s", names[options->ambiguous]);
}

void hspz__option_format(const hspz_options *options, const hspz__option *option, char text[HSPZ__VALUE_TEXT])
{
    const int64_t value = option->capacity == sizeof value ? number_of(options, option) : 0;
    switch (option->type) {
    case HSPZ__TYPE_AMBIGUOUS:
        format_ambiguous(options, text);
        break;
    case HSPZ__TYPE_DEVICE:
        format_device(options, text);
        break;
    case HSPZ__TYPE_SWITCH:
        snprintf(text, HSPZ__VALUE_TEXT, "%s", value ? "on" : "off");
        break;
    case HSPZ__TYPE_CHOICE:
        snprintf(text, HSPZ__VALUE_TEXT, "%s", option->choices[value]);
        break;
    case HSPZ__TYPE_INTEGER:
    case HSPZ__TYPE_SIZE:
        if (option->word != NULL && value == option->word_value)
            snprintf(text, HSPZ__VALUE_TEXT, "%s", option->word);
        else
            hspz__number_format(value, false, text);
        break;
    default:
        snprintf(text, HSPZ__VALUE_TEXT, "%s", (const char *)options + option->offset);
        break;
    }
}

const char *hspz__option_type_name(const hspz__option *option)
{
    static const char *const names[HSPZ__TYPE_COUNT] = {"switch", "number", "size",   "choice",    "text",
                                                        "path",   "seed",   "format", "ambiguous", "device"};
    return names[option->type];
}

static void join_choices(const char *const *choices, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; choices[i] != NULL && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? " | " : "", choices[i]);
}

void hspz__option_range(const hspz__option *option, char *text, size_t size)
{
    switch (option->type) {
    case HSPZ__TYPE_SWITCH:
        snprintf(text, size, "on | off");
        break;
    case HSPZ__TYPE_CHOICE:
        join_choices(option->choices, text, size);
        break;
    case HSPZ__TYPE_FORMAT:
        join_choices(option->choices, text, size);
        snprintf(text + strlen(text), size - strlen(text), " | general:FIELDS");
        break;
    case HSPZ__TYPE_INTEGER:
    case HSPZ__TYPE_SIZE:
        if (option->most == INT64_MAX)
            snprintf(text, size, "%" PRId64 " or more", option->least);
        else
            snprintf(text, size, "%" PRId64 "..%" PRId64, option->least, option->most);
        if (option->type == HSPZ__TYPE_SIZE)
            snprintf(text + strlen(text), size - strlen(text), ", with K, M, G, Ki, Mi, Gi");
        if (option->word != NULL)
            snprintf(text + strlen(text), size - strlen(text), ", or %s", option->word);
        break;
    case HSPZ__TYPE_SEED:
        snprintf(text, size,
                 "12of19 | 14of22 | a pattern of at most 32 times 1, 0 or T whose word has 8..30 bits");
        break;
    case HSPZ__TYPE_AMBIGUOUS:
        snprintf(text, size, "none | n[,R,P] | iupac[,R,P], R and P in 0..%" PRId64, option->most);
        break;
    case HSPZ__TYPE_DEVICE:
        snprintf(text, size, "auto | cpu | cuda | cuda:N | cuda:all, N in 0..%" PRId64, option->most);
        break;
    default:
        snprintf(text, size, "at most %zu bytes%s", option->capacity - 1,
                 option->type == HSPZ__TYPE_TEXT ? " without white space" : "");
        break;
    }
}
