/* twobit.c -- UCSC's 2bit files, versions 0 and 1, either byte order.
 *
 * Idea: every number in the file is a claim that is checked against what the file holds before anything is allocated or
 * read by it: an offset against the length of the file, a count against the bytes left, a block against its
 * record, and the sum of all records against the file, so that a small file cannot claim much memory by naming the
 * same bytes many times. Bases are decoded by a table of 4 letters a byte, then blocks of N are written over them,
 * then soft-masked blocks are lowered, in the order of twoBitToFa.
 *
 *   header  u32 signature, version (0 or 1), record count, reserved
 *   index   per record: u8 name size, name, offset (u32; u64 in version 1)
 *   record  u32 bases; u32 N blocks, starts[], sizes[]; u32 mask blocks, starts[], sizes[]; u32 reserved; packed bases,
 *           4 a byte, first one in the highest bits, T C A G = 0 1 2 3
 */
#include "build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGNATURE 0x1A412743u
#define SIGNATURE_SWAPPED 0x4327411Au
#define WINDOW ((size_t)1 << 16) /* packed bytes decoded at a time */
#define LIST_WINDOW 1024u        /* blocks read at a time */

typedef struct reader {
    hspz__build *build;
    hspz__stream *stream;
    uint64_t size; /* of the file */
    bool swapped;
    uint32_t version;
    uint64_t claimed; /* bytes of all records so far */
    uint8_t *window;  /* WINDOW */
} reader;

typedef struct twobit_record {
    char name[256];
    uint64_t number; /* 1-based */
    uint64_t offset;
    uint32_t bases;
    uint64_t n_list, mask_list; /* offsets of starts[] */
    uint32_t n_count, mask_count;
    uint64_t packed; /* offset of the bases */
} twobit_record;

bool hspz__is_twobit(const uint8_t *bytes, size_t size)
{
    uint32_t signature;
    if (size < sizeof signature)
        return false;
    memcpy(&signature, bytes, sizeof signature);
    return signature == SIGNATURE || signature == SIGNATURE_SWAPPED;
}

/* Numbers ------------------------------------------------------------------------------------------------- */

/* `count` bytes at `offset`, refused when the file ends before: `what` names them. */
static int read_bytes(reader *reader, uint64_t offset, void *bytes, size_t count, const char *what)
{
    hspz__build *build = reader->build;
    if (offset > reader->size || count > reader->size - offset)
        return hspz_failed(build->failure, HSPZ_EXIT_DATA,
                           "%s: truncated 2bit file: %s would end at byte %llu, the file has %llu",
                           build->label, what, (unsigned long long)(offset + count),
                           (unsigned long long)reader->size);
    return hspz__stream_read_at(reader->stream, offset, bytes, count, build->failure);
}

static int read_u32(reader *reader, uint64_t *offset, const char *what, uint32_t *value)
{
    int code = read_bytes(reader, *offset, value, sizeof *value, what);
    if (reader->swapped)
        *value = __builtin_bswap32(*value);
    *offset += sizeof *value;
    return code;
}

static int read_u64(reader *reader, uint64_t *offset, const char *what, uint64_t *value)
{
    int code = read_bytes(reader, *offset, value, sizeof *value, what);
    if (reader->swapped)
        *value = __builtin_bswap64(*value);
    *offset += sizeof *value;
    return code;
}

/* Index --------------------------------------------------------------------------------------------------- */

static int read_header(reader *reader, uint32_t *count)
{
    hspz__build *build = reader->build;
    uint64_t offset = 0;
    uint32_t signature = 0, reserved = 0;
    int code = read_u32(reader, &offset, "the signature", &signature);
    if (code != 0)
        return code;
    if (signature != SIGNATURE) {
        reader->swapped = true;
    }
    if ((code = read_u32(reader, &offset, "the version", &reader->version)) != 0 ||
        (code = read_u32(reader, &offset, "the record count", count)) != 0 ||
        (code = read_u32(reader, &offset, "the header", &reserved)) != 0)
        return code;
    if (reader->version > 1)
        return hspz_failed(build->failure, HSPZ_EXIT_DATA, "%s: 2bit version %u, expected 0 or 1",
                           build->label, reader->version);
    if (*count == 0)
        return hspz_failed(build->failure, HSPZ_EXIT_DATA,
                           "%s: a 2bit file without records, expected sequences", build->label);
    build->genome->format = reader->version == 0 ? "2bit version 0" : "2bit version 1";
    return 0;
}

/* One entry of the index at *offset. */
static int read_entry(reader *reader, uint64_t *offset, twobit_record *record)
{
    uint8_t size = 0;
    uint32_t narrow = 0;
    char what[64];
    (void)snprintf(what, sizeof what, "index entry %llu", (unsigned long long)record->number);
    int code = read_bytes(reader, *offset, &size, 1, what);
    if (code == 0)
        code = read_bytes(reader, *offset + 1, record->name, size, what);
    if (code != 0)
        return code;
    record->name[size] = '\0';
    *offset += 1u + size;
    for (size_t at = 0; at < size; at++) {
        uint8_t byte = (uint8_t)record->name[at];
        if (byte <= 32 || byte == 127)
            return hspz_failed(
                reader->build->failure, HSPZ_EXIT_DATA,
                "%s: record %llu: the name holds byte 0x%02x, expected printable characters and no blanks",
                reader->build->label, (unsigned long long)record->number, byte);
    }
    if (reader->version == 1)
        return read_u64(reader, offset, what, &record->offset);
    code = read_u32(reader, offset, what, &narrow);
    record->offset = narrow;
    return code;
}

/* Records ------------------------------------------------------------------------------------------------- */

static int bad_record(const reader *reader, const twobit_record *record, const char *what, uint64_t found,
                      uint64_t limit)
{
    return hspz_failed(reader->build->failure, HSPZ_EXIT_DATA,
                       "%s: damaged 2bit file: record %llu (%.200s): %s %llu is beyond %llu",
                       reader->build->label, (unsigned long long)record->number, record->name, what,
                       (unsigned long long)found, (unsigned long long)limit);
}

/* A list of blocks: its count, and the place of its starts; passes over starts and sizes. */
static int read_list(reader *reader, const twobit_record *record, uint64_t *offset, const char *what,
                     uint32_t *count, uint64_t *list)
{
    int code = read_u32(reader, offset, what, count);
    if (code != 0)
        return code;
    uint64_t bytes = (uint64_t)*count * 8;
    if (bytes > reader->size - *offset)
        return bad_record(reader, record, what, *count, (reader->size - *offset) / 8);
    *list = *offset;
    *offset += bytes;
    return 0;
}

/* Reads what stands before the bases and checks that the bases fit in. */
static int read_record(reader *reader, twobit_record *record)
{
    uint64_t offset = record->offset;
    uint32_t reserved = 0;
    int code;
    if (offset >= reader->size)
        return bad_record(reader, record, "its offset", offset, reader->size);
    if ((code = read_u32(reader, &offset, "a record", &record->bases)) != 0 ||
        (code = read_list(reader, record, &offset, "the number of N blocks", &record->n_count,
                          &record->n_list)) != 0 ||
        (code = read_list(reader, record, &offset, "the number of mask blocks", &record->mask_count,
                          &record->mask_list)) != 0 ||
        (code = read_u32(reader, &offset, "a record", &reserved)) != 0)
        return code;
    record->packed = offset;
    uint64_t bytes = ((uint64_t)record->bases + 3) / 4;
    if (bytes > reader->size - offset)
        return hspz_failed(
            reader->build->failure, HSPZ_EXIT_DATA,
            "%s: truncated 2bit file: the %u bases of record %llu (%.200s) would end at byte %llu, the file "
            "has %llu",
            reader->build->label, record->bases, (unsigned long long)record->number, record->name,
            (unsigned long long)(offset + bytes), (unsigned long long)reader->size);
    reader->claimed += offset + bytes - record->offset;
    if (reader->claimed > reader->size)
        return bad_record(reader, record, "records overlap: the sum of their bytes,", reader->claimed,
                          reader->size);
    return 0;
}

static void unpack(const uint8_t *packed, size_t count, uint8_t *bases)
{
    static const char letters[4] = {'T', 'C', 'A', 'G'};
    for (size_t at = 0; at < count; at++)
        bases[at] = (uint8_t)letters[packed[at / 4] >> (6 - 2 * (at % 4)) & 3];
}

/* Whole bytes by a table of 256 words of 4 letters, the rest one by one. */
static int decode(reader *reader, const twobit_record *record, uint32_t (*table)[256], uint8_t *bases)
{
    uint64_t offset = record->packed;
    for (uint64_t done = 0; done < record->bases;) {
        uint64_t left = record->bases - done;
        size_t count = left < 4 * WINDOW ? (size_t)left : 4 * WINDOW, whole = count / 4;
        int code = read_bytes(reader, offset, reader->window, (count + 3) / 4, "packed bases");
        if (code != 0)
            return code;
        for (size_t at = 0; at < whole; at++)
            memcpy(bases + done + 4 * at, &(*table)[reader->window[at]], 4);
        unpack(reader->window + whole, count % 4, bases + done + 4 * whole);
        done += count;
        offset += (count + 3) / 4;
    }
    return 0;
}

/* One block of a list, checked: N over the bases, or the bases lowered. */
static int apply_block(const reader *reader, const twobit_record *record, bool mask, uint64_t start,
                       uint64_t size, uint8_t *bases)
{
    if (start + size > record->bases)
        return bad_record(reader, record, mask ? "the end of a mask block" : "the end of an N block",
                          start + size, record->bases);
    if (!mask) {
        memset(bases + start, 'N', (size_t)size);
        return 0;
    }
    for (uint64_t at = start; at < start + size; at++)
        bases[at] |= 0x20;
    return 0;
}

/* Blocks ascend and do not overlap in every file that a tool writes; demanding it bounds the work by the bases. */
static int apply_list(reader *reader, const twobit_record *record, bool mask, uint8_t *bases)
{
    uint32_t starts[LIST_WINDOW] = {0}, sizes[LIST_WINDOW] = {0};
    uint64_t list = mask ? record->mask_list : record->n_list, previous_end = 0;
    uint32_t count = mask ? record->mask_count : record->n_count;
    for (uint32_t done = 0; done < count;) {
        uint32_t now = count - done < LIST_WINDOW ? count - done : LIST_WINDOW;
        int code = read_bytes(reader, list + 4ull * done, starts, 4ull * now, "a list of blocks");
        if (code == 0)
            code =
                read_bytes(reader, list + 4ull * count + 4ull * done, sizes, 4ull * now, "a list of blocks");
        for (uint32_t block = 0; code == 0 && block < now; block++) {
            uint64_t start = reader->swapped ? __builtin_bswap32(starts[block]) : starts[block];
            uint64_t size = reader->swapped ? __builtin_bswap32(sizes[block]) : sizes[block];
            if (start < previous_end)
                code =
                    bad_record(reader, record, "blocks overlap or descend: an end of", previous_end, start);
            else
                code = apply_block(reader, record, mask, start, size, bases);
            previous_end = start + size;
        }
        if (code != 0)
            return code;
        done += now;
    }
    return 0;
}

/* Takes the decoded bases into the genome. */
static void accept_bases(hspz__build *build, const uint8_t *bases, uint64_t count)
{
    while (count > 0) {
        size_t now = count < HSPZ__TALLY_MAX ? (size_t)count : HSPZ__TALLY_MAX;
        hspz__build_bases(build, now, hspz__tally_bytes(bases, now));
        bases += now;
        count -= now;
    }
}

static int load_record(reader *reader, twobit_record *record, uint32_t (*table)[256])
{
    uint8_t *bases = NULL;
    int code = hspz__build_record(reader->build, record->name, strlen(record->name), record->number);
    if (code == 0)
        code = read_record(reader, record);
    if (code == 0)
        code = hspz__build_room(reader->build, record->bases, &bases);
    if (code == 0)
        code = decode(reader, record, table, bases);
    if (code == 0)
        code = apply_list(reader, record, false, bases);
    if (code == 0)
        code = apply_list(reader, record, true, bases);
    if (code == 0)
        accept_bases(reader->build, bases, record->bases);
    return code;
}

static int read_all(reader *reader)
{
    uint32_t table[256], count = 0;
    uint64_t index = 16;
    for (unsigned byte = 0; byte < 256; byte++) {
        uint8_t packed = (uint8_t)byte, bases[4];
        unpack(&packed, 4, bases);
        memcpy(&table[byte], bases, 4);
    }
    int code = read_header(reader, &count);
    for (uint32_t number = 0; code == 0 && number < count; number++) {
        twobit_record record = {.number = number + 1ull};
        code = read_entry(reader, &index, &record);
        if (code == 0)
            code = load_record(reader, &record, &table);
    }
    return code;
}

int hspz__read_twobit(hspz__build *build, hspz__stream *stream)
{
    reader reader = {.build = build, .stream = stream};
    build->unit = "record";
    int code = hspz__stream_rewindable(stream, &reader.size, build->failure);
    if (code != 0)
        return code;
    reader.window = malloc(WINDOW);
    if (reader.window == NULL)
        return hspz_failed_memory(build->failure, "an input buffer", WINDOW);
    code = read_all(&reader);
    free(reader.window);
    return code;
}
