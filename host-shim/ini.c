/* ini.c -- INI text into options, by inih behind a strict reader.
 *
 * Idea: inih's own file reader cuts a line at about 200 bytes without a word and tells no line number. Here the lines
 * come from a reader of ours that counts them and refuses what inih would cut or skip (long lines, NUL bytes, text
 * behind a section's bracket, unknown sections); the handler refuses unknown keys, keys of another section
 * and duplicates. Comments start with ; or # at the start of a line or after white space. A byte order mark and
 * CRLF are accepted.
 */
#include "option_table.h"

#include <ini.h>
#include <string.h>

typedef struct ini_source {
    hspz_options *options;
    hspz_failure *failure;
    const char *name; /* of the file */
    const char *text;
    size_t length, at;
    uint32_t line;
    int origin;
    int rc;                              /* first refusal */
    uint32_t seen[HSPZ_OPTION_ROWS_MAX]; /* line that set a row, 0: none */
} ini_source;

static int section_group(const char *section)
{
    for (int group = 0; group < HSPZ__GROUP_CONFIGURATION; group++)
        if (strcmp(section, hspz__group_sections[group]) == 0)
            return group;
    return -1;
}

/* A line "[name]" must be that and nothing else, and the name one of ours. */
static int judge_section(ini_source *source, const char *line)
{
    char section[64];
    const char *end = strchr(line, ']');
    if (end == NULL)
        return hspz_failed(source->failure, HSPZ_EXIT_USAGE, "%s, line %u: section '%.60s' lacks its ']'",
                           source->name, source->line, line);
    if (end[1 + strspn(end + 1, " \t")] != '\0')
        return hspz_failed(source->failure, HSPZ_EXIT_USAGE, "%s, line %u: '%.60s' follows the section's ']'",
                           source->name, source->line, end + 1);
    const size_t length = (size_t)(end - line) - 1;
    snprintf(section, sizeof section, "%.*s", (int)(length < 60 ? length : 60), line + 1);
    if (section_group(section) >= 0)
        return HSPZ_EXIT_OK;
    const char *near = hspz__nearest(section, hspz__group_sections, HSPZ__GROUP_CONFIGURATION);
    return hspz_failed(
        source->failure, HSPZ_EXIT_USAGE,
        "%s, line %u: unknown section [%s]%s%s%s; the sections are input, seeding, extension, gapped, "
        "output, device",
        source->name, source->line, section, near != NULL ? ", did you mean [" : "", near != NULL ? near : "",
        near != NULL ? "]" : "");
}

/* Cuts a comment that follows white space, then trailing white space. */
static void strip_line(char *line)
{
    for (char *p = line; *p != '\0'; p++) {
        if ((*p == '#' || *p == ';') && (p == line || p[-1] == ' ' || p[-1] == '\t')) {
            *p = '\0';
            break;
        }
    }
    size_t length = strlen(line);
    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t' || line[length - 1] == '\r'))
        line[--length] = '\0';
}

/* inih's fgets: the next line, without what surrounds its content, or NULL at the end or after a refusal. */
static char *next_line(char *buffer, int size, void *user)
{
    ini_source *source = user;
    if (source->rc != HSPZ_EXIT_OK || source->at >= source->length)
        return NULL;
    source->line++;
    const char *line = source->text + source->at;
    const char *newline = memchr(line, '\n', source->length - source->at);
    size_t length = newline != NULL ? (size_t)(newline - line) : source->length - source->at;
    source->at += length + (newline != NULL);
    if (source->line == 1 && length >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) {
        line += 3;
        length -= 3;
    }
    if (memchr(line, '\0', length) != NULL) {
        source->rc =
            hspz_failed(source->failure, HSPZ_EXIT_USAGE,
                        "%s, line %u: a NUL byte; an INI file is plain text", source->name, source->line);
        return NULL;
    }
    while (length > 0 && (*line == ' ' || *line == '\t')) {
        line++; /* or inih would take the line as the continuation of the one before */
        length--;
    }
    const bool comment = length > 0 && (*line == '#' || *line == ';');
    if (!comment && length + 2 > (size_t)size) {
        source->rc = hspz_failed(source->failure, HSPZ_EXIT_USAGE,
                                 "%s, line %u: a line of %zu bytes, more than the %d that are allowed",
                                 source->name, source->line, length, size - 2);
        return NULL;
    }
    const size_t copied = comment ? 0 : length;
    memcpy(buffer, line, copied);
    buffer[copied] = '\0';
    strip_line(buffer);
    if (buffer[0] == '[')
        source->rc = judge_section(source, buffer);
    strcat(buffer, "\n");
    return source->rc == HSPZ_EXIT_OK ? buffer : NULL;
}

static int refuse_unknown(ini_source *source, const char *key)
{
    const char *keys[HSPZ_OPTION_ROWS_MAX];
    for (size_t i = 0; i < hspz__options_count; i++)
        keys[i] = hspz__options_table[i].key;
    const char *near = hspz__nearest(key, keys, hspz__options_count);
    return hspz_failed(source->failure, HSPZ_EXIT_USAGE, "%s, line %u: unknown key '%.100s'%s%s%s",
                       source->name, source->line, key, near != NULL ? ", did you mean '" : "",
                       near != NULL ? near : "", near != NULL ? "'?" : "; `hspz config` lists all keys");
}

static int take(ini_source *source, const char *section, const char *key, const char *value)
{
    const hspz__option *option = hspz__option_by_key(key);
    if (option == NULL)
        return refuse_unknown(source, key);
    const char *home = hspz__group_sections[option->group];
    if (strcmp(section, home) != 0)
        return hspz_failed(source->failure, HSPZ_EXIT_USAGE,
                           "%s, line %u: key '%s' belongs in section [%s], not %s%s%s", source->name,
                           source->line, key, home, *section != '\0' ? "in [" : "before any section", section,
                           *section != '\0' ? "]" : "");
    uint32_t *seen = &source->seen[hspz__option_index(option)];
    if (*seen != 0)
        return hspz_failed(source->failure, HSPZ_EXIT_USAGE,
                           "%s, line %u: key '%s' is already set in line %u", source->name, source->line, key,
                           *seen);
    *seen = source->line;
    char where[HSPZ_OPTION_PATH + 128];
    snprintf(where, sizeof where, "%s, line %u: key '%s'", source->name, source->line, key);
    return hspz__option_assign(source->options, option, source->origin, source->line, where, value,
                               source->failure);
}

static int on_key(void *user, const char *section, const char *key, const char *value)
{
    ini_source *source = user;
    if (source->rc == HSPZ_EXIT_OK)
        source->rc = take(source, section, key, value);
    return 1;
}

int hspz__ini_read(hspz_options *options, int origin, const char *name, const char *text, size_t length,
                   hspz_failure *failure)
{
    ini_source source = {.options = options,
                         .failure = failure,
                         .name = name,
                         .text = text,
                         .length = length,
                         .origin = origin};
    const int line = ini_parse_stream(next_line, &source, on_key, &source);
    if (source.rc != HSPZ_EXIT_OK)
        return source.rc;
    if (line > 0)
        return hspz_failed(failure, HSPZ_EXIT_USAGE, "%s, line %d: neither 'key = value' nor '[section]'",
                           name, line);
    if (line < 0)
        return hspz_failed_memory(failure, "reading an INI file", 0);
    return HSPZ_EXIT_OK;
}
