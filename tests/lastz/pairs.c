/* pairs.c -- makes one pair of genomes and options for the check against LASTZ.
 *
 * Idea: every case follows from one number. The target is a few random records with repeats and stretches of low complexity; the
 * query is made of mutated pieces of it, some reversed, so that there are HSPs of all sizes near every threshold; then
 * both get soft-masked runs, N runs, the letter X and, where LASTZ can read them, IUPAC codes. The options touch every rule that both
 * programs have. Cases whose input LASTZ is known to refuse are made on purpose now and then, so that the count of refusals
 * means something.
 *
 * Not made, because hspz cannot follow LASTZ there: a lower-case x together with a score file (LASTZ then scores it fill_score
 * like an unknown letter, though an upper-case X stays bad_score), and patterns that start or end with 0 (LASTZ drops those
 * zeros; hspz holds to the pattern as given).
 *
 * usage: lastz_pairs NUMBER DIRECTORY
 * writes target.fa query.fa, lastz.options and hspz.options (one argument a line), scores.txt where a case needs it.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BASES 400000u

typedef struct genome {
    char *bases; /* records end with '\n' */
    uint32_t length;
} genome;

typedef struct maker {
    uint64_t state;
    const char *directory;
    bool iupac;  /* the case may hold IUPAC codes */
    bool scores; /* the case has a score file */
} maker;

static _Noreturn void die(const char *what, const char *which)
{
    fprintf(stderr, "lastz_pairs: %s: %s\n", what, which);
    exit(1);
}

/* SplitMix64: any number makes a good start. */
static uint64_t next(maker *m)
{
    uint64_t z = m->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint32_t below(maker *m, uint32_t limit)
{
    return (uint32_t)(next(m) % limit);
}

static bool chance(maker *m, uint32_t percent)
{
    return below(m, 100) < percent;
}

static char random_base(maker *m)
{
    return "ACGT"[below(m, 4)];
}

static void add(genome *g, char base)
{
    if (g->length < MOST_BASES)
        g->bases[g->length++] = base;
}

static genome new_genome(void)
{
    genome g = {.bases = malloc(MOST_BASES)};
    if (g.bases == NULL)
        die("out of memory", "genome");
    return g;
}

static void end_record(genome *g)
{
    if (g->length < MOST_BASES)
        add(g, '\n');
    else
        g->bases[MOST_BASES - 1] = '\n';
}

/* A stretch of few kinds of bases: entropy lives here. */
static void add_simple(maker *m, genome *g, uint32_t length)
{
    uint32_t period = 1 + below(m, 4);
    char unit[4] = "";
    for (uint32_t i = 0; i < period; i++)
        unit[i] = random_base(m);
    for (uint32_t i = 0, at = 0; i < length; i++, at = at + 1 < period ? at + 1 : 0)
        add(g, chance(m, 8) ? random_base(m) : unit[at]);
}

static char complement(char base)
{
    switch (base) {
    case 'A':
        return 'T';
    case 'C':
        return 'G';
    case 'G':
        return 'C';
    case 'T':
        return 'A';
    default:
        return base;
    }
}

/* A mutated copy of a piece of `from`, one time in three as its reverse complement. */
static void add_copy(maker *m, genome *to, const genome *from, uint32_t from_length, uint32_t length)
{
    if (from_length < 2)
        return;
    uint32_t start = below(m, from_length);
    if (length > from_length - start)
        length = from_length - start;
    bool reverse = chance(m, 33);
    uint32_t differing = below(m, 31);
    bool transitions = chance(m, 30);
    for (uint32_t i = 0; i < length; i++) {
        char base = from->bases[reverse ? start + length - 1 - i : start + i];
        if (base == '\n')
            continue;
        if (reverse)
            base = complement(base);
        if (chance(m, differing)) {
            const char *at = strchr("ACGT", base);
            base = transitions && at != NULL ? "GTAC"[at - "ACGT"] : random_base(m);
        }
        add(to, base);
        if (chance(m, 1) && chance(m, 20)) /* an indel shifts the diagonal */
            add(to, random_base(m));
    }
}

static uint32_t piece_length(maker *m)
{
    return chance(m, 20) ? 1 + below(m, 30) : chance(m, 80) ? 20 + below(m, 300) : 200 + below(m, 3000);
}

static void fill_record(maker *m, genome *g, const genome *from, uint32_t length)
{
    uint32_t end = g->length + length;
    while (g->length < end) {
        uint32_t kind = below(m, 10);
        if (from != NULL && kind < 6)
            add_copy(m, g, from, from->length, piece_length(m));
        else if (kind < 7)
            add_copy(m, g, g, g->length, piece_length(m));
        else if (kind < 8)
            add_simple(m, g, piece_length(m) / 3 + 1);
        else
            for (uint32_t i = piece_length(m); i > 0; i--)
                add(g, random_base(m));
        if (g->length >= MOST_BASES)
            return;
    }
}

/* A record, now and then shorter than a seed. */
static uint32_t record_length(maker *m, uint32_t usual)
{
    return chance(m, 15) ? 1 + below(m, 40) : usual / 2 + below(m, usual);
}

static void make_bases(maker *m, genome *target, genome *query)
{
    bool large = chance(m, 6); /* beyond 65536 positions, where hashed diagonals meet */
    uint32_t records = large ? 1 + below(m, 3) : chance(m, 15) ? 10 + below(m, 30) : 1 + below(m, 5);
    uint32_t usual = large ? 60000 : 8000 / records + 40;
    for (uint32_t i = 0; i < records; i++) {
        fill_record(m, target, NULL, record_length(m, usual));
        end_record(target);
    }
    records = chance(m, 15) ? 10 + below(m, 30) : 1 + below(m, 5);
    usual = large ? 20000 : 8000 / records + 40;
    for (uint32_t i = 0; i < records; i++) {
        fill_record(m, query, target, record_length(m, usual));
        end_record(query);
    }
}

/* Masks runs of `g`: lower case, N, X, IUPAC codes; single letters too. */
static void spoil(maker *m, genome *g)
{
    uint32_t runs = below(m, 4) == 0 ? 0 : below(m, g->length / 150 + 2);
    for (uint32_t i = 0; i < runs; i++) {
        uint32_t start = below(m, g->length);
        uint32_t length = chance(m, 40) ? 1 : 1 + below(m, 60);
        uint32_t kind = below(m, m->iupac ? 5 : 4);
        for (uint32_t at = start; at < start + length && at < g->length; at++) {
            char *base = &g->bases[at];
            if (*base == '\n')
                break;
            if (kind <= 1 && strchr("ACGTN", *base) != NULL)
                *base = (char)(*base - 'A' + 'a');
            else if (kind == 2)
                *base = chance(m, 80) ? 'N' : 'n';
            else if (kind == 3)
                *base = m->scores || chance(m, 80) ? 'X' : 'x';
            else if (kind == 4)
                *base = "RYSWKMBDHVryswkmbdhv"[below(m, 20)];
        }
    }
}

/* What LASTZ is known to refuse and hspz accepts: an IUPAC code without --ambiguous=iupac. */
static void spoil_for_lastz(maker *m, genome *g)
{
    uint32_t at = below(m, g->length);
    if (g->bases[at] != '\n')
        g->bases[at] = "RYKM"[below(m, 4)];
}

static FILE *open_in(const maker *m, const char *name)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", m->directory, name) >= (int)sizeof path)
        die("path too long", name);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        die("cannot write", path);
    return file;
}

static void close_file(FILE *file, const char *name)
{
    if (ferror(file) || fclose(file) != 0)
        die("cannot write", name);
}

static void write_genome(const maker *m, const char *name, char prefix, const genome *g)
{
    FILE *file = open_in(m, name);
    uint32_t record = 0;
    for (uint32_t at = 0; at < g->length;) {
        fprintf(file, ">%c%" PRIu32 "\n", prefix, ++record);
        uint32_t column = 0;
        for (; g->bases[at] != '\n'; at++) {
            fputc(g->bases[at], file);
            if (++column % 60 == 0)
                fputc('\n', file);
        }
        if (column % 60 != 0)
            fputc('\n', file);
        at++;
    }
    close_file(file, name);
}

/* One setting in both dialects. */
static void option(FILE *lastz, FILE *hspz, const char *lastz_name, const char *hspz_name, const char *value)
{
    fprintf(lastz, "%s=%s\n", lastz_name, value);
    fprintf(hspz, "%s\n%s\n", hspz_name, value);
}

static void number_option(FILE *lastz, FILE *hspz, const char *name, uint32_t value)
{
    char text[16];
    snprintf(text, sizeof text, "%" PRIu32, value);
    option(lastz, hspz, name, name, text);
}

/* A pattern that starts and ends with 1 or T, with a word of 8..24 bits, short enough for LASTZ (31). */
static void random_pattern(maker *m, char pattern[32])
{
    uint32_t bits;
    do {
        uint32_t length = 4 + below(m, 28);
        bits = 0;
        for (uint32_t i = 0; i < length; i++) {
            bool edge = i == 0 || i + 1 == length;
            pattern[i] = edge ? "1T"[chance(m, 30)] : "101T10"[below(m, 6)];
            bits += pattern[i] == '1' ? 2 : pattern[i] == 'T' ? 1 : 0;
        }
        pattern[length] = '\0';
    } while (bits < 10 || bits > 24);
}

/* Zeros at the ends, which LASTZ drops, where the pattern has room for them. */
static void outer_zeros(maker *m, char pattern[32])
{
    uint32_t front = below(m, 4), back = below(m, 4);
    size_t length = strlen(pattern);
    if (front + length + back > 31)
        return;
    memmove(pattern + front, pattern, length);
    memset(pattern, '0', front);
    memset(pattern + front + length, '0', back);
    pattern[front + length + back] = '\0';
}

static void seed_options(maker *m, FILE *lastz, FILE *hspz)
{
    static const char *const known[] = {
        "12of19",        "14of22",  "1110T1001T001010T111", "1T10100110010101111",
        "TTTTTTTTTTTTT", "1111111", "111111111111"};
    if (chance(m, 55)) {
        char pattern[32];
        if (chance(m, 60))
            random_pattern(m, pattern);
        else
            snprintf(pattern, sizeof pattern, "%s", known[below(m, sizeof known / sizeof *known)]);
        if (strchr(pattern, 'o') == NULL && chance(m, 25))
            outer_zeros(m, pattern);
        option(lastz, hspz, "--seed", "--seed", pattern);
    }
    if (chance(m, 30)) {
        fputs("--notransition\n", lastz);
        fputs("--notransition\n", hspz);
    }
    if (chance(m, 35))
        number_option(lastz, hspz, "--step", chance(m, 80) ? 1 + below(m, 20) : 1 + below(m, 200));
}

static void ambiguous_options(maker *m, FILE *lastz, FILE *hspz)
{
    char value[64];
    uint32_t form = below(m, 4);
    const char *name = m->iupac ? "iupac" : "n";
    if (form == 0)
        snprintf(value, sizeof value, "%s", name);
    else if (form == 1)
        snprintf(value, sizeof value, "%s,%" PRIu32, name, below(m, 150));
    else
        snprintf(value, sizeof value, "%s,%" PRIu32 ",%" PRIu32, name, below(m, 100), below(m, 150));
    option(lastz, hspz, "--ambiguous", "--ambiguous", value);
}

/* A score file: a matrix near HOXD70, sometimes not symmetric, with or without bad_score and fill_score. */
static void write_scores(maker *m)
{
    static const int base[4][4] = {
        {91, -114, -31, -123}, {-114, 100, -125, -31}, {-31, -125, 100, -114}, {-123, -31, -114, 91}};
    bool lopsided = chance(m, 40);
    int score[4][4];
    for (int t = 0; t < 4; t++)
        for (int q = 0; q < 4; q++)
            score[t][q] = q < t && !lopsided ? score[q][t] : base[t][q] + (int)below(m, 41) - 20;
    FILE *file = open_in(m, "scores.txt");
    fputs("# scores of one case\n", file);
    if (chance(m, 50))
        fprintf(file, "bad_score = X:%d\n", -(int)(50 + below(m, 2000)));
    if (chance(m, 50))
        fprintf(file, "fill_score = %d\n", -(int)(10 + below(m, 400)));
    if (chance(m, 30))
        fputs("gap_open_penalty = 400\ngap_extend_penalty = 30\n", file);
    fputs("    A C G T\n", file);
    for (int t = 0; t < 4; t++)
        fprintf(file, "%c %d %d %d %d\n", "ACGT"[t], score[t][0], score[t][1], score[t][2], score[t][3]);
    close_file(file, "scores.txt");
}

static void score_options(maker *m, FILE *lastz, FILE *hspz)
{
    if (m->scores) {
        char path[4096];
        snprintf(path, sizeof path, "%s/scores.txt", m->directory);
        write_scores(m);
        option(lastz, hspz, "--scores", "--scoring", path);
    }
    /* LASTZ derives these from the matrix; hspz's defaults are fixed. */
    if (m->scores || chance(m, 30))
        number_option(lastz, hspz, "--xdrop", 100 + below(m, 2000));
    if (m->scores || chance(m, 50))
        number_option(lastz, hspz, "--hspthresh", 1000 + below(m, 3000));
    if (chance(m, 25)) {
        fputs("--noentropy\n", lastz);
        fputs("--noentropy\n", hspz);
    }
    if (m->iupac || chance(m, 25))
        ambiguous_options(m, lastz, hspz);
}

static void write_options(maker *m)
{
    static const char *const strands[] = {"plus", "minus", "both"};
    FILE *lastz = open_in(m, "lastz.options");
    FILE *hspz = open_in(m, "hspz.options");
    seed_options(m, lastz, hspz);
    score_options(m, lastz, hspz);
    if (chance(m, 40))
        option(lastz, hspz, "--strand", "--strand", strands[below(m, 3)]);
    close_file(lastz, "lastz.options");
    close_file(hspz, "hspz.options");
}

int main(int argc, char **argv)
{
    char *end = NULL;
    if (argc != 3)
        die("usage", "lastz_pairs NUMBER DIRECTORY");
    maker m = {.state = strtoull(argv[1], &end, 10), .directory = argv[2]};
    if (end == argv[1] || *end != '\0')
        die("not a number", argv[1]);
    m.state *= 0xd1342543de82ef95u;
    m.iupac = chance(&m, 25);
    m.scores = chance(&m, 25);

    genome target = new_genome();
    genome query = new_genome();
    make_bases(&m, &target, &query);
    spoil(&m, &target);
    spoil(&m, &query);
    if (!m.iupac && chance(&m, 3))
        spoil_for_lastz(&m, chance(&m, 50) ? &target : &query);
    write_genome(&m, "target.fa", 't', &target);
    write_genome(&m, "query.fa", 'q', &query);
    write_options(&m);
    free(target.bases);
    free(query.bases);
    return 0;
}
