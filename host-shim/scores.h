/* scores.h -- LASTZ score files, and the matrix in force.
 *
 * Idea: a score file is taken as lastz 1.04.22 takes it where it can mean the same here, and refused with its line
 * where it cannot (letters beyond A, C, G, T, fractions, ragged rows). See scores.c for the rules.
 */
#ifndef HSPZ__SCORES_H
#define HSPZ__SCORES_H

#include "failure.h"
#include "options.h"

/* Limits of one score: sums of scores along a diagonal, less x-drop, stay within int32_t at the left end. */
#define HSPZ__SCORE_LEAST (-1000000000)
#define HSPZ__SCORE_MOST 1000000

typedef struct hspz__scores {
    int32_t matrix[16]; /* row = target, column = query, A C G T */
    int32_t bad_score;
    int32_t fill_score;
} hspz__scores;

/* HOXD70, -1000, -100. [any] */
void hspz__scores_default(hspz__scores *scores);

/* Reads the text of a score file; `name` stands in the sentences. HSPZ_EXIT_USAGE when it is refused. [any] */
int hspz__scores_parse(hspz__scores *scores, const char *name, const char *text, size_t length,
                       hspz_failure *failure) __attribute__((warn_unused_result));
int hspz__scores_read(hspz__scores *scores, const char *path, hspz_failure *failure)
    __attribute__((warn_unused_result));

#define HSPZ__SCORE_CLASSES 9 /* A C G T, lower case, N, other IUPAC codes, separator, the letter X */
/* The scores in force, SPEC section 2. [target class][query class] [any] */
void hspz__scores_effective(const hspz_options *options,
                            int64_t scores[HSPZ__SCORE_CLASSES][HSPZ__SCORE_CLASSES]);

#endif
