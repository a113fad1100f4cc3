/* symbols.c -- see symbols.h. */
#include "symbols.h"

#include <stdbool.h>
#include <string.h>

static const char letters[10] = {'R', 'Y', 'K', 'M', 'B',
                                 'V', 'D', 'H', 'S', 'W'}; /* complements: neighbours, but S and W */

static uint32_t plan_class(uint32_t symbol)
{
    return symbol < HSPZ__CLASSES ? symbol : HSPZ__IUPAC;
}

/* A class is safe to stand in for when it scores at most what each XOR of two codes may score. */
static uint32_t risky_classes(const hspz__symbols *s)
{
    int64_t least = INT64_MAX;
    for (uint32_t x = 0; x < 4; x++) {
        int64_t most = INT64_MIN;
        for (uint32_t t = 0; t < 4; t++)
            if (s->score[t][t ^ x] > most)
                most = s->score[t][t ^ x];
        if (most < least)
            least = most;
    }
    uint32_t risky = 0;
    for (uint32_t c = HSPZ__LOWER; c < HSPZ__SYMBOLS; c++)
        for (uint32_t d = 0; d < HSPZ__SYMBOLS; d++)
            if (s->score[c][d] > least || s->score[d][c] > least)
                risky |= 1u << c;
    return risky;
}

void hspz__symbols_init(hspz__symbols *s, const hspz__plan *plan)
{
    memset(s, 0, sizeof *s);
    for (uint32_t t = 0; t < HSPZ__SYMBOLS; t++)
        for (uint32_t q = 0; q < HSPZ__SYMBOLS; q++) {
            const bool two_letters = t >= HSPZ__CLASSES && q >= HSPZ__CLASSES && t != q;
            s->score[t][q] = two_letters ? plan->iupac_other : plan->score[plan_class(t)][plan_class(q)];
        }
    for (uint32_t k = 0; k < 16; k++)
        s->pair_score[k] = s->score[k / 4][k % 4];
    for (uint32_t c = 0; c < HSPZ__SYMBOL_ROW; c++)
        s->complement[c] = (uint8_t)(c <= HSPZ__T ? HSPZ__T - c : c);
    for (uint32_t k = 0; k < 8; k++)
        s->complement[HSPZ__CLASSES + k] = (uint8_t)(HSPZ__CLASSES + (k ^ 1));
    memcpy(s->of_byte, hspz__class_of, sizeof s->of_byte);
    if (plan->iupac_other != plan->score[HSPZ__IUPAC][HSPZ__IUPAC])
        for (uint32_t k = 0; k < sizeof letters; k++) {
            s->of_byte[(uint8_t)letters[k]] = (uint8_t)(HSPZ__CLASSES + k);
            s->of_byte[(uint8_t)letters[k] | 0x20] = (uint8_t)(HSPZ__CLASSES + k);
        }
    s->risky = risky_classes(s);
}
