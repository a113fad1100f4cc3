/* hspz_abi.h -- the contract between an aligner host and an hspz plugin, version 1.
 *
 * Idea: a host that aligns genomes hands a target block and a query block to a shared library and gets
 * back ungapped high-scoring segment pairs (HSPs). The library exports one const data object,
 * `hspz_plugin_v1`, so that a loader can judge it (magic, size, version, name) before it calls any
 * code in it. This header is all that either side needs: plain C11, valid C++17, no other include of
 * the project.
 *
 * Three levels of service, each complete by itself:
 *   (a) find_hsps          an interval of a query that was set; the plugin seeds, expands, extends, dedups
 *   (b) expand_and_extend  the host passes one batch of its own seeds (KegAlign's SeedAndFilter)
 *   (c) extend_anchors     the host passes raw hits (LASTZ's hit processor)
 *
 * Conventions
 *   - Every struct that crosses starts with `struct_size`, set by whoever allocates it (the entry object
 *     has `magic` before it). Structs only grow at the end. A receiver starts from defaults and copies
 *     min(struct_size, its own size): see HSPZ_HAS_FIELD.
 *   - Fixed-width integers, double, pointers and opaque handles only. Reserved fields are zero.
 *   - Positions are 0-based and relative to the block. A minus-strand position counts in the reverse
 *     complement of the query block. A block is shorter than 2^32 - 1 bases.
 *   - Whoever allocates frees. Inputs are borrowed until the call returns unless a field says otherwise.
 *     Every create sets *out to NULL on failure; every destroy accepts NULL.
 *   - A plugin never prints, exits, aborts, throws, installs signal handlers, reads the environment or
 *     changes the locale; it restores the caller's current CUDA device.
 *
 * Thread labels used below
 *   [any]     callable from any thread, at any time, concurrently with everything
 *   [engine]  calls that name the same engine must not overlap; different engines are independent
 *   [slot]    like [engine], but may overlap a find_hsps / expand_and_extend / extend_anchors that works
 *             on another query slot of that engine (double buffering)
 */
#ifndef HSPZ_ABI_H
#define HSPZ_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version ---------------------------------------------------------------------------------------- */

#define HSPZ_ABI_MAJOR 1u /* the same on both sides, or the plugin is refused */
#define HSPZ_ABI_MINOR 0u /* may differ either way; negotiate() answers the lower common one */
#define HSPZ_MAGIC 0x5A505348u /* "HSPZ" read as a little-endian uint32 */

/* True when the struct behind `p`, whose struct_size its owner set, is long enough to hold `field`. */
#define HSPZ_HAS_FIELD(type, p, field)                                                                       \
    ((p)->struct_size >= offsetof(type, field) + sizeof(((const type *)0)->field))

/* Status ------------------------------------------------------------------------------------------ */

/* Classes tell a host what to do about a status. */
#define HSPZ_CLASS_OK 0            /* nothing to do */
#define HSPZ_CLASS_USAGE 1         /* the caller must change its call or its configuration */
#define HSPZ_CLASS_RETRY_SMALLER 2 /* the same work in smaller pieces may succeed */
#define HSPZ_CLASS_USE_CPU 3       /* this device cannot serve; a CPU engine can */
#define HSPZ_CLASS_FATAL 4         /* the engine is unusable; destroy it */
#define HSPZ_CLASS_STOPPED 5       /* the host asked for it: cancelled, or its sink refused */

/* X(name, number, class, sentence). Numbers are never reused or changed. */
#define HSPZ_STATUS_TABLE(X)                                                                                 \
    X(HSPZ_OK, 0, HSPZ_CLASS_OK, "success")                                                                  \
    X(HSPZ_E_ARGUMENT, -1, HSPZ_CLASS_USAGE, "an argument is missing or out of range")                       \
    X(HSPZ_E_VERSION, -2, HSPZ_CLASS_USAGE, "host and plugin share no ABI version")                          \
    X(HSPZ_E_UNSUPPORTED, -3, HSPZ_CLASS_USAGE, "this plugin does not offer what was asked for")             \
    X(HSPZ_E_STATE, -4, HSPZ_CLASS_USAGE, "the call needs a target or a query that is not set")              \
    X(HSPZ_E_CONFIG, -5, HSPZ_CLASS_USAGE, "a configuration value is not usable")                            \
    X(HSPZ_E_MEMORY, -6, HSPZ_CLASS_RETRY_SMALLER, "out of host memory")                                     \
    X(HSPZ_E_DEVICE_MEMORY, -7, HSPZ_CLASS_RETRY_SMALLER, "out of device memory")                            \
    X(HSPZ_E_TOO_MANY_HITS, -8, HSPZ_CLASS_RETRY_SMALLER, "a batch has 2^32 or more seed hits")              \
    X(HSPZ_E_NOT_BUILT, -9, HSPZ_CLASS_USE_CPU, "this plugin was built without that backend")                \
    X(HSPZ_E_NO_DRIVER, -10, HSPZ_CLASS_USE_CPU, "no usable device driver is installed")                     \
    X(HSPZ_E_NO_DEVICE, -11, HSPZ_CLASS_USE_CPU, "no such device")                                           \
    X(HSPZ_E_ARCHITECTURE, -12, HSPZ_CLASS_USE_CPU, "the plugin holds no code for this device")              \
    X(HSPZ_E_DEVICE, -13, HSPZ_CLASS_FATAL, "the device reported an error")                                  \
    X(HSPZ_E_CANCELLED, -14, HSPZ_CLASS_STOPPED, "cancelled by the host")                                    \
    X(HSPZ_E_SINK, -15, HSPZ_CLASS_STOPPED, "the host's sink refused the results")                           \
    X(HSPZ_E_INTERNAL, -16, HSPZ_CLASS_FATAL, "internal error")

typedef int32_t hspz_status;
#define HSPZ_STATUS_CONSTANT(name, number, cls, text) static const hspz_status name = (number);
#ifdef __cplusplus
HSPZ_STATUS_TABLE(HSPZ_STATUS_CONSTANT)
#else
#define HSPZ_STATUS_ENUMERATOR(name, number, cls, text) name = (number),
enum { HSPZ_STATUS_TABLE(HSPZ_STATUS_ENUMERATOR) HSPZ_STATUS_END_ = 1 };
#endif

/* Detail of a failure. The caller owns it and sets struct_size; a plugin fills it when it returns a
 * negative status. Passing NULL is allowed everywhere. `text` is one sentence, NUL-terminated. */
#define HSPZ_ERROR_TEXT 496
typedef struct hspz_error {
    uint32_t struct_size;
    int32_t status;      /* an hspz_status */
    int32_t device_code; /* the device runtime's own error number, 0 if none */
    uint32_t reserved;
    char text[HSPZ_ERROR_TEXT];
} hspz_error;

/* Host services ----------------------------------------------------------------------------------- */

#define HSPZ_LOG_ERROR 0u
#define HSPZ_LOG_WARN 1u
#define HSPZ_LOG_INFO 2u
#define HSPZ_LOG_DEBUG 3u

/* What the host offers a plugin. Borrowed until hspz_plugin.engine_destroy returns. Any member may be NULL
 * (no log, no progress, malloc/free, no configuration). All members are called from any thread of
 * the plugin, several at a time; the host makes them safe for that. */
typedef struct hspz_host_services {
    uint32_t struct_size;
    uint32_t reserved;
    void *ctx; /* passed back as first argument */
    /* One ready-made line without a newline. */
    void (*log)(void *ctx, uint32_t level, const char *text);
    /* Bytes aligned to `alignment` (a power of two, at least 16), or NULL. Both or neither are set. */
    void *(*alloc)(void *ctx, uint64_t size, uint64_t alignment);
    void (*free)(void *ctx, void *memory);
    /* `done` of `total` units of the running call are finished (query positions at level (a)). Called at
     * least twice a second while a call works; a non-zero answer cancels it: HSPZ_E_CANCELLED. */
    int32_t (*progress)(void *ctx, uint64_t done, uint64_t total);
    /* Value of a tuning knob ("HSPZ_REF_BUCKETS", "threads", "backend.cpu_isa" ...) or NULL for its
     * default; valid until the next call from the same thread. No knob of this kind changes results. */
    const char *(*config_get)(void *ctx, const char *key);
} hspz_host_services;

/* Devices ----------------------------------------------------------------------------------------- */

#define HSPZ_DEVICE_CPU 0u
#define HSPZ_DEVICE_CUDA 1u

#define HSPZ_DEVICE_AUTO 0xffffffffu /* engine_create picks the usable device of the highest score */

/* One row of the plugin's device list. Probing creates no device context. */
typedef struct hspz_device_info {
    uint32_t struct_size;
    uint32_t kind;          /* HSPZ_DEVICE_... */
    uint32_t ordinal;       /* number among the devices of its kind: cuda:ORDINAL */
    uint32_t score;         /* 0: cannot run here, `status` and `detail` say why; else higher is faster */
    int32_t status;         /* HSPZ_OK, or why score is 0 */
    uint32_t compute_major; /* CUDA compute capability, 0 for a CPU */
    uint32_t compute_minor;
    uint32_t units;        /* multiprocessors, or CPU threads allowed to this process */
    uint64_t memory_total; /* bytes of device memory; of main memory for a CPU */
    char name[128];        /* "NVIDIA H200", "x86-64 avx512" */
    char detail[256];      /* one sentence; what to do about it where score is 0 */
} hspz_device_info;

/* Semantics: each of these fields changes results ---------------------------------------------------- */

/* Dedup policies, SPEC section 7. The scope of a policy is one call of find_hsps, expand_and_extend or
 * extend_anchors on one strand; within it `chunk` works on each MAX_HITS chunk of each batch. */
#define HSPZ_DEDUP_CHUNK 0u    /* KegAlign 0.1: neighbours of one diagonal that contain one another */
#define HSPZ_DEDUP_INTERVAL 1u /* as chunk, then exact duplicates of the call are dropped, first one kept */
#define HSPZ_DEDUP_MAXIMAL 2u  /* not contained in another of its diagonal; in LASTZ order over the call */
#define HSPZ_DEDUP_LASTZ 3u    /* what `lastz --nogapped` reports, in its order; records end at '&' */
#define HSPZ_DEDUP_NONE 4u     /* every accepted segment, raw order */
#define HSPZ_DEDUP_COUNT 5u

#define HSPZ_AMBIGUOUS_NONE 0u  /* N is bad_score, other IUPAC codes are fill_score */
#define HSPZ_AMBIGUOUS_N 1u     /* N scores 0 against bases, `reward` or -`penalty` as SPEC section 2 */
#define HSPZ_AMBIGUOUS_IUPAC 2u /* the same, and the other IUPAC codes are ambiguous too */

#define HSPZ_MAX_HITS_DEFAULT 67108864u
#define HSPZ_MAX_HITS_DEVICE 0u /* KegAlign's rule: 4,194,304 per GiB of device memory (bytes / 256) */

/* What an engine computes. Pointers are borrowed for the call. Ranges are checked by engine_create. */
typedef struct hspz_engine_params {
    uint32_t struct_size;
    uint32_t device;          /* index in the device list, or HSPZ_DEVICE_AUTO */
    const char *seed_pattern; /* '1' care, '0' don't care, 'T' match or transition; NUL-terminated; at
                                 most 32 long, its word has 8..30 bits (2 for a 1, 1 for a T) */
    uint32_t transitions;     /* 1: each '1' also matches its transition, one at a time; 0: exact words only */
    uint32_t step;            /* distance of indexed target positions, 1..2^31-1 */
    int32_t xdrop;            /* > 0 */
    int32_t hspthresh;        /* K, > 0: the least score that is kept */
    uint32_t entropy;         /* 1: scores in [K, 3K] are scaled by the entropy of the matches */
    uint32_t ambiguous;       /* HSPZ_AMBIGUOUS_... */
    int32_t ambiguous_reward; /* >= 0 */
    int32_t ambiguous_penalty; /* >= 0, subtracted */
    int32_t bad_score;         /* lower-case, N and the letter X against anything; -1000 by default */
    int32_t fill_score;        /* other IUPAC codes against A,C,G,T; -100 by default */
    int32_t scores[16];        /* row = target base, column = query base, in the order A,C,G,T */
    uint32_t dedup;            /* HSPZ_DEDUP_... */
    uint32_t query_slots;      /* number of query slots, 1..16 */
    uint64_t max_hits;         /* hits per chunk, 1..2^32-1, or HSPZ_MAX_HITS_DEVICE */
} hspz_engine_params;

/* What an engine turned out to be. */
typedef struct hspz_engine_info {
    uint32_t struct_size;
    uint32_t device;  /* index in the device list */
    uint32_t threads; /* worker threads, 1 if sequential */
    uint32_t reserved;
    uint64_t max_hits;  /* the resolved number */
    char backend[32];   /* "oracle", "cpu", "cuda" */
    char variant[96];   /* "avx512", "sm_90, gate join" ... */
    char notice[256];   /* a sentence the user should see (fallback and its reason), or empty */
} hspz_engine_info;

/* Sequences --------------------------------------------------------------------------------------- */

/* A block: ASCII bytes, records separated by one '&'. Letters other than A,C,G,T,U score as SPEC section 2 says;
 * lower-case a,c,g,t,u are soft-masked. Anything that is neither a letter nor '&' is HSPZ_E_ARGUMENT.
 * The bytes are copied or encoded before the call returns. */
typedef struct hspz_target {
    uint32_t struct_size;
    uint32_t reserved;
    const uint8_t *bases;
    uint64_t length; /* bases and separators, 0..2^32-2 */
    /* Optional: the host's own index, both or neither NULL; used by expand_and_extend and find_hsps in
     * place of the plugin's. index_table[word] is the end of the bucket of `word` in `positions`, and
     * the start is index_table[word-1] (0 for word 0); positions ascend within a bucket and are window
     * starts. Copied before the call returns. */
    const uint32_t *index_table;
    uint64_t index_entries; /* 2^(bits of the seed word) */
    const uint32_t *positions;
    uint64_t position_count;
} hspz_target;

typedef struct hspz_query {
    uint32_t struct_size;
    uint32_t reserved;
    const uint8_t *bases; /* the plus strand; the plugin makes the reverse complement */
    uint64_t length;
} hspz_query;

#define HSPZ_STRAND_PLUS 0u
#define HSPZ_STRAND_MINUS 1u

/* Work -------------------------------------------------------------------------------------------- */

/* One HSP. The closed interval start..start+extent on both sides. */
typedef struct hspz_hsp {
    uint32_t target_start; /* SPEC's ref_start */
    uint32_t query_start;  /* in the strand's own frame */
    uint32_t extent;       /* SPEC's len: number of bases less one */
    int32_t score;
} hspz_hsp;

/* A raw hit: the positions just after the seed window, in target and query. */
typedef struct hspz_anchor {
    uint32_t target_end;
    uint32_t query_end;
} hspz_anchor;

/* Where results go: called on the calling thread, in output order, as often as needed with
 * count >= 1; `stride` is the distance of two records in bytes (at least sizeof(hspz_hsp) of the plugin's minor
 * version). The records are the plugin's and die with the call. Non-zero stops: HSPZ_E_SINK. */
typedef struct hspz_sink {
    uint32_t struct_size;
    uint32_t reserved;
    void *ctx;
    int32_t (*hsps)(void *ctx, const hspz_hsp *records, uint64_t count, uint32_t stride);
} hspz_sink;

/* Level (a): query window starts of [begin, end], SPEC section 4: batches start at begin, begin + batch_size, ...
 * and cover [i, min(i + batch_size, end + 1)). Window starts beyond length - pattern length do not exist and are
 * passed over. Under HSPZ_DEDUP_LASTZ and HSPZ_DEDUP_MAXIMAL batches do not show in the output. */
typedef struct hspz_find_request {
    uint32_t struct_size;
    uint32_t slot;
    uint32_t strand; /* HSPZ_STRAND_... */
    uint32_t batch_size; /* >= 1 */
    uint64_t begin; /* in the strand's frame */
    uint64_t end;   /* inclusive; >= begin */
} hspz_find_request;

/* Level (b): one batch. A seed is word << 32 | query window start; order is the host's and is kept. */
typedef struct hspz_seed_batch {
    uint32_t struct_size;
    uint32_t slot;
    uint32_t strand;
    uint32_t reserved;
    const uint64_t *seeds;
    uint64_t count;
} hspz_seed_batch;

/* Level (c): one batch of hits, order kept; each hit counts as a seed with one hit for chunking. */
typedef struct hspz_anchor_batch {
    uint32_t struct_size;
    uint32_t slot;
    uint32_t strand;
    uint32_t stride; /* bytes from one anchor to the next, a multiple of 4, at least 8 */
    const hspz_anchor *anchors;
    uint64_t count;
} hspz_anchor_batch;

/* Counts and seconds since engine_create or reset_statistics; counts are those of the specification, the same on
 * every backend but for `skipped` and its counterpart; seconds are the plugin's own and overlap where it works in parallel. */
typedef struct hspz_statistics {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t target_positions; /* indexed target positions */
    uint64_t query_positions;  /* valid query windows seeded, or seeds' windows given */
    uint64_t seeds;
    uint64_t hits;
    uint64_t batches;
    uint64_t chunks;
    uint64_t gate_survivors; /* hits whose total passes the gate; under `lastz` those not skipped */
    uint64_t skipped; /* hits passed over by the mark table (`lastz` only). A backend may leave out hits that it proved to be of
                       * no effect on the output: then this is less, and gate_survivors more. */
    uint64_t accepted;       /* after entropy */
    uint64_t kept;           /* after dedup: records given to sinks */
    double seconds_index;
    double seconds_query; /* encoding, reverse complement, query seeds */
    double seconds_expand; /* count, prefix, chunk walk, expansion; with the gate where both are one pass */
    double seconds_gate;
    double seconds_extend; /* materialization and entropy */
    double seconds_dedup;
    double seconds_transfer; /* between host and device */
    double seconds_total;    /* wall time inside calls */
    uint64_t host_memory_peak;   /* bytes the engine held at most */
    uint64_t device_memory_peak;
} hspz_statistics;

/* The entry object -------------------------------------------------------------------------------- */

typedef struct hspz_engine hspz_engine; /* opaque, the plugin's */

#define HSPZ_CAP_FIND (1ull << 0)    /* level (a) */
#define HSPZ_CAP_EXPAND (1ull << 1)  /* level (b) */
#define HSPZ_CAP_ANCHORS (1ull << 2) /* level (c) */
#define HSPZ_CAP_HOST_INDEX (1ull << 3)
#define HSPZ_CAP_THREADS (1ull << 4)
#define HSPZ_CAP_CUDA (1ull << 5)
#define HSPZ_CAP_DEDUP(mode) (1ull << (16 + (mode))) /* each HSPZ_DEDUP_... it offers */

/* Members after `capabilities` are mandatory unless marked optional (NULL allowed). */
typedef struct hspz_plugin {
    uint32_t magic;       /* HSPZ_MAGIC */
    uint32_t struct_size; /* sizeof(hspz_plugin) as the plugin was built */
    uint32_t abi_major;
    uint32_t abi_minor;
    const char *name;    /* "hspz oracle" */
    const char *version; /* "0.1.0" */
    const char *build;   /* compiler, flags of interest */
    uint64_t capabilities;

    /* [any] The lower common minor of the host's [host_min, host_max] and the plugin's range, or HSPZ_E_VERSION. */
    hspz_status (*negotiate)(uint32_t host_min_minor, uint32_t host_max_minor, uint32_t *agreed,
                             hspz_error *error);
    /* [any] The static sentence of a status; "unknown status" for others. */
    const char *(*status_text)(hspz_status status);

    /* [any] Length of the device list; at least 1. */
    hspz_status (*device_count)(uint32_t *count, hspz_error *error);
    /* [any] Row `index` of the device list. */
    hspz_status (*device_info)(uint32_t index, hspz_device_info *info, hspz_error *error);

    /* [any] Checks every field; `services` may be NULL. */
    hspz_status (*engine_create)(const hspz_engine_params *params, const hspz_host_services *services,
                                 hspz_engine **out, hspz_error *error);
    /* [engine] Frees everything; accepts NULL. */
    void (*engine_destroy)(hspz_engine *engine);
    /* [engine] */
    hspz_status (*engine_info)(hspz_engine *engine, hspz_engine_info *info, hspz_error *error);

    /* [engine] Replaces the target and builds the index. On failure no target is set. */
    hspz_status (*set_target)(hspz_engine *engine, const hspz_target *target, hspz_error *error);
    /* [engine] */
    hspz_status (*clear_target)(hspz_engine *engine, hspz_error *error);
    /* [slot] Replaces the query of a slot. On failure the slot is empty. */
    hspz_status (*set_query)(hspz_engine *engine, uint32_t slot, const hspz_query *query, hspz_error *error);
    /* [slot] */
    hspz_status (*clear_query)(hspz_engine *engine, uint32_t slot, hspz_error *error);

    /* [engine] The three levels. Optional, see capabilities. */
    hspz_status (*find_hsps)(hspz_engine *engine, const hspz_find_request *request, const hspz_sink *sink,
                             hspz_error *error);
    hspz_status (*expand_and_extend)(hspz_engine *engine, const hspz_seed_batch *batch, const hspz_sink *sink,
                                     hspz_error *error);
    hspz_status (*extend_anchors)(hspz_engine *engine, const hspz_anchor_batch *batch, const hspz_sink *sink,
                                  hspz_error *error);

    /* [engine] */
    hspz_status (*get_statistics)(hspz_engine *engine, hspz_statistics *statistics, hspz_error *error);
    /* [engine] */
    hspz_status (*reset_statistics)(hspz_engine *engine, hspz_error *error);
    /* [engine] Text of the last failure on this engine, or "". The engine's; valid until its next call. */
    const char *(*last_error)(hspz_engine *engine);

    /* [any] Optional. The table of functions behind "hspz.NAME/MAJOR", or NULL if unknown. Static. */
    const void *(*get_extension)(const char *id);
} hspz_plugin;

/* The one symbol a plugin exports. */
#define HSPZ_PLUGIN_SYMBOL "hspz_plugin_v1"
#if defined(__GNUC__)
#define HSPZ_EXPORT __attribute__((visibility("default")))
#else
#define HSPZ_EXPORT
#endif
extern HSPZ_EXPORT const hspz_plugin hspz_plugin_v1;

/* Layout ------------------------------------------------------------------------------------------ */

#ifdef __cplusplus
#define HSPZ_ASSERT(condition) static_assert(condition, #condition)
#else
#define HSPZ_ASSERT(condition) _Static_assert(condition, #condition)
#endif
#define HSPZ_AT(type, field, at) HSPZ_ASSERT(offsetof(type, field) == (at))

HSPZ_ASSERT(sizeof(hspz_error) == 512);
HSPZ_AT(hspz_error, text, 16);
HSPZ_ASSERT(sizeof(hspz_device_info) == 424);
HSPZ_AT(hspz_device_info, memory_total, 32);
HSPZ_AT(hspz_device_info, name, 40);
HSPZ_AT(hspz_device_info, detail, 168);
HSPZ_ASSERT(sizeof(hspz_engine_info) == 408);
HSPZ_AT(hspz_engine_info, max_hits, 16);
HSPZ_AT(hspz_engine_info, backend, 24);
HSPZ_AT(hspz_engine_info, variant, 56);
HSPZ_AT(hspz_engine_info, notice, 152);
HSPZ_ASSERT(sizeof(hspz_hsp) == 16);
HSPZ_AT(hspz_hsp, query_start, 4);
HSPZ_AT(hspz_hsp, extent, 8);
HSPZ_AT(hspz_hsp, score, 12);
HSPZ_ASSERT(sizeof(hspz_anchor) == 8);
HSPZ_AT(hspz_anchor, query_end, 4);
HSPZ_ASSERT(sizeof(hspz_find_request) == 32);
HSPZ_AT(hspz_find_request, batch_size, 12);
HSPZ_AT(hspz_find_request, begin, 16);
HSPZ_AT(hspz_find_request, end, 24);
HSPZ_ASSERT(sizeof(hspz_statistics) == 168);
HSPZ_AT(hspz_statistics, target_positions, 8);
HSPZ_AT(hspz_statistics, kept, 80);
HSPZ_AT(hspz_statistics, seconds_index, 88);
HSPZ_AT(hspz_statistics, host_memory_peak, 152);

#if UINTPTR_MAX == UINT64_MAX
HSPZ_ASSERT(sizeof(hspz_host_services) == 56);
HSPZ_AT(hspz_host_services, ctx, 8);
HSPZ_AT(hspz_host_services, log, 16);
HSPZ_AT(hspz_host_services, alloc, 24);
HSPZ_AT(hspz_host_services, free, 32);
HSPZ_AT(hspz_host_services, progress, 40);
HSPZ_AT(hspz_host_services, config_get, 48);
HSPZ_ASSERT(sizeof(hspz_engine_params) == 136);
HSPZ_AT(hspz_engine_params, seed_pattern, 8);
HSPZ_AT(hspz_engine_params, transitions, 16);
HSPZ_AT(hspz_engine_params, ambiguous, 36);
HSPZ_AT(hspz_engine_params, scores, 56);
HSPZ_AT(hspz_engine_params, dedup, 120);
HSPZ_AT(hspz_engine_params, max_hits, 128);
HSPZ_ASSERT(sizeof(hspz_target) == 56);
HSPZ_AT(hspz_target, bases, 8);
HSPZ_AT(hspz_target, length, 16);
HSPZ_AT(hspz_target, index_table, 24);
HSPZ_AT(hspz_target, index_entries, 32);
HSPZ_AT(hspz_target, positions, 40);
HSPZ_AT(hspz_target, position_count, 48);
HSPZ_ASSERT(sizeof(hspz_query) == 24);
HSPZ_ASSERT(sizeof(hspz_sink) == 24);
HSPZ_AT(hspz_sink, hsps, 16);
HSPZ_ASSERT(sizeof(hspz_seed_batch) == 32);
HSPZ_AT(hspz_seed_batch, seeds, 16);
HSPZ_AT(hspz_seed_batch, count, 24);
HSPZ_ASSERT(sizeof(hspz_anchor_batch) == 32);
HSPZ_AT(hspz_anchor_batch, anchors, 16);
HSPZ_AT(hspz_anchor_batch, count, 24);
HSPZ_ASSERT(sizeof(hspz_plugin) == 192);
HSPZ_AT(hspz_plugin, name, 16);
HSPZ_AT(hspz_plugin, capabilities, 40);
HSPZ_AT(hspz_plugin, negotiate, 48);
HSPZ_AT(hspz_plugin, device_count, 64);
HSPZ_AT(hspz_plugin, engine_create, 80);
HSPZ_AT(hspz_plugin, set_target, 104);
HSPZ_AT(hspz_plugin, find_hsps, 136);
HSPZ_AT(hspz_plugin, get_statistics, 160);
HSPZ_AT(hspz_plugin, get_extension, 184);
#endif

#undef HSPZ_AT

#ifdef __cplusplus
}
#endif

#endif
