/* scores.c -- SPEC section 2: the substitution matrix over the symbol classes.
 *
 * Idea: the four bases have the caller's scores; the other classes are laid over them in the order L, N, X (IUPAC), the
 * letter X, E, each rule overwriting what stood there, always symmetric.
 */
#include "oracle.h"

#include <limits.h>

static void set(hspz__oracle_rules *rules, int a, int b, int32_t score)
{
    rules->score[a * ORACLE_ROW + b] = score;
    rules->score[b * ORACLE_ROW + a] = score;
}

/* Class `symbol` against all classes from A up to and including `last`. */
static void set_against(hspz__oracle_rules *rules, int symbol, int last, int32_t score)
{
    for (int other = ORACLE_A; other <= last; other++)
        set(rules, symbol, other, score);
}

/* E ends every extension: ten times what x-drop allows. */
static int32_t separator_score(int32_t xdrop)
{
    int64_t score = -10 * (int64_t)xdrop;
    return score < INT32_MIN ? INT32_MIN : (int32_t)score;
}

/* X: one of the other IUPAC codes. `--ambiguous iupac` rewards X against itself. For KegAlign that is any code against any; LASTZ
 * means the same letter, in either case, and gives two different letters the penalty. The two agree where
 * neither reward nor penalty is given. */
static void set_iupac(hspz__oracle_rules *rules, int letter)
{
    const hspz_engine_params *p = &rules->params;
    bool ambiguous = p->ambiguous == HSPZ_AMBIGUOUS_IUPAC;
    set_against(rules, letter, ORACLE_T, ambiguous ? -p->ambiguous_penalty : p->fill_score);
    set(rules, letter, ORACLE_LOWER, ambiguous ? -p->ambiguous_penalty : p->bad_score);
    set(rules, letter, ORACLE_N, ambiguous ? -p->ambiguous_penalty : p->bad_score);
    for (int other = ORACLE_IUPAC; other < ORACLE_IUPAC_END; other++) {
        bool itself = other == letter || p->dedup != HSPZ_DEDUP_LASTZ;
        set(rules, letter, other,
            !ambiguous ? p->fill_score
            : itself   ? p->ambiguous_reward
                       : -p->ambiguous_penalty);
    }
}

void hspz__oracle_scores(hspz__oracle_rules *rules)
{
    const hspz_engine_params *p = &rules->params;
    for (int t = 0; t < 4; t++)
        for (int q = 0; q < 4; q++)
            rules->score[t * ORACLE_ROW + q] = p->scores[4 * t + q];

    /* L: soft-masked bases are bad against every base and against themselves. */
    set_against(rules, ORACLE_LOWER, ORACLE_LOWER, p->bad_score);

    /* N: bad, unless it is declared ambiguous: then a reward against itself, a penalty against the rest. */
    if (p->ambiguous == HSPZ_AMBIGUOUS_NONE) {
        set_against(rules, ORACLE_N, ORACLE_N, p->bad_score);
    } else {
        set_against(rules, ORACLE_N, ORACLE_LOWER, -p->ambiguous_penalty);
        set(rules, ORACLE_N, ORACLE_N, p->ambiguous_reward);
    }

    for (int letter = ORACLE_IUPAC; letter < ORACLE_IUPAC_END; letter++)
        set_iupac(rules, letter);

    /* The letter X is bad against everything whatever `ambiguous` says; E comes last. */
    for (int other = ORACLE_A; other < ORACLE_CLASSES; other++)
        set(rules, ORACLE_LETTER_X, other, p->bad_score);
    for (int other = ORACLE_A; other < ORACLE_CLASSES; other++)
        set(rules, ORACLE_SEPARATOR, other, separator_score(p->xdrop));
}
