/* fasta.c -- FASTA from a stream of pieces.
 *
 * Idea: a line, or the part of it that a piece holds, is copied to its place in the genome, tallied there by table and
 * done; only if the tally shows something special is it read byte by byte. So lines of any length, pieces cut
 * anywhere, CRLF and blanks at line ends all go one way, and the place of an error is exact.
 */
#include "build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_MAX ((size_t)1 << 20)

enum state { LINE_START, HEADER, SEQUENCE };

typedef struct reader {
    hspz__build *build;
    enum state state;
    uint64_t line;   /* 1-based */
    uint64_t column; /* bytes of the present sequence line read so far */
    bool blank;      /* a blank was seen in this line: nothing but blanks may follow */
    bool any;        /* a record has begun */
    char *header;    /* of the header line read so far */
    size_t header_size;
    size_t header_capacity;
} reader;

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

/* Header lines -------------------------------------------------------------------------------------------- */

static int add_header(reader *reader, const uint8_t *bytes, size_t size)
{
    hspz__build *build = reader->build;
    if (size > HEADER_MAX - reader->header_size)
        return hspz_failed(build->failure, HSPZ_EXIT_DATA,
                           "%s: line %llu: the header is longer than %zu bytes", build->label,
                           (unsigned long long)reader->line, HEADER_MAX);
    if (reader->header_size + size > reader->header_capacity) {
        size_t wanted = 2 * reader->header_capacity;
        if (wanted < reader->header_size + size)
            wanted = reader->header_size + size + 256;
        char *grown = realloc(reader->header, wanted);
        if (grown == NULL)
            return hspz_failed_memory(build->failure, "a header line", wanted);
        reader->header = grown;
        reader->header_capacity = wanted;
    }
    if (size > 0)
        memcpy(reader->header + reader->header_size, bytes, size);
    reader->header_size += size;
    return 0;
}

static int finish_header(reader *reader)
{
    hspz__build *build = reader->build;
    char *text = reader->header;
    size_t size = reader->header_size;
    while (size > 0 && is_blank((uint8_t)text[size - 1]))
        size--;
    while (size > 0 && is_blank((uint8_t)text[0])) {
        text++;
        size--;
    }
    if (size == 0)
        return hspz_failed(build->failure, HSPZ_EXIT_DATA,
                           "%s: line %llu: '>' without a name, expected '>NAME' at the start of each record",
                           build->label, (unsigned long long)reader->line);
    if (memchr(text, '\r', size) != NULL)
        return hspz_failed(
            build->failure, HSPZ_EXIT_DATA,
            "%s: line %llu: the header holds a carriage return: are lines ended by CR alone? expected LF "
            "or CRLF",
            build->label, (unsigned long long)reader->line);
    reader->header_size = 0;
    reader->any = true;
    return hspz__build_record(build, text, size, reader->line);
}

/* Sequence lines ------------------------------------------------------------------------------------------ */

static int refuse(const reader *reader, size_t at, uint8_t byte)
{
    const hspz__build *build = reader->build;
    char found[HSPZ__LETTER_TEXT];
    hspz__describe_byte(byte, found);
    return hspz_failed(
        build->failure, HSPZ_EXIT_DATA,
        "%s: line %llu, column %llu, record %.200s: %s; expected A C G T U N R Y S W K M B D H V X "
        "in either case",
        build->label, (unsigned long long)reader->line, (unsigned long long)(reader->column + at + 1),
        hspz__build_name(build), found);
}

/* The slow way for `size` bytes: U becomes T, blanks are allowed at the end of the line. */
static int clean(reader *reader, uint8_t *bases, const uint8_t *bytes, size_t size, size_t *kept)
{
    *kept = 0;
    for (size_t at = 0; at < size; at++) {
        uint8_t byte = bytes[at];
        if (is_blank(byte)) {
            reader->blank = true;
            continue;
        }
        if (reader->blank)
            return refuse(reader, at - 1, ' ');
        if (!hspz__is_letter(byte))
            return refuse(reader, at, byte);
        if (byte == 'U' || byte == 'u') {
            byte--; /* T, t */
            reader->build->genome->rna = true;
        }
        bases[(*kept)++] = byte;
    }
    return 0;
}

/* `size` bytes of a sequence line, without its LF. */
static int add_line(reader *reader, const uint8_t *bytes, size_t size)
{
    uint8_t *bases = NULL;
    int code = hspz__build_room(reader->build, size, &bases);
    while (code == 0 && size > 0) {
        size_t count = size < HSPZ__TALLY_MAX ? size : HSPZ__TALLY_MAX, kept = count;
        hspz__tally tally;
        memcpy(bases, bytes, count);
        tally = hspz__tally_bytes(bases, count);
        if (hspz__tally_field(tally, HSPZ__SPECIAL) != 0 || reader->blank) {
            code = clean(reader, bases, bytes, count, &kept);
            if (code != 0)
                return code;
            tally = hspz__tally_bytes(bases, kept);
        }
        hspz__build_bases(reader->build, kept, tally);
        reader->column += count;
        bases += kept;
        bytes += count;
        size -= count;
    }
    return code;
}

/* The file ---------------------------------------------------------------------------------------------- */

static int no_record(const reader *reader, uint8_t byte)
{
    const hspz__build *build = reader->build;
    char found[32];
    (void)snprintf(found, sizeof found, byte > 32 && byte < 127 ? "'%c'" : "byte 0x%02x", byte);
    return hspz_failed(build->failure, HSPZ_EXIT_DATA,
                       "%s: line %llu: found %s, expected '>' (FASTA), a 2bit file, or gzip of either",
                       build->label, (unsigned long long)reader->line, found);
}

/* First byte of a line. Blanks before the first record are passed over. */
static int begin_line(reader *reader, const uint8_t **at)
{
    uint8_t byte = **at;
    if (byte == '>') {
        reader->state = HEADER;
        ++*at;
    } else if (byte == '\n') {
        reader->line++;
        ++*at;
    } else if (reader->any) {
        reader->state = SEQUENCE;
        reader->column = 0;
        reader->blank = false;
    } else if (is_blank(byte)) {
        ++*at;
    } else {
        return no_record(reader, byte);
    }
    return 0;
}

static int read_piece(reader *reader, const uint8_t *at, const uint8_t *end)
{
    int code = 0;
    while (code == 0 && at < end) {
        if (reader->state == LINE_START) {
            code = begin_line(reader, &at);
            continue;
        }
        const uint8_t *newline = memchr(at, '\n', (size_t)(end - at));
        const uint8_t *stop = newline != NULL ? newline : end;
        if (reader->state == HEADER) {
            code = add_header(reader, at, (size_t)(stop - at));
            if (code == 0 && newline != NULL)
                code = finish_header(reader);
        } else {
            /* CRLF is taken off here, so that it costs no second look at the line. */
            size_t carriage = newline != NULL && stop > at && stop[-1] == '\r';
            code = add_line(reader, at, (size_t)(stop - at) - carriage);
        }
        at = stop;
        if (newline != NULL) {
            reader->state = LINE_START;
            reader->line++;
            at++;
        }
    }
    return code;
}

/* A byte order mark before the text is passed over. */
static size_t mark_size(const uint8_t *bytes, size_t size)
{
    return size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

int hspz__read_fasta(hspz__build *build, hspz__stream *stream)
{
    reader reader = {.build = build, .line = 1};
    const uint8_t *piece = NULL;
    size_t size = 0;
    bool first = true;
    int code = 0;
    build->unit = "line";
    while ((code = hspz__stream_next(stream, &piece, &size, build->failure)) == 0 && size > 0) {
        size_t skip = first ? mark_size(piece, size) : 0;
        first = false;
        code = read_piece(&reader, piece + skip, piece + size);
        if (code != 0)
            break;
    }
    if (code == 0 && reader.state == HEADER)
        code = finish_header(&reader);
    if (code == 0 && !reader.any)
        code = hspz_failed(build->failure, HSPZ_EXIT_DATA,
                           "%s: holds nothing but blank lines, expected '>' and a sequence", build->label);
    free(reader.header);
    return code;
}
