/* input_make.c -- see input_make.h */
#include "input_make.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Bytes --------------------------------------------------------------------------------------------------- */

void bytes_add(bytes *to, const void *data, size_t size)
{
    if (size > to->capacity - to->size) {
        to->capacity = 2 * (to->size + size) + 64;
        to->data = realloc(to->data, to->capacity);
        cr_assert_not_null(to->data);
    }
    if (size > 0)
        memcpy(to->data + to->size, data, size);
    to->size += size;
}

void bytes_text(bytes *to, const char *text)
{
    bytes_add(to, text, strlen(text));
}

void bytes_u32(bytes *to, uint32_t value, bool big_endian)
{
    uint8_t raw[4];
    for (unsigned i = 0; i < 4; i++)
        raw[big_endian ? 3 - i : i] = (uint8_t)(value >> 8 * i);
    bytes_add(to, raw, sizeof raw);
}

void bytes_u64(bytes *to, uint64_t value, bool big_endian)
{
    bytes_u32(to, (uint32_t)(big_endian ? value >> 32 : value), big_endian);
    bytes_u32(to, (uint32_t)(big_endian ? value : value >> 32), big_endian);
}

void bytes_free(bytes *of)
{
    free(of->data);
    memset(of, 0, sizeof *of);
}

/* Samples ------------------------------------------------------------------------------------------------- */

uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ull); /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static char *random_bases(uint64_t *state, size_t length)
{
    char *bases = malloc(length + 1);
    cr_assert_not_null(bases);
    for (size_t i = 0; i < length; i++)
        bases[i] = "ACGT"[next_random(state) & 3];
    bases[length] = '\0';
    for (int run = 0; run < 6 && length > 0; run++) {
        size_t start = next_random(state) % length, size = next_random(state) % (length - start) / 2;
        for (size_t i = start; i < start + size; i++)
            bases[i] = run < 2 ? 'N' : (char)tolower(bases[i]);
    }
    return bases;
}

sample sample_random(uint64_t seed)
{
    uint64_t state = seed;
    sample made = {.count = 1 + next_random(&state) % 7};
    made.records = calloc(made.count, sizeof *made.records);
    cr_assert_not_null(made.records);
    for (size_t i = 0; i < made.count; i++) {
        static const size_t tiny[] = {0, 1, 2, 3, 4, 5, 18, 19};
        size_t length =
            next_random(&state) % 3 == 0 ? tiny[next_random(&state) % 8] : next_random(&state) % 5000;
        if (i + 1 == made.count)
            length++;
        (void)snprintf(made.records[i].name, sizeof made.records[i].name, "r%zu|x:%zu", i, length);
        made.records[i].bases = random_bases(&state, length);
    }
    return made;
}

void sample_free(sample *of)
{
    for (size_t i = 0; i < of->count; i++)
        free(of->records[i].bases);
    free(of->records);
    memset(of, 0, sizeof *of);
}

/* Formats ------------------------------------------------------------------------------------------------- */

bytes make_fasta(const sample *of, size_t width, const char *eol, bool final_eol)
{
    bytes made = {0};
    for (size_t i = 0; i < of->count; i++) {
        const char *bases = of->records[i].bases;
        size_t length = strlen(bases);
        bytes_text(&made, ">");
        bytes_text(&made, of->records[i].name);
        bytes_text(&made, " some words");
        bytes_text(&made, eol);
        for (size_t at = 0; at < length; at += width) {
            bytes_add(&made, bases + at, length - at < width ? length - at : width);
            if (at + width < length || i + 1 < of->count || final_eol)
                bytes_text(&made, eol);
        }
    }
    return made;
}

/* A raw deflate stream of the bytes. */
static bytes deflated(const uint8_t *data, size_t size)
{
    bytes made = {.capacity = compressBound((uLong)size) + 64};
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    cr_assert_eq(deflateInit2(&stream, 1, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    made.data = malloc(made.capacity);
    cr_assert_not_null(made.data);
    stream.next_in = (Bytef *)(uintptr_t)data;
    stream.avail_in = (uInt)size;
    stream.next_out = made.data;
    stream.avail_out = (uInt)made.capacity;
    cr_assert_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    made.size = stream.total_out;
    cr_assert_eq(deflateEnd(&stream), Z_OK);
    return made;
}

static void add_trailer(bytes *to, const uint8_t *data, size_t size)
{
    bytes_u32(to, (uint32_t)crc32(crc32(0, NULL, 0), size > 0 ? data : (const uint8_t *)"", (uInt)size),
              false);
    bytes_u32(to, (uint32_t)size, false);
}

void add_gzip(bytes *to, const uint8_t *data, size_t size)
{
    bytes body = deflated(data, size);
    bytes_add(to, "\x1f\x8b\x08\x08\0\0\0\0\0\x03name.fa", 18); /* with a file name, as gzip writes it */
    bytes_add(to, body.data, body.size);
    add_trailer(to, data, size);
    bytes_free(&body);
}

bytes make_gzip(const bytes *of, size_t members)
{
    bytes made = {0};
    for (size_t i = 0; i < members; i++) {
        size_t begin = of->size * i / members, end = of->size * (i + 1) / members;
        add_gzip(&made, of->data + begin, end - begin);
    }
    return made;
}

bytes make_bgzf(const bytes *of, size_t block, bool closed)
{
    bytes made = {0};
    for (size_t at = 0; at < of->size || closed; at += block) {
        size_t size = at >= of->size ? 0 : of->size - at < block ? of->size - at : block;
        bytes body = deflated(of->data + at, size);
        uint32_t total = (uint32_t)(18 + body.size + 8 - 1);
        bytes_add(&made, "\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0", 16);
        uint8_t field[2] = {(uint8_t)total, (uint8_t)(total >> 8)};
        bytes_add(&made, field, 2);
        bytes_add(&made, body.data, body.size);
        add_trailer(&made, size > 0 ? of->data + at : NULL, size);
        bytes_free(&body);
        if (size == 0)
            break;
    }
    return made;
}

/* Runs of positions for which `holds` is true, as a 2bit list. */
static void add_list(bytes *to, const char *bases, bool mask, bool big_endian)
{
    bytes starts = {0}, sizes = {0};
    uint32_t count = 0;
    for (size_t at = 0; bases[at] != '\0';) {
        size_t end = at;
        while (bases[end] != '\0' &&
               (mask ? islower((unsigned char)bases[end]) : toupper((unsigned char)bases[end]) == 'N'))
            end++;
        if (end > at) {
            bytes_u32(&starts, (uint32_t)at, big_endian);
            bytes_u32(&sizes, (uint32_t)(end - at), big_endian);
            count++;
        }
        at = end > at ? end : at + 1;
    }
    bytes_u32(to, count, big_endian);
    bytes_add(to, starts.data, starts.size);
    bytes_add(to, sizes.data, sizes.size);
    bytes_free(&starts);
    bytes_free(&sizes);
}

static void add_packed(bytes *to, const char *bases)
{
    size_t length = strlen(bases);
    for (size_t at = 0; at < length; at += 4) {
        uint8_t packed = 0;
        for (size_t i = 0; i < 4; i++) {
            char base = at + i < length ? (char)toupper((unsigned char)bases[at + i]) : 'T';
            unsigned code = base == 'C' ? 1 : base == 'A' ? 2 : base == 'G' ? 3 : 0;
            packed = (uint8_t)(packed << 2 | code);
        }
        bytes_add(to, &packed, 1);
    }
}

bytes make_twobit(const sample *of, unsigned version, bool big_endian)
{
    bytes made = {0}, body = {0};
    uint64_t body_start = 16;
    for (size_t i = 0; i < of->count; i++)
        body_start += 1 + strlen(of->records[i].name) + (version == 1 ? 8 : 4);
    bytes_u32(&made, 0x1A412743u, big_endian);
    bytes_u32(&made, version, big_endian);
    bytes_u32(&made, (uint32_t)of->count, big_endian);
    bytes_u32(&made, 0, big_endian);
    for (size_t i = 0; i < of->count; i++) {
        uint8_t size = (uint8_t)strlen(of->records[i].name);
        bytes_add(&made, &size, 1);
        bytes_text(&made, of->records[i].name);
        if (version == 1)
            bytes_u64(&made, body_start + body.size, big_endian);
        else
            bytes_u32(&made, (uint32_t)(body_start + body.size), big_endian);
        bytes_u32(&body, (uint32_t)strlen(of->records[i].bases), big_endian);
        add_list(&body, of->records[i].bases, false, big_endian);
        add_list(&body, of->records[i].bases, true, big_endian);
        bytes_u32(&body, 0, big_endian);
        add_packed(&body, of->records[i].bases);
    }
    bytes_add(&made, body.data, body.size);
    bytes_free(&body);
    return made;
}

/* Expectations -------------------------------------------------------------------------------------------- */

hspz_genome load_bytes(const bytes *of, const hspz_genome_options *options)
{
    hspz_genome genome;
    hspz_failure failure = {0};
    int code = hspz_genome_load_memory(of->data, of->size, "sample", options, &genome, &failure);
    cr_assert_eq(code, 0, "refused: %s", failure.text);
    return genome;
}

void expect_sample(const hspz_genome *genome, const sample *of)
{
    uint64_t offset = 0, bases = 0;
    cr_assert_eq(genome->record_count, of->count);
    for (size_t i = 0; i < of->count; i++) {
        const hspz_record *record = &genome->records[i];
        size_t length = strlen(of->records[i].bases);
        cr_assert_str_eq(record->name, of->records[i].name);
        cr_assert_eq(record->length, length);
        cr_assert_eq(record->offset, offset);
        cr_assert_arr_eq(genome->bases + offset, of->records[i].bases, length);
        if (i + 1 < of->count)
            cr_assert_eq(genome->bases[offset + length], HSPZ_SEPARATOR);
        offset += length + 1;
        bases += length;
    }
    cr_assert_eq(genome->length, offset - 1);
    cr_assert_eq(genome->bases[genome->length], '\0');
    cr_assert_eq(genome->composition.bases, bases);
}

const char *expect_refused(const void *data, size_t size, const char *part)
{
    static hspz_failure failure;
    hspz_genome genome;
    memset(&failure, 0, sizeof failure);
    int code = hspz_genome_load_memory(data, size, "sample", NULL, &genome, &failure);
    cr_assert_eq(code, HSPZ_EXIT_DATA, "expected a refusal with '%s'", part);
    cr_assert_not_null(strstr(failure.text, part), "'%s' lacks '%s'", failure.text, part);
    cr_assert_null(strchr(failure.text, '\n'));
    cr_assert_eq(genome.bases, NULL);
    cr_assert_eq(genome.record_count, 0);
    return failure.text;
}
