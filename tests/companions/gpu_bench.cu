/* gpu_bench.cu -- speed of the companion systems on a device, beside the floors they are held against.
 *
 * Idea: one process measures a plain random gather, then builds and queries over tables of the same size, so that the ratio does
 * not depend on the machine; a copy and an empty kernel, then soft Smith-Waterman on batches from 16 to 65,536. Medians of several
 * runs between CUDA events, of one call (`alone`: what a caller waits for) and of 20 behind one another (`in a row`).
 */
#include "gpu_companions.h"

#include <algorithm>

#define IN_A_ROW 20

static plugin_sides fast;

static __global__ void empty_kernel()
{
}

template <typename T>
static __global__ void __launch_bounds__(256)
    gather(const T *table, const uint32_t *at, T *out, uint32_t count)
{
    /* four loads in flight per thread, as in a query */
    for (uint32_t tile = blockIdx.x; tile * 1024ull < count; tile += gridDim.x) {
        T v[4];
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            const uint32_t i = tile * 1024 + k * 256 + threadIdx.x;
            if (i < count)
                v[k] = __ldg(table + __ldcs(at + i));
        }
#pragma unroll
        for (uint32_t k = 0; k < 4; k++) {
            const uint32_t i = tile * 1024 + k * 256 + threadIdx.x;
            if (i < count)
                __stcs(out + i, v[k]);
        }
    }
}

/* Median milliseconds of `run`, `inner` calls between two events. */
template <typename F> static double milliseconds(F run, int inner = 1)
{
    cudaEvent_t start, end;
    std::vector<float> times;
    MUST(cudaEventCreate(&start));
    MUST(cudaEventCreate(&end));
    for (int i = 0; i < 13; i++) {
        float ms;
        MUST(cudaEventRecord(start, 0));
        for (int k = 0; k < inner; k++)
            run();
        MUST(cudaEventRecord(end, 0));
        MUST(cudaEventSynchronize(end));
        MUST(cudaEventElapsedTime(&ms, start, end));
        if (i >= 3)
            times.push_back(ms / inner);
    }
    std::sort(times.begin(), times.end());
    cudaEventDestroy(start);
    cudaEventDestroy(end);
    return times[times.size() / 2];
}

static void require(hspz_status status, const hspz_error &error)
{
    if (status != HSPZ_OK) {
        printf("Bail out! status %d: %s\n", status, error.text);
        exit(1);
    }
}

/* G rows a second of one call, and of calls in a row. */
struct rates {
    double alone, in_a_row;
};

template <typename F> static rates rates_of(uint32_t rows, F run)
{
    return {rows / milliseconds(run) / 1e6, rows / milliseconds(run, IN_A_ROW) / 1e6};
}

template <typename T> static rates gather_rates(uint32_t slots, uint32_t rows, const uint32_t *at)
{
    both<T> table(slots), out(rows);
    MUST(cudaMemset(table.device, 0, slots * sizeof(T)));
    rates r = rates_of(rows, [&] { gather<T><<<4096, 256>>>(table.device, at, out.device, rows); });
    printf("%9u rows, gather of %zu bytes: %.1f alone, %.1f in a row\n", rows, sizeof(T), r.alone,
           r.in_a_row);
    return r;
}

static void hash_bench(uint32_t rows, uint32_t stride, rates floor)
{
    const uint32_t capacity = 2 * rows;
    dice d = {1234567};
    hspz_error error = {sizeof error, 0, 0, 0, ""};
    both<uint32_t> keys(rows), asked(rows), values(rows), found(rows), table(2 * (size_t)capacity),
        statistics(6);
    for (uint32_t i = 0; i < rows; i++)
        keys.host[i] = i * 2654435761u;
    for (uint32_t i = 0; i < rows; i++)
        asked.host[i] = keys.host[d.below(rows)];
    keys.up();
    asked.up();
    hspz_hash_table t = {sizeof t, capacity,     255,
                         stride,   table.device, table.device + (stride == 2 ? 1 : capacity)};
    hspz_u32_view key_view = {keys.device, rows}, asked_view = {asked.device, rows};
    hspz_u32_range value_range = {values.device, rows}, found_range = {found.device, rows};
    hspz_u32_output value_output = {&value_range, 1}, found_output = {&found_range, 1};
    hspz_hash_build b = {};
    b.struct_size = sizeof b;
    b.device = HSPZ_DEVICE_CUDA;
    b.table = &t;
    b.keys = {&key_view, 1};
    b.statistics = statistics.device;
    rates build = rates_of(rows, [&] { require(fast.hash->build(&b, &error), error); });
    hspz_hash_query q = {};
    q.struct_size = sizeof q;
    q.device = HSPZ_DEVICE_CUDA;
    q.table = &t;
    q.keys = {&asked_view, 1};
    q.values = &value_output;
    q.found = &found_output;
    q.statistics = statistics.device;
    rates query = rates_of(rows, [&] { require(fast.hash->query(&q, &error), error); });
    std::vector<uint32_t> s = statistics.down();
    printf("%9u rows, %s: build %.1f, %.1f; query %.1f = %.0f %% of the gather, %.1f = %.0f %%; %.2f probes, "
           "longest %u\n",
           rows, stride == 2 ? "pairs" : "two arrays", build.alone, build.in_a_row, query.alone,
           100 * query.alone / floor.alone, query.in_a_row, 100 * query.in_a_row / floor.in_a_row,
           (double)s[2] / rows, s[3]);
}

/* GB a second that a copy inside the device reads and writes. */
static double copy_rate()
{
    both<float> from(1u << 27), to(1u << 27);
    double ms = milliseconds(
        [&] { MUST(cudaMemcpyAsync(to.device, from.device, 4ull << 27, cudaMemcpyDeviceToDevice, 0)); });
    return 2 * (4ull << 27) / ms / 1e6;
}

static void soft_bench(uint64_t batch, uint32_t rows, uint32_t columns, double launch_ms, double copy)
{
    dice d = {987654321};
    hspz_error error = {sizeof error, 0, 0, 0, ""};
    both<float> similarity(batch * rows * columns), scores(batch), flow(batch),
        gradient(batch * rows * columns);
    for (float &s : similarity.host)
        s = (float)(d.below(2000001) / 1e6 - 1);
    for (float &f : flow.host)
        f = 1;
    similarity.up();
    flow.up();
    hspz_soft_sw_request r = {};
    r.struct_size = sizeof r;
    r.device = HSPZ_DEVICE_CUDA;
    r.batch = batch;
    r.rows = rows;
    r.columns = columns;
    r.gap = -1;
    r.temperature = 1;
    r.similarity = similarity.device;
    r.scores = scores.device;
    r.score_gradient = flow.device;
    r.gradient = gradient.device;
    r.scratch_size = fast.soft->backward_scratch_size(&r);
    both<double> scratch(r.scratch_size / 8 + 2);
    r.scratch = scratch.device;
    double forward =
        milliseconds([&] { require(fast.soft->forward(&r, &error), error); }, batch < 1000 ? 50 : 1);
    double backward =
        milliseconds([&] { require(fast.soft->backward(&r, &error), error); }, batch < 1000 ? 50 : 1);
    double floor_ms = (double)batch * rows * columns * 4 / copy / 1e6;
    printf("%llu x %u x %u: forward %.4f ms (%.1f launches, %.2f x the bytes' %.4f), with gradient %.4f ms "
           "(%.2f x)\n",
           (unsigned long long)batch, rows, columns, forward, forward / launch_ms, forward / floor_ms,
           floor_ms, backward, backward / (2 * floor_ms));
}

int main(void)
{
    cudaDeviceProp properties;
    MUST(cudaGetDeviceProperties(&properties, 0));
    fast = load_plugin("hspz_plugin.so");
    printf("device: %s, %d multiprocessors\n", properties.name, properties.multiProcessorCount);
    printf("hash index, load 0.5, G rows/s, alone and %u in a row\n", IN_A_ROW);
    for (uint32_t rows : {1u << 20, 1u << 24}) {
        both<uint32_t> at(rows);
        dice d = {55555};
        for (uint32_t &a : at.host)
            a = (uint32_t)d.below(2 * (uint64_t)rows);
        at.up();
        rates four = gather_rates<uint32_t>(2 * rows, rows, at.device);
        rates eight = gather_rates<uint2>(2 * rows, rows, at.device);
        hash_bench(rows, 1, four);
        hash_bench(rows, 2, eight);
    }
    double launch = milliseconds([] { empty_kernel<<<1, 32>>>(); }, 100), copy = copy_rate();
    printf("soft Smith-Waterman; empty kernel back to back %.4f ms, copy %.0f GB/s\n", launch, copy);
    for (uint64_t batch : {16u, 256u, 4096u, 65536u})
        soft_bench(batch, 32, 32, launch, copy);
    soft_bench(16, 1024, 1024, launch, copy);
    soft_bench(1024, 128, 128, launch, copy);
    return 0;
}
