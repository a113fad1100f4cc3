/* kernels.h -- the inner loops of the CPU backend, one table of functions for each instruction set.
 *
 * Idea: a hit is judged on a context, 128 bases around its anchor packed in 32 bytes: 72 before (the seed window is their end)
 * and 56 after. Target context XOR query context is a row of XOR classes. The filter scans rows with upper bounds of the scores, three
 * bases a step, and rejects a hit only on proof; see filter.c for the proof. The scalar table is the
 * reference: every other table gives the same answers bit for bit.
 */
#ifndef HSPZ__CPU_KERNELS_H
#define HSPZ__CPU_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#define HSPZ__CONTEXT 32u       /* bytes */
#define HSPZ__CONTEXT_LEFT 18u  /* bytes before the anchor: 72 bases, 24 steps */
#define HSPZ__CONTEXT_RIGHT 14u /* bytes from it on: 18 steps, then two bases that are not scanned */
#define HSPZ__LANES 64u         /* rows a call of the filter */

/* Where the four bits of those two bases are, a flag of each side instead: "a risky symbol is near". */
#define HSPZ__FLAG_TARGET 0x80u /* of byte 31 */
#define HSPZ__FLAG_QUERY 0x40u

/* The filter's numbers, in units of `scale` (see filter.c). Index: three XOR classes, the first scanned lowest for the right
 * side [0], highest for the left side [1]. */
typedef struct hspz__filter {
    _Alignas(64) uint8_t rise[2][64]; /* best prefix of the three, at least 0, rounded up */
    uint8_t fall[2][64];              /* best prefix less sum, rounded down */
    uint8_t drop;                     /* a fall beyond this ends a side */
    uint8_t keep;                     /* both sides ended and rises below this: rejected */
    int32_t scale;
    int32_t bound[4]; /* most that each XOR class can score */
} hspz__filter;

/* `score` is hspz__plan's table of the four bases, row = target; fills `filter`. [any] */
void hspz__filter_init(hspz__filter *filter, const int32_t score[4][4], int32_t xdrop, int32_t keep_total);

/* XOR of two contexts for each of up to 64 hits. */
typedef struct hspz__rows {
    _Alignas(64) uint8_t row[HSPZ__LANES][HSPZ__CONTEXT];
} hspz__rows;

/* How a window of packed bases becomes a key (words.h): the care bits, gathered. */
typedef struct hspz__key_rule {
    uint64_t care_mask; /* of 32 bases, base i at bits 2i */
    uint32_t runs;      /* the same as runs of neighbouring bits: key |= (window >> shift) & mask */
    uint8_t shift[32];
    uint64_t mask[32];
    bool narrow; /* the pattern has at most 29 bases: any eight bytes hold its window */
} hspz__key_rule;

/* 64 neighbouring keys of a sorted list of positions (words.h). */
typedef struct hspz__block {
    uint64_t bits;  /* bit i: key 64 * id + i has positions */
    uint64_t multi; /* bit i: it has more than one */
    uint32_t rank;  /* distinct keys before the block */
    uint32_t id;
} hspz__block;

/* Pairs of ranks that blocks make with their variants, collected over some blocks: a block adds at most 64 a variant, and is paired only
 * when fewer than HSPZ__PAIRS_FULL wait; what is written reaches 64 further. */
#define HSPZ__VARIANTS 16u
#define HSPZ__PAIRS_FULL 256u
#define HSPZ__PAIRS_ROOM (HSPZ__PAIRS_FULL + 64u * HSPZ__VARIANTS + 64u)
typedef struct hspz__rank_pairs {
    uint32_t count, multi_count;
    uint32_t target[HSPZ__PAIRS_ROOM], query[HSPZ__PAIRS_ROOM];             /* both keys occur once */
    uint32_t multi_target[HSPZ__PAIRS_ROOM], multi_query[HSPZ__PAIRS_ROOM]; /* the others */
} hspz__rank_pairs;

/* Hits on their way to the filter. A target value is a place in the list of positions less `target_base`, below HSPZ__WINDOW; a query value
 * the position at its place when `query_positions` is given, else the place. Arrays are written up to 16 values past what counts. */
#define HSPZ__WINDOW 1024u
typedef struct hspz__hits {
    const uint32_t *target_starts, *query_starts; /* of ranks, see words.h */
    const uint32_t *query_positions;
    uint32_t target_base;
    uint32_t count, room;
    uint32_t *target, *query;
} hspz__hits;

typedef struct hspz__cpu_kernels {
    const char *name;

    /* out[i] = table[bytes[i]] for i < count; returns the OR of all out[i]. Entries 128 and up of `table` are equal. */
    uint8_t (*translate)(const uint8_t table[256], const uint8_t *bytes, uint64_t count, uint8_t *out);

    /* The low two bits of 64 bytes, the first lowest, into 16; bit i of the answer: byte i is 4 or more (all are below 128). */
    uint64_t (*pack)(const uint8_t bytes[64], uint8_t packed[16]);

    /* out[] = key << 32 | position for the windows that start at base + i, bit i of `valid`, ascending; `packed` holds base
     * `base` at bit 0 of its first byte, base being a multiple of 64. Returns their number. */
    uint32_t (*keys)(const hspz__key_rule *rule, const uint8_t *packed, uint64_t base, uint64_t valid,
                     uint64_t *out);

    /* ranks[i] = before[k / 64] + number of bits of bits[k / 64] below bit k % 64, for the key k = pairs[i] >> 32 & key_mask. */
    void (*ranks)(const uint64_t *pairs, uint32_t count, uint32_t key_mask, const uint64_t *bits,
                  const uint32_t *before, uint32_t *ranks);

    /* Bit v of present[i]: bit key XOR masks[v] of `bitmap` is set, for the key = windows[i] >> 32 and v < variants <= 16. `masks` has 16
     * entries. */
    void (*probe)(const uint64_t *bitmap, const uint64_t *windows, uint32_t count, const uint32_t *masks,
                  uint32_t variants, uint16_t *present);

    /* Adds the pairs of a block with one block for each variant v, in the order of v: key k of the block meets key k XOR low[v] of
     * *others[v]. */
    void (*pair)(const hspz__block *block, const hspz__block *const *others, const uint8_t *low,
                 uint32_t variants, hspz__rank_pairs *pairs);

    /* Adds the hits of the multi pairs numbered `first` and up while they fit; returns the number of the first pair that does not.
     * A product that exceeds an empty list's room never fits. The order of the hits of one pair is not specified. */
    uint32_t (*products)(const hspz__rank_pairs *pairs, uint32_t first, hspz__hits *hits);

    /* out[i] = 128 packed bases from (positions[i] + offset) on, counted in bases of `packed`; two flag bits of byte 31 cleared. Reads up
     * to 8 bytes past the context. */
    void (*contexts)(const uint8_t *packed, const uint32_t *positions, uint32_t offset, uint32_t count,
                     uint8_t (*out)[HSPZ__CONTEXT]);

    /* Bit i of the answer: hit i of `count` <= 64 is not rejected; of `likely`: because its rises reach `keep`, and no wider look can
     * reject it. rows[i] = target[target_at[i]] XOR query[query_at[i]] is left to the caller. Entries of query_at up to 64 past `count`
     * may be prefetched and can be any index. */
    uint64_t (*filter)(const hspz__filter *filter, const uint8_t (*target)[HSPZ__CONTEXT],
                       const uint8_t (*query)[HSPZ__CONTEXT], const uint32_t *target_at,
                       const uint32_t *query_at, uint32_t count, hspz__rows *rows, uint64_t *likely);

    /* The same with the query's contexts gathered: 128 packed bases from (query_at[i] + offset) on, not flagged. Entries of query_at up to
     * 64 past `count` may be prefetched and can be any number that does not exceed the sequence. */
    uint64_t (*filter_packed)(const hspz__filter *filter, const uint8_t (*target)[HSPZ__CONTEXT],
                              const uint8_t *query, uint32_t offset, const uint32_t *target_at,
                              const uint32_t *query_at, uint32_t count, hspz__rows *rows, uint64_t *likely);

    /* The answer on rows of XOR classes, continued in outer rows: 72 bases further left, and from the second-last base of the right side
     * on 56. */
    uint64_t (*filter_wide)(const hspz__filter *filter, const hspz__rows *inner, const hspz__rows *outer,
                            uint32_t count);

    /* out[i] = table[4 * t + q] for i < 64, where t and q are the packed bases target_at + i and query_at + i. Reads up to 25 bytes. */
    void (*scores)(const int32_t table[16], const uint8_t *target, uint64_t target_at, const uint8_t *query,
                   uint64_t query_at, int32_t out[64]);
} hspz__cpu_kernels;

extern const hspz__cpu_kernels hspz__cpu_scalar;
#if defined(__x86_64__)
extern const hspz__cpu_kernels hspz__cpu_avx2;
extern const hspz__cpu_kernels hspz__cpu_avx512;
#endif

/* dispatch.c, the one place that asks what the processor can do. `isa` is 0 auto, 1 scalar, 2 avx2, 3 avx512, as listed in
 * hspz__cpu_isa_names. NULL when the processor cannot run it. [any] */
extern const char *const hspz__cpu_isa_names[];
const hspz__cpu_kernels *hspz__cpu_choose(uint32_t isa);

#endif
