/* input_refusals.c -- every unusable input gets one sentence with its place, and nothing is leaked or kept. */
#include "input_make.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void refused(const char *text, const char *part)
{
    (void)expect_refused(text, strlen(text), part);
}

Test(refusals, paths)
{
    static const struct {
        const char *path, *part;
    } cases[] = {
        {"/nonexistent/genome.fa", "/nonexistent/genome.fa: cannot open: No such file or directory"},
        {"/tmp", "/tmp: is a directory"},
        {"/dev/null", "/dev/null: is empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hspz_genome genome;
        hspz_failure failure = {0};
        cr_assert_eq(hspz_genome_load(cases[i].path, NULL, &genome, &failure), HSPZ_EXIT_DATA);
        cr_expect_not_null(strstr(failure.text, cases[i].part), "'%s'", failure.text);
        cr_expect_eq(failure.exit_code, HSPZ_EXIT_DATA);
    }
}

Test(refusals, fasta)
{
    (void)expect_refused("", 0, "sample: is empty");
    refused("\n \n\r\n", "holds nothing but blank lines");
    refused("ACGT\n", "line 1: found 'A', expected '>'");
    refused("\n\nACGT\n", "line 3: found 'A', expected '>'");
    refused(">\nACGT\n", "line 1: '>' without a name");
    refused(">a\nACGT\n>  \r\nACGT\n", "line 3: '>' without a name");
    refused(">a\nACGT\n>b\nA\n>a other\nC\n", "the name 'a' is used twice, at line 1 and at line 5");
    refused(">a\n>b\n\n", "holds 2 records but not a single base");
    refused(">a", "holds 1 record but not a single base");
    refused(">a\nACGT\nAC&T\n", "line 3, column 3, record a: found '&', which separates records");
    refused(">a\n10 ACGT\n", "line 2, column 1, record a: found '1', a digit");
    refused(">a\nACG*\n", "column 4, record a: found '*', which stands for a stop codon");
    refused(">a\nAC-GT\n", "column 3, record a: found '-', which stands for a gap");
    refused(">a\nAC.GT\n", "column 3, record a: found '.', which stands for a gap");
    refused(">a\nACG\n>p\r\nMKVLAAGIVE\r\n",
            "line 4, column 4, record p: found 'L', a letter that is no nucleotide code");
    refused(">a\nAC GT\n", "column 3, record a: found byte 0x20, a blank within a line");
    refused(">a\nACGT>b\nACGT\n", "column 5, record a: found '>', which begins a record only at the start");
    refused(">a\nAC\xc3\xa9\n", "column 3, record a: found byte 0xc3");
    refused(">a\rACGT\r>b\rACGT\r", "the header holds a carriage return");
    refused(">a\x01g\nACGT\n", "the name holds byte 0x01");
    (void)expect_refused(">a\0b\nACGT\n", 10, "holds a zero byte");
}

Test(refusals, other_formats)
{
    refused("@r1\nACGT\n+\nIIII\n", "looks like FASTQ or SAM text");
    refused("##maf version=1\n", "looks like a MAF alignment");
    refused("LOCUS       X\n", "looks like a GenBank file");
    refused("BZh91AY", "looks like bzip2 data");
    refused("\xfd"
            "7zXZ",
            "looks like xz data");
}

/* The column is right in lines longer than one tally, and where a piece ends within a line. */
Test(refusals, place_in_long_lines)
{
    size_t places[] = {4094, 4095, 4096, 262143, 262144, 1048570, 1048571, 1048572, 1048573, 1500000};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        bytes file = {0}, packed;
        char expected[64];
        uint8_t line[] = "ACGTACGTAC";
        bytes_text(&file, ">a\nAC\n");
        for (int k = 0; k < 200000; k++)
            bytes_add(&file, line, 10);
        file.data[6 + places[i]] = '!';
        (void)snprintf(expected, sizeof expected, "line 3, column %zu, record a: found '!'", places[i] + 1);
        (void)expect_refused(file.data, file.size, expected);
        packed = make_gzip(&file, 1);
        (void)expect_refused(packed.data, packed.size, expected);
        bytes_free(&file);
        bytes_free(&packed);
    }
}

/* gzip ---------------------------------------------------------------------------------------------------- */

Test(refusals, gzip_truncated_anywhere)
{
    sample made = sample_random(3);
    bytes plain = make_fasta(&made, 60, "\n", true), one = make_gzip(&plain, 1),
          bgzf = make_bgzf(&plain, 700, true);
    for (size_t size = 1; size < one.size; size++)
        (void)expect_refused(one.data, size, size == 1 ? "line 1: found byte 0x1f" : "truncated");
    for (size_t size = 2; size < bgzf.size; size++)
        (void)expect_refused(bgzf.data, size, "truncated");
    bytes_free(&plain);
    bytes_free(&one);
    bytes_free(&bgzf);
    sample_free(&made);
}

/* Of several members, every cut but the one between members is seen, and that one loses records or bases openly. */
Test(refusals, gzip_members)
{
    bytes first = {0}, second = {0}, file = {0};
    bytes_text(&first, ">a\nACGT\n");
    bytes_text(&second, ">b\nCCCC\n");
    add_gzip(&file, first.data, first.size);
    size_t boundary = file.size;
    add_gzip(&file, second.data, second.size);
    for (size_t size = boundary + 2; size < file.size; size++)
        (void)expect_refused(file.data, size, "truncated: the file ends inside gzip member 2");
    (void)expect_refused(file.data, boundary + 1, "truncated: the file ends inside gzip member 2");
    file.size = boundary;
    bytes_text(&file, "trailing garbage");
    (void)expect_refused(file.data, file.size,
                         "behind gzip member 1, is 0x74, which begins no further member");
    file.size = boundary;
    bytes_add(&file, "\0\0\x1f\x8b", 4);
    (void)expect_refused(file.data, file.size, "begins no further member");
    file.size = boundary;
    file.data[boundary - 8] ^= 1;
    (void)expect_refused(file.data, file.size, "damaged at byte");
    file.data[boundary - 8] ^= 1;
    file.data[boundary - 1] ^= 1;
    (void)expect_refused(file.data, file.size, "incorrect length check");
    bytes_free(&first);
    bytes_free(&second);
    bytes_free(&file);
}

Test(refusals, gzip_of_nothing)
{
    bytes file = {0}, unclosed, plain = {0};
    add_gzip(&file, NULL, 0);
    (void)expect_refused(file.data, file.size, "is empty when decompressed");
    bytes_text(&plain, ">a\nACGT\n");
    unclosed = make_bgzf(&plain, 100, false);
    (void)expect_refused(unclosed.data, unclosed.size, "without the empty member that closes it");
    bytes_free(&file);
    bytes_free(&plain);
    bytes_free(&unclosed);
}

/* 2bit ---------------------------------------------------------------------------------------------------- */

/* One record "a", ACGTNNac: N block [4,6), mask block [6,8); offsets of the fields below, version 0, little endian. */
enum {
    AT_VERSION = 4,
    AT_COUNT = 8,
    AT_NAME_SIZE = 16,
    AT_NAME = 17,
    AT_OFFSET = 18,
    AT_BASES = 22,
    AT_N_COUNT = 26,
    AT_N_START = 30,
    AT_N_SIZE = 34,
    AT_MASK_COUNT = 38,
    AT_MASK_START = 42,
    AT_MASK_SIZE = 46,
    TWOBIT_SIZE = 56
};

static bytes small_twobit(void)
{
    sample_record record = {.name = "a", .bases = (char[]){"ACGTNNac"}};
    sample made = {.records = &record, .count = 1};
    bytes file = make_twobit(&made, 0, false);
    cr_assert_eq(file.size, (size_t)TWOBIT_SIZE);
    return file;
}

static void poke_refused(size_t at, uint32_t value, const char *part)
{
    bytes file = small_twobit();
    memcpy(file.data + at, &value, sizeof value); /* tests run on little-endian machines or swap back below */
    if (*(const uint8_t *)&(uint32_t){1} == 0)
        for (unsigned i = 0; i < 4; i++)
            file.data[at + i] = (uint8_t)(value >> 8 * i);
    (void)expect_refused(file.data, file.size, part);
    bytes_free(&file);
}

Test(refusals, twobit_fields)
{
    poke_refused(AT_VERSION, 2, "2bit version 2, expected 0 or 1");
    poke_refused(AT_COUNT, 0, "without records");
    poke_refused(AT_COUNT, 0xffffffffu, "record 2");
    poke_refused(AT_OFFSET, TWOBIT_SIZE, "its offset 56 is beyond 56");
    poke_refused(AT_OFFSET, 0xfffffff0u, "its offset 4294967280 is beyond 56");
    poke_refused(AT_BASES, 9, "the 9 bases of record 1 (a) would end at byte 57, the file has 56");
    poke_refused(AT_BASES, 0xffffffffu, "truncated 2bit file");
    poke_refused(AT_N_COUNT, 0x20000000u, "the number of N blocks 536870912 is beyond");
    poke_refused(AT_N_COUNT, 0xffffffffu, "the number of N blocks");
    poke_refused(AT_MASK_COUNT, 0x10000000u, "the number of mask blocks");
    poke_refused(AT_N_START, 7, "the end of an N block 9 is beyond 8");
    poke_refused(AT_N_SIZE, 0xffffffffu, "the end of an N block");
    poke_refused(AT_MASK_START, 0xffffffffu, "the end of a mask block");
    poke_refused(AT_MASK_SIZE, 3, "the end of a mask block 9 is beyond 8");
    bytes file = small_twobit();
    file.data[AT_NAME] = '\t';
    (void)expect_refused(file.data, file.size, "record 1: the name holds byte 0x09");
    file.data[AT_NAME] = 7;
    (void)expect_refused(file.data, file.size, "the name holds byte 0x07");
    file.data[AT_NAME] = 0;
    (void)expect_refused(file.data, file.size, "the name holds byte 0x00");
    file.data[AT_NAME_SIZE] = 255;
    (void)expect_refused(file.data, file.size, "index entry 1 would end at byte");
    bytes_free(&file);
}

Test(refusals, twobit_truncated_anywhere)
{
    for (unsigned version = 0; version < 2; version++) {
        sample made = sample_random(8);
        bytes file = make_twobit(&made, version, version == 1);
        for (size_t size = 4; size < file.size; size += size < 400 ? 1 : 97) {
            const char *text = expect_refused(file.data, size, "sample: ");
            cr_expect(strstr(text, "truncated") != NULL || strstr(text, "is beyond") != NULL, "'%s'", text);
        }
        bytes_free(&file);
        sample_free(&made);
    }
}

Test(refusals, twobit_duplicates)
{
    sample_record records[2] = {{.name = "a", .bases = (char[]){"ACGTNNac"}},
                                {.name = "a", .bases = (char[]){"ACGT"}}};
    sample made = {.records = records, .count = 2};
    bytes file = make_twobit(&made, 0, false);
    (void)expect_refused(file.data, file.size, "the name 'a' is used twice, at record 1 and at record 2");
    bytes_free(&file);
}

/* Two index entries for the same bytes: a small file must not claim much memory. */
Test(refusals, twobit_overlap)
{
    char long_bases[1001];
    sample_record records[2] = {{.name = "a", .bases = long_bases}, {.name = "b", .bases = (char[]){"ACGT"}}};
    sample made = {.records = records, .count = 2};
    memset(long_bases, 'A', 1000);
    long_bases[1000] = '\0';
    bytes file = make_twobit(&made, 0, false);
    memcpy(file.data + 24, file.data + 18, 4);
    (void)expect_refused(file.data, file.size, "records overlap");
    bytes_free(&file);
}

/* Names LASTZ cannot take --------------------------------------------------------------------------------- */

Test(refusals, names_for_lastz)
{
    static const char *const good[] = {"chr1", "gi|5|ref|NC_1.2|", "a:b", "x.FA", "x.fa.gz", ".fa",
                                       "a/b",  "scf-1+",           "*",   "x.fna"};
    static const char *const bad[] = {"",      "a#b",   "chr1.fa", "x.fasta", "x.2bit",
                                      "x.nib", "x.hsx", "a b",     "a\tb",    "a\x7f"};
    char name[482];
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        cr_expect_null(hspz_name_problem(good[i]), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_expect_not_null(hspz_name_problem(bad[i]), "%s", bad[i]);
    memset(name, 'n', sizeof name);
    name[481] = '\0';
    cr_expect_not_null(hspz_name_problem(name));
    name[480] = '\0';
    cr_expect_null(hspz_name_problem(name));
}
