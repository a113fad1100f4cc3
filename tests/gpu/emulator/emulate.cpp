/* emulate.cpp -- fibers, barriers, warp exchange, and a runtime API over host memory; see emulate.h. */
#include "emulate.h"
#include "cuda_runtime_api.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

hspz_emulate_index threadIdx, blockIdx, blockDim, gridDim;

namespace
{

const size_t stack_bytes = 128 * 1024;

/* A barrier that all of `members` living threads must reach; `generation` moves on when they have. */
struct barrier {
    unsigned arrived = 0;
    unsigned generation = 0;
};

struct fiber {
    void *stack_pointer = nullptr;
    unsigned char *stack = nullptr;
    bool done = false;
    const barrier *gate = nullptr; /* waits here until its generation is no longer this */
    unsigned generation = 0;

    fiber() = default;
    fiber(const fiber &) = delete;
    fiber(fiber &&other) noexcept : stack(other.stack)
    {
        other.stack = nullptr; /* no fiber runs while the list of them grows */
    }
    ~fiber()
    {
        free(stack);
    }
};

struct warp_state {
    barrier gate;
    uint64_t values[2][32];
    unsigned present[2];
};

std::mutex one_at_a_time;
std::vector<fiber> fibers;
std::vector<warp_state> warps;
barrier block_gate;
unsigned living, living_of_warp[64];
unsigned char *dynamic_shared;
const std::function<void()> *kernel;
void *scheduler_pointer;
unsigned current;
uint64_t progress;

} // namespace

extern "C" void hspz_emulate_switch(void **save, void *load);
asm(R"(
.globl hspz_emulate_switch
hspz_emulate_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
)");

static void to_scheduler()
{
    hspz_emulate_switch(&fibers[current].stack_pointer, scheduler_pointer);
    threadIdx.x = current;
}

/* A thread that returns no longer counts in barriers. */
static void leave(barrier *gate, unsigned members)
{
    if (members > 0 && gate->arrived == members) {
        gate->arrived = 0;
        gate->generation++;
    }
}

static void fiber_main()
{
    (*kernel)();
    fibers[current].done = true;
    progress++;
    living--;
    leave(&block_gate, living);
    living_of_warp[current / 32]--;
    if (warps[current / 32].gate.arrived != 0) {
        fprintf(stderr, "emulator: thread %u of block %u returned while its warp waits\n", current,
                blockIdx.x);
        abort();
    }
    to_scheduler();
    abort();
}

static void wait_at(barrier *gate, unsigned members)
{
    const unsigned generation = gate->generation;
    progress++;
    if (++gate->arrived == members) {
        gate->arrived = 0;
        gate->generation++;
        return;
    }
    fibers[current].gate = gate;
    fibers[current].generation = generation;
    to_scheduler(); /* which comes back when the others have arrived */
    fibers[current].gate = nullptr;
}

void __syncthreads()
{
    wait_at(&block_gate, living);
}

void __syncwarp(unsigned)
{
    wait_at(&warps[current / 32].gate, living_of_warp[current / 32]);
}

const uint64_t *hspz_emulate_exchange(uint64_t value, unsigned *present)
{
    warp_state *warp = &warps[current / 32];
    const unsigned side = warp->gate.generation & 1, lane = current & 31;
    if (warp->gate.arrived == 0)
        warp->present[side] = 0;
    warp->present[side] |= 1u << lane;
    warp->values[side][lane] = value;
    wait_at(&warp->gate, living_of_warp[current / 32]);
    *present = warp->present[side];
    return warp->values[side];
}

unsigned char *hspz_emulate_shared()
{
    return dynamic_shared;
}

static void start_fiber(fiber *f)
{
    if (f->stack == nullptr)
        f->stack = (unsigned char *)aligned_alloc(64, stack_bytes);
    void **top = (void **)(f->stack + stack_bytes);
    *--top = nullptr; /* keeps the stack aligned as after a call */
    *--top = (void *)fiber_main;
    for (int i = 0; i < 6; i++)
        *--top = nullptr;
    f->stack_pointer = top;
    f->done = false;
    f->gate = nullptr;
}

static void run_block(unsigned block)
{
    living = block;
    block_gate = barrier();
    warps.assign((block + 31) / 32, warp_state());
    for (unsigned w = 0; w < (block + 31) / 32; w++)
        living_of_warp[w] = block - 32 * w < 32 ? block - 32 * w : 32;
    for (unsigned i = 0; i < block; i++)
        start_fiber(&fibers[i]);
    while (living > 0) {
        const uint64_t before = progress;
        for (unsigned i = 0; i < block; i++) {
            const barrier *const gate = fibers[i].gate;
            if (fibers[i].done || (gate != nullptr && gate->generation == fibers[i].generation))
                continue;
            current = i;
            threadIdx.x = i;
            hspz_emulate_switch(&scheduler_pointer, fibers[i].stack_pointer);
        }
        if (progress == before) {
            fprintf(stderr, "emulator: block %u is stuck: not all threads reach a barrier or warp function\n",
                    blockIdx.x);
            abort();
        }
    }
}

void hspz_emulate_launch(unsigned grid, unsigned block, size_t shared, const std::function<void()> &body)
{
    std::lock_guard<std::mutex> hold(one_at_a_time);
    if (fibers.size() < block)
        fibers.resize(block);
    dynamic_shared = (unsigned char *)aligned_alloc(64, (shared + 127) / 64 * 64);
    kernel = &body;
    gridDim.x = grid;
    blockDim.x = block;
    for (blockIdx.x = 0; blockIdx.x < grid; blockIdx.x++) {
        memset(dynamic_shared, 0xa5, shared);
        run_block(block);
    }
    free(dynamic_shared);
}

/* ---- the runtime API ----
 *
 * What goes wrong is told by the environment, read anew whenever devices are counted, which an engine does when it is made:
 *   EMULATED_GPU_DEVICES (1)         number of devices
 *   EMULATED_GPU_MEMORY (8.5 MiB)    bytes each of them has; as long as it is not given, allocations beyond it succeed
 *   EMULATED_GPU_FAIL (0: never)     the number of the call that fails
 *   EMULATED_GPU_ERROR (719)         its error; 2 (out of memory) passes, all others stay
 */

namespace
{

std::mutex runtime_lock;
int device_number = 1, fail_error = cudaErrorLaunchFailure;
uint64_t calls, fail_at, memory_size = (uint64_t)8704 << 10;
bool memory_bounded, broken;
std::map<const void *, std::pair<int, size_t>> allocations; /* device, bytes */
uint64_t allocated[16];
thread_local int current_device, last_error;

uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != nullptr && *text != '\0' ? strtoull(text, nullptr, 10) : otherwise;
}

/* Counts a call; the error it has to answer with. */
cudaError_t turn()
{
    std::lock_guard<std::mutex> hold(runtime_lock);
    if (broken)
        return last_error = fail_error;
    if (++calls != fail_at)
        return cudaSuccess;
    broken = fail_error != cudaErrorMemoryAllocation;
    return last_error = fail_error;
}

/* Memory of one device must not be used while another is current. */
void check_device(const void *memory)
{
    std::lock_guard<std::mutex> hold(runtime_lock);
    auto at = allocations.upper_bound(memory);
    if (at == allocations.begin())
        return;
    --at;
    if ((const char *)memory < (const char *)at->first + at->second.second &&
        at->second.first != current_device) {
        fprintf(stderr, "emulator: memory of device %d used on device %d\n", at->second.first,
                current_device);
        abort();
    }
}

} // namespace

#define TURN()                                                                                               \
    do {                                                                                                     \
        const cudaError_t answer = turn();                                                                   \
        if (answer != cudaSuccess)                                                                           \
            return answer;                                                                                   \
    } while (0)

cudaError_t hspz_emulate_launch_error()
{
    return turn();
}

struct hspz_emulate_event {
    std::chrono::steady_clock::time_point time;
};

cudaError_t cudaGetDeviceCount(int *count)
{
    std::lock_guard<std::mutex> hold(runtime_lock);
    device_number = (int)setting("EMULATED_GPU_DEVICES", 1);
    memory_bounded = getenv("EMULATED_GPU_MEMORY") != nullptr;
    memory_size = setting("EMULATED_GPU_MEMORY", (uint64_t)8704 << 10);
    fail_at = setting("EMULATED_GPU_FAIL", 0);
    fail_error = (int)setting("EMULATED_GPU_ERROR", cudaErrorLaunchFailure);
    calls = 0;
    broken = false;
    *count = device_number;
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device)
{
    *device = current_device;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device)
{
    if (device < 0 || device >= device_number)
        return cudaErrorInvalidDevice;
    current_device = device;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int)
{
    memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "emulated");
    properties->totalGlobalMem = (size_t)1 << 30;
    properties->major = 9;
    properties->multiProcessorCount = 2;
    properties->l2CacheSize = 1 << 20;
    properties->sharedMemPerBlockOptin = 227 * 1024;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
    *value = attribute == cudaDevAttrMultiProcessorCount            ? 2
             : attribute == cudaDevAttrL2CacheSize                  ? 1 << 20
             : attribute == cudaDevAttrComputeCapabilityMajor       ? 9
             : attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin ? 227 * 1024
                                                                    : 0;
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    TURN();
    std::lock_guard<std::mutex> hold(runtime_lock);
    *total = memory_size; /* little, to keep tests quick */
    *free_bytes = !memory_bounded                           ? memory_size
                  : allocated[current_device] < memory_size ? memory_size - allocated[current_device]
                                                            : 0;
    return cudaSuccess;
}
cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    TURN();
    std::lock_guard<std::mutex> hold(runtime_lock);
    if (memory_bounded && allocated[current_device] + bytes > memory_size)
        return last_error = cudaErrorMemoryAllocation;
    *memory = aligned_alloc(256, (bytes + 511) / 256 * 256);
    if (*memory == nullptr)
        return last_error = cudaErrorMemoryAllocation;
    memset(*memory, 0xa5, bytes);
    allocations[*memory] = {current_device, bytes};
    allocated[current_device] += bytes;
    return cudaSuccess;
}
cudaError_t cudaFree(void *memory)
{
    const cudaError_t answer =
        turn(); /* it is gone in any case: a broken device frees nothing, but a test must not leak */
    std::lock_guard<std::mutex> hold(runtime_lock);
    const auto at = allocations.find(memory);
    if (at == allocations.end()) {
        fprintf(stderr, "emulator: cudaFree of what was not allocated\n");
        abort();
    }
    allocated[at->second.first] -= at->second.second;
    allocations.erase(at);
    free(memory);
    return answer;
}
cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned)
{
    TURN();
    *memory = aligned_alloc(256, (bytes + 511) / 256 * 256);
    return *memory != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFreeHost(void *memory)
{
    free(memory);
    return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t)
{
    TURN();
    check_device(to);
    check_device(from);
    memmove(to, from, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind, cudaStream_t)
{
    TURN();
    for (size_t i = 0; i < height; i++)
        memmove((char *)to + i * to_pitch, (const char *)from + i * from_pitch, width);
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t)
{
    TURN();
    check_device(memory);
    memset(memory, value, bytes);
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    TURN();
    *stream = reinterpret_cast<cudaStream_t>(1); /* never looked into */
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t)
{
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    TURN();
    return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t)
{
    TURN();
    return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned)
{
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    TURN();
    *event = new hspz_emulate_event;
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t)
{
    TURN();
    event->time = std::chrono::steady_clock::now();
    return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t)
{
    TURN();
    return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t)
{
    return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
    return cudaSuccess;
}
cudaError_t cudaGetLastError(void)
{
    const cudaError_t answer = last_error;
    last_error = cudaSuccess;
    return answer;
}
const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaSuccess ? "no error" : "emulated error";
}
const char *cudaGetErrorName(cudaError_t error)
{
    return error == cudaSuccess ? "cudaSuccess" : "cudaErrorEmulated";
}
