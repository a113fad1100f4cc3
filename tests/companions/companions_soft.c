/* companions_soft.c -- runs soft Smith-Waterman for the tests and judges its results. */
#include "companions_soft.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

soft_case soft_random(uint64_t *state, uint64_t batch, uint32_t rows, uint32_t columns, double gap,
                      double temperature, double scale)
{
    soft_case c = {batch, rows, columns, gap, temperature, NULL, NULL};
    uint64_t cells = batch * rows * columns;
    c.similarity = filled(cells, sizeof(float));
    c.score_gradient = filled(batch, sizeof(float));
    for (uint64_t i = 0; i < cells; i++)
        c.similarity[i] = (float)(((double)(next_random(state) >> 11) / 4503599627370496.0 - 1) * scale);
    for (uint64_t b = 0; b < batch; b++)
        c.score_gradient[b] = 1;
    return c;
}

void soft_free(soft_case *c)
{
    free(c->similarity);
    free(c->score_gradient);
}

void soft_result_free(soft_result *r)
{
    free(r->scores);
    free(r->cells);
    free(r->gradient);
}

static soft_result run(const side *s, const soft_case *c, bool backward)
{
    uint64_t cells = c->batch * c->rows * c->columns;
    hspz_error error = {.struct_size = sizeof error};
    soft_result r = {filled(c->batch, 4), filled(c->batch, 8), backward ? filled(cells, 4) : NULL};
    hspz_soft_sw_request request = {.struct_size = sizeof request,
                                    .device = s->device,
                                    .batch = c->batch,
                                    .rows = c->rows,
                                    .columns = c->columns,
                                    .gap = c->gap,
                                    .temperature = c->temperature,
                                    .similarity = c->similarity,
                                    .scores = r.scores,
                                    .cells = r.cells,
                                    .score_gradient = c->score_gradient,
                                    .gradient = r.gradient,
                                    .threads = s->threads};
    request.scratch_size =
        (backward ? s->soft->backward_scratch_size : s->soft->forward_scratch_size)(&request);
    request.scratch = filled(request.scratch_size, 1);
    hspz_status status = (backward ? s->soft->backward : s->soft->forward)(&request, &error);
    cr_assert_eq(status, HSPZ_OK, "%s: %s", s->name, error.text);
    free(request.scratch);
    return r;
}

soft_result soft_backward(const side *s, const soft_case *c)
{
    return run(s, c, true);
}

soft_result soft_forward(const side *s, const soft_case *c)
{
    return run(s, c, false);
}

long double soft_literal(const soft_case *c, uint64_t b, uint64_t k_moved, double step)
{
    uint64_t width = c->columns + 1u;
    long double *h = calloc(width * (c->rows + 1u), sizeof *h), best = 0, t = c->temperature;
    cr_assert_not_null(h);
    for (uint64_t i = 1; i <= c->rows; i++)
        for (uint64_t j = 1; j <= c->columns; j++) {
            uint64_t k = (i - 1) * c->columns + j - 1;
            long double s = c->similarity[b * c->rows * c->columns + k] + (k == k_moved ? step : 0);
            long double match = h[(i - 1) * width + j - 1] + s, del = h[(i - 1) * width + j] + c->gap;
            long double ins = h[i * width + j - 1] + c->gap;
            h[i * width + j] = t * log1pl(expl(match / t) + expl(del / t) + expl(ins / t));
            best = fmaxl(best, h[i * width + j]);
        }
    free(h);
    return best;
}

void soft_compare(const soft_case *c, const soft_result *twin, const soft_result *is, const char *what)
{
    uint64_t one = (uint64_t)c->rows * c->columns;
    for (uint64_t b = 0; b < c->batch; b++) {
        double wanted = twin->scores[b], score = is->scores[b];
        cr_assert(isfinite(score), "%s: problem %llu: %g", what, (unsigned long long)b, score);
        cr_assert(fabs(score - wanted) <= 1e-5 * fabs(wanted) + FLT_MIN,
                  "%s: problem %llu of %llu x %u x %u, gap %g, T %g: %.9g, not %.9g", what,
                  (unsigned long long)b, (unsigned long long)c->batch, c->rows, c->columns, c->gap,
                  c->temperature, score, wanted);
        if (twin->gradient == NULL || is->gradient == NULL)
            continue;
        for (uint64_t k = 0; k < one; k++)
            cr_assert(isfinite(is->gradient[b * one + k]), "%s: gradient is not finite", what);
        for (uint64_t k = 0; k < one && is->cells[b] == twin->cells[b]; k++)
            cr_assert(fabs((double)is->gradient[b * one + k] - twin->gradient[b * one + k]) <= 1e-4,
                      "%s: problem %llu of %u x %u, gap %g, T %g, cell %llu: gradient %.9g, not %.9g", what,
                      (unsigned long long)b, c->rows, c->columns, c->gap, c->temperature,
                      (unsigned long long)k, (double)is->gradient[b * one + k],
                      (double)twin->gradient[b * one + k]);
    }
}
