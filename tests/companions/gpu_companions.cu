/* gpu_companions.cu -- the CUDA side of the companion systems on a real device, against the oracle. Prints TAP.
 *
 * Idea: each case is made once in host memory, runs through the oracle there and through the plugin on its copy in device
 * memory, and must give the same map, pairs, counts, scores and gradients. The last cases capture whole calls into
 * CUDA graphs and replay them on changed contents of the same buffers.
 */
#include "gpu_companions.h"

#include <cfloat>
#include <cmath>

static plugin_sides oracle, fast;
static int cases, failures;

static void report(bool ok, const std::string &what)
{
    cases++;
    failures += !ok;
    printf("%s %d - %s\n", ok ? "ok" : "not ok", cases, what.c_str());
    fflush(stdout);
}

static void require(hspz_status status, const hspz_error &error)
{
    if (status != HSPZ_OK) {
        printf("Bail out! status %d: %s\n", status, error.text);
        exit(1);
    }
}

/* Hash index ---------------------------------------------------------------------------------------------- */

struct hash_shape {
    const char *name;
    uint64_t rows;
    uint32_t capacity, max_probe, stride, key_range, chunks;
    bool values, collide;
};

/* All buffers of a build, query and join. */
struct hash_case {
    hash_shape shape;
    both<uint32_t> keys, values, left, table, source, build_statistics, found_value, found, probes,
        query_statistics;
    both<uint32_t> pair_left, pair_right, pair_count, join_statistics;
    both<uint64_t> scratch;
    uint64_t pair_capacity;

    hash_case(const hash_shape &s, dice *d)
        : shape(s), keys(s.rows), values(s.rows), left(s.rows), table(2 * (size_t)s.capacity),
          source(s.capacity), build_statistics(6), found_value(s.rows), found(s.rows), probes(s.rows),
          query_statistics(4), pair_left(s.rows + 1), pair_right(s.rows + 1), pair_count(1),
          join_statistics(4), scratch(s.rows + 64), pair_capacity(s.rows / 3 + 1)
    {
        fill(d);
    }

    uint32_t key(dice *d) const
    {
        if (!shape.collide)
            return d->below(50) == 0 ? HSPZ_HASH_EMPTY_KEY
                                     : (uint32_t)d->below(shape.key_range) * 2654435761u;
        uint32_t k;
        do
            k = (uint32_t)d->next();
        while (hspz_hash_slot(k, shape.capacity) > 1);
        return k;
    }

    void fill(dice *d)
    {
        for (uint64_t i = 0; i < shape.rows; i++) {
            keys.host[i] = key(d);
            values.host[i] = (uint32_t)d->next() >> 1;
            left.host[i] = d->below(2) == 0 && i > 0 ? keys.host[d->below(i)] : key(d);
        }
        keys.up();
        values.up();
        left.up();
    }

    hspz_hash_table table_on(uint32_t side)
    {
        uint32_t *words = table.on(side);
        return {sizeof(hspz_hash_table),
                shape.capacity,
                shape.max_probe,
                shape.stride,
                words,
                shape.stride == 2 ? words + 1 : words + shape.capacity};
    }

    /* Ascending cuts; chunk c of `count` ends at cut(c). */
    uint64_t cut(uint64_t c, uint64_t count, uint64_t bend) const
    {
        return c >= count ? shape.rows
                          : (uint64_t)((double)shape.rows * std::pow((double)c / count, 1.0 + 0.2 * bend));
    }
    std::vector<hspz_u32_view> views(const uint32_t *data, uint64_t count, uint64_t bend) const
    {
        std::vector<hspz_u32_view> v;
        for (uint64_t c = 0, at = 0; c < count; c++) {
            v.push_back({data + at, cut(c + 1, count, bend) - at});
            at = cut(c + 1, count, bend);
        }
        return v;
    }
    std::vector<hspz_u32_range> ranges(uint32_t *data, uint64_t count, uint64_t bend) const
    {
        std::vector<hspz_u32_range> v;
        for (const hspz_u32_view &view : views(data, count, bend))
            v.push_back({(uint32_t *)view.data, view.count});
        return v;
    }

    void run_build(uint32_t side, cudaStream_t stream)
    {
        hspz_error error = {sizeof error, 0, 0, 0, ""};
        hspz_hash_table t = table_on(side);
        std::vector<hspz_u32_view> k = views(keys.on(side), shape.chunks, 0);
        std::vector<hspz_u32_view> v = views(values.on(side), shape.chunks * 2, 3);
        hspz_u32_list list = {v.data(), v.size()};
        hspz_hash_build r = {};
        r.struct_size = sizeof r;
        r.device = side;
        r.table = &t;
        r.keys = {k.data(), k.size()};
        r.values = shape.values ? &list : NULL;
        r.first_value = 17;
        r.statistics = build_statistics.on(side);
        r.scratch = source.on(side);
        r.scratch_size = (uint64_t)shape.capacity * 4;
        r.stream = stream;
        require((side == HSPZ_DEVICE_CUDA ? fast : oracle).hash->build(&r, &error), error);
    }

    void run_query(uint32_t side, cudaStream_t stream)
    {
        hspz_error error = {sizeof error, 0, 0, 0, ""};
        hspz_hash_table t = table_on(side);
        std::vector<hspz_u32_view> k = views(left.on(side), shape.chunks, 1);
        std::vector<hspz_u32_range> v = ranges(found_value.on(side), shape.chunks, 2);
        std::vector<hspz_u32_range> f = ranges(found.on(side), 1, 0),
                                    p = ranges(probes.on(side), shape.chunks, 4);
        hspz_u32_output vo = {v.data(), v.size()}, fo = {f.data(), f.size()}, po = {p.data(), p.size()};
        hspz_hash_query r = {};
        r.struct_size = sizeof r;
        r.device = side;
        r.table = &t;
        r.keys = {k.data(), k.size()};
        r.values = &vo;
        r.found = &fo;
        r.probes = &po;
        r.statistics = query_statistics.on(side);
        r.stream = stream;
        require((side == HSPZ_DEVICE_CUDA ? fast : oracle).hash->query(&r, &error), error);
    }

    void run_join(uint32_t side, cudaStream_t stream)
    {
        hspz_error error = {sizeof error, 0, 0, 0, ""};
        hspz_hash_table t = table_on(side);
        std::vector<hspz_u32_view> k = views(left.on(side), shape.chunks, 2);
        hspz_hash_join r = {};
        r.struct_size = sizeof r;
        r.device = side;
        r.table = &t;
        r.keys = {k.data(), k.size()};
        r.first_left = 1000;
        r.left_rows = pair_left.on(side);
        r.right_rows = pair_right.on(side);
        r.pair_capacity = pair_capacity;
        r.pair_count = pair_count.on(side);
        r.statistics = join_statistics.on(side);
        r.scratch = scratch.on(side);
        r.scratch_size = scratch.host.size() * 8;
        r.stream = stream;
        require((side == HSPZ_DEVICE_CUDA ? fast : oracle).hash->join(&r, &error), error);
    }

    void run(uint32_t side, cudaStream_t stream)
    {
        run_build(side, stream);
        run_query(side, stream);
        run_join(side, stream);
    }

    /* The device's results against the oracle's. With overflow only what is specified then. */
    bool agrees() const
    {
        std::vector<uint32_t> b = build_statistics.down(), q = query_statistics.down(),
                              j = join_statistics.down();
        const std::vector<uint32_t> &ob = build_statistics.host;
        if (b[0] + b[1] + b[2] + b[3] != shape.rows || b[3] != ob[3] || j != q)
            return false;
        if (ob[2] != 0) /* which keys are kept is open, how many is not, if all collide */
            return shape.collide ? b[0] == ob[0] && b[2] != 0 && b[5] == ob[5]
                                 : shape.max_probe != 0 || b[0] == shape.capacity;
        const uint64_t written = pair_count.host[0] < pair_capacity ? pair_count.host[0] : pair_capacity;
        std::vector<uint32_t> l = pair_left.down(), r = pair_right.down(), p = probes.down();
        uint64_t total = 0;
        uint32_t longest = 0;
        for (uint32_t n : p) {
            total += n;
            longest = n > longest ? n : longest;
        }
        return b[0] == ob[0] && b[1] == ob[1] && found_value.down() == found_value.host &&
               found.down() == found.host && q[0] == query_statistics.host[0] &&
               q[1] == query_statistics.host[1] && total == q[2] && longest == q[3] &&
               pair_count.down() == pair_count.host &&
               memcmp(l.data(), pair_left.host.data(), written * 4) == 0 &&
               memcmp(r.data(), pair_right.host.data(), written * 4) == 0 &&
               (written == shape.rows || l[written] == 0xa5a5a5a5u);
    }
};

static const hash_shape hash_shapes[] = {
    {"no rows", 0, 64, 0, 1, 10, 3, false, false},
    {"one row", 1, 1, 0, 2, 10, 1, true, false},
    {"duplicates across chunks", 30000, 16384, 300, 1, 5000, 7, true, false},
    {"pairs, generated values", 30000, 16384, 300, 2, 5000, 5, false, false},
    {"more chunks than a launch takes", 50000, 65536, 2000, 1, 40000, 130, true, false},
    {"pairs, more chunks than a launch takes", 50000, 65536, 2000, 2, 40000, 130, true, false},
    {"full table", 5000, 1024, 0, 1, 100000, 3, false, false},
    {"all keys collide", 3000, 4096, 0, 2, 0, 3, true, true},
    {"all keys collide and overflow", 3000, 4096, 50, 1, 0, 3, false, true},
    {"one probe", 20000, 65536, 1, 1, 30000, 2, false, false},
    {"one key", 100000, 1024, 16, 2, 1, 4, true, false},
    {"2^24 rows", 1u << 24, 1u << 25, 255, 2, 0xffffffffu, 1, false, false},
    {"2^24 rows in two arrays", 1u << 24, 1u << 25, 255, 1, 0xffffffffu, 3, true, false},
};

static void hash_cases(dice *d)
{
    for (const hash_shape &shape : hash_shapes) {
        hash_case c(shape, d);
        c.run(HSPZ_DEVICE_CPU, NULL);
        for (int round = 0; round < (shape.rows < 1000000 ? 5 : 1); round++) {
            c.run(HSPZ_DEVICE_CUDA, NULL);
            MUST(cudaDeviceSynchronize());
            if (round == 0 || !c.agrees())
                report(c.agrees(), std::string("hash index, ") + shape.name);
        }
    }
}

/* Batch build with bases and masks, batch join with own outputs per chunk. */
static void batch_case(dice *d)
{
    const uint64_t chunks = 120, most = 3000;
    hash_case c({"batch", chunks * most, 1u << 19, 1000, 2, 200000, 1, false, false}, d);
    both<uint32_t> valid(chunks * most), counts(chunks), statistics(4 * chunks);
    for (uint32_t &v : valid.host)
        v = (uint32_t)d->below(4);
    valid.up();
    hspz_error error = {sizeof error, 0, 0, 0, ""};
    std::vector<uint64_t> sizes;
    for (uint64_t i = 0; i < chunks; i++)
        sizes.push_back(i % 7 == 0 ? 0 : d->below(most));
    for (uint32_t side : {HSPZ_DEVICE_CPU, HSPZ_DEVICE_CUDA}) {
        const hspz_hash_index *hash = (side == HSPZ_DEVICE_CUDA ? fast : oracle).hash;
        std::vector<hspz_hash_batch_chunk> right;
        std::vector<hspz_hash_join_chunk> left;
        for (uint64_t i = 0, at = 0; i < chunks; i++, at += most) {
            const uint32_t *mask = i % 3 == 0 ? NULL : valid.on(side) + at;
            right.push_back({c.keys.on(side) + at, mask, sizes[i], (uint32_t)(i << 16), 0});
            left.push_back({c.left.on(side) + at, mask, sizes[i], (uint32_t)at, 0, c.pair_left.on(side) + at,
                            c.pair_right.on(side) + at, i % 5 == 0 ? 100 : most, counts.on(side) + i,
                            statistics.on(side) + 4 * i});
        }
        hspz_hash_table t = c.table_on(side);
        hspz_hash_batch_build b = {};
        b.struct_size = sizeof b;
        b.device = side;
        b.table = &t;
        b.chunks = right.data();
        b.chunk_count = chunks;
        b.chunk_stride = sizeof right[0];
        b.statistics = c.build_statistics.on(side);
        b.scratch = c.source.on(side);
        b.scratch_size = (uint64_t)t.capacity * 4;
        require(hash->batch_build(&b, &error), error);
        hspz_hash_batch_join j = {};
        j.struct_size = sizeof j;
        j.device = side;
        j.table = &t;
        j.chunks = left.data();
        j.chunk_count = chunks;
        j.chunk_stride = sizeof left[0];
        j.scratch = c.scratch.on(side);
        j.scratch_size = c.scratch.host.size() * 8;
        require(hash->batch_join(&j, &error), error);
    }
    MUST(cudaDeviceSynchronize());
    std::vector<uint32_t> b = c.build_statistics.down(), s = statistics.down();
    std::vector<uint32_t> l = c.pair_left.down(), r = c.pair_right.down();
    bool ok = b[0] == c.build_statistics.host[0] && b[1] == c.build_statistics.host[1] && b[2] == 0 &&
              b[3] == c.build_statistics.host[3] && counts.down() == counts.host;
    for (uint64_t i = 0; i < chunks; i++) {
        const uint64_t room = i % 5 == 0 ? 100 : most, n = counts.host[i] < room ? counts.host[i] : room;
        ok = ok && s[4 * i] == statistics.host[4 * i] && s[4 * i + 1] == statistics.host[4 * i + 1] &&
             memcmp(&l[i * most], &c.pair_left.host[i * most], n * 4) == 0 &&
             memcmp(&r[i * most], &c.pair_right.host[i * most], n * 4) == 0;
    }
    report(ok, "batch index and batch join");
}

/* Captures what `enqueue` does on a stream. */
template <typename F> static cudaGraphExec_t capture(cudaStream_t stream, F enqueue)
{
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    enqueue();
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    MUST(cudaGraphDestroy(graph));
    return executable;
}

static void hash_graph_case(dice *d)
{
    cudaStream_t stream;
    MUST(cudaStreamCreate(&stream));
    bool ok = true;
    for (uint32_t chunks : {3u, 100u}) {
        hash_case c({"graph", 200000, 1u << 18, 1000, 1 + chunks % 2, 150000, chunks, true, false}, d);
        cudaGraphExec_t graph = capture(stream, [&] { c.run(HSPZ_DEVICE_CUDA, stream); });
        for (int round = 0; round < 4; round++) {
            if (round > 0)
                c.fill(d);
            c.run(HSPZ_DEVICE_CPU, NULL);
            MUST(cudaGraphLaunch(graph, stream));
            MUST(cudaStreamSynchronize(stream));
            ok = ok && c.agrees();
        }
        MUST(cudaGraphExecDestroy(graph));
    }
    MUST(cudaStreamDestroy(stream));
    report(ok, "build, query and join in a CUDA graph, replayed on changed input");
}

/* Soft Smith-Waterman ------------------------------------------------------------------------------------------ */

struct soft_case {
    hspz_soft_sw_request shape;
    both<float> similarity, scores, flow, gradient;
    both<uint64_t> cells;

    soft_case(uint64_t batch, uint32_t rows, uint32_t columns, double gap, double temperature, double scale,
              dice *d)
        : shape(), similarity(batch * rows * columns), scores(batch), flow(batch),
          gradient(batch * rows * columns), cells(batch)
    {
        shape.struct_size = sizeof shape;
        shape.batch = batch;
        shape.rows = rows;
        shape.columns = columns;
        shape.gap = gap;
        shape.temperature = temperature;
        fill(scale, d);
    }

    void fill(double scale, dice *d)
    {
        for (float &s : similarity.host)
            s = (float)((d->below(2000001) / 1e6 - 1) * scale);
        for (float &f : flow.host)
            f = 1;
        similarity.up();
        flow.up();
    }

    void run(uint32_t side, bool backward, cudaStream_t stream)
    {
        hspz_error error = {sizeof error, 0, 0, 0, ""};
        const hspz_soft_sw *soft = (side == HSPZ_DEVICE_CUDA ? fast : oracle).soft;
        hspz_soft_sw_request r = shape;
        r.device = side;
        r.similarity = similarity.on(side);
        r.scores = scores.on(side);
        r.cells = cells.on(side);
        r.score_gradient = flow.on(side);
        r.gradient = gradient.on(side);
        r.stream = stream;
        r.scratch_size = backward ? soft->backward_scratch_size(&r) : soft->forward_scratch_size(&r);
        std::vector<double> host;
        if (side == HSPZ_DEVICE_CPU) {
            host.resize(r.scratch_size / 8 + 2);
            r.scratch = host.data();
        } else {
            if (work[backward] == NULL)
                MUST(cudaMalloc(&work[backward], r.scratch_size + 16));
            r.scratch = work[backward];
        }
        require(backward ? soft->backward(&r, &error) : soft->forward(&r, &error), error);
    }
    void *work[2] = {NULL, NULL};
    ~soft_case()
    {
        cudaFree(work[0]);
        cudaFree(work[1]);
    }

    bool agrees(std::string *why, bool backward) const
    {
        std::vector<float> s = scores.down(), g = gradient.down();
        std::vector<uint64_t> c = cells.down();
        const uint64_t one = (uint64_t)shape.rows * shape.columns;
        uint64_t different = 0;
        for (uint64_t b = 0; b < shape.batch; b++) {
            if (!(std::fabs((double)s[b] - scores.host[b]) <= 1e-5 * std::fabs(scores.host[b]) + FLT_MIN)) {
                *why = "score " + std::to_string(b) + " is " + std::to_string(s[b]) + ", not " +
                       std::to_string(scores.host[b]);
                return false;
            }
            if (c[b] != cells.host[b]) {
                different++;
                continue;
            }
            for (uint64_t k = b * one; backward && k < (b + 1) * one; k++)
                if (!(std::fabs((double)g[k] - gradient.host[k]) <= 1e-4)) {
                    *why = "gradient " + std::to_string(k) + " is " + std::to_string(g[k]) + ", not " +
                           std::to_string(gradient.host[k]);
                    return false;
                }
        }
        *why = std::to_string(different) + " nearly equal cells differ";
        return different <= shape.batch / 20 + 1;
    }
};

static void soft_cases(dice *d)
{
    static const struct {
        uint64_t batch;
        uint32_t rows, columns;
    } shapes[] = {{1, 1, 1},     {16, 32, 32},   {602, 32, 32},   {600, 5, 31},    {3, 33, 32}, {2, 100, 257},
                  {2, 1030, 70}, {300, 130, 70}, {3, 1024, 1024}, {1, 2500, 1501}, {5, 3, 900}};
    static const struct {
        double gap, temperature, scale;
    } kinds[] = {{-1, 1, 2}, {0.3, 0.5, 3}, {-0.5, 1e-3, 1000}, {-2, 1e3, 10}, {-9, 0.1, 5}, {1e10, 1, 1e30}};
    for (const auto &s : shapes)
        for (const auto &k : kinds) {
            soft_case c(s.batch, s.rows, s.columns, k.gap, k.temperature, k.scale, d);
            char name[160];
            std::string why;
            snprintf(name, sizeof name,
                     "soft Smith-Waterman %llu x %u x %u, gap %g, T %g, S %g: ", (unsigned long long)s.batch,
                     s.rows, s.columns, k.gap, k.temperature, k.scale);
            c.run(HSPZ_DEVICE_CPU, true, NULL);
            c.run(HSPZ_DEVICE_CUDA, false, NULL);
            MUST(cudaDeviceSynchronize());
            bool ok = c.agrees(&why, false);
            if (ok) {
                c.run(HSPZ_DEVICE_CUDA, true, NULL);
                MUST(cudaDeviceSynchronize());
                ok = c.agrees(&why, true);
            }
            report(ok, name + why);
        }
}

static void soft_graph_case(dice *d)
{
    cudaStream_t stream;
    MUST(cudaStreamCreate(&stream));
    bool ok = true;
    std::string why;
    static const struct {
        uint64_t batch;
        uint32_t rows, columns;
    } shapes[] = {{16, 32, 32}, {701, 32, 32}, {3, 500, 333}};
    for (const auto &s : shapes) {
        soft_case c(s.batch, s.rows, s.columns, -1, 1, 2, d);
        c.run(HSPZ_DEVICE_CUDA, true, stream); /* allocates its scratch */
        MUST(cudaStreamSynchronize(stream));
        cudaGraphExec_t graph = capture(stream, [&] { c.run(HSPZ_DEVICE_CUDA, true, stream); });
        for (int round = 0; round < 4; round++) {
            c.fill(round == 2 ? 300 : 2, d); /* the third needs scaled floats */
            c.run(HSPZ_DEVICE_CPU, true, NULL);
            MUST(cudaGraphLaunch(graph, stream));
            MUST(cudaStreamSynchronize(stream));
            ok = ok && c.agrees(&why, true);
        }
        MUST(cudaGraphExecDestroy(graph));
    }
    MUST(cudaStreamDestroy(stream));
    report(ok, "soft Smith-Waterman in a CUDA graph, replayed on changed input: " + why);
}

/* Blocks that wait for one another: many runs on two streams at once, beside a stream of small problems that take multiprocessors away; each
 * result must be the first's, bit by bit. */
static void soft_repeated_case(dice *d)
{
    soft_case a(16, 1024, 1024, -1, 1, 2, d), b(700, 200, 260, -1, 1, 2, d),
        small(60000, 32, 32, -1, 1, 2, d);
    cudaStream_t streams[3];
    for (cudaStream_t &s : streams)
        MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    a.run(HSPZ_DEVICE_CUDA, true, streams[0]);
    b.run(HSPZ_DEVICE_CUDA, true, streams[1]);
    small.run(HSPZ_DEVICE_CUDA, true, streams[2]);
    MUST(cudaDeviceSynchronize());
    const std::vector<float> wanted[4] = {a.scores.down(), a.gradient.down(), b.scores.down(),
                                          b.gradient.down()};
    bool ok = true;
    for (int round = 0; round < 20 && ok; round++) {
        MUST(cudaMemset(a.gradient.device, 0xff, a.gradient.host.size() * sizeof(float)));
        MUST(cudaMemset(b.gradient.device, 0xff, b.gradient.host.size() * sizeof(float)));
        MUST(cudaDeviceSynchronize());
        for (int k = 0; k < 10; k++) {
            small.run(HSPZ_DEVICE_CUDA, true, streams[2]);
            a.run(HSPZ_DEVICE_CUDA, k % 2 == 1, streams[0]);
            b.run(HSPZ_DEVICE_CUDA, k % 2 == 1, streams[1]);
        }
        MUST(cudaDeviceSynchronize());
        ok = a.scores.down() == wanted[0] && a.gradient.down() == wanted[1] && b.scores.down() == wanted[2] &&
             b.gradient.down() == wanted[3];
    }
    for (cudaStream_t s : streams)
        cudaStreamDestroy(s);
    report(ok, "soft Smith-Waterman, 200 runs on three streams at once give one result");
}

int main(void)
{
    dice d = {88172645463325252ull};
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("1..0 # SKIP no CUDA device\n");
        return 0;
    }
    oracle = load_plugin("hspz_oracle.so");
    fast = load_plugin("hspz_plugin.so");
    hash_cases(&d);
    batch_case(&d);
    hash_graph_case(&d);
    soft_cases(&d);
    soft_graph_case(&d);
    soft_repeated_case(&d);
    printf("1..%d\n", cases);
    return failures != 0;
}
