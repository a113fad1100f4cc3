/* symbols.h -- symbol classes as the CPU backend tells them apart.
 *
 * Idea: the plan's classes serve except where LASTZ's rule tells IUPAC letters apart; then each letter has a class of its own after the
 * plan's. Everything that scans bases takes its scores from here.
 */
#ifndef HSPZ__SYMBOLS_H
#define HSPZ__SYMBOLS_H

#include "plan.h"

#define HSPZ__SYMBOLS (HSPZ__CLASSES + 10u) /* the plan's, then R Y K M B V D H S W */
#define HSPZ__SYMBOL_ROW 32u

typedef struct hspz__symbols {
    int32_t score[HSPZ__SYMBOLS][HSPZ__SYMBOL_ROW]; /* [target][query] */
    int32_t pair_score[16];                         /* of upper-case bases: [4 * target + query] */
    uint8_t of_byte[256];                           /* 0xff: no symbol */
    uint8_t complement[HSPZ__SYMBOL_ROW];
    uint32_t
        risky; /* bit c: a random two-bit code in place of class c could score below the truth, see sequence.h */
} hspz__symbols;

void hspz__symbols_init(hspz__symbols *symbols, const hspz__plan *plan);

#endif
