/* emulate.h -- enough of CUDA to run the kernels of kernels/cuda on a CPU, for tests on machines without a GPU.
 *
 * Idea: blocks run one after the other; the threads of a block are fibers that run until they meet a barrier or a warp function
 * and are resumed in turn. What this finds: wrong logic, wrong bounds (build with -fsanitize=address), reads of memory that
 * nothing wrote (fresh device memory holds garbage), warp functions that not all lanes reach (reported, then abort).
 * What it cannot find: races. Device memory is host memory.
 */
#ifndef HSPZ_EMULATE_H
#define HSPZ_EMULATE_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n)

struct uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
static inline uint2 make_uint2(unsigned x, unsigned y)
{
    return {x, y};
}
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return {x, y, z, w};
}

struct hspz_emulate_index {
    unsigned x, y, z;
};
extern hspz_emulate_index threadIdx, blockIdx, blockDim, gridDim;

void hspz_emulate_launch(unsigned grid, unsigned block, size_t shared, const std::function<void()> &body);
/* What a launch answers: cudaSuccess, unless a test wants it to fail. */
int hspz_emulate_launch_error();
unsigned char *hspz_emulate_shared();
void __syncthreads();
void __syncwarp(unsigned mask = 0xffffffffu);
/* Every lane of the warp hands in a value and sees those of all (`present` says which lanes exist). */
const uint64_t *hspz_emulate_exchange(uint64_t value, unsigned *present);

#define HSPZ__LAUNCH(kernel, grid, block, shared, stream, ...)                                               \
    ((void)(stream),                                                                                         \
     hspz_emulate_launch_error() != cudaSuccess                                                              \
         ? cudaGetLastError()                                                                                \
         : (hspz_emulate_launch((grid), (block), (shared), [=]() { kernel(__VA_ARGS__); }), cudaSuccess))
#define HSPZ__DYNAMIC_SHARED(name) unsigned char *const name = hspz_emulate_shared()
#define HSPZ__RAISE_SHARED(kernel, bytes) ((void)(bytes), cudaSuccess)

template <typename T> static inline uint64_t hspz_emulate_bits(T v)
{
    uint64_t bits = 0;
    std::memcpy(&bits, &v, sizeof v);
    return bits;
}
template <typename T> static inline T hspz_emulate_value(uint64_t bits)
{
    T v;
    std::memcpy(&v, &bits, sizeof v);
    return v;
}
template <typename T> static inline T hspz_emulate_shuffle(T v, int from)
{
    unsigned present;
    const uint64_t *all = hspz_emulate_exchange(hspz_emulate_bits(v), &present);
    return from < 0 || from > 31 ? v : hspz_emulate_value<T>(all[from]);
}
template <typename T> static inline T __shfl_sync(unsigned, T v, int from)
{
    return hspz_emulate_shuffle(v, from & 31);
}
template <typename T> static inline T __shfl_up_sync(unsigned, T v, unsigned d)
{
    return hspz_emulate_shuffle(v, (int)(threadIdx.x & 31) - (int)d);
}
template <typename T> static inline T __shfl_down_sync(unsigned, T v, unsigned d)
{
    return hspz_emulate_shuffle(v, (int)(threadIdx.x & 31) + (int)d);
}
template <typename T> static inline T __shfl_xor_sync(unsigned, T v, int d)
{
    return hspz_emulate_shuffle(v, (int)(threadIdx.x & 31) ^ d);
}
static inline unsigned __ballot_sync(unsigned, int predicate)
{
    unsigned present, ballot = 0;
    const uint64_t *all = hspz_emulate_exchange(predicate != 0, &present);
    for (int i = 0; i < 32; i++)
        if (present >> i & 1 && all[i])
            ballot |= 1u << i;
    return ballot;
}
static inline int __any_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, predicate) != 0;
}
static inline int __all_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, !predicate) == 0;
}

template <typename T, typename U> static inline T atomicAdd(T *at, U v)
{
    T old = *at;
    *at = (T)(old + v);
    return old;
}
template <typename T, typename U> static inline T atomicMin(T *at, U v)
{
    T old = *at;
    if ((T)v < old)
        *at = (T)v;
    return old;
}
template <typename T, typename U> static inline T atomicMax(T *at, U v)
{
    T old = *at;
    if ((T)v > old)
        *at = (T)v;
    return old;
}
template <typename T, typename U> static inline T atomicOr(T *at, U v)
{
    T old = *at;
    *at = (T)(old | v);
    return old;
}

static inline int __popc(unsigned v)
{
    return __builtin_popcount(v);
}
static inline int __popcll(unsigned long long v)
{
    return __builtin_popcountll(v);
}
static inline int __ffs(unsigned v)
{
    return __builtin_ffs((int)v);
}
static inline unsigned __brev(unsigned v)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i++)
        r |= (v >> i & 1u) << (31 - i);
    return r;
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)(((uint64_t)high << 32 | low) >> (shift & 31));
}
template <typename T> static inline T __ldg(const T *p)
{
    return *p;
}
template <typename T> static inline T min(T a, T b)
{
    return b < a ? b : a;
}
template <typename T> static inline T max(T a, T b)
{
    return a < b ? b : a;
}

#endif
