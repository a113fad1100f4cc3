/* build.h -- how the readers of FASTA and 2bit fill a genome.
 *
 * Idea: a reader announces a record, then hands over its bases, already checked to be letters; the builder keeps the one
 * buffer, separators, totals, names and limits, so that these rules stand in one place (genome.c).
 */
#ifndef HSPZ__HOST_BUILD_H
#define HSPZ__HOST_BUILD_H

#include "genome.h"
#include "letters.h"
#include "stream.h"

typedef struct hspz__build {
    hspz_genome *genome;
    const hspz_genome_options *options;
    hspz_failure *failure;
    const char *label;      /* of the file, for messages */
    const char *unit;       /* what a record's `line` counts: "line" or "record" */
    uint64_t base_capacity; /* bytes in genome->bases */
    size_t record_capacity;
    hspz__tally tally; /* of the last tally_count bytes */
    uint64_t tally_count;
} hspz__build;

/* A record begins: `header` is its header line without '>' and line end, `size` bytes. Refuses empty names and NULs. */
int hspz__build_record(hspz__build *build, const char *header, size_t size, uint64_t line);

/* Room for `count` more bases of the present record: *bases is where they go. Refuses records that get too long. */
int hspz__build_room(hspz__build *build, uint64_t count, uint8_t **bases);

/* The `count` bases written there, at most HSPZ__TALLY_MAX, whose tally is `tally`, without special bytes, belong to
 * the present record. They are raised here if `unmask` says so. */
void hspz__build_bases(hspz__build *build, uint64_t count, hspz__tally tally);

/* Name of the present record, for messages. */
const char *hspz__build_name(const hspz__build *build);

/* The readers; both consume the stream and leave the records in the builder. */
int hspz__read_fasta(hspz__build *build, hspz__stream *stream);
int hspz__read_twobit(hspz__build *build, hspz__stream *stream);
bool hspz__is_twobit(const uint8_t *bytes, size_t size);

#endif
