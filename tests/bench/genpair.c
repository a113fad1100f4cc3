/* genpair.c -- writes a pair of generated genomes as FASTA: genpair --size 100M target.fa query.fa
 *
 * The model is in genome_model.h; every one of its parameters is an option here. Records get lengths in the ratio
 * n : n-1 : ... : 1, named t1, t2, ... and q1, q2, ...
 */
#include "genome_model.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 60u

static const char usage[] = "usage: genpair [options] TARGET.fa QUERY.fa\n"
                            "Generates two related genomes; the same options give the same files.\n"
                            "  --size N        bases of each, with K, M or G (default 20M)\n"
                            "  --seed N        of the random numbers (1)\n"
                            "  --records N     records of each file (8)\n"
                            "  --divergence X  mutations a base between the two in neutral regions (0.15)\n"
                            "  --repeats X     share of the genome that is repeats (0.42)\n"
                            "  --masked X      share of the repeats that is soft-masked (0.57)\n"
                            "  --inverted X    share of the segments inverted (0.15)\n"
                            "  --moved X       share of the segments moved (0.15)\n"
                            "  --segment N     mean bases of a segment (500K, less in small genomes)\n"
                            "  --families N    families of mobile elements (400)\n"
                            "  --n-runs N      runs of N in each genome (one per 4 Mb)\n"
                            "  --iupac N       other ambiguity codes in each genome (one per Mb)\n"
                            "  --help\n";

enum kind { COUNT, SHARE };

static const struct option options[] = {
    {"size", required_argument, NULL, 0},     {"seed", required_argument, NULL, 1},
    {"records", required_argument, NULL, 2},  {"divergence", required_argument, NULL, 3},
    {"repeats", required_argument, NULL, 4},  {"masked", required_argument, NULL, 5},
    {"inverted", required_argument, NULL, 6}, {"moved", required_argument, NULL, 7},
    {"segment", required_argument, NULL, 8},  {"families", required_argument, NULL, 9},
    {"n-runs", required_argument, NULL, 10},  {"iupac", required_argument, NULL, 11},
    {"help", no_argument, NULL, 12},          {NULL, 0, NULL, 0}};

/* Where each option goes and what it may be. */
static const struct {
    enum kind kind;
    size_t offset; /* in genome_model, but for records */
    double least, most;
} rules[] = {{COUNT, offsetof(genome_model, size), 1000, 4e9},
             {COUNT, offsetof(genome_model, seed), 0, 1e18},
             {COUNT, 0, 1, 1e6},
             {SHARE, offsetof(genome_model, divergence), 0, 1},
             {SHARE, offsetof(genome_model, repeats), 0, 0.9},
             {SHARE, offsetof(genome_model, masked), 0, 1},
             {SHARE, offsetof(genome_model, inverted), 0, 1},
             {SHARE, offsetof(genome_model, moved), 0, 1},
             {COUNT, offsetof(genome_model, segment), 100, 4e9},
             {COUNT, offsetof(genome_model, families), 1, 1e6},
             {COUNT, offsetof(genome_model, n_runs), 0, 1e6},
             {COUNT, offsetof(genome_model, iupac), 0, 1e9}};

static _Noreturn void refuse(const char *option, const char *text)
{
    (void)fprintf(stderr, "genpair: --%s: '%s' is no number in its range\n", option, text);
    exit(2);
}

static double number(const char *text, const char *option, enum kind kind, double least, double most)
{
    char *end = NULL;
    errno = 0;
    double value = kind == COUNT ? (double)strtoull(text, &end, 10) : strtod(text, &end);
    const char *unit = *end != '\0' && kind == COUNT ? strchr("KMG", *end) : NULL;
    if (unit != NULL) {
        value *= *unit == 'K' ? 1e3 : *unit == 'M' ? 1e6 : 1e9;
        end++;
    }
    if (end == text || *end != '\0' || errno != 0 || text[0] == '-' || !(value >= least && value <= most))
        refuse(option, text);
    return value;
}

/* Size first, since defaults follow from it; then all others. */
static genome_model read_options(int argc, char **argv, uint64_t *records)
{
    genome_model model = genome_model_defaults(20000000);
    *records = 8;
    for (int pass = 0; pass < 2; pass++) {
        int found;
        optind = 1;
        while ((found = getopt_long(argc, argv, "", options, NULL)) >= 0) {
            if (found == '?')
                exit(2);
            if (found == 12) {
                (void)fputs(usage, stdout);
                exit(0);
            }
            double value =
                number(optarg, options[found].name, rules[found].kind, rules[found].least, rules[found].most);
            if (found == 0 && pass == 0)
                model = genome_model_defaults((uint64_t)value);
            else if (pass == 1 && found == 2)
                *records = (uint64_t)value;
            else if (pass == 1 && rules[found].kind == COUNT)
                *(uint64_t *)(void *)((char *)&model + rules[found].offset) = (uint64_t)value;
            else if (pass == 1)
                *(double *)(void *)((char *)&model + rules[found].offset) = value;
        }
    }
    if (*records > model.size / 10)
        refuse("records", "more than a tenth of the bases");
    return model;
}

static int write_record(FILE *file, char prefix, uint64_t number, const uint8_t *bases, uint64_t count)
{
    if (fprintf(file, ">%c%llu\n", prefix, (unsigned long long)number) < 0)
        return -1;
    for (uint64_t at = 0; at < count; at += WIDTH) {
        size_t now = count - at < WIDTH ? (size_t)(count - at) : WIDTH;
        if (fwrite(bases + at, 1, now, file) != now || putc('\n', file) == EOF)
            return -1;
    }
    return 0;
}

static int write_genome(const char *path, char prefix, const uint8_t *bases, uint64_t size, uint64_t records)
{
    FILE *file = fopen(path, "w");
    double share = 2.0 / ((double)records * (double)(records + 1));
    uint64_t at = 0;
    int result = file == NULL ? -1 : 0;
    for (uint64_t i = 0; i < records && result == 0; i++) {
        uint64_t count = (uint64_t)((double)size * share * (double)(records - i));
        if (i + 1 == records || count > size - at)
            count = size - at;
        result = write_record(file, prefix, i + 1, bases + at, count);
        at += count;
    }
    if (file != NULL && fclose(file) != 0)
        result = -1;
    if (result != 0)
        (void)fprintf(stderr, "genpair: %s: cannot write: %s\n", path, strerror(errno));
    return result;
}

int main(int argc, char **argv)
{
    uint64_t records = 0;
    uint8_t *target = NULL, *query = NULL;
    genome_model model = read_options(argc, argv, &records);
    if (argc - optind != 2) {
        (void)fputs(usage, stderr);
        return 2;
    }
    if (genome_model_make(&model, &target, &query) != 0) {
        (void)fprintf(stderr, "genpair: out of memory\n");
        return 4;
    }
    int failed = write_genome(argv[optind], 't', target, model.size, records) != 0 ||
                 write_genome(argv[optind + 1], 'q', query, model.size, records) != 0;
    free(target);
    free(query);
    return failed ? 1 : 0;
}
