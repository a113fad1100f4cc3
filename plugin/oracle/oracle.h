/* oracle.h -- what the files of the reference plugin share.
 *
 * Idea: hspz_oracle.so is the specification in code. Each file is one stage of SPEC and says its section; the
 * data flow is the one of the specification, one step after the other, without threads, SIMD or cleverness:
 *
 *   rules.c      parameters -> rules: seed pattern, transitions, thresholds         sections 3, 4, 6
 *   scores.c     the substitution matrix over nine symbol classes                    section 2
 *   classes.c    bytes -> symbol classes, reverse complement                         section 2
 *   index.c      target positions sorted by seed word                                section 3
 *   seeds.c      seed words of query windows                                         sections 3, 4
 *   chunks.c     hits of a batch: count, prefix, MAX_HITS chunks, expansion          section 5
 *   extend.c     x-drop extension and gate                                           section 6
 *   entropy.c    entropy, acceptance, final score                                    section 6
 *   dedup_*.c    what is kept of the accepted segments                               section 7
 *   lastz.c      the mark rule                                                       section 7
 *   call.c       the three levels of service put together                            section 9
 *   engine.c, levels.c, entry.c, host.c, extensions.c   the ABI around it            section 9
 *
 * Nothing here is shared with the fast plugin but hspz_abi.h. Positions are uint32 as in the ABI, lengths and counts
 * uint64, sums of scores int64.
 */
#ifndef HSPZ__ORACLE_H
#define HSPZ__ORACLE_H

#include "hspz_abi.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Symbol classes, SPEC section 2. The four bases are their own 2-bit codes; XOR 2 is a transition (A<->G, C<->T). The
 * IUPAC codes are the one class X of the specification, but LASTZ's rule needs their letters apart (scores.c); they are
 * numbered so that XOR 1 is the complement of all but the last two, which are their own. */
enum {
    ORACLE_A = 0,
    ORACLE_C = 1,
    ORACLE_G = 2,
    ORACLE_T = 3,
    ORACLE_LOWER = 4,     /* L: soft-masked acgt (u) */
    ORACLE_N = 5,         /* N, n */
    ORACLE_SEPARATOR = 6, /* E: '&' */
    ORACLE_LETTER_X = 7,  /* X, x: bad against everything */
    ORACLE_IUPAC = 8,     /* first of R Y K M B V D H S W, either case */
    ORACLE_IUPAC_END = 18,
    ORACLE_CLASSES = ORACLE_IUPAC_END,
    ORACLE_ROW = 32 /* a row of the matrix is padded to this */
};

#define ORACLE_PATTERN_MAX 32u
#define ORACLE_VARIANTS_MAX 16u /* the exact word and one transition for each of at most 15 '1's */
#define ORACLE_MARKS 65536u

/* Everything that follows from the parameters alone. Read-only once made. */
typedef struct hspz__oracle_rules {
    hspz_engine_params params; /* with defaults filled in; seed_pattern points to `pattern` */
    char pattern[ORACLE_PATTERN_MAX + 1];
    uint32_t window;    /* w: length of the pattern */
    uint32_t word_bits; /* 8..30 */
    uint32_t variant_count;
    uint32_t variant_mask[ORACLE_VARIANTS_MAX]; /* XOR masks in the order of emission; the first is 0 */
    int32_t keep_total;                         /* least total that passes the gate */
    int32_t score[ORACLE_CLASSES * ORACLE_ROW]; /* [target class * ORACLE_ROW + query class] */
} hspz__oracle_rules;

/* The host's services with the gaps filled, and a count of the memory held. */
typedef struct hspz__oracle_host {
    hspz_host_services services;
    _Atomic uint64_t bytes_now;
    _Atomic uint64_t bytes_peak;
} hspz__oracle_host;

/* Tells the host about progress often enough. Loops report their work; the clock is read once in a while. */
typedef struct hspz__oracle_pulse {
    const hspz__oracle_host *host;
    uint64_t done; /* of `total`, in the units of the running call */
    uint64_t total;
    uint64_t work; /* since the clock was read last */
    double last;   /* when the host was told last, in seconds */
} hspz__oracle_pulse;

/* A block as symbol classes. */
typedef struct hspz__oracle_sequence {
    uint8_t *codes;
    uint64_t length;
} hspz__oracle_sequence;

/* Target positions by word: `entries` are word << 32 | position, ascending. `table[word >> shift]` is the number of
 * entries up to and including that group of words, so that memory follows the target, not 4^weight. */
typedef struct hspz__oracle_index {
    uint64_t *entries;
    uint64_t count;
    uint32_t *table;
    uint32_t shift;
} hspz__oracle_index;

/* A growing array of HSPs. */
typedef struct hspz__oracle_list {
    hspz_hsp *items;
    uint64_t count;
    uint64_t capacity;
} hspz__oracle_list;

/* One side of an extension. */
typedef struct hspz__oracle_side {
    int64_t score;  /* best prefix sum, 0 if none is positive */
    int64_t extent; /* position of the best prefix: right -1, left 0 if none is positive */
    uint64_t read;  /* number of bases that were read */
} hspz__oracle_side;

typedef struct hspz__oracle_segment {
    uint32_t target_start;
    uint32_t query_start;
    uint32_t extent;
    int32_t total;
} hspz__oracle_segment;

/* The mark rule's state for one call, SPEC section 7. */
typedef struct hspz__oracle_marks {
    uint32_t *mark;        /* ORACLE_MARKS of them */
    uint64_t record_begin; /* the query record the marks belong to: [begin, end) */
    uint64_t record_end;
} hspz__oracle_marks;

/* The HSPs seen in a call (dedup `interval`): open addressing over the kept records. */
typedef struct hspz__oracle_seen {
    hspz_hsp *slots; /* a free slot has score 0, which no accepted HSP has */
    uint64_t capacity;
    uint64_t count;
} hspz__oracle_seen;

/* One query slot: both strands. */
typedef struct hspz__oracle_slot {
    hspz__oracle_sequence strand[2]; /* HSPZ_STRAND_PLUS, HSPZ_STRAND_MINUS */
    bool set;
    double seconds; /* spent in set_query; summed up by get_statistics */
} hspz__oracle_slot;

/* A call of level (a), (b) or (c) at work. */
typedef struct hspz__oracle_call {
    hspz__oracle_host *host;
    const hspz__oracle_rules *rules;
    const hspz__oracle_sequence *target;
    const hspz__oracle_index *index;
    const hspz__oracle_sequence *query; /* the strand asked for */
    const hspz_sink *sink;
    hspz_statistics *statistics;
    hspz_error *error;
    hspz__oracle_pulse pulse;
    hspz__oracle_list found; /* accepted segments of the chunk; of the call under `maximal` */
    hspz__oracle_marks marks;
    hspz__oracle_seen seen;
    uint64_t pruned; /* `maximal`: size of `found` when it was thinned out last */
} hspz__oracle_call;

/* The ABI's opaque engine. What set_query of one slot and a call on another may touch at a time is the text of the last error
 * (under `lock`) and the host's memory counters (atomic). */
struct hspz_engine {
    hspz__oracle_host host;
    hspz__oracle_rules rules;
    hspz__oracle_sequence target;
    hspz__oracle_index index;
    bool target_set;
    hspz__oracle_slot slots[16];
    hspz_statistics statistics;
    pthread_mutex_t lock;
    char last_error[HSPZ_ERROR_TEXT];
};

/* host.c ------------------------------------------------------------------------------------------ */

void hspz__oracle_host_init(hspz__oracle_host *host, const hspz_host_services *services);
/* `count` elements of `size` bytes, not cleared, 16-byte aligned; NULL if the product overflows or memory is
 * short. free accepts NULL. [any] */
void *hspz__oracle_alloc(hspz__oracle_host *host, uint64_t count, uint64_t size);
void hspz__oracle_free(hspz__oracle_host *host, void *memory);
void hspz__oracle_log(const hspz__oracle_host *host, uint32_t level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Fills `error` (not NULL) and returns `status`. */
hspz_status hspz__oracle_fail(hspz_error *error, hspz_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
double hspz__oracle_seconds(void); /* a monotonic clock */

void hspz__oracle_pulse_init(hspz__oracle_pulse *pulse, const hspz__oracle_host *host, uint64_t total);
hspz_status hspz__oracle_pulse_tell(hspz__oracle_pulse *pulse, hspz_error *error);

/* `work` steps of about a nanosecond are done: the clock is looked at every 2^22 of them, so well within the half
 * second that the host is promised. HSPZ_E_CANCELLED when the host wants to stop. */
static inline hspz_status hspz__oracle_pulse_beat(hspz__oracle_pulse *pulse, uint64_t work, hspz_error *error)
{
    pulse->work += work;
    return pulse->work < ((uint64_t)1 << 22) ? HSPZ_OK : hspz__oracle_pulse_tell(pulse, error);
}

/* rules.c, scores.c -------------------------------------------------------------------------------- */

/* Checks the parameters (struct_size honoured) and derives the rules. HSPZ_E_ARGUMENT names field and range. */
hspz_status hspz__oracle_rules_init(hspz__oracle_rules *rules, const hspz_engine_params *params,
                                    hspz_error *error);
void hspz__oracle_scores(hspz__oracle_rules *rules);

/* classes.c ---------------------------------------------------------------------------------------- */

/* Encodes a block; HSPZ_E_ARGUMENT with the offset of a byte that is no nucleotide letter and not '&'. `name` is "target"
 * or "query". The caller frees with hspz__oracle_sequence_free. */
hspz_status hspz__oracle_encode(hspz__oracle_host *host, const char *name, const uint8_t *bases,
                                uint64_t length, hspz__oracle_sequence *sequence, hspz_error *error);
hspz_status hspz__oracle_reverse_complement(hspz__oracle_host *host, const hspz__oracle_sequence *forward,
                                            hspz__oracle_sequence *reverse, hspz_error *error);
void hspz__oracle_sequence_free(hspz__oracle_host *host, hspz__oracle_sequence *sequence);

/* seeds.c ------------------------------------------------------------------------------------------ */

/* The seed word of the window at `position`; meaningful only where the window is valid. */
uint32_t hspz__oracle_word(const hspz__oracle_rules *rules, const uint8_t *codes, uint64_t position);

/* Writes the seeds (word << 32 | position) of the valid windows of [begin, end) and returns their number. `seeds` has room for
 * (end - begin) * variant_count. `windows` grows by the number of valid windows. */
uint64_t hspz__oracle_seeds(const hspz__oracle_rules *rules, const hspz__oracle_sequence *query,
                            uint64_t begin, uint64_t end, uint64_t *seeds, uint64_t *windows);

/* index.c ------------------------------------------------------------------------------------------ */

hspz_status hspz__oracle_index_build(hspz__oracle_host *host, const hspz__oracle_rules *rules,
                                     const hspz__oracle_sequence *target, hspz__oracle_index *index,
                                     hspz_error *error);
/* Takes the index that the host brought with the target, after checking it. */
hspz_status hspz__oracle_index_import(hspz__oracle_host *host, const hspz__oracle_rules *rules,
                                      const hspz_target *target, hspz__oracle_index *index,
                                      hspz_error *error);
void hspz__oracle_index_free(hspz__oracle_host *host, hspz__oracle_index *index);
/* The entries of `word` are [*first, *first + returned count). */
uint64_t hspz__oracle_bucket(const hspz__oracle_index *index, uint32_t word, uint64_t *first);

/* chunks.c ----------------------------------------------------------------------------------------- */

/* Works one batch of seeds, or of anchors, through chunks, extension and dedup. */
hspz_status hspz__oracle_batch_of_seeds(hspz__oracle_call *call, const uint64_t *seeds, uint64_t count);
hspz_status hspz__oracle_batch_of_anchors(hspz__oracle_call *call, const hspz_anchor_batch *batch);

/* extend.c ----------------------------------------------------------------------------------------- */

hspz__oracle_side hspz__oracle_right(const hspz__oracle_rules *rules, const hspz__oracle_sequence *target,
                                     const hspz__oracle_sequence *query, uint64_t r, uint64_t q);
/* The left scan never reads a query position below `query_floor`. */
hspz__oracle_side hspz__oracle_left(const hspz__oracle_rules *rules, const hspz__oracle_sequence *target,
                                    const hspz__oracle_sequence *query, uint64_t r, uint64_t q,
                                    uint64_t query_floor);
hspz__oracle_segment hspz__oracle_join(uint64_t r, uint64_t q, const hspz__oracle_side *left,
                                       const hspz__oracle_side *right);

/* entropy.c ---------------------------------------------------------------------------------------- */

/* Judges a segment whose total passed the gate: true and *score when it is accepted. */
bool hspz__oracle_accept(const hspz__oracle_rules *rules, const hspz__oracle_sequence *target,
                         const hspz__oracle_sequence *query, const hspz__oracle_segment *segment,
                         int32_t *score);

/* lastz.c ------------------------------------------------------------------------------------------ */

hspz_status hspz__oracle_marks_init(hspz__oracle_call *call);
void hspz__oracle_marks_free(hspz__oracle_call *call);
/* Extends the hit unless a mark forbids it; false when it is skipped. */
bool hspz__oracle_marks_extend(hspz__oracle_call *call, uint64_t r, uint64_t q,
                               hspz__oracle_segment *segment);

/* dedup_*.c, sort.c ---------------------------------------------------------------------------------- */

typedef bool hspz__oracle_before(const hspz_hsp *a, const hspz_hsp *b); /* strict order */

hspz_status hspz__oracle_list_add(hspz__oracle_call *call, hspz__oracle_list *list, const hspz_hsp *hsp);
void hspz__oracle_list_free(hspz__oracle_host *host, hspz__oracle_list *list);
/* Stable merge sort. */
hspz_status hspz__oracle_sort(hspz__oracle_call *call, hspz__oracle_list *list, hspz__oracle_before *before);
/* (query_start, target_start, extent, score descending): the order of kept HSPs, LASTZ's order. */
bool hspz__oracle_query_order(const hspz_hsp *a, const hspz_hsp *b);

hspz_status hspz__oracle_dedup_chunk(hspz__oracle_call *call, hspz__oracle_list *list);
hspz_status hspz__oracle_dedup_interval(hspz__oracle_call *call, hspz__oracle_list *list);
void hspz__oracle_seen_free(hspz__oracle_host *host, hspz__oracle_seen *seen);
hspz_status hspz__oracle_dedup_maximal(hspz__oracle_call *call, hspz__oracle_list *list);

/* call.c ------------------------------------------------------------------------------------------- */

/* One hit: anchor (r, q), the positions just after the seed window. */
hspz_status hspz__oracle_hit(hspz__oracle_call *call, uint64_t r, uint64_t q);
/* The chunk is complete: dedup and output of what it left. */
hspz_status hspz__oracle_chunk_end(hspz__oracle_call *call);

hspz_status hspz__oracle_call_find(hspz__oracle_call *call, const hspz_find_request *request);
hspz_status hspz__oracle_call_expand(hspz__oracle_call *call, const hspz_seed_batch *batch);
hspz_status hspz__oracle_call_extend(hspz__oracle_call *call, const hspz_anchor_batch *batch);
void hspz__oracle_call_free(hspz__oracle_call *call);

/* engine.c ------------------------------------------------------------------------------------------- */

/* Ends an engine call: remembers the text of a failure and hands it to the caller (NULL allowed). */
hspz_status hspz__oracle_finish(hspz_engine *engine, hspz_error *caller, const hspz_error *own,
                                hspz_status status);
/* The failure of a call without an engine. */
hspz_status hspz__oracle_no_engine(hspz_error *caller);
hspz_status hspz__oracle_check_slot(const hspz_engine *engine, uint32_t slot, hspz_error *error);

/* engine.c, levels.c: the members of hspz_plugin that take an engine, with the signatures of hspz_abi.h -- */

hspz_status hspz__oracle_engine_create(const hspz_engine_params *params, const hspz_host_services *services,
                                       hspz_engine **out, hspz_error *error);
void hspz__oracle_engine_destroy(hspz_engine *engine);
hspz_status hspz__oracle_engine_info(hspz_engine *engine, hspz_engine_info *info, hspz_error *error);
hspz_status hspz__oracle_set_target(hspz_engine *engine, const hspz_target *target, hspz_error *error);
hspz_status hspz__oracle_clear_target(hspz_engine *engine, hspz_error *error);
hspz_status hspz__oracle_set_query(hspz_engine *engine, uint32_t slot, const hspz_query *query,
                                   hspz_error *error);
hspz_status hspz__oracle_clear_query(hspz_engine *engine, uint32_t slot, hspz_error *error);
hspz_status hspz__oracle_find_hsps(hspz_engine *engine, const hspz_find_request *request,
                                   const hspz_sink *sink, hspz_error *error);
hspz_status hspz__oracle_expand_and_extend(hspz_engine *engine, const hspz_seed_batch *batch,
                                           const hspz_sink *sink, hspz_error *error);
hspz_status hspz__oracle_extend_anchors(hspz_engine *engine, const hspz_anchor_batch *batch,
                                        const hspz_sink *sink, hspz_error *error);
hspz_status hspz__oracle_get_statistics(hspz_engine *engine, hspz_statistics *statistics, hspz_error *error);
hspz_status hspz__oracle_reset_statistics(hspz_engine *engine, hspz_error *error);
const char *hspz__oracle_last_error(hspz_engine *engine);

/* entry.c, extensions.c ------------------------------------------------------------------------------ */

/* Copies a result struct into the caller's, as much as the caller's struct_size allows. */
hspz_status hspz__oracle_give(void *to, const void *from, uint32_t own_size, const char *name,
                              hspz_error *error);
/* Hands a failure to the caller's error struct (NULL allowed) and returns its status. */
hspz_status hspz__oracle_report(hspz_error *caller, const hspz_error *own, hspz_status status);
/* Bytes of main memory, at least 1. */
uint64_t hspz__oracle_memory_total(void);

const void *hspz__oracle_extension(const char *id);

#endif
