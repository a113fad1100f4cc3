/* hspz_hash_index.h -- the extension "hspz.hash_index/1": a bounded map from sparse uint32 keys to values.
 *
 * Idea: stable object ids, feature ids or seed words are sparse; a table addressed by them directly would be as
 * large as the key space. An index here holds `capacity` slots (a power of two) of open addressing. A key
 * hashes to a first slot and may live in that slot or one of the `max_probe - 1` slots behind it, so the
 * worst case of time and memory is known before the work starts, and statistics tell what it did cost.
 * Query looks up one logical sequence of keys; join publishes the matching row pairs.
 *
 * `hspz_plugin.get_extension(HSPZ_HASH_INDEX_ID)` returns a `const hspz_hash_index *`. SPEC section 10.
 *
 * The policies, each of them contract:
 *   - Key 0xffffffff is reserved as the mark of an empty slot. A source row with it is counted as invalid; a query row
 *     with it is missing and costs no probe.
 *   - A row examines at most max_probe slots. The table is never resized: a row whose key neither finds nor
 *     claims a slot within the bound is counted in the overflow statistic and otherwise ignored. Which
 *     distinct keys are kept when some overflow is unspecified.
 *   - Of rows with one key, the value of the lowest source row is kept, in whatever order rows are executed. As
 *     long as nothing overflows, the key-to-value map depends on the input alone.
 *   - Without values, the value of a row is first_value + row (modulo 2^32); in a batch index it is the chunk's
 *     first_value + the row's place in the chunk.
 *   - Keys, values and outputs are lists of chunks. Each list has its own boundaries; what counts is the logical
 *     sequence that a list forms, and no list is copied or concatenated. Chunks may be empty, lists may have no
 *     chunk; a build or query of no rows still clears table and statistics.
 *   - A writable range must not overlap another range of the same call: HSPZ_E_ARGUMENT. So are lists whose
 *     lengths differ from the keys' where they must align.
 *   - Counters are uint32: a call with rows * max_probe > 0xffffffff is refused with HSPZ_E_ARGUMENT.
 *
 * Memory: all buffers are the caller's, scratch included. Request structs, chunk lists and hspz_error live in host
 * memory and are borrowed until the call returns; everything they point to lives where `device` says.
 * Ranges of uint32 are 4-byte aligned.
 *
 * Execution: with HSPZ_DEVICE_CPU the work is done when the call returns and `stream` is NULL. With HSPZ_DEVICE_CUDA
 * `stream` is a cudaStream_t of the current device; the call only enqueues work on it, never synchronises
 * and never reads back, so that it may be captured into a CUDA graph and replayed on changed contents of the same
 * buffers. Two calls that use the same table or scratch must be ordered by the caller.
 *
 * Errors common to all calls: HSPZ_E_ARGUMENT (with a sentence that names the field), HSPZ_E_UNSUPPORTED or
 * HSPZ_E_NOT_BUILT for a `device` that this plugin does not serve, HSPZ_E_DEVICE when a launch fails. A refused
 * call writes nothing. All functions are [any].
 */
#ifndef HSPZ_HASH_INDEX_H
#define HSPZ_HASH_INDEX_H

#include "hspz_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HSPZ_HASH_INDEX_ID "hspz.hash_index/1"

#define HSPZ_HASH_EMPTY_KEY 0xffffffffu /* no key may have this value */
#define HSPZ_HASH_NO_VALUE 0xffffffffu  /* what a query writes as the value of a missing row */
#define HSPZ_HASH_CAPACITY_MAX 0x80000000u

#if defined(__CUDACC__)
#define HSPZ_HASH_FUNCTION static inline __host__ __device__
#else
#define HSPZ_HASH_FUNCTION static inline
#endif

/* First slot of `key` in a table of `capacity` slots, a power of two. A mixing bijection of the key, cut to the low
 * bits; part of the contract so that a caller can judge or build key distributions. */
HSPZ_HASH_FUNCTION uint32_t hspz_hash_slot(uint32_t key, uint32_t capacity)
{
    key ^= key >> 16;
    key *= 0x9E3779B1u;
    key ^= key >> 15;
    key *= 0x85EBCA77u;
    key ^= key >> 16;
    return key & (capacity - 1u);
}

/* Chunk views: `count` consecutive uint32; data may be NULL when count is 0. */
typedef struct hspz_u32_view {
    const uint32_t *data;
    uint64_t count;
} hspz_u32_view;

typedef struct hspz_u32_range {
    uint32_t *data;
    uint64_t count;
} hspz_u32_range;

/* One logical sequence for reading, or for writing. chunks may be NULL when chunk_count is 0. */
typedef struct hspz_u32_list {
    const hspz_u32_view *chunks;
    uint64_t chunk_count;
} hspz_u32_list;

typedef struct hspz_u32_output {
    const hspz_u32_range *chunks;
    uint64_t chunk_count;
} hspz_u32_output;

/* Places in a build's statistics. unique + duplicate + overflow + invalid = rows. */
#define HSPZ_HASH_UNIQUE 0u        /* distinct keys in the table */
#define HSPZ_HASH_DUPLICATE 1u     /* rows whose key was in the table already */
#define HSPZ_HASH_OVERFLOW 2u      /* rows that found no slot within max_probe */
#define HSPZ_HASH_INVALID 3u       /* rows with the reserved key, or masked out */
#define HSPZ_HASH_BUILD_PROBES 4u  /* slots examined by all rows together */
#define HSPZ_HASH_BUILD_LONGEST 5u /* slots examined by the worst row */
#define HSPZ_HASH_BUILD_STATISTICS 6u

/* Places in a query's or join's statistics. found + missing = rows. */
#define HSPZ_HASH_FOUND 0u
#define HSPZ_HASH_MISSING 1u
#define HSPZ_HASH_QUERY_PROBES 2u
#define HSPZ_HASH_QUERY_LONGEST 3u
#define HSPZ_HASH_QUERY_STATISTICS 4u

/* The table. Slot i has its key at keys[i * slot_stride] and its value at values[i * slot_stride]. With stride 1 they are
 * two arrays; with stride 2 they are pairs, values == keys + 1 and keys 8-byte aligned, so that a lookup touches one
 * memory sector instead of two. Empty slots have key HSPZ_HASH_EMPTY_KEY; their value is unspecified. */
typedef struct hspz_hash_table {
    uint32_t struct_size;
    uint32_t capacity;    /* slots: a power of two, 1..HSPZ_HASH_CAPACITY_MAX */
    uint32_t max_probe;   /* 1..capacity, 0 means capacity; a query may use fewer, see there */
    uint32_t slot_stride; /* 1 or 2 */
    uint32_t *keys;
    uint32_t *values;
} hspz_hash_table;

/* Build from one logical sequence of keys. */
typedef struct hspz_hash_build {
    uint32_t struct_size;
    uint32_t device; /* HSPZ_DEVICE_CPU or HSPZ_DEVICE_CUDA: where the buffers live */
    const hspz_hash_table *table;
    hspz_u32_list keys;
    const hspz_u32_list *values; /* as many rows as keys, own boundaries; NULL: first_value + row */
    uint32_t first_value;
    uint32_t threads;      /* CPU worker threads, 0: as many as the process may use */
    uint32_t *statistics;  /* HSPZ_HASH_BUILD_STATISTICS counters */
    void *scratch;         /* 4-byte aligned */
    uint64_t scratch_size; /* bytes, at least what build_scratch_size says */
    void *stream;
} hspz_hash_build;

/* One chunk of a batch index: like a record batch, with its own row ids and mask. */
typedef struct hspz_hash_batch_chunk {
    const uint32_t *keys;
    const uint32_t *valid; /* `count` words, 0: the row is counted as invalid; NULL: all rows are valid */
    uint64_t count;
    uint32_t first_value; /* value of the chunk's row 0 */
    uint32_t reserved;
} hspz_hash_batch_chunk;

/* Build from ordered chunks of keys. The lowest source row is the first in chunk order. */
typedef struct hspz_hash_batch_build {
    uint32_t struct_size;
    uint32_t device;
    const hspz_hash_table *table;
    const hspz_hash_batch_chunk *chunks; /* NULL when chunk_count is 0 */
    uint64_t chunk_count;
    uint32_t chunk_stride; /* sizeof(hspz_hash_batch_chunk) of the caller */
    uint32_t threads;
    uint32_t *statistics;
    void *scratch;
    uint64_t scratch_size; /* at least what batch_build_scratch_size says */
    void *stream;
} hspz_hash_batch_build;

/* Look up each key of one logical sequence; every row keeps its place. */
typedef struct hspz_hash_query {
    uint32_t struct_size;
    uint32_t device;
    const hspz_hash_table *table; /* as built, on either kind of index */
    hspz_u32_list keys;
    const hspz_u32_output *values; /* value or HSPZ_HASH_NO_VALUE per row; NULL: not wanted */
    const hspz_u32_output *found;  /* 1 or 0 per row; NULL: not wanted */
    const hspz_u32_output *probes; /* slots examined per row; NULL: not wanted */
    uint32_t max_probe;            /* 1..capacity, 0: the table's */
    uint32_t threads;
    uint32_t *statistics; /* HSPZ_HASH_QUERY_STATISTICS counters */
    void *stream;
} hspz_hash_query;

/* Row pairs (left row, value of its key) of the matching rows of one logical sequence, in ascending left row. */
typedef struct hspz_hash_join {
    uint32_t struct_size;
    uint32_t device;
    const hspz_hash_table *table;
    hspz_u32_list keys;
    uint32_t first_left; /* left row id of row 0 */
    uint32_t max_probe;
    uint32_t *left_rows; /* `pair_capacity` words each; NULL when it is 0 */
    uint32_t *right_rows;
    uint64_t
        pair_capacity;    /* the first pair_capacity pairs are written; the rest of the output is untouched */
    uint32_t *pair_count; /* one word: all matching rows, also when more than pair_capacity */
    uint32_t *statistics; /* HSPZ_HASH_QUERY_STATISTICS counters */
    void *scratch;        /* 8-byte aligned */
    uint64_t scratch_size; /* at least what join_scratch_size says */
    void *stream;
    uint32_t threads;
    uint32_t reserved;
} hspz_hash_join;

/* One preserved left chunk of a batch join: own pairs, count, capacity and statistics. */
typedef struct hspz_hash_join_chunk {
    const uint32_t *keys;
    const uint32_t *valid; /* as in a batch index; a masked row is missing and costs no probe */
    uint64_t count;
    uint32_t first_left;
    uint32_t reserved;
    uint32_t *left_rows;
    uint32_t *right_rows;
    uint64_t pair_capacity;
    uint32_t *pair_count;
    uint32_t *statistics;
} hspz_hash_join_chunk;

/* Joins each chunk by itself. rows * max_probe is checked per chunk. */
typedef struct hspz_hash_batch_join {
    uint32_t struct_size;
    uint32_t device;
    const hspz_hash_table *table;
    const hspz_hash_join_chunk *chunks;
    uint64_t chunk_count;
    uint32_t chunk_stride; /* sizeof(hspz_hash_join_chunk) of the caller */
    uint32_t max_probe;
    void *scratch;         /* 8-byte aligned */
    uint64_t scratch_size; /* at least what batch_join_scratch_size says */
    void *stream;
    uint32_t threads;
    uint32_t reserved;
} hspz_hash_batch_join;

/* The extension. The *_scratch_size functions need table, device and the chunk lists' counts of a request, nothing
 * else, and answer 0 for what the call itself would refuse. */
typedef struct hspz_hash_index {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t (*build_scratch_size)(const hspz_hash_build *request);
    hspz_status (*build)(const hspz_hash_build *request, hspz_error *error);
    uint64_t (*batch_build_scratch_size)(const hspz_hash_batch_build *request);
    hspz_status (*batch_build)(const hspz_hash_batch_build *request, hspz_error *error);
    hspz_status (*query)(const hspz_hash_query *request, hspz_error *error);
    uint64_t (*join_scratch_size)(const hspz_hash_join *request);
    hspz_status (*join)(const hspz_hash_join *request, hspz_error *error);
    uint64_t (*batch_join_scratch_size)(const hspz_hash_batch_join *request);
    hspz_status (*batch_join)(const hspz_hash_batch_join *request, hspz_error *error);
} hspz_hash_index;

#if UINTPTR_MAX == UINT64_MAX
HSPZ_ASSERT(sizeof(hspz_u32_view) == 16);
HSPZ_ASSERT(sizeof(hspz_hash_table) == 32);
HSPZ_ASSERT(sizeof(hspz_hash_build) == 80);
HSPZ_ASSERT(sizeof(hspz_hash_batch_chunk) == 32);
HSPZ_ASSERT(sizeof(hspz_hash_batch_build) == 72);
HSPZ_ASSERT(sizeof(hspz_hash_query) == 80);
HSPZ_ASSERT(sizeof(hspz_hash_join) == 112);
HSPZ_ASSERT(sizeof(hspz_hash_join_chunk) == 72);
HSPZ_ASSERT(sizeof(hspz_hash_batch_join) == 72);
HSPZ_ASSERT(sizeof(hspz_hash_index) == 80);
#endif

#ifdef __cplusplus
}
#endif

#endif
