/* segments_reader.c -- see segments_reader.h */
#include "segments_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX 8

static int bad(const char *label, uint64_t line, hspz_failure *failure, const char *what, const char *found)
{
    return hspz_failed(failure, HSPZ_EXIT_DATA, "%s: line %llu: %s, found \"%.80s\"", label,
                       (unsigned long long)line, what, found);
}

/* Whole decimal numbers of at most 19 digits only: no sign, no blank, nothing behind. */
static int read_number(const char *text, uint64_t *value)
{
    size_t size = strlen(text);
    if (size == 0 || size > 19 || strspn(text, "0123456789") != size)
        return -1;
    *value = strtoull(text, NULL, 10);
    return 0;
}

static size_t split(char *line, char *fields[FIELDS_MAX + 1])
{
    size_t count = 0;
    char *state = NULL;
    for (char *field = strtok_r(line, " \t\r", &state); field != NULL && count <= FIELDS_MAX;
         field = strtok_r(NULL, " \t\r", &state))
        fields[count++] = field;
    return count;
}

static int read_side(const char *label, uint64_t line, const char *start_text, const char *end_text,
                     uint64_t *start, uint64_t *end, hspz_failure *failure)
{
    if (read_number(start_text, start) != 0 || *start == 0)
        return bad(label, line, failure, "a start must be a number from 1 on", start_text);
    if (read_number(end_text, end) != 0)
        return bad(label, line, failure, "an end must be a number", end_text);
    if (*end < *start)
        return bad(label, line, failure, "an end must not lie before its start", end_text);
    return 0;
}

static int read_fields(char *fields[], size_t count, const char *label, uint64_t line, hspz_segment *s,
                       hspz_failure *failure)
{
    *s = (hspz_segment){.target = fields[0], .query = fields[3], .strand = fields[6][0]};
    int code = read_side(label, line, fields[1], fields[2], &s->target_start, &s->target_end, failure);
    if (code == 0)
        code = read_side(label, line, fields[4], fields[5], &s->query_start, &s->query_end, failure);
    if (code != 0)
        return code;
    if (strcmp(fields[6], "+") != 0 && strcmp(fields[6], "-") != 0)
        return bad(label, line, failure, "a strand must be + or -", fields[6]);
    if (count == FIELDS_MAX) {
        uint64_t value;
        const char *digits = fields[7] + (fields[7][0] == '-');
        if (read_number(digits, &value) != 0 || value > INT64_MAX)
            return bad(label, line, failure, "a score must be a whole number", fields[7]);
        s->score = fields[7][0] == '-' ? -(int64_t)value : (int64_t)value;
    }
    return 0;
}

int hspz_segments_read(FILE *in, const char *label, hspz_segment_visitor *visit, void *ctx,
                       hspz_failure *failure)
{
    char *line = NULL;
    size_t capacity = 0;
    uint64_t number = 0;
    int code = 0;
    errno = 0;
    for (ssize_t size; code == 0 && (size = getline(&line, &capacity, in)) >= 0;) {
        char *fields[FIELDS_MAX + 1];
        hspz_segment segment;
        number++;
        if (memchr(line, '\0', (size_t)size) != NULL) {
            code = bad(label, number, failure, "a segments file is text", "a NUL byte");
            break;
        }
        line[strcspn(line, "#\n")] = '\0';
        size_t count = split(line, fields);
        if (count == 0)
            continue;
        if (count != FIELDS_MAX && count != FIELDS_MAX - 1)
            code = bad(label, number, failure, "a segment has 7 or 8 fields", fields[count - 1]);
        else if ((code = read_fields(fields, count, label, number, &segment, failure)) == 0)
            code = visit(ctx, &segment, failure);
    }
    if (code == 0 && ferror(in))
        code = hspz_failed(failure, HSPZ_EXIT_DATA, "%s cannot be read: %s", label, strerror(errno));
    if (code == 0 && !feof(in))
        code = hspz_failed_memory(failure, "a line of a segments file", capacity);
    free(line);
    return code;
}
