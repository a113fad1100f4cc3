/* backend_cuda.h -- what the files of the CUDA backend share.
 *
 * Idea: all device work of a call goes through one stream and one arena, a single allocation that each stage lays out anew:
 * a layout function takes its arrays from the arena, first from an empty one to learn the size, then from the
 * real one. Sequences and the target index live in allocations of their own. Set-up of sequences has its own stream and
 * staging, because it may run beside a find on another slot.
 *
 *   backend_cuda.c            the table of functions: create, destroy, info, device list
 *   backend_cuda_memory.c     errors, allocations, arena, waiting, copies
 *   backend_cuda_sequence.c   targets and queries: upload, encoding, contexts
 *   backend_cuda_index.c      the target index, direct or compact
 *   backend_cuda_filter.c     numbers and table of the upper-bound filter
 *   backend_cuda_unit.c       query windows joined with the target by word
 *   backend_cuda_join.c       level (a) by word join (the fast gate)
 *   backend_cuda_marks.c      level (a) by word join under `lastz`
 *   backend_cuda_near.c       its way with very many hits
 *   backend_cuda_seeds.c      all levels by the seed text's pipeline (gate = warp), and `lastz`
 *   backend_cuda_pieces.c     its second half: hits to candidates
 *   backend_cuda_finish.c     from candidates to segments
 *   backend_cuda_output.c     from segments to the sink: what is held back, what is merged
 */
#ifndef HSPZ__BACKEND_CUDA_H
#define HSPZ__BACKEND_CUDA_H

#include "../kernels/cuda/cuda_types.h"
#include "../kernels/cuda/filter.h"
#include "../kernels/cuda/segments.h"
#include "backend.h"
#include "dedup.h"

#include <pthread.h>

/* Returns from the function with the status of a failed step. */
#define HSPZ__TRY(step)                                                                                      \
    do {                                                                                                     \
        const hspz_status status_of_step = (step);                                                           \
        if (status_of_step != HSPZ_OK)                                                                       \
            return status_of_step;                                                                           \
    } while (0)

enum { HSPZ__GATE_AUTO, HSPZ__GATE_WARP, HSPZ__GATE_THREAD, HSPZ__GATE_JOIN };
enum { HSPZ__BUCKETS_AUTO, HSPZ__BUCKETS_ON, HSPZ__BUCKETS_OFF };
enum { HSPZ__INDEX_AUTO, HSPZ__INDEX_DIRECT, HSPZ__INDEX_HASH };
#define HSPZ__STAGING ((uint64_t)8 << 20) /* bytes of a pinned buffer */
#define HSPZ__UPLOADERS 4

/* Device memory of one allocation. */
typedef struct hspz__cuda_memory {
    void *start;
    uint64_t bytes;
} hspz__cuda_memory;

typedef struct hspz__cuda_arena {
    unsigned char *base; /* NULL: only counts */
    uint64_t size, used;
} hspz__cuda_arena;

/* A strand with its memory. */
typedef struct hspz__cuda_sequence {
    hspz__cuda_strand strand;
    hspz__cuda_memory classes, codes, odd;
} hspz__cuda_sequence;

typedef struct hspz__cuda_target {
    hspz__cuda_sequence sequence;
    hspz__cuda_memory ends, bitmap, ranks, starts, positions, contexts;
    hspz__cuda_index index;
    int own_index; /* 0: the host brought it */
    int join;      /* the fast gate can be used */
    uint32_t
        slices; /* 0: contexts are resident; else slice s has words slice_word[s] .. slice_word[s + 1] - 1 */
    uint32_t *slice_word;
    uint32_t *slice_position;
    uint32_t slice_most; /* positions of the largest slice */
} hspz__cuda_target;

typedef struct hspz__cuda_query {
    hspz__cuda_sequence strand[2];
    uint32_t
        *record_ends[2]; /* of each strand: places of the separators, for `lastz` with the host's own seeds */
    uint64_t records;
    int set;
} hspz__cuda_query;

typedef struct hspz__cuda_knobs {
    uint32_t gate, buckets, walk_full, plain_extend, seed_index;
    int64_t bucket_shift; /* 0: a window is three quarters of the L2 */
    int64_t density;      /* hits a seed from which on a warp takes it */
    int64_t memory_limit; /* bytes of device memory, 0: what is free */
    int64_t piece_hits, unit_windows, candidates, slice_positions; /* 0: chosen by size; tests set them */
    int64_t
        near_hits; /* expected hits of a unit from which on `lastz` makes records of those only that matter; -1: some */
    int64_t near_tail; /* windows at a unit's end whose hits all become records, 0: some */
} hspz__cuda_knobs;

typedef struct hspz__cuda {
    const hspz__plan *plan;
    hspz__host *host;
    int device;
    struct cudaDeviceProp properties;
    hspz__cuda_knobs knobs;
    cudaStream_t stream, upload_stream;
    cudaEvent_t event[2];
    hspz__cuda_word word;
    hspz__cuda_filter filter;
    hspz__cuda_rules rules;
    hspz__cuda_memory constants, arena, ascii, marks;
    const uint8_t *class_of;            /* device */
    hspz__cuda_counters *counters;      /* device */
    hspz__cuda_counters *host_counters; /* pinned */
    unsigned char *download[2];         /* pinned, HSPZ__STAGING bytes each */
    unsigned char *upload[HSPZ__UPLOADERS][2];
    cudaEvent_t upload_event[HSPZ__UPLOADERS][2];
    pthread_mutex_t work; /* held by the call that uses the arena; before `lock` */
    pthread_mutex_t lock; /* over the next five */
    uint64_t memory_now, memory_peak;
    uint64_t largest_query; /* bytes of device memory */
    uint32_t queries;       /* slots filled */
    int failed;             /* the device reported an error: no call works any more */
    int buckets_measured;   /* pieces timed so far, see backend_cuda_seeds.c */
    float bucket_seconds[2];
    hspz__cuda_target target;
    hspz__cuda_query query[16];
} hspz__cuda;

/* A call of level (a), (b) or (c) at work. */
typedef struct hspz__cuda_call {
    hspz__cuda *cuda;
    const hspz__output *output;
    hspz_error *error;
    const hspz__cuda_query *query;
    uint32_t strand_number; /* HSPZ_STRAND_... */
    hspz__cuda_strand target, strand;
    uint64_t done, total; /* for progress */
    int whole;            /* the next hspz__cuda_finish covers the whole call: nothing has to be remembered */
    hspz__found_list held;   /* `maximal`: what was found so far */
    hspz__seen seen;         /* `interval`: what was given out so far */
    hspz__found_list pieces; /* segments of a scope whose candidates come in pieces, not deduplicated yet */
    uint64_t held_thinned, pieces_thinned; /* items left when the list was thinned out last */
} hspz__cuda_call;

/* Arrays for up to `capacity` candidates; what each stage uses them for is said in backend_cuda_finish.c. */
typedef struct hspz__cuda_candidates {
    uint32_t capacity;
    uint64_t *keys[2];
    uint32_t *ranks[2];
    uint32_t *heads, *before, *starts, *flags;
    hspz__cuda_reach *right, *left;
    hspz__cuda_step *steps;
    hspz_hsp *records;
    uint64_t *order;
    void *temp;
    size_t temp_bytes;
    int second; /* keys and ranks are in [1] */
} hspz__cuda_candidates;

/* How candidates become HSPs. */
typedef struct hspz__cuda_finish_plan {
    uint32_t count;
    int ranked;   /* ranks hold the raw order */
    int extended; /* reaches are there already (`lastz`) */
    int piece;    /* of a scope: its segments wait for hspz__cuda_merge_pieces */
    hspz__cuda_labels labels;
    uint32_t most_label;
} hspz__cuda_finish_plan;

/* ---- backend_cuda_memory.c */

/* HSPZ_OK for cudaSuccess, else the fitting status with a sentence that starts with `what`. */
hspz_status hspz__cuda_check(cudaError_t result, const char *what, hspz_error *error);
/* A failure that was made good leaves no trace. */
void hspz__cuda_forget(hspz_error *error);
hspz_status hspz__cuda_allocate(hspz__cuda *cuda, hspz__cuda_memory *memory, uint64_t bytes, const char *what,
                                hspz_error *error);
void hspz__cuda_release(hspz__cuda *cuda, hspz__cuda_memory *memory);
/* Waits for all work, whatever became of it. */
void hspz__cuda_settle_streams(hspz__cuda *cuda);
/* Makes the allocation at least `bytes` long; contents are lost. */
hspz_status hspz__cuda_reserve(hspz__cuda *cuda, hspz__cuda_memory *memory, uint64_t bytes, const char *what,
                               hspz_error *error);
/* Bytes that the arena may have at most, its present ones included. Leaves room for the next query where a slot is empty. */
uint64_t hspz__cuda_budget(hspz__cuda *cuda);
/* `count` elements of `size` bytes at a multiple of 256. */
void *hspz__cuda_take(hspz__cuda_arena *arena, uint64_t count, uint64_t size);
hspz__cuda_arena hspz__cuda_arena_of(const hspz__cuda *cuda);
/* Waits for the stream, telling progress now and then. HSPZ_E_CANCELLED after the stream is idle. */
hspz_status hspz__cuda_wait(hspz__cuda *cuda, cudaStream_t stream, uint64_t done, uint64_t total,
                            hspz_error *error);
/* Zeroes the counters (`bad` and `refused`: all ones). */
hspz_status hspz__cuda_clear_counters(hspz__cuda *cuda, hspz_error *error);
/* Copies the counters to host_counters and waits. */
hspz_status hspz__cuda_read_counters(hspz__cuda_call *call);
/* Small copies through the work stream, waited for. */
hspz_status hspz__cuda_download(hspz__cuda *cuda, void *to, const void *from, uint64_t bytes,
                                hspz_error *error);
/* Host memory of any kind to the device, by several threads through pinned buffers; waits. `stream` is upload_stream. */
hspz_status hspz__cuda_upload(hspz__cuda *cuda, void *to, const void *from, uint64_t bytes,
                              hspz_error *error);
uint32_t hspz__cuda_bits(uint64_t most); /* bits that hold 0..most, at least 1 */
/* Blocks of `size` that hold `count`, the last perhaps in part. */
uint64_t hspz__cuda_blocks(uint64_t count, uint64_t size);

/* ---- backend_cuda_filter.c */

/* Numbers of the filter, and its table of HSPZ__FILTER_ENTRIES words for the device. */
void hspz__cuda_filter_init(hspz__cuda_filter *filter, const hspz__plan *plan, uint32_t *table);
void hspz__cuda_word_init(hspz__cuda_word *word, const hspz__plan *plan);

/* ---- backend_cuda_sequence.c */

hspz_status hspz__cuda_set_target(hspz__cuda *cuda, const hspz_target *target, hspz_statistics *statistics,
                                  hspz_error *error);
void hspz__cuda_clear_target(hspz__cuda *cuda);
/* May run beside a call that works; where memory is short it waits for that call and takes the arena's. */
hspz_status hspz__cuda_set_query(hspz__cuda *cuda, uint32_t slot, const hspz_query *query,
                                 hspz_statistics *statistics, hspz_error *error);
void hspz__cuda_clear_query(hspz__cuda *cuda, uint32_t slot);

/* ---- backend_cuda_index.c: the index of the target whose sequence is on the device, into cuda->target */

hspz_status hspz__cuda_build_index(hspz__cuda *cuda, uint64_t length, hspz_error *error);
/* The host's own, checked. */
hspz_status hspz__cuda_import_index(hspz__cuda *cuda, const hspz_target *target, double *transfer,
                                    hspz_error *error);
void hspz__cuda_release_index(hspz__cuda *cuda);

/* ---- backend_cuda_join.c, backend_cuda_seeds.c: windows first .. end - 1 of the request, end > first */

/* Whether settings, matrix, x-drop and device let the gates work that use the filter. */
int hspz__cuda_can_join(const hspz__cuda *cuda);
int hspz__cuda_can_screen(const hspz__cuda *cuda);
/* Warps of a block of the join kernel, 0 when the device has too little shared memory for it. */
uint32_t hspz__cuda_join_warps(const hspz__cuda *cuda);
/* *declined: the MAX_HITS chunks are too many to label; the seed pipeline has to do windows *next .. end - 1. Batches for which
 * there is too little memory are given to the seed pipeline one by one. */
hspz_status hspz__cuda_find_by_join(hspz__cuda_call *call, const hspz_find_request *request, uint64_t end,
                                    int *declined, uint64_t *next);
/* Under `lastz`. *declined: nothing was done, for want of memory; the seed pipeline has to do all. */
hspz_status hspz__cuda_find_by_marks(hspz__cuda_call *call, const hspz_find_request *request, uint64_t end,
                                     int *declined);
hspz_status hspz__cuda_find_by_seeds(hspz__cuda_call *call, const hspz_find_request *request, uint64_t first,
                                     uint64_t end);
hspz_status hspz__cuda_expand_batch(hspz__cuda_call *call, const hspz_seed_batch *batch);
hspz_status hspz__cuda_extend_batch(hspz__cuda_call *call, const hspz_anchor_batch *batch);

/* ---- backend_cuda_finish.c */

/* Takes the arrays for `capacity` candidates; temp_bytes must be set (hspz__cuda_temp_bytes). */
void hspz__cuda_take_candidates(hspz__cuda_arena *arena, uint32_t capacity,
                                hspz__cuda_candidates *candidates);
/* Scratch that sorts and scans of up to `capacity` elements need. */
hspz_status hspz__cuda_temp_bytes(hspz__cuda *cuda, uint64_t capacity, size_t *bytes, hspz_error *error);
/* Device bytes a candidate costs. */
#define HSPZ__CANDIDATE_BYTES 130u
/* Extends, judges, dedups and outputs candidates keys[0 .. count) (and ranks), in any order. */
hspz_status hspz__cuda_finish(hspz__cuda_call *call, hspz__cuda_candidates *candidates,
                              const hspz__cuda_finish_plan *plan);

/* ---- backend_cuda_output.c */

/* Final records on the device, in output order, on their way to the sink; with `piece` accepted records of a piece, in any order. */
hspz_status hspz__cuda_output(hspz__cuda_call *call, const hspz_hsp *records, uint64_t count, int piece);
/* After the last piece of a scope (`chunk`, `interval`): dedup and output of what its pieces left. */
hspz_status hspz__cuda_merge_pieces(hspz__cuda_call *call);
/* After the last hspz__cuda_finish of a call: outputs what was held back. */
hspz_status hspz__cuda_call_end(hspz__cuda_call *call);
void hspz__cuda_call_free(hspz__cuda_call *call);

#endif
