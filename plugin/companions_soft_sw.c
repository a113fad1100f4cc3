/* companions_soft_sw.c -- judges soft Smith-Waterman requests and hands them to a device. Rules: abi/hspz_soft_sw.h. */
#include "companions.h"

#include <float.h>
#include <math.h>

#define TEMPERATURE_LEAST 1e-9
#define TEMPERATURE_MOST 1e9

#pragma weak hspz__soft_sw_cuda

static const hspz__soft_sw_device *device_of(uint32_t kind)
{
    const hspz__soft_sw_device *cuda = &hspz__soft_sw_cuda;
    if (kind == HSPZ_DEVICE_CPU)
        return &hspz__soft_sw_cpu;
    return kind == HSPZ_DEVICE_CUDA ? cuda : NULL;
}

static hspz__soft_sw_work work_of(const hspz_soft_sw_request *r, int backward)
{
    return (hspz__soft_sw_work){.batch = r->batch,
                                .rows = r->rows,
                                .columns = r->columns,
                                .gap = r->gap,
                                .temperature = r->temperature,
                                .similarity = r->similarity,
                                .scores = r->scores,
                                .cells = r->cells,
                                .score_gradient = backward ? r->score_gradient : NULL,
                                .gradient = backward ? r->gradient : NULL,
                                .scratch = r->scratch,
                                .threads = r->threads,
                                .stream = r->stream};
}

/* Similarities in the whole batch; UINT64_MAX when they cannot be addressed. */
static uint64_t cells_of(const hspz_soft_sw_request *r)
{
    uint64_t one = (uint64_t)r->rows * r->columns;
    if (one != 0 && r->batch > UINT64_MAX / 16 / one)
        return UINT64_MAX;
    return one * r->batch;
}

static uint64_t scratch_size(const hspz_soft_sw_request *r, int backward)
{
    if (r == NULL || r->struct_size < sizeof *r)
        return 0;
    const hspz__soft_sw_device *device = device_of(r->device);
    uint64_t cells = cells_of(r);
    if (device == NULL || cells == 0 || cells == UINT64_MAX)
        return 0;
    hspz__soft_sw_work work = work_of(r, backward);
    uint64_t bytes = device->scratch(&work, backward);
    return bytes == UINT64_MAX ? 0 : bytes;
}

static void judge_parameters(hspz__judge *judge, const hspz_soft_sw_request *r)
{
    if (device_of(r->device) == NULL)
        hspz__judge_refuse(judge, r->device == HSPZ_DEVICE_CUDA ? HSPZ_E_NOT_BUILT : HSPZ_E_ARGUMENT,
                           r->device == HSPZ_DEVICE_CUDA
                               ? "this plugin was built without its CUDA part"
                               : "device is neither HSPZ_DEVICE_CPU nor HSPZ_DEVICE_CUDA");
    if (r->device == HSPZ_DEVICE_CPU && r->stream != NULL)
        hspz__judge_refuse(judge, HSPZ_E_ARGUMENT, "stream must be NULL on the CPU");
    if (!(r->temperature >= TEMPERATURE_LEAST && r->temperature <= TEMPERATURE_MOST))
        hspz__judge_refuse(judge, HSPZ_E_ARGUMENT, "temperature is %g, not within %g..%g", r->temperature,
                           TEMPERATURE_LEAST, TEMPERATURE_MOST);
    if (!(fabs(r->gap) <= FLT_MAX))
        hspz__judge_refuse(judge, HSPZ_E_ARGUMENT, "gap is %g, not a finite float", r->gap);
    if (cells_of(r) == UINT64_MAX)
        hspz__judge_refuse(judge, HSPZ_E_ARGUMENT, "batch x rows x columns is too large to address");
}

static void judge_buffers(hspz__judge *judge, const hspz_soft_sw_request *r, int backward)
{
    uint64_t cells = cells_of(r), needed = scratch_size(r, backward);
    hspz__judge_range(judge, "similarity", r->similarity, cells, 4, 0);
    if (r->scores != NULL || !backward)
        hspz__judge_range(judge, "scores", r->scores, r->batch, 4, 1);
    if (r->cells != NULL)
        hspz__judge_range(judge, "cells", r->cells, r->batch, 8, 1);
    if (backward) {
        hspz__judge_range(judge, "score_gradient", r->score_gradient, r->batch, 4, 0);
        hspz__judge_range(judge, "gradient", r->gradient, cells, 4, 1);
    }
    if (cells > 0 && needed == 0 && judge->status == HSPZ_OK)
        hspz__judge_refuse(judge, HSPZ_E_ARGUMENT, "rows x columns is too large to address");
    if (r->scratch_size < needed)
        hspz__judge_refuse(judge, HSPZ_E_ARGUMENT, "scratch_size is %llu, needed are %llu bytes",
                           (unsigned long long)r->scratch_size, (unsigned long long)needed);
    hspz__judge_range(judge, "scratch", r->scratch, (needed + 15) / 16, 16, 1);
}

static hspz_status run(const hspz_soft_sw_request *r, int backward, hspz_error *error)
{
    hspz__judge judge = {.error = error};
    if (r == NULL || r->struct_size < sizeof *r) {
        hspz__judge_refuse(&judge, HSPZ_E_ARGUMENT, "the request is NULL or its struct_size is too small");
        return judge.status;
    }
    judge_parameters(&judge, r);
    if (judge.status == HSPZ_OK)
        judge_buffers(&judge, r, backward);
    if (hspz__judge_finish(&judge) != HSPZ_OK || r->batch == 0)
        return judge.status;
    hspz__soft_sw_work work = work_of(r, backward);
    const hspz__soft_sw_device *device = device_of(r->device);
    return work.rows == 0 || work.columns == 0 ? device->clear(&work, error) : device->run(&work, error);
}

static uint64_t forward_scratch_size(const hspz_soft_sw_request *request)
{
    return scratch_size(request, 0);
}

static uint64_t backward_scratch_size(const hspz_soft_sw_request *request)
{
    return scratch_size(request, 1);
}

static hspz_status forward(const hspz_soft_sw_request *request, hspz_error *error)
{
    return run(request, 0, error);
}

static hspz_status backward(const hspz_soft_sw_request *request, hspz_error *error)
{
    return run(request, 1, error);
}

const hspz_soft_sw hspz__soft_sw = {
    .struct_size = sizeof(hspz_soft_sw),
    .forward_scratch_size = forward_scratch_size,
    .forward = forward,
    .backward_scratch_size = backward_scratch_size,
    .backward = backward,
};
