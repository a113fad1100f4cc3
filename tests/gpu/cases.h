/* cases.h -- random cases for two plugins: sequences, parameters, and what is done with an engine.
 *
 * Idea: one 64-bit seed makes a whole case: sequences (repeats, mutated copies, soft-masking, N, IUPAC, X, tiny records, near-identical
 * stretches), parameters, level (a), (b) or (c). Needs nothing but the C library. Not thread-safe.
 */
#ifndef HSPZ_TESTS_GPU_CASES_H
#define HSPZ_TESTS_GPU_CASES_H

#include "hspz_abi.h"

#include <stddef.h>

typedef struct text {
    uint8_t *bases;
    uint64_t length;
} text;

/* What is done with an engine. */
typedef struct job {
    hspz_engine_params params;
    text target, query;
    uint32_t level, strand;
    uint64_t begin, end, interval;
    uint32_t batch_size;
    uint64_t *seeds;
    hspz_anchor *anchors;
    uint64_t count;
    uint32_t *index_table, *positions;
    uint64_t position_count, index_entries;
} job;

/* The case of a seed: blocks of up to `size` bases or four times that, patterns of up to `max_bits` bits; or `pattern`, without
 * an index of the host's, unless that is NULL. It is freed with free_job. */
void make_job(job *j, uint64_t seed, uint64_t size, uint32_t max_bits, const char *pattern);
void free_job(job *j);

/* Random numbers: those of a seed from here on, as make_job does. */
void start_random(uint64_t seed);
uint64_t below(uint64_t n); /* 0 .. n - 1; 0 for n = 0 */
int one_in(uint64_t n);

/* Ends the program when there is none. */
void *get_memory(size_t bytes);

#endif
