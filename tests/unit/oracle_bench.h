/* oracle_bench.h -- drives a plugin through the ABI in a test: set sequences, run a level, read the HSPs as text.
 *
 * The plugin is $HSPZ_TEST_PLUGIN, or hspz_oracle.so in the build directory $HSPZ_BUILD. A bench starts with parameters that make hand-worked
 * examples short: pattern 1111 without transitions, match +10, mismatch -10, x-drop 25, threshold 1, no entropy, dedup none.
 */
#ifndef HSPZ_TESTS_ORACLE_BENCH_H
#define HSPZ_TESTS_ORACLE_BENCH_H

#include "hspz_abi.h"

typedef struct bench {
    const hspz_plugin *plugin;
    hspz_engine_params params;
    hspz_host_services services; /* given to the engine when struct_size is set */
    hspz_engine *engine;         /* made by given() */
    hspz_error error;
    hspz_hsp *hsps; /* what the last run handed to the sink */
    uint64_t count;
    uint64_t capacity;
    uint64_t refuse_from; /* the sink refuses once it holds so many; 0: never */
    char text[8192];
} bench;

bench new_bench(void);
void end_bench(bench *b);

/* A fresh engine with the bench's parameters, target and query (slot 0). Fails the test on any error. */
void given(bench *b, const char *target, const char *query);

/* The levels. Results replace those of the run before. */
hspz_status try_find(bench *b, uint32_t strand, uint64_t begin, uint64_t end, uint32_t batch);
hspz_status try_expand(bench *b, uint32_t strand, const uint64_t *seeds, uint64_t count);
hspz_status try_extend(bench *b, uint32_t strand, const hspz_anchor *anchors, uint64_t count);

/* The same, but they fail the test on any error and answer the HSPs as "target,query,extent,score ...". */
const char *find(bench *b, uint32_t strand, uint64_t begin, uint64_t end, uint32_t batch);
const char *expand(bench *b, const uint64_t *seeds, uint64_t count);
const char *extend(bench *b, const hspz_anchor *anchors, uint64_t count);
const char *extend_one(bench *b, uint32_t target_end, uint32_t query_end);

hspz_statistics statistics(bench *b);

/* `count` times `letter`, appended to the text in `to` (of `size` bytes). */
void append(char *to, size_t size, const char *text);
void append_run(char *to, size_t size, char letter, unsigned count);

#endif
