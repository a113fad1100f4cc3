/* companions_soft.h -- soft Smith-Waterman under test: problems, results, and what results must be. */
#ifndef HSPZ_TEST_COMPANIONS_SOFT_H
#define HSPZ_TEST_COMPANIONS_SOFT_H

#include "companions_sides.h"

typedef struct soft_case {
    uint64_t batch;
    uint32_t rows;
    uint32_t columns;
    double gap;
    double temperature;
    float *similarity;
    float *score_gradient;
} soft_case;

typedef struct soft_result {
    float *scores;
    uint64_t *cells;
    float *gradient;
} soft_result;

/* Similarities uniform in [-scale, scale], score gradients 1. */
soft_case soft_random(uint64_t *state, uint64_t batch, uint32_t rows, uint32_t columns, double gap,
                      double temperature, double scale);
void soft_free(soft_case *c);
soft_result soft_backward(const side *s, const soft_case *c);
soft_result soft_forward(const side *s, const soft_case *c);
void soft_result_free(soft_result *r);

/* H[i][j] for all cells of problem b by the literal formula in long double, h[(rows+1)*(columns+1)]; for moderate
 * exponents. Answers the largest. */
long double soft_literal(const soft_case *c, uint64_t b, uint64_t k_moved, double step);

/* Scores within 1e-5 relative, gradients within 1e-4; where the best cells differ they must be as good. */
void soft_compare(const soft_case *c, const soft_result *twin, const soft_result *is, const char *what);

#endif
