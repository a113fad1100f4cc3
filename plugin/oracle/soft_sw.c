/* soft_sw.c -- the soft Smith-Waterman recurrence as SPEC section 10 writes it, in double precision.
 *
 * Idea: h = H / T is filled row by row. The soft maximum of 0 and three candidates is taken after their largest has been
 * moved to the front, so no exponential overflows; where all candidates are negative, log1p keeps the digits
 * of a score that is nearly 0. The four shares of a soft maximum are probabilities; the gradient is the flow that, from
 * the best cell backwards, goes to the predecessors in these shares, and what passes the match of a cell is
 * the gradient of its similarity. Cost: four exponentials and a logarithm per cell, twice in backward.
 */
#include "soft_sw.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#define T_LEAST 1e-9
#define T_MOST 1e9

/* One problem, in units of the temperature. */
typedef struct problem {
    const float *similarity;
    uint64_t rows;
    uint64_t columns;
    double gap;
    double temperature;
} problem;

/* The candidates of one cell and their soft maximum. */
typedef struct soft_max {
    double value; /* log(1 + e^match + e^del + e^ins) */
    double match; /* shares of the three moves; the rest is the share of a fresh start */
    double del;
    double ins;
} soft_max;

static soft_max soften(double match, double del, double ins)
{
    double top = fmax(0, fmax(match, fmax(del, ins)));
    double m = exp(match - top), d = exp(del - top), i = exp(ins - top);
    double start = exp(-top), sum = m + d + i;
    soft_max s = {.value = top > 0 ? top + log(start + sum) : log1p(sum)};
    s.match = m / (start + sum);
    s.del = d / (start + sum);
    s.ins = i / (start + sum);
    return s;
}

/* The cell (i, j), both from 1, from the row above it and the cells on its left. */
static soft_max cell(const problem *p, const double *above, const double *row, uint64_t i, uint64_t j)
{
    double similarity = (double)p->similarity[(i - 1) * p->columns + j - 1] / p->temperature;
    return soften(above[j - 1] + similarity, above[j] + p->gap, row[j - 1] + p->gap);
}

static float to_score(const problem *p, double best)
{
    return (float)fmin(best * p->temperature, FLT_MAX);
}

/* Best h and the first cell that has it. `h` is a ring of rows: row i is at h + (i % ring) * (columns + 1). */
static double fill(const problem *p, double *h, uint64_t ring, uint64_t *best_cell)
{
    double best = -1;
    uint64_t width = p->columns + 1;
    for (uint64_t j = 0; j < width; j++)
        h[j] = 0;
    for (uint64_t i = 1; i <= p->rows; i++) {
        const double *above = h + (i - 1) % ring * width;
        double *row = h + i % ring * width;
        row[0] = 0;
        for (uint64_t j = 1; j <= p->columns; j++) {
            row[j] = cell(p, above, row, i, j).value;
            if (row[j] > best) {
                best = row[j];
                *best_cell = (i - 1) * p->columns + j - 1;
            }
        }
    }
    return best;
}

/* Sends `flow` from cell `best_cell` back through the filled matrix h; flow_rows is room for two rows. */
static void flow_back(const problem *p, const double *h, double *flow_rows, uint64_t best_cell, double flow,
                      float *gradient)
{
    uint64_t width = p->columns + 1;
    uint64_t last_i = best_cell / p->columns + 1, last_j = best_cell % p->columns + 1;
    for (uint64_t k = 0; k < p->rows * p->columns; k++)
        gradient[k] = 0;
    for (uint64_t j = 0; j < 2 * width; j++)
        flow_rows[j] = 0;
    flow_rows[last_i % 2 * width + last_j] = flow;
    for (uint64_t i = last_i; i >= 1; i--) {
        double *row = flow_rows + i % 2 * width;
        double *above = flow_rows + (i - 1) % 2 * width;
        for (uint64_t j = 0; j < width; j++)
            above[j] = 0;
        for (uint64_t j = last_j; j >= 1; j--) {
            soft_max s = cell(p, h + (i - 1) * width, h + i * width, i, j);
            gradient[(i - 1) * p->columns + j - 1] = (float)(row[j] * s.match);
            above[j - 1] += row[j] * s.match;
            above[j] += row[j] * s.del;
            row[j - 1] += row[j] * s.ins;
        }
    }
}

/* Checks -------------------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static hspz_status refuse(hspz_error *error, const char *format, ...)
{
    if (error != NULL && HSPZ_HAS_FIELD(hspz_error, error, text)) {
        error->status = HSPZ_E_ARGUMENT;
        error->device_code = 0;
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
    }
    return HSPZ_E_ARGUMENT;
}

/* batch * rows * columns, false when the matrices cannot be addressed. */
static bool cells_of(const hspz_soft_sw_request *r, uint64_t *cells)
{
    uint64_t one = (uint64_t)r->rows * r->columns;
    if (one != 0 && r->batch > PTRDIFF_MAX / sizeof(double) / one)
        return false;
    *cells = r->batch * one;
    return true;
}

static bool overlap(const void *a, uint64_t a_bytes, const void *b, uint64_t b_bytes)
{
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return a_bytes != 0 && b_bytes != 0 && x < y + b_bytes && y < x + a_bytes;
}

/* Bytes of scratch; 0 for an unusable request. */
static uint64_t scratch_needed(const hspz_soft_sw_request *r, bool backward)
{
    uint64_t cells = 0;
    if (r == NULL || r->struct_size < sizeof *r || !cells_of(r, &cells) || cells == 0)
        return 0;
    uint64_t width = (uint64_t)r->columns + 1;
    uint64_t rows = backward ? (uint64_t)r->rows + 1 + 2 : 2;
    return rows > UINT64_MAX / sizeof(double) / width ? 0 : rows * width * sizeof(double);
}

static hspz_status check(const hspz_soft_sw_request *r, bool backward, hspz_error *error)
{
    uint64_t cells = 0;
    if (r == NULL || r->struct_size < sizeof *r)
        return refuse(error, "the request is NULL or its struct_size is too small");
    if (r->device != HSPZ_DEVICE_CPU) {
        refuse(error, "the oracle's soft Smith-Waterman works in host memory only");
        if (error != NULL && HSPZ_HAS_FIELD(hspz_error, error, status))
            error->status = HSPZ_E_UNSUPPORTED;
        return HSPZ_E_UNSUPPORTED;
    }
    if (r->stream != NULL)
        return refuse(error, "stream must be NULL on the CPU");
    if (!cells_of(r, &cells))
        return refuse(error, "batch x rows x columns is too large to address");
    if (!(r->temperature >= T_LEAST && r->temperature <= T_MOST))
        return refuse(error, "temperature is %g, not within %g..%g", r->temperature, T_LEAST, T_MOST);
    if (!(fabs(r->gap) <= FLT_MAX))
        return refuse(error, "gap is %g, not a finite float", r->gap);
    if (cells > 0 && r->similarity == NULL)
        return refuse(error, "similarity is NULL");
    if (r->batch > 0 && (backward ? r->score_gradient == NULL : r->scores == NULL))
        return refuse(error, backward ? "score_gradient is NULL" : "scores is NULL");
    if (backward && cells > 0 && r->gradient == NULL)
        return refuse(error, "gradient is NULL");
    uint64_t scratch = scratch_needed(r, backward);
    if (scratch > 0 && (r->scratch == NULL || r->scratch_size < scratch || (uintptr_t)r->scratch % 16 != 0))
        return refuse(error, "scratch is NULL, not 16-byte aligned or shorter than %llu bytes",
                      (unsigned long long)scratch);
    const struct {
        const void *at;
        uint64_t bytes;
        bool written;
    } ranges[] = {
        {r->similarity, 4 * cells, false},
        {r->score_gradient, backward ? 4 * r->batch : 0, false},
        {r->scores, r->scores == NULL ? 0 : 4 * r->batch, true},
        {r->cells, r->cells == NULL ? 0 : 8 * r->batch, true},
        {r->gradient, backward ? 4 * cells : 0, true},
        {r->scratch, scratch, true},
    };
    for (size_t a = 0; a < sizeof ranges / sizeof *ranges; a++)
        for (size_t b = 0; b < a; b++)
            if ((ranges[a].written || ranges[b].written) &&
                overlap(ranges[a].at, ranges[a].bytes, ranges[b].at, ranges[b].bytes))
                return refuse(error, "an output or the scratch overlaps another buffer of the same call");
    return HSPZ_OK;
}

/* Entry points -------------------------------------------------------------------------------------- */

static uint64_t forward_scratch(const hspz_soft_sw_request *request)
{
    return scratch_needed(request, false);
}

static uint64_t backward_scratch(const hspz_soft_sw_request *request)
{
    return scratch_needed(request, true);
}

static hspz_status run(const hspz_soft_sw_request *r, bool backward, hspz_error *error)
{
    hspz_status status = check(r, backward, error);
    if (status != HSPZ_OK)
        return status;
    uint64_t one = (uint64_t)r->rows * r->columns, width = (uint64_t)r->columns + 1;
    problem p = {r->similarity, r->rows, r->columns, r->gap / r->temperature, r->temperature};
    for (uint64_t b = 0; b < r->batch; b++) {
        uint64_t best_cell = HSPZ_SOFT_SW_NO_CELL;
        double best = 0;
        p.similarity = one == 0 ? NULL : r->similarity + b * one;
        if (one > 0)
            best = fill(&p, r->scratch, backward ? p.rows + 1 : 2, &best_cell);
        if (r->scores != NULL)
            r->scores[b] = to_score(&p, best);
        if (r->cells != NULL)
            r->cells[b] = best_cell;
        if (backward && one > 0) {
            double *h = r->scratch;
            flow_back(&p, h, h + (p.rows + 1) * width, best_cell, r->score_gradient[b],
                      r->gradient + b * one);
        }
    }
    return HSPZ_OK;
}

static hspz_status forward(const hspz_soft_sw_request *request, hspz_error *error)
{
    return run(request, false, error);
}

static hspz_status backward(const hspz_soft_sw_request *request, hspz_error *error)
{
    return run(request, true, error);
}

const hspz_soft_sw hspz__oracle_soft_sw = {
    .struct_size = sizeof(hspz_soft_sw),
    .forward_scratch_size = forward_scratch,
    .forward = forward,
    .backward_scratch_size = backward_scratch,
    .backward = backward,
};
