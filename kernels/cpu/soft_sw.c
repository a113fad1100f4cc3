/* soft_sw.c -- soft Smith-Waterman on CPU threads: hands blocks of problems to the best vector code there is.
 *
 * Idea: a block is as many problems as a vector has lanes; a worker has its own area of the caller's scratch. What the
 * vector code reports as out of its range is done again in double precision.
 */
#include "soft_sw.h"

#include <float.h>
#include <math.h>

typedef struct soft_pass {
    const hspz__soft_sw_work *work;
    hspz__soft_lanes_run run; /* NULL: all of it in double precision */
    char *area;
    uint64_t area_bytes;
} soft_pass;

static hspz__soft_lanes_run best_lanes(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
        return hspz__soft_lanes_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return hspz__soft_lanes_avx2;
#endif
    return hspz__soft_lanes_base;
}

void hspz__soft_publish(const hspz__soft_sw_work *work, uint64_t problem, double h, uint64_t cell)
{
    if (work->scores != NULL)
        work->scores[problem] = (float)fmin(h * work->temperature, FLT_MAX);
    if (work->cells != NULL)
        work->cells[problem] = cell;
}

static uint64_t blocks_of(const hspz__soft_sw_work *work)
{
    return (work->batch + HSPZ__SOFT_LANES - 1) / HSPZ__SOFT_LANES;
}

static uint32_t workers_of(const hspz__soft_sw_work *work)
{
    uint32_t threads = hspz__companion_threads(work->threads);
    return threads < blocks_of(work) ? threads : (uint32_t)blocks_of(work);
}

static void run_block(void *context, uint32_t worker, uint64_t block)
{
    const soft_pass *pass = context;
    void *area = pass->area + worker * pass->area_bytes;
    uint64_t first = block * HSPZ__SOFT_LANES, left = pass->work->batch - first;
    uint32_t lanes = left < HSPZ__SOFT_LANES ? (uint32_t)left : HSPZ__SOFT_LANES;
    uint32_t again = pass->run != NULL ? pass->run(pass->work, first, lanes, area) : 0xffffffffu;
    for (uint32_t l = 0; l < lanes; l++)
        if ((again >> l & 1) != 0)
            hspz__soft_wide(pass->work, first + l, area);
}

static uint64_t scratch(const hspz__soft_sw_work *work, int backward)
{
    const double most = 1e18;
    double cells = ((double)work->rows + 2) * ((double)work->columns + 2);
    if (cells * 4 * sizeof(float) * HSPZ__SOFT_LANES * workers_of(work) > most)
        return UINT64_MAX;
    return 64 + workers_of(work) * hspz__soft_lane_bytes(work->rows, work->columns, backward);
}

static hspz_status run(const hspz__soft_sw_work *work, hspz_error *error)
{
    (void)error;
    uintptr_t start = ((uintptr_t)work->scratch + 63) / 64 * 64;
    soft_pass pass = {.work = work,
                      .area = (char *)start,
                      .area_bytes = hspz__soft_lane_bytes(work->rows, work->columns, work->gradient != NULL)};
    double bits = fabs(work->gap) * HSPZ__SOFT_LOG2E / work->temperature;
    if (bits * ((double)work->rows + work->columns + 2) < HSPZ__SOFT_BITS_MAX && work->rows < INT32_MAX &&
        work->columns < INT32_MAX)
        pass.run = best_lanes();
    hspz__companion_parallel(workers_of(work), blocks_of(work), run_block, &pass);
    return HSPZ_OK;
}

static hspz_status clear(const hspz__soft_sw_work *work, hspz_error *error)
{
    (void)error;
    for (uint64_t b = 0; b < work->batch; b++)
        hspz__soft_publish(work, b, 0, HSPZ_SOFT_SW_NO_CELL);
    return HSPZ_OK;
}

const hspz__soft_sw_device hspz__soft_sw_cpu = {.scratch = scratch, .run = run, .clear = clear};
