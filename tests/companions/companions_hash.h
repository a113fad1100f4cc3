/* companions_hash.h -- a hash index under test with its buffers, so that a test says only what it is about. */
#ifndef HSPZ_TEST_COMPANIONS_HASH_H
#define HSPZ_TEST_COMPANIONS_HASH_H

#include "companions_sides.h"

/* Keys and, unless values is NULL, their values. cuts are chunk boundaries chosen by `shape` (0: one chunk). */
typedef struct source {
    const uint32_t *keys;
    const uint32_t *values;
    uint64_t rows;
    uint32_t first_value;
    uint64_t shape;
} source;

typedef struct index_under_test {
    hspz_hash_table table;
    uint32_t statistics[HSPZ_HASH_BUILD_STATISTICS];
} index_under_test;

/* Cuts a sequence into at most CHUNKS_MOST chunks, some of them empty, as `shape` says; every fourth shape into many: more than
 * one launch of a device takes. */
#define CHUNKS_MOST 150u

uint64_t cut_views(const uint32_t *data, uint64_t rows, uint64_t shape, hspz_u32_view views[CHUNKS_MOST]);
uint64_t cut_ranges(uint32_t *data, uint64_t rows, uint64_t shape, hspz_u32_range ranges[CHUNKS_MOST]);

/* An index with own buffers full of junk. */
index_under_test make_index(uint32_t capacity, uint32_t max_probe, uint32_t stride);
hspz_status try_build(const side *s, index_under_test *index, const source *from, hspz_error *error);
void build(const side *s, index_under_test *index, const source *from);

/* What a lookup of `key` in the table as it lies there has to give. */
uint32_t expected_lookup(const hspz_hash_table *table, uint32_t max_probe, uint32_t key, uint32_t *probes);
/* Value of `key` by the policy: that of the lowest row; HSPZ_HASH_NO_VALUE if there is none. */
uint32_t expected_value(const source *from, uint32_t key);
/* Each key of the source has its value, nothing else is in the table. For tables without overflow. */
void check_map(const side *s, const index_under_test *index, const source *from);
/* `count` different keys whose first slot in a table of `capacity` is `slot`. */
void colliding_keys(uint32_t *keys, uint32_t count, uint32_t capacity, uint32_t slot);

#endif
