/* plan.h -- what an engine computes, worked out once from hspz_engine_params.
 *
 * Idea: every rule of SPEC sections 2-6 that depends only on parameters is turned into a number or a table
 * here, by one function, so that no backend derives a rule by itself. A plan is read-only after
 * hspz__plan_init and shared by all threads and devices of an engine.
 */
#ifndef HSPZ__PLAN_H
#define HSPZ__PLAN_H

#include "hspz_abi.h"

/* Scoring alphabet (SPEC section 2). The letter X is a class of its own because it is bad_score whatever
 * `ambiguous` says. Four bits hold a class. */
enum {
    HSPZ__A = 0,
    HSPZ__C = 1,
    HSPZ__G = 2,
    HSPZ__T = 3,
    HSPZ__LOWER = 4,     /* soft-masked base */
    HSPZ__N = 5,         /* N, n */
    HSPZ__IUPAC = 6,     /* the other ambiguity codes, either case */
    HSPZ__SEPARATOR = 7, /* '&' */
    HSPZ__LETTER_X = 8,  /* X, x */
    HSPZ__CLASSES = 9,
    HSPZ__ROW = 16 /* a row of the score table is padded to this */
};

#define HSPZ__PATTERN_MAX 32u
#define HSPZ__VARIANTS_MAX 16u /* the exact word and one transition per '1': at most 15 care positions */

typedef struct hspz__plan {
    /* seed word, SPEC section 3 */
    char pattern[HSPZ__PATTERN_MAX + 1];
    uint32_t pattern_length; /* w */
    uint32_t word_bits;      /* 8..30 */
    uint32_t care_count;     /* number of '1' and 'T' */
    uint8_t care_offset[HSPZ__PATTERN_MAX]; /* offsets of '1' and 'T', ascending */
    uint8_t care_bits[HSPZ__PATTERN_MAX];   /* 2 for '1', 1 for 'T' (the low bit of the base code) */
    uint8_t care_shift[HSPZ__PATTERN_MAX];  /* the base's bits go here in the word */
    /* XOR masks in the order seeds are emitted, SPEC section 4; variant_mask[0] is 0 */
    uint32_t variant_count;
    uint32_t variant_mask[HSPZ__VARIANTS_MAX];
    uint32_t step;

    /* extension, SPEC section 6 */
    int32_t score[HSPZ__CLASSES][HSPZ__ROW]; /* [target class][query class] */
    int32_t xdrop;
    int32_t hspthresh;  /* K */
    int32_t keep_total; /* least integer t with (float)t >= (float)K: the gate's only comparison */
    int32_t entropy;    /* 1: totals in [K, 3K] are scaled */
    int32_t iupac_other; /* HSPZ__IUPAC against itself where the letters differ (either case is the same letter). It is
                            score[HSPZ__IUPAC][HSPZ__IUPAC] unless dedup is `lastz` and IUPAC codes are ambiguous: LASTZ
                            rewards a letter against the same letter only */

    /* scope, SPEC sections 5 and 7 */
    uint32_t dedup;
    uint32_t query_slots;
    uint64_t max_hits; /* HSPZ_MAX_HITS_DEVICE still unresolved until the device is known */
} hspz__plan;

/* Class of each byte, 0xff for what is neither a letter of the nucleotide alphabet nor '&'. */
extern const uint8_t hspz__class_of[256];

/* Checks `params` field by field and fills `plan`. HSPZ_E_ARGUMENT with the field and range on failure. [any] */
hspz_status hspz__plan_init(hspz__plan *plan, const hspz_engine_params *params, hspz_error *error);

/* Number of indexed target positions for a block of `length` bases, and the first of them; the others follow at
 * distance plan->step. Under HSPZ_DEDUP_LASTZ position 0 may be indexed, else SPEC section 3's rule holds. [any] */
uint64_t hspz__plan_target_positions(const hspz__plan *plan, uint64_t length, uint64_t *first);

/* Entropy and threshold (SPEC section 6; section 7 for lastz): the final score of a segment whose total passed the
 * gate and whose identical A,C,G,T columns are `matches`, or INT32_MIN when it is not accepted. `extent` is
 * hspz_hsp.extent. Always evaluated on the host so that every backend agrees to the last bit. [any] */
int32_t hspz__plan_accept(const hspz__plan *plan, int32_t total, uint32_t extent, const uint32_t matches[4]);

#endif
