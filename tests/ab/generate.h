/* generate.h -- random cases for A/B tests of two plugins: sequences, parameters, work.
 *
 * Idea: a case is a pure function of its seed, so that a failing one is named by one number. Small inputs, but everything that makes a
 * rule bite: repeat families, tandem repeats, N runs, soft-masking, IUPAC codes, X, records of a few bases, copies that end at
 * edges, long stretches near break-even, odd matrices and seeds, MAX_HITS from 1 up, batches from 1 position up.
 */
#ifndef HSPZ_AB_GENERATE_H
#define HSPZ_AB_GENERATE_H

#include "hspz_abi.h"

#define AB_LEVEL_FIND 0u
#define AB_LEVEL_SEEDS 1u
#define AB_LEVEL_ANCHORS 2u

/* A stream of random numbers (splitmix64). */
typedef struct ab_random {
    uint64_t state;
} ab_random;

uint64_t ab_next(ab_random *random);
/* 0..n-1; n >= 1 */
uint64_t ab_below(ab_random *random, uint64_t n);
uint64_t ab_between(ab_random *random, uint64_t least, uint64_t most);
/* true in `percent` of 100 draws */
int ab_chance(ab_random *random, uint32_t percent);

typedef struct ab_work {
    uint32_t level, strand;
    hspz_find_request find; /* level a */
    uint64_t *seeds;        /* level b */
    hspz_anchor *anchors;   /* level c; `stride` bytes apart */
    uint32_t stride;
    uint64_t count; /* of seeds or anchors */
} ab_work;

#define AB_WORKS_MAX 64u

typedef struct ab_case {
    uint64_t seed;
    hspz_engine_params params; /* seed_pattern points into `pattern` */
    char pattern[40];
    uint8_t *target, *query;
    uint64_t target_length, query_length;
    uint32_t *index_table, *positions; /* the host's index, or NULL */
    uint64_t index_entries, position_count;
    ab_work works[AB_WORKS_MAX];
    uint32_t work_count;
} ab_case;

/* Makes the case of `seed`; 0 when memory is short. Free it with ab_case_free. */
int ab_case_make(ab_case *c, uint64_t seed);
void ab_case_free(ab_case *c);
/* One line about a case: sizes, parameters, work. */
void ab_case_describe(const ab_case *c, char *text, size_t size);

/* genome.c: a related pair of blocks into c->target and c->query of at most `most` bases each; 0 when memory is short. */
int ab_genome_make(ab_case *c, ab_random *random, uint64_t most);

#endif
