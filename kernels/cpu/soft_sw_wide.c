/* soft_sw_wide.c -- soft Smith-Waterman where exponents are astronomic: logarithms in double precision.
 *
 * Idea: similarities of 1e30 at a temperature of 1e-3 leave every exponent range, but their logarithms fit a double. So h
 * = H / T is kept, and a soft maximum moves its largest term to the front. Slow, and rare.
 */
#include "soft_sw.h"

#include <math.h>

static double similarity_at(const hspz__soft_sw_work *work, uint64_t problem, uint64_t k)
{
    uint64_t one = (uint64_t)work->rows * work->columns;
    return (double)work->similarity[problem * one + k] / work->temperature;
}

/* Soft maximum of 0 and the three terms; terms become their shares. */
static double soften(double terms[3])
{
    double top = 0;
    for (int t = 0; t < 3; t++)
        if (terms[t] > top)
            top = terms[t];
    double start = exp(-top), sum = 0;
    for (int t = 0; t < 3; t++) {
        terms[t] = exp(terms[t] - top);
        sum += terms[t];
    }
    for (int t = 0; t < 3; t++)
        terms[t] /= start + sum;
    return top > 0 ? top + log(start + sum) : log1p(sum);
}

static double wide_cell(const hspz__soft_sw_work *work, uint64_t problem, uint64_t k, const double *above,
                        const double *row, uint64_t j, double shares[3])
{
    double gap = work->gap / work->temperature;
    shares[0] = above[j] + similarity_at(work, problem, k);
    shares[1] = above[j + 1] + gap;
    shares[2] = row[j] + gap;
    return soften(shares);
}

/* Row i of h (row 0 is the border) lies at h + (i % ring) * width. */
static double wide_fill(const hspz__soft_sw_work *work, uint64_t problem, double *h, uint64_t ring,
                        uint64_t *cell)
{
    uint64_t columns = work->columns, width = columns + 1;
    double best = -1, shares[3];
    for (uint64_t j = 0; j < width; j++)
        h[j] = 0;
    for (uint64_t i = 0; i < work->rows; i++) {
        double *row = h + (i + 1) % ring * width;
        row[0] = 0;
        for (uint64_t j = 0; j < columns; j++) {
            uint64_t k = i * columns + j;
            row[j + 1] = wide_cell(work, problem, k, h + i % ring * width, row, j, shares);
            if (row[j + 1] > best) {
                best = row[j + 1];
                *cell = k;
            }
        }
    }
    return best;
}

static void wide_flow_back(const hspz__soft_sw_work *work, uint64_t problem, const double *h, double *waiting,
                           uint64_t best_cell)
{
    uint64_t columns = work->columns, width = columns + 1;
    float *gradient = work->gradient + problem * work->rows * columns;
    double shares[3];
    for (uint64_t j = 0; j < columns; j++)
        waiting[j] = 0;
    for (uint64_t i = work->rows; i-- > 0;) {
        double right = 0, corner = 0;
        for (uint64_t j = columns; j-- > 0;) {
            uint64_t k = i * columns + j;
            double g = waiting[j] + right + (k == best_cell ? (double)work->score_gradient[problem] : 0);
            wide_cell(work, problem, k, h + i * width, h + (i + 1) * width, j, shares);
            waiting[j] = corner + g * shares[1];
            right = g * shares[2];
            corner = g * shares[0];
            gradient[k] = (float)corner;
        }
    }
}

void hspz__soft_wide(const hspz__soft_sw_work *work, uint64_t problem, void *area)
{
    uint64_t cell = 0, rows = work->rows;
    double *h = area;
    int backward = work->gradient != NULL;
    double best = wide_fill(work, problem, h, backward ? rows + 1 : 2, &cell);
    hspz__soft_publish(work, problem, best, cell);
    if (backward)
        wide_flow_back(work, problem, h, h + (rows + 1) * ((uint64_t)work->columns + 1), cell);
}
