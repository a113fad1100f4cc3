/* primitives.cu -- see primitives.h. */
#include "primitives.h"

#include "device.cuh"

#ifdef HSPZ_EMULATE

/* Under the emulator: the same contracts by the C++ library. */
#include <algorithm>
#include <numeric>
#include <vector>

template <typename K, typename V>
static cudaError_t sort_pairs(void *temp, size_t *temp_bytes, K *a, K *b, V *c, V *d, uint64_t count, int low,
                              int high, int *second)
{
    if (temp == NULL) {
        *temp_bytes = 256;
        return cudaSuccess;
    }
    std::vector<uint64_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    auto digit = [=](uint64_t i) {
        return high - low >= 64 ? (uint64_t)a[i]
                                : (uint64_t)a[i] >> low & ((UINT64_C(1) << (high - low)) - 1);
    };
    std::stable_sort(order.begin(), order.end(), [&](uint64_t x, uint64_t y) { return digit(x) < digit(y); });
    for (uint64_t i = 0; i < count; i++) {
        b[i] = a[order[i]];
        if (c != NULL)
            d[i] = c[order[i]];
    }
    *second = 1;
    return cudaSuccess;
}

cudaError_t hspz__cuda_sort_u64(void *temp, size_t *temp_bytes, uint64_t *a, uint64_t *b, uint64_t count,
                                int low_bit, int high_bit, int *second, cudaStream_t)
{
    return sort_pairs<uint64_t, uint32_t>(temp, temp_bytes, a, b, NULL, NULL, count, low_bit, high_bit,
                                          second);
}

cudaError_t hspz__cuda_sort_u64_u32(void *temp, size_t *temp_bytes, uint64_t *a, uint64_t *b, uint32_t *c,
                                    uint32_t *d, uint64_t count, int low_bit, int high_bit, int *second,
                                    cudaStream_t)
{
    return sort_pairs(temp, temp_bytes, a, b, c, d, count, low_bit, high_bit, second);
}

cudaError_t hspz__cuda_sort_u32_u32(void *temp, size_t *temp_bytes, uint32_t *a, uint32_t *b, uint32_t *c,
                                    uint32_t *d, uint64_t count, int low_bit, int high_bit, int *second,
                                    cudaStream_t)
{
    return sort_pairs(temp, temp_bytes, a, b, c, d, count, low_bit, high_bit, second);
}

cudaError_t hspz__cuda_scan_u32(void *temp, size_t *temp_bytes, const uint32_t *in, uint32_t *out,
                                uint64_t count, cudaStream_t)
{
    *temp_bytes = temp == NULL ? 256 : *temp_bytes;
    uint32_t sum = 0;
    for (uint64_t i = 0; temp != NULL && i < count; i++) {
        const uint32_t value = in[i];
        out[i] = sum;
        sum += value;
    }
    return cudaSuccess;
}

cudaError_t hspz__cuda_scan_steps(void *temp, size_t *temp_bytes, hspz__cuda_step *steps, uint64_t count,
                                  cudaStream_t)
{
    *temp_bytes = temp == NULL ? 256 : *temp_bytes;
    for (uint64_t i = 1; temp != NULL && i < count; i++)
        steps[i] = hspz__step_compose(steps[i], steps[i - 1]);
    return cudaSuccess;
}

#else

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

cudaError_t hspz__cuda_sort_u64(void *temp, size_t *temp_bytes, uint64_t *a, uint64_t *b, uint64_t count,
                                int low_bit, int high_bit, int *second, cudaStream_t stream)
{
    cub::DoubleBuffer<uint64_t> keys(a, b);
    const cudaError_t error =
        cub::DeviceRadixSort::SortKeys(temp, *temp_bytes, keys, (int64_t)count, low_bit, high_bit, stream);
    if (temp != NULL)
        *second = keys.selector;
    return error;
}

template <typename K>
static cudaError_t sort_pairs(void *temp, size_t *temp_bytes, K *a, K *b, uint32_t *c, uint32_t *d,
                              uint64_t count, int low_bit, int high_bit, int *second, cudaStream_t stream)
{
    cub::DoubleBuffer<K> keys(a, b);
    cub::DoubleBuffer<uint32_t> values(c, d);
    const cudaError_t error = cub::DeviceRadixSort::SortPairs(temp, *temp_bytes, keys, values, (int64_t)count,
                                                              low_bit, high_bit, stream);
    if (temp != NULL)
        *second = keys.selector;
    return error;
}

cudaError_t hspz__cuda_sort_u64_u32(void *temp, size_t *temp_bytes, uint64_t *a, uint64_t *b, uint32_t *c,
                                    uint32_t *d, uint64_t count, int low_bit, int high_bit, int *second,
                                    cudaStream_t stream)
{
    return sort_pairs(temp, temp_bytes, a, b, c, d, count, low_bit, high_bit, second, stream);
}

cudaError_t hspz__cuda_sort_u32_u32(void *temp, size_t *temp_bytes, uint32_t *a, uint32_t *b, uint32_t *c,
                                    uint32_t *d, uint64_t count, int low_bit, int high_bit, int *second,
                                    cudaStream_t stream)
{
    return sort_pairs(temp, temp_bytes, a, b, c, d, count, low_bit, high_bit, second, stream);
}

cudaError_t hspz__cuda_scan_u32(void *temp, size_t *temp_bytes, const uint32_t *in, uint32_t *out,
                                uint64_t count, cudaStream_t stream)
{
    return cub::DeviceScan::ExclusiveSum(temp, *temp_bytes, in, out, (int64_t)count, stream);
}

struct compose {
    __host__ __device__ hspz__cuda_step operator()(const hspz__cuda_step &farther,
                                                   const hspz__cuda_step &nearer) const
    {
        return hspz__step_compose(nearer, farther);
    }
};

cudaError_t hspz__cuda_scan_steps(void *temp, size_t *temp_bytes, hspz__cuda_step *steps, uint64_t count,
                                  cudaStream_t stream)
{
    return cub::DeviceScan::InclusiveScan(temp, *temp_bytes, steps, steps, compose(), (int64_t)count, stream);
}

#endif
