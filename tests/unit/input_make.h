/* input_make.h -- writers of every input format, for tests.
 *
 * Idea: a test describes a genome once (names and bases) and gets it as a file in memory in any format that the loader
 * takes; what the loader gives back is compared with the description. The writers are plain and share nothing with
 * the readers.
 */
#ifndef HSPZ_TEST_INPUT_MAKE_H
#define HSPZ_TEST_INPUT_MAKE_H

#include "genome.h"

typedef struct bytes {
    uint8_t *data;
    size_t size;
    size_t capacity;
} bytes;

void bytes_add(bytes *to, const void *data, size_t size);
void bytes_text(bytes *to, const char *text);
void bytes_u32(bytes *to, uint32_t value, bool big_endian);
void bytes_u64(bytes *to, uint64_t value, bool big_endian);
void bytes_free(bytes *of);

/* A described genome. */
typedef struct sample_record {
    char name[32];
    char *bases;
} sample_record;

typedef struct sample {
    sample_record *records;
    size_t count;
} sample;

/* Records of 0 to a few thousand bases with N runs and soft-masked runs; the same seed gives the same genome. At
 * least one record has a base. Letters: A C G T N in either case, which 2bit can hold. */
sample sample_random(uint64_t seed);
void sample_free(sample *of);

uint64_t next_random(uint64_t *state);

/* `width` bases a line, `eol` at line ends; the last one only if `final_eol`. */
bytes make_fasta(const sample *of, size_t width, const char *eol, bool final_eol);
/* One gzip member around `size` bytes, appended. */
void add_gzip(bytes *to, const uint8_t *data, size_t size);
/* `members` members of equal size. */
bytes make_gzip(const bytes *of, size_t members);
/* Blocks of at most `block` bytes, and the empty last one if `closed`. */
bytes make_bgzf(const bytes *of, size_t block, bool closed);
bytes make_twobit(const sample *of, unsigned version, bool big_endian);

/* Loads from memory and demands success. */
hspz_genome load_bytes(const bytes *of, const hspz_genome_options *options);
/* Demands that the genome is the sample. */
void expect_sample(const hspz_genome *genome, const sample *of);
/* Demands a refusal with HSPZ_EXIT_DATA whose text holds `part`; returns the text (static, until the next call). */
const char *expect_refused(const void *data, size_t size, const char *part);

#endif
