/* genome.h -- a genome in memory, ready to be handed to a plugin.
 *
 * Idea: all records lie in one buffer in file order with one '&' between neighbours, so that any run of records (a
 * block, layout.h) is a slice of it and needs no copy. Bases are the ASCII letters of the file, case preserved,
 * except that U and u are stored as T and t and that `unmask` stores capitals. What the file is (FASTA, gzip or
 * BGZF of it, 2bit of version 0 or 1 in either byte order) is judged by its first bytes, never by its name.
 * One byte a base and nothing else of that size is held: a plain file is read in pieces, never twice.
 *
 * What cannot be used is refused with one sentence that names file, line, column and record, or 2bit record and field.
 * (SPEC sections 2, 4 and 12.) All functions are [any]; a loaded genome is read-only and may be shared.
 */
#ifndef HSPZ_HOST_GENOME_H
#define HSPZ_HOST_GENOME_H

#include "failure.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HSPZ_SEPARATOR '&'
#define HSPZ_RECORD_MAX 4294967295u /* bases a record may have, 2^32 - 1 */

typedef struct hspz_record {
    char *name; /* prefix + first word of the header; unique in its genome, no blanks or control characters */
    char *header;    /* the header line after '>', leading and trailing blanks cut; the name again for 2bit */
    uint64_t offset; /* first base is bases[offset]; an empty record's offset is where it would begin */
    uint64_t length; /* bases, 0..HSPZ_RECORD_MAX */
    uint64_t line; /* 1-based line of the header in the (decompressed) file; 1-based record number for 2bit */
} hspz_record;

/* How many bases of each kind; they add up to `bases`. Lower-case n and IUPAC codes count as n and other. */
typedef struct hspz_composition {
    uint64_t bases;  /* without separators */
    uint64_t upper;  /* A C G T as stored in capitals: what can seed */
    uint64_t masked; /* a c g t as stored in lower case: soft-masked */
    uint64_t n;      /* N, n */
    uint64_t iupac;  /* R Y S W K M B D H V, either case */
    uint64_t x;      /* X, x */
} hspz_composition;

typedef struct hspz_genome {
    char *path;                   /* as given; "stdin" for "-" */
    const char *format;           /* "FASTA", "2bit version 0", ...; static text */
    const char *packing;          /* "plain", "gzip", "BGZF"; static text */
    uint8_t *bases;               /* records and separators; NUL behind the last byte, not counted */
    uint64_t length;              /* bytes in `bases`: composition.bases + record_count - 1 */
    hspz_record *records;         /* in file order */
    size_t record_count;          /* at least 1 */
    hspz_composition composition; /* of the bases as stored, after unmask */
    uint64_t unmasked;            /* letters that `unmask` raised */
    uint64_t file_bytes;          /* bytes read from the file, before decompression */
    bool rna;                     /* the file has U where `bases` has T */
} hspz_genome;

typedef struct hspz_genome_options {
    bool unmask;             /* store capitals only */
    const char *name_prefix; /* put before every name; NULL for none */
    const volatile sig_atomic_t
        *stop; /* borrowed; non-zero ends a load with HSPZ_RUN_CANCELLED; may be NULL */
} hspz_genome_options;

/* Loads `path` ("-": standard input) into *genome, which the caller releases with hspz_genome_free. `options` NULL: the
 * defaults. At least one record has a base. Returns 0, or HSPZ_EXIT_DATA, HSPZ_EXIT_MEMORY or HSPZ_RUN_CANCELLED with *genome
 * cleared. */
int hspz_genome_load(const char *path, const hspz_genome_options *options, hspz_genome *genome,
                     hspz_failure *failure) __attribute__((warn_unused_result));

/* The same for a file that lies in memory; `label` takes the place of the path in messages. The bytes are not kept. */
int hspz_genome_load_memory(const void *bytes, size_t size, const char *label,
                            const hspz_genome_options *options, hspz_genome *genome, hspz_failure *failure)
    __attribute__((warn_unused_result));

/* Releases everything and clears the struct; NULL and cleared structs are fine. */
void hspz_genome_free(hspz_genome *genome);

/* Why LASTZ would misread this record name in a segments file, as a sentence that begins with a verb ("contains '#',
 * ..."; static text), or NULL when it is safe. Measured with lastz 1.04.22 (names.c). */
const char *hspz_name_problem(const char *name);

/* True when some window of `width` bases is all upper-case A,C,G,T: when anything can seed. Stops at the first. */
bool hspz_can_seed(const uint8_t *bases, uint64_t length, uint32_t width);

#ifdef __cplusplus
}
#endif

#endif
