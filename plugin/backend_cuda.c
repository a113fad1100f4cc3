/* backend_cuda.c -- the CUDA backend: device list, create and destroy, and the table of functions; see backend_cuda.h. */
#include "backend_cuda.h"

#include "../kernels/cuda/gate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- device list; none of these calls creates a context */

static cudaError_t devices(int *count)
{
    *count = 0;
    const cudaError_t result = cudaGetDeviceCount(count);
    if (result != cudaSuccess)
        *count = 0;
    return result;
}

static uint32_t device_count(void)
{
    int count = 0;
    (void)devices(&count);
    return count > 0 ? (uint32_t)count : 1; /* one row at least, to tell the reason */
}

static void say_why(hspz_device_info *info, cudaError_t result)
{
    hspz_error error = {.struct_size = sizeof error};
    snprintf(info->name, sizeof info->name, "CUDA");
    info->score = 0;
    info->status = hspz__cuda_check(result, "no CUDA device can be used", &error);
    snprintf(info->detail, sizeof info->detail, "%.255s", error.text);
}

static void device_info(uint32_t row, hspz_device_info *info)
{
    int count = 0;
    cudaError_t result = devices(&count);
    struct cudaDeviceProp properties;
    info->kind = HSPZ_DEVICE_CUDA;
    info->ordinal = row;
    if (result == cudaSuccess && count == 0)
        result = cudaErrorNoDevice;
    if (result == cudaSuccess)
        result = cudaGetDeviceProperties(&properties, (int)row);
    if (result != cudaSuccess) {
        say_why(info, result);
        return;
    }
    info->units = (uint32_t)properties.multiProcessorCount;
    info->score = 1000 + info->units;
    info->compute_major = (uint32_t)properties.major;
    info->compute_minor = (uint32_t)properties.minor;
    info->memory_total = properties.totalGlobalMem;
    snprintf(info->name, sizeof info->name, "%.127s", properties.name);
    snprintf(info->detail, sizeof info->detail, "compute capability %d.%d, %llu MiB", properties.major,
             properties.minor, (unsigned long long)(properties.totalGlobalMem >> 20));
}

/* ---- knobs */

static hspz_status read_knobs(hspz__cuda *cuda, hspz_error *error)
{
    static const char *const gates[] = {"auto", "warp", "thread", "join", NULL};
    static const char *const buckets[] = {"auto", "1", "0", NULL};
    static const char *const walks[] = {"sparse", "full", NULL};
    static const char *const extends[] = {"diagonal", "warp", NULL};
    static const char *const indexes[] = {"auto", "direct", "hash", NULL};
    const hspz__host *host = cuda->host;
    hspz__cuda_knobs *k = &cuda->knobs;
    HSPZ__TRY(hspz__knob_choice(host, "gate", gates, HSPZ__GATE_AUTO, &k->gate, error));
    HSPZ__TRY(hspz__knob_choice(host, "HSPZ_REF_BUCKETS", buckets, HSPZ__BUCKETS_AUTO, &k->buckets, error));
    HSPZ__TRY(hspz__knob_choice(host, "HSPZ_CHUNK_WALK", walks, 0, &k->walk_full, error));
    HSPZ__TRY(hspz__knob_choice(host, "cuda.extend", extends, 0, &k->plain_extend, error));
    HSPZ__TRY(hspz__knob_choice(host, "seed_index", indexes, HSPZ__INDEX_AUTO, &k->seed_index, error));
    if (strcmp(hspz__knob_text(host, "HSPZ_REF_BUCKET_SHIFT", "auto"), "auto") != 0)
        HSPZ__TRY(hspz__knob_integer(host, "HSPZ_REF_BUCKET_SHIFT", 16, 31, 0, &k->bucket_shift, error));
    HSPZ__TRY(hspz__knob_integer(host, "expand.density", 1, INT32_MAX, 16, &k->density, error));
    HSPZ__TRY(hspz__knob_integer(host, "device.memory_limit", 0, INT64_MAX, 0, &k->memory_limit, error));
    HSPZ__TRY(hspz__knob_integer(host, "cuda.piece_hits", 0, 1 << 28, 0, &k->piece_hits, error));
    HSPZ__TRY(hspz__knob_integer(host, "cuda.unit_windows", 0, 1 << 28, 0, &k->unit_windows, error));
    HSPZ__TRY(hspz__knob_integer(host, "cuda.candidates", 0, 1 << 30, 0, &k->candidates, error));
    HSPZ__TRY(hspz__knob_integer(host, "cuda.near_hits", -1, INT64_MAX, -1, &k->near_hits, error));
    HSPZ__TRY(hspz__knob_integer(host, "cuda.near_tail", 0, 1 << 28, 0, &k->near_tail, error));
    return hspz__knob_integer(host, "cuda.slice_positions", 0, INT64_C(1) << 32, 0, &k->slice_positions,
                              error);
}

/* ---- create and destroy */

/* Scores clamped where any lower value ends a scan alike, class table, filter table, counters: one allocation. */
static hspz_status make_constants(hspz__cuda *cuda, hspz_error *error)
{
    enum { SCORES = HSPZ__CLASSES * HSPZ__ROW, TABLE = HSPZ__FILTER_ENTRIES };
    const uint64_t scores_bytes = SCORES * sizeof(int32_t), table_bytes = TABLE * sizeof(uint32_t);
    const uint64_t bytes = scores_bytes + table_bytes + 256 + 256 + sizeof(hspz__cuda_counters);
    unsigned char *host = hspz__alloc(cuda->host, bytes, 1);
    if (host == NULL)
        return hspz__fail(error, HSPZ_E_MEMORY, "no memory for the device's tables");
    memset(host, 0, bytes);
    int32_t *scores = (int32_t *)(void *)host;
    uint32_t *table = (uint32_t *)(void *)(host + scores_bytes);
    const int64_t floor = -(int64_t)cuda->plan->xdrop - 1;
    int64_t most = 0;
    for (int i = 0; i < SCORES; i++) {
        const int64_t score = cuda->plan->score[i / HSPZ__ROW][i % HSPZ__ROW];
        scores[i] = (int32_t)(score < floor ? floor : score);
        most = score > most ? score : most;
    }
    hspz__cuda_filter_init(&cuda->filter, cuda->plan, table);
    memcpy(host + scores_bytes + table_bytes, hspz__class_of, 256);
    hspz_status status = hspz__cuda_allocate(cuda, &cuda->constants, bytes, "the device's tables", error);
    if (status == HSPZ_OK)
        status = hspz__cuda_upload(cuda, cuda->constants.start, host, bytes, error);
    hspz__free(cuda->host, host);
    HSPZ__TRY(status);

    unsigned char *device = cuda->constants.start;
    cuda->rules = (hspz__cuda_rules){.scores = (const int32_t *)(const void *)device,
                                     .xdrop = cuda->plan->xdrop,
                                     .keep_total = cuda->plan->keep_total,
                                     .wide = most > 1 << 20 || cuda->plan->xdrop > 1 << 20};
    cuda->filter.table = (const uint32_t *)(const void *)(device + scores_bytes);
    cuda->class_of = device + scores_bytes + table_bytes;
    cuda->counters = (hspz__cuda_counters *)(void *)(device + scores_bytes + table_bytes + 512);
    return HSPZ_OK;
}

static hspz_status make_streams(hspz__cuda *cuda, hspz_error *error)
{
    const char *what = "setting up the device";
    HSPZ__TRY(hspz__cuda_check(cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking), what, error));
    HSPZ__TRY(hspz__cuda_check(cudaStreamCreateWithFlags(&cuda->upload_stream, cudaStreamNonBlocking), what,
                               error));
    HSPZ__TRY(hspz__cuda_check(
        cudaHostAlloc((void **)&cuda->host_counters, sizeof *cuda->host_counters, cudaHostAllocDefault), what,
        error));
    for (int k = 0; k < 2; k++) {
        HSPZ__TRY(hspz__cuda_check(cudaEventCreateWithFlags(&cuda->event[k], cudaEventDefault), what, error));
        HSPZ__TRY(hspz__cuda_check(
            cudaHostAlloc((void **)&cuda->download[k], HSPZ__STAGING, cudaHostAllocDefault), what, error));
        for (int i = 0; i < HSPZ__UPLOADERS; i++) {
            HSPZ__TRY(hspz__cuda_check(
                cudaHostAlloc((void **)&cuda->upload[i][k], HSPZ__STAGING, cudaHostAllocDefault), what,
                error));
            HSPZ__TRY(hspz__cuda_check(
                cudaEventCreateWithFlags(&cuda->upload_event[i][k], cudaEventDisableTiming), what, error));
        }
    }
    return HSPZ_OK;
}

static hspz_status open_device(hspz__cuda *cuda, uint32_t row, hspz_error *error)
{
    cuda->device = (int)row;
    HSPZ__TRY(hspz__cuda_check(cudaSetDevice(cuda->device), "opening the device", error));
    HSPZ__TRY(hspz__cuda_check(cudaGetDeviceProperties(&cuda->properties, cuda->device), "opening the device",
                               error));
    HSPZ__TRY(make_streams(cuda, error));
    HSPZ__TRY(make_constants(cuda, error));
    /* A first launch tells whether the plugin holds code for this device. */
    HSPZ__TRY(hspz__cuda_check(hspz__cuda_number((uint32_t *)(void *)cuda->counters, 1, cuda->stream),
                               "starting work on the device", error));
    return hspz__cuda_check(cudaStreamSynchronize(cuda->stream), "starting work on the device", error);
}

static void close_device(hspz__cuda *cuda)
{
    hspz__cuda_clear_target(cuda);
    for (uint32_t slot = 0; slot < 16; slot++)
        hspz__cuda_clear_query(cuda, slot);
    hspz__cuda_release(cuda, &cuda->constants);
    hspz__cuda_release(cuda, &cuda->arena);
    hspz__cuda_release(cuda, &cuda->ascii);
    hspz__cuda_release(cuda, &cuda->marks);
    for (int k = 0; k < 2; k++) {
        if (cuda->event[k] != NULL)
            (void)cudaEventDestroy(cuda->event[k]);
        if (cuda->download[k] != NULL)
            (void)cudaFreeHost(cuda->download[k]);
        for (int i = 0; i < HSPZ__UPLOADERS; i++) {
            if (cuda->upload[i][k] != NULL)
                (void)cudaFreeHost(cuda->upload[i][k]);
            if (cuda->upload_event[i][k] != NULL)
                (void)cudaEventDestroy(cuda->upload_event[i][k]);
        }
    }
    if (cuda->host_counters != NULL)
        (void)cudaFreeHost(cuda->host_counters);
    if (cuda->stream != NULL)
        (void)cudaStreamDestroy(cuda->stream);
    if (cuda->upload_stream != NULL)
        (void)cudaStreamDestroy(cuda->upload_stream);
}

/* The caller's current device, to be put back. */
static int enter(int device)
{
    int before = device;
    if (cudaGetDevice(&before) != cudaSuccess)
        before = device;
    (void)cudaSetDevice(device); /* a device that is gone is reported by the first call that needs it */
    return before;
}

static void leave(int before, int device)
{
    if (before != device)
        (void)cudaSetDevice(before);
}

static void destroy(void *state)
{
    hspz__cuda *cuda = state;
    if (cuda == NULL)
        return;
    const int device = cuda->device, before = enter(device);
    close_device(cuda);
    pthread_mutex_destroy(&cuda->lock);
    pthread_mutex_destroy(&cuda->work);
    hspz__free(cuda->host, cuda);
    leave(before, device);
}

static hspz_status create(const hspz__plan *plan, hspz__host *host, uint32_t row, void **state,
                          hspz_error *error)
{
    *state = NULL;
    hspz__cuda *cuda = hspz__alloc(host, 1, sizeof *cuda);
    if (cuda == NULL)
        return hspz__fail(error, HSPZ_E_MEMORY, "no memory for a CUDA engine");
    memset(cuda, 0, sizeof *cuda);
    cuda->plan = plan;
    cuda->host = host;
    cuda->device = (int)row;
    pthread_mutex_init(&cuda->work, NULL);
    pthread_mutex_init(&cuda->lock, NULL);
    hspz__cuda_word_init(&cuda->word, plan);
    hspz_status status = read_knobs(cuda, error);
    const int before = enter((int)row);
    if (status == HSPZ_OK)
        status = open_device(cuda, row, error);
    leave(before, (int)row);
    if (status != HSPZ_OK) {
        destroy(cuda);
        return status;
    }
    *state = cuda;
    return HSPZ_OK;
}

static void info(const void *state, hspz_engine_info *info)
{
    const hspz__cuda *cuda = state;
    const char *gate = hspz__cuda_can_join(cuda) ? "join" : hspz__cuda_can_screen(cuda) ? "thread" : "warp";
    static const char *const asked[] = {"auto", "warp", "thread", "join"};
    info->threads = 1;
    if (cuda->knobs.gate >= HSPZ__GATE_THREAD && strcmp(gate, asked[cuda->knobs.gate]) != 0)
        snprintf(info->notice, sizeof info->notice,
                 "gate = %s does not suit this matrix, x-drop or device; gate %s does the work, with the "
                 "same result",
                 asked[cuda->knobs.gate], gate);
    snprintf(info->backend, sizeof info->backend, "cuda");
    snprintf(info->variant, sizeof info->variant, "%.40s, sm_%d%d, gate %s", cuda->properties.name,
             cuda->properties.major, cuda->properties.minor, gate);
}

/* ---- targets, queries, calls */

/* Every call begins here: on the engine's device, unless that has failed before. */
static hspz_status enter_engine(hspz__cuda *cuda, int *before, hspz_error *error)
{
    pthread_mutex_lock(&cuda->lock);
    const int failed = cuda->failed;
    pthread_mutex_unlock(&cuda->lock);
    if (failed)
        return hspz__fail(error, HSPZ_E_DEVICE,
                          "the device failed in an earlier call; all that is left is to destroy the engine");
    *before = enter(cuda->device);
    return HSPZ_OK;
}

/* And ends here. After a device error nothing on the device can be relied on. */
static hspz_status leave_engine(hspz__cuda *cuda, int before, hspz_status status)
{
    if (status == HSPZ_E_DEVICE) {
        pthread_mutex_lock(&cuda->lock);
        cuda->failed = 1;
        pthread_mutex_unlock(&cuda->lock);
    }
    leave(before, cuda->device);
    return status;
}

static uint64_t memory_peak(hspz__cuda *cuda)
{
    pthread_mutex_lock(&cuda->lock);
    const uint64_t peak = cuda->memory_peak;
    pthread_mutex_unlock(&cuda->lock);
    return peak;
}

static hspz_status set_target(void *state, const hspz_target *target, hspz_statistics *statistics,
                              hspz_error *error)
{
    hspz__cuda *cuda = state;
    int before = 0;
    HSPZ__TRY(enter_engine(cuda, &before, error));
    const hspz_status status = hspz__cuda_set_target(cuda, target, statistics, error);
    statistics->device_memory_peak = memory_peak(cuda);
    return leave_engine(cuda, before, status);
}

static void clear_target(void *state)
{
    hspz__cuda *cuda = state;
    const int before = enter(cuda->device);
    hspz__cuda_clear_target(cuda);
    leave(before, cuda->device);
}

static hspz_status set_query(void *state, uint32_t slot, const hspz_query *query, hspz_statistics *statistics,
                             hspz_error *error)
{
    hspz__cuda *cuda = state;
    int before = 0;
    HSPZ__TRY(enter_engine(cuda, &before, error));
    const hspz_status status = hspz__cuda_set_query(cuda, slot, query, statistics, error);
    statistics->device_memory_peak = memory_peak(cuda);
    return leave_engine(cuda, before, status);
}

static void clear_query(void *state, uint32_t slot)
{
    hspz__cuda *cuda = state;
    const int before = enter(cuda->device);
    hspz__cuda_clear_query(cuda, slot);
    leave(before, cuda->device);
}

static hspz__cuda_call start_call(hspz__cuda *cuda, uint32_t slot, uint32_t strand, uint64_t total,
                                  const hspz__output *output, hspz_error *error)
{
    const hspz__cuda_query *query = &cuda->query[slot];
    pthread_mutex_lock(&cuda->work); /* until end_call */
    return (hspz__cuda_call){.cuda = cuda,
                             .output = output,
                             .error = error,
                             .query = query,
                             .strand_number = strand,
                             .target = cuda->target.sequence.strand,
                             .strand = query->strand[strand].strand,
                             .total = total};
}

static hspz_status end_call(hspz__cuda_call *call, hspz_status status)
{
    if (status == HSPZ_OK)
        status = hspz__cuda_call_end(call);
    if (status != HSPZ_OK) /* nothing of a failed call may still run when its buffers serve the next */
        (void)cudaStreamSynchronize(call->cuda->stream);
    hspz__cuda_call_free(call);
    call->output->statistics->device_memory_peak = memory_peak(call->cuda);
    pthread_mutex_unlock(&call->cuda->work);
    return status;
}

static hspz_status find_hsps(void *state, const hspz_find_request *request, const hspz__output *output,
                             hspz_error *error)
{
    hspz__cuda *cuda = state;
    const uint64_t length = cuda->query[request->slot].strand[0].strand.length, window = cuda->word.window;
    const uint64_t beyond = length >= window ? length - window + 1 : 0;
    const uint64_t end = request->end < beyond ? request->end + 1 : beyond;
    if (request->begin >= end)
        return HSPZ_OK;
    int before = 0;
    HSPZ__TRY(enter_engine(cuda, &before, error));
    hspz__cuda_call call =
        start_call(cuda, request->slot, request->strand, end - request->begin, output, error);
    int declined = 1;
    uint64_t next = request->begin;
    hspz_status status = HSPZ_OK;
    if (cuda->target.join && cuda->plan->dedup == HSPZ_DEDUP_LASTZ)
        status = hspz__cuda_find_by_marks(&call, request, end, &declined);
    else if (cuda->target.join)
        status = hspz__cuda_find_by_join(&call, request, end, &declined, &next);
    if (status == HSPZ_OK && declined)
        status = hspz__cuda_find_by_seeds(&call, request, next, end);
    return leave_engine(cuda, before, end_call(&call, status));
}

static hspz_status expand_and_extend(void *state, const hspz_seed_batch *batch, const hspz__output *output,
                                     hspz_error *error)
{
    hspz__cuda *cuda = state;
    int before = 0;
    HSPZ__TRY(enter_engine(cuda, &before, error));
    hspz__cuda_call call = start_call(cuda, batch->slot, batch->strand, batch->count, output, error);
    return leave_engine(cuda, before, end_call(&call, hspz__cuda_expand_batch(&call, batch)));
}

static hspz_status extend_anchors(void *state, const hspz_anchor_batch *batch, const hspz__output *output,
                                  hspz_error *error)
{
    hspz__cuda *cuda = state;
    int before = 0;
    HSPZ__TRY(enter_engine(cuda, &before, error));
    hspz__cuda_call call = start_call(cuda, batch->slot, batch->strand, batch->count, output, error);
    return leave_engine(cuda, before, end_call(&call, hspz__cuda_extend_batch(&call, batch)));
}

const hspz__backend hspz__backend_cuda = {
    .name = "cuda",
    .kind = HSPZ_DEVICE_CUDA,
    .device_count = device_count,
    .device_info = device_info,
    .create = create,
    .destroy = destroy,
    .info = info,
    .set_target = set_target,
    .clear_target = clear_target,
    .set_query = set_query,
    .clear_query = clear_query,
    .find_hsps = find_hsps,
    .expand_and_extend = expand_and_extend,
    .extend_anchors = extend_anchors,
};
