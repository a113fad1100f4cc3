/* limits.cu -- what the card itself does: copy, reads of single 32-byte sectors, instructions; to hold the kernels' rates against.
 *
 *   limits        one "limit NAME VALUE UNIT" a line
 *
 * Medians of several runs. The reads go to places that no cache line shares: over 4 GiB (device memory) and over 16 MiB (L2). The
 * instructions are a warp's, half of them integer, half floating point, so that every scheduler issues in every cycle.
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define MUST(step) must((step), #step)

static void must(cudaError_t status, const char *step)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", step, cudaGetErrorString(status));
    exit(1);
}

static const unsigned READS = 64, ROUNDS = 4096; /* of a thread */

__device__ uint64_t scatter(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

/* READS independent reads a thread, each of a sector of its own. */
__global__ void sectors_kernel(const uint32_t *table, uint64_t mask, uint32_t *out)
{
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t sum = 0;
#pragma unroll 8
    for (unsigned i = 0; i < READS; i++)
        sum += __ldg(&table[(scatter(thread * READS + i) & mask) * 8]);
    if (sum == 0x12345678u) /* never: the table is zero */
        *out = sum;
}

/* Four instructions a round, two for the integer units and two for the others. */
__global__ void instructions_kernel(uint32_t *out, float factor)
{
    uint32_t a = threadIdx.x, b = a + 1;
    float x = (float)a, y = (float)b;
#pragma unroll 64
    for (unsigned i = 0; i < ROUNDS; i++) {
        a ^= b;
        x = fmaf(x, y, factor);
        b += a;
        y = fmaf(y, x, factor);
    }
    if ((a ^ b) == 0x12345678u && x == y)
        *out = a;
}

template <typename W> static double milliseconds(W work)
{
    cudaEvent_t start, end;
    std::vector<double> all;
    MUST(cudaEventCreate(&start));
    MUST(cudaEventCreate(&end));
    for (int run = 0; run < 7; run++) {
        float ms = 0;
        MUST(cudaEventRecord(start));
        work();
        MUST(cudaGetLastError());
        MUST(cudaEventRecord(end));
        MUST(cudaEventSynchronize(end));
        MUST(cudaEventElapsedTime(&ms, start, end));
        all.push_back(ms);
    }
    MUST(cudaEventDestroy(start));
    MUST(cudaEventDestroy(end));
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

int main()
{
    cudaDeviceProp properties;
    MUST(cudaGetDeviceProperties(&properties, 0));
    const unsigned grid = 64 * (unsigned)properties.multiProcessorCount, block = 256;
    const uint64_t bytes = (uint64_t)4 << 30;
    uint32_t *table = nullptr, *out = nullptr;
    MUST(cudaMalloc(&table, bytes));
    MUST(cudaMalloc(&out, sizeof *out));
    MUST(cudaMemset(table, 0, bytes));
    double ms = milliseconds([&] {
        MUST(cudaMemcpyAsync((char *)table + bytes / 2, table, bytes / 2, cudaMemcpyDeviceToDevice, 0));
    });
    printf("limit copy %.0f GB/s\n", (double)bytes / ms / 1e6);
    const double reads = (double)grid * block * READS;
    for (uint64_t size : {bytes, (uint64_t)16 << 20}) {
        ms = milliseconds([&] { sectors_kernel<<<grid, block>>>(table, size / 32 - 1, out); });
        printf("limit sectors_of_%s %.1f G/s\n", size == bytes ? "memory" : "L2", reads / ms / 1e6);
    }
    ms = milliseconds([&] { instructions_kernel<<<grid, block>>>(out, 0.5f); });
    printf("limit instructions %.0f G/s\n", (double)grid * block / 32 * ROUNDS * 4 / ms / 1e6);
    MUST(cudaFree(table));
    MUST(cudaFree(out));
    return 0;
}
