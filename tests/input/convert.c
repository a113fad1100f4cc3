/* convert.c -- a FASTA file in another format, for input.sh: convert FORMAT <in.fa >out
 *
 * FORMAT: fasta, crlf, line (one line a record, no final newline), gzip (3 members), bgzf, 2bit0le, 2bit0be, 2bit1le,
 * 2bit1be. The writers are those of the unit tests.
 */
#include "input_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_sample(sample *of)
{
    hspz_genome genome;
    hspz_failure failure = {0};
    if (hspz_genome_load("-", NULL, &genome, &failure) != 0) {
        (void)fprintf(stderr, "convert: %s\n", failure.text);
        return -1;
    }
    of->count = genome.record_count;
    of->records = calloc(of->count, sizeof *of->records);
    for (size_t i = 0; of->records != NULL && i < of->count; i++) {
        const hspz_record *record = &genome.records[i];
        (void)snprintf(of->records[i].name, sizeof of->records[i].name, "%.31s", record->name);
        of->records[i].bases = strndup((const char *)genome.bases + record->offset, record->length);
        if (of->records[i].bases == NULL)
            return -1;
    }
    hspz_genome_free(&genome);
    return of->records == NULL ? -1 : 0;
}

static bytes convert(const sample *of, const char *format)
{
    bytes plain = make_fasta(of, 60, "\n", true), made = {0};
    if (strcmp(format, "fasta") == 0)
        return plain;
    if (strcmp(format, "crlf") == 0)
        made = make_fasta(of, 71, "\r\n", true);
    else if (strcmp(format, "line") == 0)
        made = make_fasta(of, SIZE_MAX / 2, "\n", false);
    else if (strcmp(format, "gzip") == 0)
        made = make_gzip(&plain, 3);
    else if (strcmp(format, "bgzf") == 0)
        made = make_bgzf(&plain, 65280, true);
    else if (strncmp(format, "2bit", 4) == 0 && strlen(format) == 7)
        made = make_twobit(of, format[4] == '1', format[5] == 'b');
    bytes_free(&plain);
    return made;
}

int main(int argc, char **argv)
{
    sample of = {0};
    if (argc != 2) {
        (void)fprintf(stderr, "usage: convert FORMAT <in.fa >out\n");
        return 2;
    }
    if (read_sample(&of) != 0)
        return 1;
    bytes made = convert(&of, argv[1]);
    if (made.size == 0) {
        (void)fprintf(stderr, "convert: unknown format %s\n", argv[1]);
        return 2;
    }
    int failed = fwrite(made.data, 1, made.size, stdout) != made.size || fflush(stdout) != 0;
    bytes_free(&made);
    sample_free(&of);
    return failed ? 1 : 0;
}
