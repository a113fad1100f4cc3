/* companions_soft_contract.c -- soft Smith-Waterman against its formula, its double twin and finite differences. */
#include "companions_soft.h"
#include "soft_sw.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t differing_cells(const soft_case *c, const soft_result *a, const soft_result *b)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < c->batch; i++)
        n += a->cells[i] != b->cells[i];
    return n;
}

/* All sides against the oracle; answers how many best cells differ (nearly equal cells may). */
static uint64_t against_twin(const side *sides, const soft_case *c)
{
    uint64_t different = 0;
    soft_result twin = soft_backward(&sides[0], c);
    for (uint32_t i = 1; i < SIDES; i++) {
        soft_result backward = soft_backward(&sides[i], c), forward = soft_forward(&sides[i], c);
        soft_compare(c, &twin, &backward, sides[i].name);
        cr_assert_arr_eq(forward.scores, backward.scores, c->batch * sizeof(float));
        cr_assert_arr_eq(forward.cells, backward.cells, c->batch * sizeof(uint64_t));
        different += differing_cells(c, &twin, &backward);
        soft_result_free(&backward);
        soft_result_free(&forward);
    }
    soft_result_free(&twin);
    return different;
}

Test(soft_sw, shapes_without_cells_score_zero)
{
    side sides[SIDES];
    sides_load(sides);
    static const uint32_t shapes[][3] = {{0, 3, 4}, {5, 0, 4}, {5, 3, 0}, {5, 0, 0}, {0, 0, 0}};
    for (uint32_t i = 0; i < SIDES; i++)
        for (uint32_t k = 0; k < 5; k++) {
            uint64_t state = 5;
            soft_case c = soft_random(&state, shapes[k][0], shapes[k][1], shapes[k][2], -1, 1, 1);
            soft_result r = soft_backward(&sides[i], &c);
            for (uint64_t b = 0; b < c.batch; b++)
                cr_assert(r.scores[b] == 0 && r.cells[b] == HSPZ_SOFT_SW_NO_CELL);
        }
}

Test(soft_sw, one_cell_is_the_formula)
{
    side sides[SIDES];
    sides_load(sides);
    float similarity = 1.25f, flow = -3;
    soft_case c = {1, 1, 1, -0.5, 2, &similarity, &flow};
    double match = exp(1.25 / 2), gap = exp(-0.5 / 2), sum = 1 + match + 2 * gap;
    for (uint32_t i = 0; i < SIDES; i++) {
        soft_result r = soft_backward(&sides[i], &c);
        cr_assert_float_eq(r.scores[0], 2 * log(sum), 1e-6);
        cr_assert_float_eq(r.gradient[0], -3 * match / sum, 1e-6);
        cr_assert_eq(r.cells[0], 0);
    }
}

Test(soft_sw, scores_are_the_literal_formula)
{
    side sides[SIDES];
    sides_load(sides);
    uint64_t state = 17;
    for (uint32_t round = 0; round < 20; round++) {
        double temperature = 0.5 + round * 0.3;
        soft_case c =
            soft_random(&state, 3, 1 + round % 9, 1 + round * 3 % 11, -1 + round * 0.15, temperature, 4);
        for (uint32_t i = 0; i < SIDES; i++) {
            soft_result r = soft_forward(&sides[i], &c);
            for (uint64_t b = 0; b < c.batch; b++) {
                double wanted = (double)soft_literal(&c, b, UINT64_MAX, 0);
                cr_assert(fabs(r.scores[b] - wanted) <= 2e-6 * wanted);
            }
        }
    }
}

Test(soft_sw, gradients_are_finite_differences)
{
    side sides[SIDES];
    sides_load(sides);
    uint64_t state = 23;
    for (uint32_t round = 0; round < 6; round++) {
        soft_case c = soft_random(&state, 2, 5 + round, 9 - round, -0.7 + round * 0.2, 0.3 + round * 0.4, 2);
        uint64_t one = (uint64_t)c.rows * c.columns;
        const double step = 1e-5;
        c.score_gradient[1] = -2.5f;
        for (uint32_t i = 0; i < SIDES; i++) {
            soft_result r = soft_backward(&sides[i], &c);
            for (uint64_t b = 0; b < c.batch; b++)
                for (uint64_t k = 0; k < one; k++) {
                    long double slope =
                        (soft_literal(&c, b, k, step) - soft_literal(&c, b, k, -step)) / (2 * step);
                    cr_assert_float_eq(r.gradient[b * one + k], c.score_gradient[b] * (double)slope, 1e-4,
                                       "%s: cell %llu", sides[i].name, (unsigned long long)k);
                }
        }
    }
}

Test(soft_sw, equal_cells_choose_the_first_in_row_major_order)
{
    side sides[SIDES];
    sides_load(sides);
    float similarity[12], flow = 1;
    for (uint32_t i = 0; i < 12; i++)
        similarity[i] = -1e6f;
    similarity[3] = similarity[6] = 8; /* (0,3) and (1,2) of 3 x 4; gaps are hopeless */
    soft_case c = {1, 3, 4, -1e6, 1, similarity, &flow};
    for (uint32_t i = 0; i < SIDES; i++) {
        soft_result r = soft_backward(&sides[i], &c);
        cr_assert_eq(r.cells[0], 3);
        cr_assert_gt(r.gradient[3], 0.99f);
        cr_assert_eq(r.gradient[6], 0);
    }
}

Test(soft_sw, random_shapes_temperatures_and_gaps)
{
    side sides[SIDES];
    sides_load(sides);
    static const double temperatures[] = {1e-3, 0.01, 0.1, 1, 7, 100, 1e3};
    static const double scales[] = {0.001, 1, 10, 1000};
    uint64_t state = 31, problems = 0, different = 0;
    for (uint32_t t = 0; t < 7; t++)
        for (uint32_t z = 0; z < 4; z++)
            for (uint32_t round = 0; round < 4; round++) {
                double gap = scales[z] * (round % 2 == 0 ? -0.5 : 0.1 * round);
                soft_case c =
                    soft_random(&state, 1 + random_below(&state, 20), 1 + (uint32_t)random_below(&state, 40),
                                1 + (uint32_t)random_below(&state, 40), gap, temperatures[t], scales[z]);
                problems += (SIDES - 1) * c.batch;
                different += against_twin(sides, &c);
                soft_free(&c);
            }
    cr_assert_lt(different, problems / 20, "%llu of %llu best cells differ", (unsigned long long)different,
                 (unsigned long long)problems);
}

Test(soft_sw, scores_near_zero_keep_their_digits)
{
    side sides[SIDES];
    sides_load(sides);
    uint64_t state = 37;
    for (uint32_t round = 0; round < 8; round++) {
        soft_case c = soft_random(&state, 17, 6, 7, -8.0 * round, 1, 1);
        for (uint64_t k = 0; k < 17 * 42; k++)
            c.similarity[k] -= 10.0f * (float)round;
        against_twin(sides, &c);
        soft_free(&c);
    }
}

Test(soft_sw, extreme_similarities_neither_overflow_nor_turn_nan)
{
    side sides[SIDES];
    sides_load(sides);
    static const double scales[] = {1e4, 1e8, 1e20, 3.4e38};
    static const double temperatures[] = {1e-3, 1, 1e3};
    static const double gaps[] = {-3.4e38, -1e10, 0, 1e10, 3.4e38};
    uint64_t state = 41;
    for (uint32_t z = 0; z < 4; z++)
        for (uint32_t t = 0; t < 3; t++)
            for (uint32_t g = 0; g < 5; g++) {
                soft_case c = soft_random(&state, 18, 5, 6, gaps[g], temperatures[t], scales[z]);
                soft_result twin = soft_backward(&sides[0], &c);
                for (uint32_t i = 1; i < SIDES; i++) {
                    soft_result r = soft_backward(&sides[i], &c);
                    soft_compare(&c, &twin, &r, sides[i].name);
                    soft_result_free(&r);
                }
                soft_result_free(&twin);
                soft_free(&c);
            }
}

Test(soft_sw, scores_beyond_float_are_the_largest_float)
{
    side sides[SIDES];
    sides_load(sides);
    float similarity[4] = {3e38f, 0, 0, 3e38f}, flow = 1;
    soft_case c = {1, 2, 2, -1, 1, similarity, &flow};
    for (uint32_t i = 0; i < SIDES; i++)
        cr_assert_eq(soft_forward(&sides[i], &c).scores[0], FLT_MAX);
}

Test(soft_sw, mixed_magnitudes_in_one_batch)
{
    side sides[SIDES];
    sides_load(sides);
    uint64_t state = 43;
    soft_case c = soft_random(&state, 40, 12, 9, -0.3, 0.05, 1);
    for (uint64_t b = 0; b < 40; b++)
        for (uint64_t k = 0; k < 108; k++)
            c.similarity[b * 108 + k] *= powf(10, (float)(b % 13) * 3 - 6);
    against_twin(sides, &c);
}

Test(soft_sw, many_small_problems)
{
    side sides[SIDES];
    sides_load(sides);
    uint64_t state = 61;
    static const uint32_t shapes[][2] = {{32, 32}, {7, 19}};
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t one = shapes[i][0] * shapes[i][1];
        soft_case c = soft_random(&state, 701, shapes[i][0], shapes[i][1], -0.8, 1, 2);
        for (uint64_t b = 0; b < c.batch; b += 50) /* these need more than plain floats */
            for (uint64_t k = 0; k < one; k++)
                c.similarity[b * one + k] *= b % 100 == 0 ? 60.0f : 1e30f;
        soft_result twin = soft_backward(&sides[0], &c);
        for (uint32_t s = 1; s < SIDES; s += SIDES - 2) {
            soft_result r = soft_backward(&sides[s], &c), forward = soft_forward(&sides[s], &c);
            soft_compare(&c, &twin, &r, sides[s].name);
            cr_assert_arr_eq(forward.scores, r.scores, c.batch * sizeof(float));
            cr_assert_lt(differing_cells(&c, &twin, &r), 5);
        }
    }
}

Test(soft_sw, long_matrices)
{
    side sides[SIDES];
    sides_load(sides);
    uint64_t state = 47;
    static const double temperatures[] = {1e-3, 1, 1e3};
    static const uint32_t shapes[][2] = {{300, 411}, {1100, 9}, {3, 2000}, {2100, 33}, {129, 260}};
    for (uint32_t i = 0; i < 15; i++) {
        double temperature = temperatures[i % 3];
        soft_case c = soft_random(&state, 2, shapes[i / 3][0], shapes[i / 3][1], i % 2 == 0 ? 0.2 : -0.5,
                                  temperature, i % 3 == 0 ? 1000 : 2);
        soft_result twin = soft_backward(&sides[0], &c);
        for (uint32_t s = 1; s < SIDES; s += SIDES - 2) {
            soft_result r = soft_backward(&sides[s], &c);
            soft_compare(&c, &twin, &r, sides[s].name);
            soft_result_free(&r);
        }
        soft_result_free(&twin);
        soft_free(&c);
    }
}

/* Shapes of one to three blocks on a device, from mild similarities to such that leave the range of floats. */
Test(soft_sw, problems_over_several_blocks)
{
    side sides[SIDES];
    sides_load(sides);
    uint64_t state = 67, problems = 0, different = 0;
    static const double scales[] = {0.3, 2, 6, 20};
    for (uint32_t i = 0; i < 40; i++) {
        const double gap = -10 * (double)random_below(&state, 1000) / 1000,
                     temperature = i % 3 == 0 ? 0.3 : 40;
        soft_case c =
            soft_random(&state, 1 + random_below(&state, 3), 33 + (uint32_t)random_below(&state, 290),
                        1 + (uint32_t)random_below(&state, 150), gap * temperature, temperature,
                        scales[i % 4] * temperature);
        for (uint64_t k = 0; i % 5 == 0 && k < c.batch * c.rows * c.columns; k += 7)
            c.similarity[k] = -1e30f;
        problems += (SIDES - 1) * c.batch;
        different += against_twin(sides, &c);
        soft_free(&c);
    }
    cr_assert_lt(different, problems / 20, "%llu of %llu best cells differ", (unsigned long long)different,
                 (unsigned long long)problems);
}

Test(soft_sw, constant_matrices_do_not_pile_up_errors)
{
    side sides[SIDES];
    sides_load(sides);
    uint64_t state = 59;
    static const double similarities[] = {-0.3, 0, 0.001, 0.4, 3};
    for (uint32_t i = 0; i < 5; i++) {
        soft_case c = soft_random(&state, 1, 1024, 100, -0.9, 1, 0);
        for (uint64_t k = 0; k < 1024 * 100; k++)
            c.similarity[k] = (float)similarities[i];
        soft_result twin = soft_backward(&sides[0], &c);
        for (uint32_t s = 1; s < SIDES; s += SIDES - 2) {
            soft_result r = soft_backward(&sides[s], &c);
            soft_compare(&c, &twin, &r, sides[s].name);
            soft_result_free(&r);
        }
        soft_result_free(&twin);
        soft_free(&c);
    }
}

/* The instruction sets by themselves. */
Test(soft_sw, every_instruction_set_gives_one_result)
{
    static const hspz__soft_lanes_run runs[3] = {hspz__soft_lanes_base, hspz__soft_lanes_avx2,
                                                 hspz__soft_lanes_avx512};
    __builtin_cpu_init();
    bool usable[3] = {true, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
                      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                          __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")};
    uint64_t state = 53;
    soft_case c = soft_random(&state, 13, 20, 30, -0.4, 0.2, 3);
    soft_result results[3];
    for (uint32_t v = 0; v < 3; v++) {
        if (!usable[v])
            continue;
        results[v] = (soft_result){filled(13, 4), filled(13, 8), filled(13 * 600, 4)};
        hspz__soft_sw_work work = {.batch = 13,
                                   .rows = 20,
                                   .columns = 30,
                                   .gap = c.gap,
                                   .temperature = c.temperature,
                                   .similarity = c.similarity,
                                   .scores = results[v].scores,
                                   .cells = results[v].cells,
                                   .score_gradient = c.score_gradient,
                                   .gradient = results[v].gradient};
        cr_assert_eq(runs[v](&work, 0, 13, filled(hspz__soft_lane_bytes(20, 30, 1), 1)), 0);
        cr_assert_arr_eq(results[v].scores, results[0].scores, 13 * 4);
        cr_assert_arr_eq(results[v].cells, results[0].cells, 13 * 8);
        cr_assert_arr_eq(results[v].gradient, results[0].gradient, 13 * 600 * 4);
    }
}

static void expect_refused(const side *s, const hspz_soft_sw_request *request)
{
    hspz_error error = {.struct_size = sizeof error};
    cr_assert_eq(s->soft->backward(request, &error), HSPZ_E_ARGUMENT, "%s", s->name);
    cr_assert_gt(strlen(error.text), 10);
    cr_assert_eq(error.status, HSPZ_E_ARGUMENT);
}

Test(soft_sw, refusals)
{
    side sides[SIDES];
    sides_load(sides);
    static float buffer[256] __attribute__((aligned(64)));
    for (uint32_t i = 0; i < SIDES; i++) {
        const side *s = &sides[i];
        hspz_soft_sw_request good = {.struct_size = sizeof good,
                                     .device = s->device,
                                     .batch = 2,
                                     .rows = 2,
                                     .columns = 3,
                                     .gap = -1,
                                     .temperature = 1,
                                     .similarity = buffer,
                                     .scores = buffer + 16,
                                     .score_gradient = buffer + 20,
                                     .gradient = buffer + 32,
                                     .threads = 1};
        good.scratch_size = s->soft->backward_scratch_size(&good);
        good.scratch = filled(good.scratch_size, 1);
        hspz_soft_sw_request bad[14];
        for (uint32_t k = 0; k < 14; k++)
            bad[k] = good;
        cr_assert_eq(s->soft->backward(&good, NULL), HSPZ_OK);
        bad[0].struct_size = 8;
        bad[1].temperature = 0;
        bad[2].temperature = NAN;
        bad[3].temperature = -1;
        bad[4].gap = INFINITY;
        bad[5].similarity = NULL;
        bad[6].score_gradient = NULL;
        bad[7].gradient = NULL;
        bad[8].gradient = buffer + 11;
        bad[9].scores = buffer + 21;
        bad[10].scratch_size = good.scratch_size - 1;
        bad[11].scratch = (char *)good.scratch + 4;
        bad[12].batch = UINT64_MAX / 2;
        bad[13].stream = &good;
        for (uint32_t k = 0; k < (s->device == HSPZ_DEVICE_CPU ? 14u : 13u); k++)
            expect_refused(s, &bad[k]);
        expect_refused(s, NULL);
    }
}
