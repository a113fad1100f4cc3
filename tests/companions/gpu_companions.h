/* gpu_companions.h -- what the GPU programs of the companion systems share: plugins, buffers on both sides, checks in TAP.
 *
 * Idea: a `both` is a range of elements in host memory and its twin in device memory; a request is made once per side from
 * the same text. Only the ABI headers of the project are used; plugins are loaded from $HSPZ_BUILD.
 */
#ifndef HSPZ_TEST_GPU_COMPANIONS_H
#define HSPZ_TEST_GPU_COMPANIONS_H

#include "hspz_hash_index.h"
#include "hspz_soft_sw.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <string>
#include <vector>

#define MUST(call)                                                                                           \
    do {                                                                                                     \
        cudaError_t must_code = (call);                                                                      \
        if (must_code != cudaSuccess) {                                                                      \
            printf("Bail out! %s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(must_code));              \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

struct plugin_sides {
    const hspz_hash_index *hash;
    const hspz_soft_sw *soft;
};

static inline plugin_sides load_plugin(const char *file)
{
    const char *build = getenv("HSPZ_BUILD");
    std::string path = std::string(build != NULL ? build : "build") + "/" + file;
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        printf("Bail out! %s\n", dlerror());
        exit(1);
    }
    const hspz_plugin *plugin = (const hspz_plugin *)dlsym(library, HSPZ_PLUGIN_SYMBOL);
    return {(const hspz_hash_index *)plugin->get_extension(HSPZ_HASH_INDEX_ID),
            (const hspz_soft_sw *)plugin->get_extension(HSPZ_SOFT_SW_ID)};
}

/* Elements on both sides; the device's start as junk. */
template <typename T> struct both {
    std::vector<T> host;
    T *device = NULL;

    explicit both(size_t count = 0) : host(count)
    {
        MUST(cudaMalloc((void **)&device, count * sizeof(T) + 256));
        MUST(cudaMemset(device, 0xa5, count * sizeof(T) + 256));
    }
    both(const both &) = delete;
    ~both()
    {
        cudaFree(device);
    }
    void up()
    {
        MUST(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    std::vector<T> down() const
    {
        std::vector<T> copy(host.size());
        MUST(cudaMemcpy(copy.data(), device, copy.size() * sizeof(T), cudaMemcpyDeviceToHost));
        return copy;
    }
    T *on(uint32_t side)
    {
        return side == HSPZ_DEVICE_CUDA ? device : host.data();
    }
};

/* xorshift */
struct dice {
    uint64_t state;
    uint64_t next()
    {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
    }
    uint64_t below(uint64_t bound)
    {
        return (next() >> 16) % bound;
    }
};

#endif
