/* backend_cuda_memory.c -- errors, allocations, arena, waiting and copies; see backend_cuda.h. */
#include "backend_cuda.h"

#include <sched.h>
#include <string.h>
#include <time.h>

hspz_status hspz__cuda_check(cudaError_t result, const char *what, hspz_error *error)
{
    if (result == cudaSuccess)
        return HSPZ_OK;
    hspz_status status = HSPZ_E_DEVICE;
    const char *advice = "";
    if (result == cudaErrorMemoryAllocation) {
        status = HSPZ_E_DEVICE_MEMORY;
        advice = "; use smaller blocks, or a device with more memory";
    } else if (result == cudaErrorInsufficientDriver || result == cudaErrorStubLibrary ||
               result == cudaErrorSystemDriverMismatch) {
        status = HSPZ_E_NO_DRIVER;
        advice = "; install an NVIDIA driver for CUDA 13 or newer, or use --device cpu";
    } else if (result == cudaErrorNoDevice || result == cudaErrorInvalidDevice) {
        status = HSPZ_E_NO_DEVICE;
        advice = "; use --device cpu";
    } else if (result == cudaErrorNoKernelImageForDevice || result == cudaErrorInvalidKernelImage ||
               result == cudaErrorInvalidDeviceFunction || result == cudaErrorUnsupportedPtxVersion) {
        status = HSPZ_E_ARCHITECTURE;
        advice = "; rebuild with this device's architecture in CUDA_ARCHS, or use --device cpu";
    }
    (void)cudaGetLastError(); /* a later call shall not stumble over this one */
    hspz__fail(error, status, "%s: %s (CUDA error %d)%s", what, cudaGetErrorString(result), (int)result,
               advice);
    if (error != NULL)
        error->device_code = (int32_t)result;
    return status;
}

void hspz__cuda_forget(hspz_error *error)
{
    if (error == NULL)
        return;
    error->status = HSPZ_OK;
    error->device_code = 0;
    error->text[0] = '\0';
}

uint32_t hspz__cuda_bits(uint64_t most)
{
    uint32_t bits = 1;
    while (bits < 64 && most >> bits != 0)
        bits++;
    return bits;
}

uint64_t hspz__cuda_blocks(uint64_t count, uint64_t size)
{
    return count / size + (count % size != 0);
}

/* ---- allocations */

/* Counts `bytes` as taken if the limit allows them; *left is what it leaves. */
static bool claim(hspz__cuda *cuda, uint64_t bytes, uint64_t *left)
{
    const uint64_t limit = (uint64_t)cuda->knobs.memory_limit;
    pthread_mutex_lock(&cuda->lock);
    const uint64_t taken = cuda->memory_now;
    *left = limit == 0 ? UINT64_MAX : limit > taken ? limit - taken : 0;
    const bool fits = bytes <= *left;
    if (fits)
        cuda->memory_now = taken + bytes;
    if (cuda->memory_now > cuda->memory_peak)
        cuda->memory_peak = cuda->memory_now;
    pthread_mutex_unlock(&cuda->lock);
    return fits;
}

static void give_up(hspz__cuda *cuda, uint64_t bytes)
{
    pthread_mutex_lock(&cuda->lock);
    cuda->memory_now -= bytes;
    pthread_mutex_unlock(&cuda->lock);
}

hspz_status hspz__cuda_allocate(hspz__cuda *cuda, hspz__cuda_memory *memory, uint64_t bytes, const char *what,
                                hspz_error *error)
{
    memory->start = NULL;
    memory->bytes = 0;
    uint64_t left = 0;
    if (!claim(cuda, bytes, &left))
        return hspz__fail(
            error, HSPZ_E_DEVICE_MEMORY,
            "%s needs %llu MiB of device memory; device.memory_limit leaves %llu MiB: raise it, or use "
            "smaller blocks",
            what, (unsigned long long)(bytes >> 20), (unsigned long long)(left >> 20));
    const cudaError_t result = cudaMalloc(&memory->start, bytes > 0 ? bytes : 1);
    if (result != cudaSuccess) {
        memory->start = NULL;
        give_up(cuda, bytes);
        return hspz__cuda_check(result, what, error);
    }
    memory->bytes = bytes;
    return HSPZ_OK;
}

void hspz__cuda_release(hspz__cuda *cuda, hspz__cuda_memory *memory)
{
    if (memory->start == NULL)
        return;
    (void)cudaFree(
        memory->start); /* reports errors of earlier work, which have been reported where it was waited for */
    give_up(cuda, memory->bytes);
    memory->start = NULL;
    memory->bytes = 0;
}

void hspz__cuda_settle_streams(hspz__cuda *cuda)
{
    if (cuda->stream != NULL)
        (void)cudaStreamSynchronize(cuda->stream);
    if (cuda->upload_stream != NULL)
        (void)cudaStreamSynchronize(cuda->upload_stream);
    (void)cudaGetLastError();
}

hspz_status hspz__cuda_reserve(hspz__cuda *cuda, hspz__cuda_memory *memory, uint64_t bytes, const char *what,
                               hspz_error *error)
{
    if (memory->start != NULL && memory->bytes >= bytes)
        return HSPZ_OK;
    hspz__cuda_release(cuda, memory);
    return hspz__cuda_allocate(cuda, memory, bytes, what, error);
}

uint64_t hspz__cuda_budget(hspz__cuda *cuda)
{
    size_t free_bytes = 0, total = 0;
    if (cudaMemGetInfo(&free_bytes, &total) != cudaSuccess)
        (void)cudaGetLastError();
    const uint64_t most = (uint64_t)256 << 20, reserve = total / 32 < most ? total / 32 : most;
    uint64_t budget = (free_bytes > reserve ? free_bytes - reserve : 0) + cuda->arena.bytes;
    const uint64_t limit = (uint64_t)cuda->knobs.memory_limit;
    pthread_mutex_lock(&cuda->lock);
    const uint64_t others = cuda->memory_now - cuda->arena.bytes;
    const uint64_t next_query = cuda->queries < cuda->plan->query_slots ? cuda->largest_query : 0;
    pthread_mutex_unlock(&cuda->lock);
    const uint64_t left = limit > others ? limit - others : 0;
    if (limit > 0 && left < budget)
        budget = left;
    return budget > next_query ? budget - next_query : 0;
}

/* ---- arena */

#define ALIGNMENT 256u

/* Under AddressSanitizer device memory is the emulator's host memory: arrays get a forbidden gap behind them. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define GAP 256u
#else
#define GAP 0u
#define ASAN_UNPOISON_MEMORY_REGION(start, bytes) ((void)(start), (void)(bytes))
#define ASAN_POISON_MEMORY_REGION(start, bytes) ((void)(start), (void)(bytes))
#endif

void *hspz__cuda_take(hspz__cuda_arena *arena, uint64_t count, uint64_t size)
{
    const uint64_t bytes = (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    unsigned char *start = arena->base != NULL ? arena->base + arena->used : NULL;
    arena->used += bytes + GAP;
    if (start != NULL && GAP > 0) {
        ASAN_UNPOISON_MEMORY_REGION(start, bytes);
        ASAN_POISON_MEMORY_REGION(start + count * size, bytes - count * size + GAP);
    }
    return start;
}

hspz__cuda_arena hspz__cuda_arena_of(const hspz__cuda *cuda)
{
    return (hspz__cuda_arena){.base = cuda->arena.start, .size = cuda->arena.bytes};
}

/* ---- waiting */

hspz_status hspz__cuda_wait(hspz__cuda *cuda, cudaStream_t stream, uint64_t done, uint64_t total,
                            hspz_error *error)
{
    const double start = hspz__seconds();
    double told = start;
    bool cancelled = false;
    for (;;) {
        const cudaError_t result = cudaStreamQuery(stream);
        if (result != cudaErrorNotReady) {
            HSPZ__TRY(hspz__cuda_check(result, "the device failed at its work", error));
            break;
        }
        const double time = hspz__seconds();
        if (time - told > 0.2) {
            cancelled = hspz__cancelled(cuda->host, done, total) || cancelled;
            told = time;
        }
        if (time - start > 0.005) { /* short waits spin, long ones sleep */
            const struct timespec pause = {0, 50000};
            nanosleep(&pause, NULL);
        } else {
            sched_yield();
        }
    }
    return cancelled ? hspz__fail(error, HSPZ_E_CANCELLED, "cancelled by the host") : HSPZ_OK;
}

hspz_status hspz__cuda_clear_counters(hspz__cuda *cuda, hspz_error *error)
{
    hspz__cuda_counters *c = cuda->counters;
    HSPZ__TRY(hspz__cuda_check(cudaMemsetAsync(c, 0, sizeof *c, cuda->stream), "clearing counters", error));
    HSPZ__TRY(hspz__cuda_check(cudaMemsetAsync(&c->refused, 0xff, sizeof c->refused, cuda->stream),
                               "clearing counters", error));
    return hspz__cuda_check(cudaMemsetAsync(&c->bad, 0xff, sizeof c->bad, cuda->stream), "clearing counters",
                            error);
}

hspz_status hspz__cuda_read_counters(hspz__cuda_call *call)
{
    hspz__cuda *cuda = call->cuda;
    HSPZ__TRY(hspz__cuda_check(cudaMemcpyAsync(cuda->host_counters, cuda->counters, sizeof *cuda->counters,
                                               cudaMemcpyDeviceToHost, cuda->stream),
                               "reading counters", call->error));
    return hspz__cuda_wait(cuda, cuda->stream, call->done, call->total, call->error);
}

hspz_status hspz__cuda_download(hspz__cuda *cuda, void *to, const void *from, uint64_t bytes,
                                hspz_error *error)
{
    HSPZ__TRY(hspz__cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, cuda->stream),
                               "copying from the device", error));
    return hspz__cuda_check(cudaStreamSynchronize(cuda->stream), "copying from the device", error);
}

/* ---- uploads: each thread fills its two pinned buffers in turn */

typedef struct uploader {
    hspz__cuda *cuda;
    unsigned char *to;
    const unsigned char *from;
    uint64_t bytes;
    uint32_t number, threads;
    cudaError_t result;
} uploader;

static void *upload_pieces(void *argument)
{
    uploader *u = argument;
    hspz__cuda *cuda = u->cuda;
    const uint64_t piece = HSPZ__STAGING;
    uint32_t turn = 0;
    u->result = cudaSetDevice(cuda->device);
    for (uint64_t at = u->number * piece; at < u->bytes && u->result == cudaSuccess;
         at += u->threads * piece) {
        const uint64_t length = u->bytes - at < piece ? u->bytes - at : piece;
        unsigned char *buffer = cuda->upload[u->number][turn];
        cudaEvent_t event = cuda->upload_event[u->number][turn];
        u->result = cudaEventSynchronize(event); /* the buffer's last copy is done */
        if (u->result != cudaSuccess)
            break;
        memcpy(buffer, u->from + at, length);
        u->result = cudaMemcpyAsync(u->to + at, buffer, length, cudaMemcpyHostToDevice, cuda->upload_stream);
        if (u->result == cudaSuccess)
            u->result = cudaEventRecord(event, cuda->upload_stream);
        turn ^= 1;
    }
    return NULL;
}

hspz_status hspz__cuda_upload(hspz__cuda *cuda, void *to, const void *from, uint64_t bytes, hspz_error *error)
{
    uploader work[HSPZ__UPLOADERS];
    pthread_t thread[HSPZ__UPLOADERS];
    bool started[HSPZ__UPLOADERS] = {false};
    const uint64_t pieces = (bytes + HSPZ__STAGING - 1) / HSPZ__STAGING;
    const uint32_t threads = pieces < HSPZ__UPLOADERS ? (uint32_t)pieces : HSPZ__UPLOADERS;
    for (uint32_t i = 0; i < threads; i++)
        work[i] = (uploader){cuda, to, from, bytes, i, threads, cudaSuccess};
    for (uint32_t i = 1; i < threads; i++)
        started[i] = pthread_create(&thread[i], NULL, upload_pieces, &work[i]) == 0;
    cudaError_t result = cudaSuccess;
    for (uint32_t i = 0; i < threads; i++) {
        if (started[i])
            pthread_join(thread[i], NULL);
        else
            upload_pieces(&work[i]);
        if (work[i].result != cudaSuccess)
            result = work[i].result;
    }
    HSPZ__TRY(hspz__cuda_check(result, "copying to the device", error));
    return hspz__cuda_check(cudaStreamSynchronize(cuda->upload_stream), "copying to the device", error);
}
