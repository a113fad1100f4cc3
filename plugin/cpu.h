/* cpu.h -- the CPU backend's own state and the seams between its stages.
 *
 * Idea: every level of the ABI is "hits -> filter -> survivors -> exact extension -> found segments -> dedup -> sink". join.c makes the
 * hits of level (a) in word order, stream.c those of seeds and anchors in raw order, marks.c works the `lastz` rule; what
 * follows the filter is common. A survivor is an anchor (r, q): the positions just after the seed window.
 */
#ifndef HSPZ__CPU_H
#define HSPZ__CPU_H

#include "anchors.h"
#include "backend.h"
#include "dedup.h"
#include "kernels.h"
#include "marks_list.h"
#include "pool.h"
#include "sequence.h"
#include "words.h"

typedef struct hspz__cpu_slot {
    hspz__sequence strand[2]; /* the minus strand is made when it is first asked for */
    bool has_minus;
} hspz__cpu_slot;

typedef struct hspz__cpu {
    const hspz__plan *plan;
    hspz__host *host;
    hspz__pool *pool;
    const hspz__cpu_kernels *kernels;
    hspz__filter filter;
    hspz__keys keys;
    hspz__words_form form;
    hspz__symbols symbols;
    hspz__sequence target;
    hspz__words index;
    bool host_index;
    hspz__scratch pairs;    /* memory that calls hand on to each other: of the extension */
    hspz__scratch contexts; /* and of the join */
    hspz__words query_words;
    hspz__anchors *survivors;     /* [threads] */
    hspz__scratch *spare;         /* [threads] */
    hspz__mark_lists *mark_lists; /* [threads], dedup lastz */
    uint64_t tile_hits;           /* dedup lastz: hits that a tile has, about */
    uint64_t mark_rate;           /* hits a query position of the last tile; 0: none yet */
    uint32_t *neighbours;         /* hits of a query position by key; NULL until chunks.c makes it */
    hspz__cpu_slot slots[16];
} hspz__cpu;

/* One call at work. */
typedef struct hspz__call {
    hspz__cpu *cpu;
    const hspz__sequence *query;
    const hspz__output *output;
    hspz__pulse pulse;
    hspz_error *error;
} hspz__call;

static inline hspz__builder hspz__cpu_builder(hspz__cpu *cpu)
{
    return (hspz__builder){.host = cpu->host, .pool = cpu->pool, .kernels = cpu->kernels, .keys = &cpu->keys};
}

/* ---- chunks.c: MAX_HITS chunks of the batches of a text range (SPEC section 5) */

typedef struct hspz__chunks {
    uint64_t begin, end, batch_size; /* query window starts; end exclusive */
    uint64_t hits, chunks;
    bool split; /* some batch has more than one chunk; else the label is the batch */
    uint64_t
        *starts; /* split: place (window start * 32 + variant) of the first seed of each chunk, ascending */
    uint64_t start_count;
} hspz__chunks;

/* Labels for a range whose total hits are known: they are counted by batch only when they might split one.
 * HSPZ_E_TOO_MANY_HITS with the batch when one has 2^32 hits or more. */
hspz_status hspz__chunks_init(hspz__chunks *chunks, hspz__call *call, uint64_t begin, uint64_t end,
                              uint64_t batch_size, uint64_t hits);
void hspz__chunks_free(hspz__chunks *chunks, hspz__host *host);
/* Chunk of the seed of anchor (r, q), counted from the first of the range. */
uint64_t hspz__chunks_label(const hspz__chunks *chunks, const hspz__call *call, uint32_t r, uint32_t q);
/* Index of the variant whose key the windows before anchor (r, q) share. */
uint32_t hspz__variant_of(const hspz__call *call, uint32_t r, uint32_t q);

/* ---- screen.c: what follows the filter's first stage */

typedef struct hspz__screen {
    const hspz__call *call;
    hspz__anchors survivors;
    hspz__mark_lists *marks; /* dedup lastz: every hit goes here instead, with what the filter said of it */
    uint32_t count;          /* hits that wait for the wide stage: window starts, XORed contexts */
    uint32_t target[HSPZ__LANES], query[HSPZ__LANES];
    hspz__rows rows;
} hspz__screen;

/* Offset of a context's first base in `packed` from a window start. */
static inline uint32_t hspz__context_offset(const hspz__cpu *cpu)
{
    return HSPZ__PACKED_MARGIN + cpu->plan->pattern_length - 4 * HSPZ__CONTEXT_LEFT;
}

/* Contexts of `count` window starts, flagged with `flag` where a risky symbol is near. */
void hspz__contexts(const hspz__cpu *cpu, const hspz__sequence *s, const uint32_t *positions, uint32_t count,
                    uint8_t flag, uint8_t (*out)[HSPZ__CONTEXT]);
/* A hit that passed the first stage: `likely` as the kernels tell it. HSPZ_E_MEMORY without an error text. */
hspz_status hspz__screen_add(hspz__screen *screen, uint32_t target, uint32_t query, bool likely,
                             const uint8_t row[HSPZ__CONTEXT]);
/* The wide stage on `count` <= 64 hits whose narrow rows are given, which are completed to a whole group. Bit i: not rejected. */
uint64_t hspz__screen_wide(const hspz__call *call, const uint32_t *target, const uint32_t *query,
                           uint32_t count, hspz__rows *rows);
/* Ends the wide stage of what waits. */
hspz_status hspz__screen_flush(hspz__screen *screen);

/* ---- extend.c: exact extension of survivors, those of a diagonal together */

typedef enum hspz__label_kind {
    HSPZ__LABEL_CONSTANT, /* hspz__extension.constant */
    HSPZ__LABEL_CHUNK,    /* by hspz__chunks_label */
    HSPZ__LABEL_ANCHOR    /* r << 32 | q, one found segment an anchor */
} hspz__label_kind;

typedef struct hspz__extension {
    hspz__label_kind kind;
    uint64_t constant;
    const hspz__chunks *chunks;
    bool distinct; /* no anchor comes twice */
} hspz__extension;

/* Extends all anchors of the `lists` lists and appends accepted segments to `found`, equal ones with the same label once (except
 * HSPZ__LABEL_ANCHOR), in no particular order; adds gate survivors and accepted to the statistics. Empties the lists. */
hspz_status hspz__extend(hspz__call *call, hspz__anchors *lists, uint32_t count, const hspz__extension *how,
                         hspz__found_list *found);

/* What target and query position score against each other. */
static inline int32_t hspz__pair_score(const hspz__call *call, uint64_t target, uint64_t query)
{
    return call->cpu->symbols
        .score[hspz__symbol_at(&call->cpu->target, target)][hspz__symbol_at(call->query, query)];
}
/* The same for 64 pairs from (target, query) on, of which at least one lies in both sequences; entries of pairs that do not are
 * meaningless. */
void hspz__pair_scores(const hspz__call *call, int64_t target, int64_t query, int32_t score[64]);

/* One anchor by itself: right and left extents of SPEC section 6; the left scan stays at or after `query_floor`. */
typedef struct hspz__side {
    int64_t score;
    int64_t extent; /* right: last position's offset or -1; left: number of bases */
    uint64_t read;  /* bases looked at */
} hspz__side;

hspz__side hspz__extend_right(const hspz__call *call, uint32_t r, uint32_t q);
hspz__side hspz__extend_left(const hspz__call *call, uint32_t r, uint32_t q, uint32_t query_floor);
/* Total of two sides, at most INT32_MAX. */
static inline int32_t hspz__total(int64_t left, int64_t right)
{
    return left + right > INT32_MAX ? INT32_MAX : (int32_t)(left + right);
}
/* The score of the closed segment or INT32_MIN: hspz__plan_accept with its matches counted where they matter. */
int32_t hspz__accept(const hspz__call *call, uint32_t target_start, uint32_t query_start, uint32_t extent,
                     int32_t total);

/* ---- result.c: found segments on their way through dedup to the sink */

typedef struct hspz__result {
    hspz__call *call;
    hspz__found_list found; /* of the scopes since the last end */
    hspz__seen seen;
    uint64_t thinned; /* maximal: segments left after the last thinning */
} hspz__result;

void hspz__result_init(hspz__result *result, hspz__call *call);
/* All scopes (labels) in `found` are complete and precede what comes: dedup and hand out, or thin out under maximal. Under
 * `none`, labels are anchors and the order is that of level (a). */
hspz_status hspz__result_scope_end(hspz__result *result);
/* The end of the call: hands out what is left if `status` is HSPZ_OK; frees; returns the status of the call. */
hspz_status hspz__result_end(hspz__result *result, hspz_status status);
/* Hands `found` out in the raw order of level (a), told by the anchors in the labels, and empties it. */
hspz_status hspz__result_raw(hspz__result *result);
/* Hands `found` out as it stands and empties it. */
hspz_status hspz__result_give(hspz__result *result);

/* A stable radix sort of `count` keys; returns the array that holds the result, `keys` or `spare`. */
uint64_t *hspz__sort_keys(uint64_t *keys, uint64_t *spare, uint64_t count);

/* ---- the levels */

hspz_status hspz__join_find(hspz__call *call, uint64_t begin, uint64_t end, uint64_t batch_size);
/* The hits of window starts [begin, end), at most 2^24 of them, into the lists of the workers; *hits is their number. */
hspz_status hspz__join_tile(hspz__call *call, uint64_t begin, uint64_t end, hspz__mark_lists *lists,
                            uint64_t *hits);
hspz_status hspz__stream_find(hspz__call *call, uint64_t begin, uint64_t end, uint64_t batch_size);
hspz_status hspz__stream_seeds(hspz__call *call, const uint64_t *seeds, uint64_t count);
hspz_status hspz__stream_anchors(hspz__call *call, const hspz_anchor_batch *batch);

#endif
