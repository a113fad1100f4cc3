/* input_formats.c -- the same genome in every format loads to the same bytes (SPEC section 12). */
#include "input_make.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void expect_loads(const bytes *file, const sample *of, const char *packing, const char *format)
{
    hspz_genome genome = load_bytes(file, NULL);
    expect_sample(&genome, of);
    cr_expect_str_eq(genome.packing, packing);
    cr_expect_str_eq(genome.format, format);
    hspz_genome_free(&genome);
}

/* Plain FASTA in all shapes, and gzip and BGZF of it. */
static void try_fasta(const sample *of)
{
    static const size_t widths[] = {1, 7, 60, 80, 100000};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        for (int shape = 0; shape < 4; shape++) {
            bytes file = make_fasta(of, widths[i], shape & 1 ? "\r\n" : "\n", shape & 2);
            expect_loads(&file, of, "plain", "FASTA");
            bytes_free(&file);
        }
    }
    bytes plain = make_fasta(of, 60, "\n", true);
    for (size_t members = 1; members <= 5; members += 2) {
        bytes file = make_gzip(&plain, members);
        expect_loads(&file, of, "gzip", "FASTA");
        bytes_add(&file, "\0\0\0\0\0\0\0\0", 8); /* padding, as an archive leaves it */
        expect_loads(&file, of, "gzip", "FASTA");
        bytes_free(&file);
    }
    for (size_t block = 100; block <= 65280; block = block * 13 + 1) {
        bytes file = make_bgzf(&plain, block, true);
        expect_loads(&file, of, "BGZF", "FASTA");
        bytes_free(&file);
    }
    bytes_free(&plain);
}

static void try_twobit(const sample *of)
{
    for (unsigned version = 0; version < 2; version++) {
        for (int big = 0; big < 2; big++) {
            const char *format = version == 0 ? "2bit version 0" : "2bit version 1";
            bytes file = make_twobit(of, version, big);
            bytes packed = make_gzip(&file, 2);
            expect_loads(&file, of, "plain", format);
            expect_loads(&packed, of, "gzip", format);
            bytes_free(&file);
            bytes_free(&packed);
        }
    }
}

Test(input, one_genome_in_every_format)
{
    for (uint64_t seed = 1; seed <= 80; seed++) {
        sample made = sample_random(seed);
        try_fasta(&made);
        try_twobit(&made);
        sample_free(&made);
    }
}

/* Files and pipes --------------------------------------------------------------------------------------- */

static void write_all(int fd, const bytes *of)
{
    for (size_t done = 0; done < of->size;) {
        ssize_t put = write(fd, of->data + done, of->size - done);
        cr_assert_gt(put, 0);
        done += (size_t)put;
    }
}

static void try_path(const bytes *file, const sample *of, const char *path, const char *shown)
{
    hspz_genome genome;
    hspz_failure failure = {0};
    cr_assert_eq(hspz_genome_load(path, NULL, &genome, &failure), 0, "refused: %s", failure.text);
    expect_sample(&genome, of);
    cr_expect_str_eq(genome.path, shown);
    cr_expect_eq(genome.file_bytes, file->size);
    hspz_genome_free(&genome);
}

/* By name, and as standard input that is a file. */
static void try_file(const bytes *file, const sample *of)
{
    char path[] = "/tmp/hspz_unit_input_XXXXXX";
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    write_all(fd, file);
    cr_assert_eq(close(fd), 0);
    try_path(file, of, path, path);
    fd = open(path, O_RDONLY);
    cr_assert_geq(dup2(fd, STDIN_FILENO), 0);
    try_path(file, of, "-", "stdin");
    cr_assert_eq(close(fd), 0);
    cr_assert_eq(unlink(path), 0);
}

static void try_pipe(const bytes *file, const sample *of)
{
    int ends[2];
    cr_assert_lt(file->size, (size_t)65536); /* what a pipe holds without a reader */
    cr_assert_eq(pipe(ends), 0);
    write_all(ends[1], file);
    cr_assert_eq(close(ends[1]), 0);
    cr_assert_geq(dup2(ends[0], STDIN_FILENO), 0);
    cr_assert_eq(close(ends[0]), 0);
    try_path(file, of, "-", "stdin");
}

static void try_file_and_pipe(const bytes *file, const sample *of)
{
    try_file(file, of);
    try_pipe(file, of);
}

Test(input, files_and_pipes)
{
    sample made = sample_random(11);
    bytes plain = make_fasta(&made, 60, "\n", true), gz = make_gzip(&plain, 3),
          twobit = make_twobit(&made, 0, true);
    bytes packed = make_bgzf(&twobit, 1000, true);
    try_file_and_pipe(&plain, &made);
    try_file_and_pipe(&gz, &made);
    try_file_and_pipe(&twobit, &made);
    try_file_and_pipe(&packed, &made);
    bytes_free(&plain);
    bytes_free(&gz);
    bytes_free(&twobit);
    bytes_free(&packed);
    sample_free(&made);
}

/* A record of several megabytes crosses the pieces of every layer, from memory and from files. */
Test(input, long_record_crosses_pieces)
{
    uint64_t state = 5;
    size_t length = 2600001;
    sample_record record = {.name = "long", .bases = malloc(length + 1)};
    sample made = {.records = &record, .count = 1};
    cr_assert_not_null(record.bases);
    for (size_t i = 0; i < length; i++)
        record.bases[i] = "ACGTacgtNn"[next_random(&state) % 10];
    record.bases[length] = '\0';
    for (size_t width = 61; width <= 4000000; width *= 251) {
        bytes plain = make_fasta(&made, width, "\r\n", false);
        expect_loads(&plain, &made, "plain", "FASTA");
        try_file(&plain, &made);
        bytes_free(&plain);
    }
    bytes plain = make_fasta(&made, 60, "\n", true), bgzf = make_bgzf(&plain, 65280, true);
    bytes twobit = make_twobit(&made, 1, false);
    cr_assert_gt(bgzf.size, (size_t)1 << 20); /* more than one read */
    expect_loads(&bgzf, &made, "BGZF", "FASTA");
    try_file(&bgzf, &made);
    try_file(&twobit, &made);
    bytes_free(&plain);
    bytes_free(&bgzf);
    bytes_free(&twobit);
    free(record.bases);
}

/* FASTA as people write it -------------------------------------------------------------------------------- */

static hspz_genome load_text(const char *text, const hspz_genome_options *options)
{
    bytes file = {.data = (uint8_t *)(uintptr_t)text, .size = strlen(text)};
    return load_bytes(&file, options);
}

Test(input, fasta_by_hand)
{
    hspz_genome genome = load_text(
        "\xef\xbb\xbf\n  \n>  chr1\tsome  words \r\nACgt \t\r\n\r\n\nNnRx\n>empty\n>u|v:w\nUuT", NULL);
    cr_assert_eq(genome.record_count, 3);
    cr_expect_str_eq((char *)genome.bases, "ACgtNnRx&&TtT");
    cr_expect_str_eq(genome.records[0].name, "chr1");
    cr_expect_str_eq(genome.records[0].header, "chr1\tsome  words");
    cr_expect_eq(genome.records[0].line, 3);
    cr_expect_str_eq(genome.records[1].name, "empty");
    cr_expect_eq(genome.records[1].length, 0);
    cr_expect_eq(genome.records[1].offset, 9);
    cr_expect_eq(genome.records[2].line, 9);
    cr_expect_eq(genome.records[2].offset, 10);
    const hspz_composition *is = &genome.composition;
    cr_expect_eq(is->bases, 11);
    cr_expect_eq(is->upper, 4);
    cr_expect_eq(is->masked, 3);
    cr_expect_eq(is->n, 2);
    cr_expect_eq(is->iupac, 1);
    cr_expect_eq(is->x, 1);
    hspz_genome_free(&genome);
}

Test(input, unmask_and_prefix)
{
    hspz_genome_options options = {.unmask = true, .name_prefix = "t."};
    hspz_genome genome = load_text(">a b\nACgtNnryXxu\n>c\nA\n", &options);
    cr_expect_str_eq((char *)genome.bases, "ACGTNNRYXXT&A");
    cr_expect_eq(genome.unmasked, 7);
    cr_expect_eq(genome.composition.upper, 6);
    cr_expect_eq(genome.composition.masked, 0);
    cr_expect_eq(genome.composition.n, 2);
    cr_expect_eq(genome.composition.iupac, 2);
    cr_expect_eq(genome.composition.x, 2);
    cr_expect_str_eq(genome.records[0].name, "t.a");
    cr_expect_str_eq(genome.records[0].header, "a b");
    cr_expect_str_eq(genome.records[1].name, "t.c");
    hspz_genome_free(&genome);
}

/* All 256 bytes: each is either counted in its kind or refused. */
Test(input, every_byte)
{
    const char *codes = "ACGTUNRYSWKMBDHVX";
    for (int byte = 0; byte < 256; byte++) {
        char text[] = {'>', 'a', '\n', 'A', (char)byte, 'A', '\n'};
        bool letter =
            byte != 0 && (strchr(codes, byte) != NULL || (byte >= 'a' && strchr(codes, byte - 32) != NULL));
        if (letter || byte == '\n') {
            bytes file = {.data = (uint8_t *)text, .size = sizeof text};
            hspz_genome genome = load_bytes(&file, NULL);
            cr_expect_eq(genome.length, byte == '\n' ? 2u : 3u);
            hspz_genome_free(&genome);
        } else {
            (void)expect_refused(text, sizeof text, "sample: line 2, column 2, record a: found ");
        }
    }
}

Test(input, can_seed)
{
    cr_expect(hspz_can_seed((const uint8_t *)"aACGTNACG", 9, 4));
    cr_expect_not(hspz_can_seed((const uint8_t *)"aACGTNACG", 9, 5));
    cr_expect_not(hspz_can_seed((const uint8_t *)"ACG", 3, 4));
    cr_expect(hspz_can_seed((const uint8_t *)"&ACG", 4, 3));
    cr_expect_not(hspz_can_seed((const uint8_t *)"", 0, 1));
}
