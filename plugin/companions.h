/* companions.h -- the two companion systems of the fast plugin: hash index and soft Smith-Waterman.
 *
 * Idea: the public requests (abi/hspz_hash_index.h, abi/hspz_soft_sw.h) are judged in one place and turned into
 * plain work lists: spans, pieces in which no list of chunks has a boundary. A device then serves a small table
 * of functions over work lists and never meets a chunk boundary, an alias or a bad argument.
 * companions_hash_index.c and companions_soft_sw.c judge, kernels/cpu and kernels/cuda work.
 */
#ifndef HSPZ__COMPANIONS_H
#define HSPZ__COMPANIONS_H

#include "hspz_hash_index.h"
#include "hspz_soft_sw.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What get_extension answers. */
extern const hspz_hash_index hspz__hash_index;
extern const hspz_soft_sw hspz__soft_sw;

/* Hash index --------------------------------------------------------------------------------------- */

/* hspz_hash_table as judged; max_probe is the bound of the call. */
typedef struct hspz__slots {
    uint32_t *keys;
    uint32_t *values;
    uint32_t capacity;
    uint32_t stride;
    uint32_t max_probe;
} hspz__slots;

/* Source rows first_row .. first_row + count - 1 of a build; count > 0. Rows are below 2^32 - 1. */
typedef struct hspz__build_span {
    const uint32_t *keys;
    const uint32_t *valid;  /* or NULL */
    const uint32_t *values; /* or NULL: first_value + place in the span */
    uint32_t first_row;
    uint32_t count;
    uint32_t first_value;
} hspz__build_span;

typedef struct hspz__build_work {
    hspz__slots slots;
    const hspz__build_span *spans;
    uint64_t span_count;
    uint64_t rows;
    uint32_t *statistics;
    uint32_t *source_rows; /* one word per slot; NULL when build_scratch is 0 */
    uint32_t threads;
    void *stream;
} hspz__build_work;

typedef struct hspz__query_span {
    const uint32_t *keys;
    uint32_t *values; /* or NULL, as found and probes */
    uint32_t *found;
    uint32_t *probes;
    uint32_t count;
} hspz__query_span;

typedef struct hspz__query_work {
    hspz__slots slots;
    const hspz__query_span *spans;
    uint64_t span_count;
    uint32_t *statistics;
    uint32_t threads;
    void *stream;
} hspz__query_work;

/* Where the pairs of one join go: one for a join, one per chunk in a batch join. */
typedef struct hspz__join_group {
    uint32_t *left_rows;
    uint32_t *right_rows;
    uint64_t pair_capacity;
    uint32_t *pair_count;
    uint32_t *statistics;
} hspz__join_group;

typedef struct hspz__join_span {
    const uint32_t *keys;
    const uint32_t *valid; /* or NULL */
    uint32_t count;        /* > 0 */
    uint32_t first_left;
    uint64_t group; /* ascending over the spans */
} hspz__join_span;

typedef struct hspz__join_work {
    hspz__slots slots;
    const hspz__join_span *spans;
    uint64_t span_count;
    const hspz__join_group *groups;
    uint64_t group_count;
    void *scratch;
    uint32_t threads;
    void *stream;
} hspz__join_work;

/* A device's side. The sizes are bytes; `tiles` is the number of pieces of at most join_tile rows in the spans. */
typedef struct hspz__hash_device {
    uint32_t join_tile;
    uint64_t (*build_scratch)(uint32_t capacity, uint64_t most_spans);
    uint64_t (*join_scratch)(uint64_t tiles);
    hspz_status (*build)(const hspz__build_work *work, hspz_error *error);
    hspz_status (*query)(const hspz__query_work *work, hspz_error *error);
    hspz_status (*join)(const hspz__join_work *work, hspz_error *error);
} hspz__hash_device;

extern const hspz__hash_device hspz__hash_cpu;
extern const hspz__hash_device hspz__hash_cuda; /* absent (weak) without nvcc */

/* Soft Smith-Waterman --------------------------------------------------------------------------------- */

/* A judged request: batch, rows and columns are not 0. score_gradient and gradient are NULL in forward. */
typedef struct hspz__soft_sw_work {
    uint64_t batch;
    uint32_t rows;
    uint32_t columns;
    double gap;
    double temperature;
    const float *similarity;
    float *scores;   /* or NULL */
    uint64_t *cells; /* or NULL */
    const float *score_gradient;
    float *gradient;
    void *scratch;
    uint32_t threads;
    void *stream;
} hspz__soft_sw_work;

typedef struct hspz__soft_sw_device {
    /* Bytes for a request with these fields (pointers unset); UINT64_MAX when too large to address. */
    uint64_t (*scratch)(const hspz__soft_sw_work *work, int backward);
    hspz_status (*run)(const hspz__soft_sw_work *work, hspz_error *error);
    /* scores and cells of problems without cells; `work` may have rows or columns 0 */
    hspz_status (*clear)(const hspz__soft_sw_work *work, hspz_error *error);
} hspz__soft_sw_device;

extern const hspz__soft_sw_device hspz__soft_sw_cpu;
extern const hspz__soft_sw_device hspz__soft_sw_cuda; /* absent (weak) without nvcc */

/* Judging ---------------------------------------------------------------------------------------------- */

/* Collects the memory ranges of a request. The first refusal sticks in `status`. */
typedef struct hspz__judge {
    struct hspz__judge_range *ranges;
    uint64_t count;
    uint64_t capacity;
    hspz_status status;
    hspz_error *error;
} hspz__judge;

void hspz__judge_refuse(hspz__judge *judge, hspz_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Notes `count` elements of `size` bytes, aligned to `size` (scratch: elements of 16 bytes and so on). */
void hspz__judge_range(hspz__judge *judge, const char *name, const void *data, uint64_t count, uint64_t size,
                       int written);
/* Refuses overlaps with written ranges, releases the list, answers the status. */
hspz_status hspz__judge_finish(hspz__judge *judge);

/* Threads ---------------------------------------------------------------------------------------------- */

/* Number of workers for `wanted` (0: as many CPUs as the process may use), at least 1. */
uint32_t hspz__companion_threads(uint32_t wanted);
/* Calls step(context, worker, i) for each i below `count`, handed out in ascending order, on at most `threads` workers
 * numbered from 0. Fewer workers run when threads cannot be started. */
void hspz__companion_parallel(uint32_t threads, uint64_t count,
                              void (*step)(void *context, uint32_t worker, uint64_t i), void *context);

#ifdef __cplusplus
}
#endif

#endif
