/* hash_index_join.cu -- joins: matching row pairs in stable order, compacted in one pass.
 *
 * Idea: a tile looks its rows up, counts its pairs and needs the number of pairs before it. Tiles are numbered by a ticket,
 * so that a tile only waits for tiles that have started; each publishes first its own count, then the sum up to its
 * end, in one 64-bit word, and a warp looks back over 32 words at a time until it meets a sum. Look-back stops at the
 * first tile of the group: a group is a whole join, or one chunk of a batch join. No second pass, no read back.
 */
#include "hash_index.cuh"

#define WARPS (HSPZ__BLOCK / 32u)
#define COUNTED (1ull << 62) /* the word holds the tile's own count */
#define SUMMED (2ull << 62)  /* the word holds the sum up to the tile's end */
#define CLEARED 160u         /* groups per clearing launch */

/* A span of a join and its group, as the kernel sees them. */
struct join_span {
    hspz__join_span rows;
    hspz__join_group group;
    uint32_t count;      /* rows.count */
    uint32_t group_tile; /* number of the group's first tile in the whole call */
    uint32_t closes;     /* the group's last span */
};

struct clear_list {
    uint32_t *statistics[CLEARED];
    uint32_t *pair_count[CLEARED];
    uint32_t count;
};

static __global__ void clear_groups(const clear_list list)
{
    const uint32_t i = threadIdx.x;
    if (i >= list.count)
        return;
    for (uint32_t k = 0; k < HSPZ_HASH_QUERY_STATISTICS; k++)
        list.statistics[i][k] = 0;
    *list.pair_count[i] = 0;
}

static __device__ __forceinline__ uint64_t load_word(const uint64_t *word)
{
    return *(const volatile uint64_t *)word;
}

/* Pairs of the group before `tile`; called by a whole warp. */
static __device__ uint32_t look_back(const uint64_t *words, uint32_t tile, uint32_t group_tile)
{
    uint32_t before = 0;
    for (int64_t nearest = (int64_t)tile - 1;; nearest -= 32) {
        const int64_t mine = nearest - hspz__lane();
        uint64_t word = SUMMED; /* before the group's first tile: sum 0 */
        if (mine >= (int64_t)group_tile)
            word = load_word(words + mine);
        while (__any_sync(HSPZ__FULL, word == 0))
            if (word == 0)
                word = load_word(words + mine);
        const uint32_t sums = __ballot_sync(HSPZ__FULL, (word & SUMMED) != 0);
        const uint32_t last = sums != 0 ? (uint32_t)__ffs((int)sums) - 1 : 31;
        before += hspz__warp_sum(hspz__lane() <= last ? (uint32_t)word : 0);
        if (sums != 0)
            return before;
    }
}

/* Exclusive prefix of the pairs of each (item, warp) of the block in row order, and their total. */
static __device__ __forceinline__ void order_pairs(const bool (&found)[HSPZ__ITEMS],
                                                   uint32_t (&place)[HSPZ__ITEMS], uint32_t *shared_counts,
                                                   uint32_t *total)
{
    const uint32_t warp = threadIdx.x / 32;
    for (uint32_t k = 0; k < HSPZ__ITEMS; k++) {
        const uint32_t hits = __ballot_sync(HSPZ__FULL, found[k]);
        place[k] = (uint32_t)__popc(hits & hspz__lanes_below());
        if (hspz__lane() == 0)
            shared_counts[k * WARPS + warp] = (uint32_t)__popc(hits);
    }
    __syncthreads();
    static_assert(HSPZ__ITEMS * WARPS == 32, "one warp scans the counts");
    if (warp == 0) {
        const uint32_t mine = shared_counts[hspz__lane()];
        const uint32_t prefix = hspz__warp_prefix(mine);
        shared_counts[hspz__lane()] = prefix - mine;
        if (hspz__lane() == 31)
            *total = prefix;
    }
    __syncthreads();
    for (uint32_t k = 0; k < HSPZ__ITEMS; k++)
        place[k] += shared_counts[k * WARPS + warp];
}

/* One block per tile. words[0] is the ticket counter, words[1 + tile] the tile's word. */
template <uint32_t STRIDE, uint32_t WINDOW>
static __global__ void __launch_bounds__(HSPZ__BLOCK)
    join_rows(const hspz__span_table<join_span> spans, const hspz__slots t, uint64_t *words,
              uint32_t launch_tile)
{
    __shared__ uint32_t shared_counts[32];
    __shared__ uint32_t shared_tile, shared_total, shared_before;
    if (threadIdx.x == 0)
        shared_tile = (uint32_t)atomicAdd((unsigned long long *)words, 1ull);
    __syncthreads();
    const uint32_t tile = shared_tile; /* in the whole call */
    const uint32_t s = hspz__span_of(spans, tile - launch_tile);
    const join_span &span = spans.span[s];
    const uint32_t first = hspz__tile_row(spans, s, tile - launch_tile) + threadIdx.x;
    uint32_t key[HSPZ__ITEMS], value[HSPZ__ITEMS], probes[HSPZ__ITEMS], place[HSPZ__ITEMS];
    bool found[HSPZ__ITEMS];
#pragma unroll
    for (uint32_t k = 0; k < HSPZ__ITEMS; k++) {
        const uint32_t at = first + k * HSPZ__BLOCK;
        key[k] = at < span.count ? span.rows.keys[at] : HSPZ_HASH_EMPTY_KEY;
        if (at < span.count && span.rows.valid != NULL && span.rows.valid[at] == 0)
            key[k] = HSPZ_HASH_EMPTY_KEY;
    }
    hspz__look_up<STRIDE, WINDOW>(t, key, value, probes, found);
    order_pairs(found, place, shared_counts, &shared_total);
    const uint32_t total = shared_total;
    if (threadIdx.x < 32) {
        if (hspz__lane() == 0)
            atomicExch((unsigned long long *)words + 1 + tile,
                       (tile == span.group_tile ? SUMMED : COUNTED) | total);
        const uint32_t before = look_back(words + 1, tile, span.group_tile);
        if (hspz__lane() == 0) {
            atomicExch((unsigned long long *)words + 1 + tile, SUMMED | (before + total));
            shared_before = before;
            if (span.closes && tile - launch_tile + 1 == spans.tile_end[s])
                *span.group.pair_count = before + total;
        }
    }
    __syncthreads();
    uint32_t counts[HSPZ_HASH_QUERY_STATISTICS] = {0, 0, 0, 0};
#pragma unroll
    for (uint32_t k = 0; k < HSPZ__ITEMS; k++) {
        const uint32_t at = first + k * HSPZ__BLOCK;
        const uint64_t pair = (uint64_t)shared_before + place[k];
        if (found[k] && pair < span.group.pair_capacity) {
            span.group.left_rows[pair] = span.rows.first_left + at;
            span.group.right_rows[pair] = value[k];
        }
        counts[HSPZ_HASH_FOUND] += found[k];
        counts[HSPZ_HASH_MISSING] += at < span.count && !found[k];
        counts[HSPZ_HASH_QUERY_PROBES] += probes[k];
        counts[HSPZ_HASH_QUERY_LONGEST] = max(counts[HSPZ_HASH_QUERY_LONGEST], probes[k]);
    }
    hspz__publish(span.group.statistics, counts);
}

static cudaError_t clear_all(const hspz__join_work *work, cudaStream_t stream)
{
    cudaError_t code = cudaSuccess;
    for (uint64_t g = 0; g < work->group_count && code == cudaSuccess;) {
        clear_list list = {};
        for (; g < work->group_count && list.count < CLEARED; g++, list.count++) {
            list.statistics[list.count] = work->groups[g].statistics;
            list.pair_count[list.count] = work->groups[g].pair_count;
        }
        code = HSPZ__LAUNCH(clear_groups, 1, CLEARED, 0, stream, list);
    }
    return code;
}

static uint32_t tiles_of(const hspz__join_span *span)
{
    return (uint32_t)(((uint64_t)span->count + HSPZ__TILE - 1) / HSPZ__TILE);
}

/* Spans from number `s` on, at most HSPZ__SPANS, for one launch. *tile and *group_tile run on from launch to launch. */
static uint32_t make_table(const hspz__join_work *work, uint64_t s, uint32_t tile, uint32_t *group_tile,
                           hspz__span_table<join_span> *table)
{
    join_span spans[HSPZ__SPANS];
    uint64_t left = work->span_count - s;
    const uint32_t count = left < HSPZ__SPANS ? (uint32_t)left : HSPZ__SPANS;
    for (uint32_t i = 0; i < count; i++, s++) {
        const hspz__join_span *rows = work->spans + s;
        if (s == 0 || work->spans[s - 1].group != rows->group)
            *group_tile = tile;
        const bool closes = s + 1 == work->span_count || work->spans[s + 1].group != rows->group;
        spans[i] = {*rows, work->groups[rows->group], rows->count, *group_tile, closes};
        tile += tiles_of(rows);
    }
    return hspz__fill_table(table, spans, count);
}

template <uint32_t STRIDE, uint32_t WINDOW>
static cudaError_t launch_join(const hspz__join_work *work, uint64_t *words, cudaStream_t stream)
{
    uint32_t tile = 0, group_tile = 0;
    cudaError_t code = cudaSuccess;
    for (uint64_t s = 0; s < work->span_count && code == cudaSuccess;) {
        hspz__span_table<join_span> table;
        s += make_table(work, s, tile, &group_tile, &table);
        const uint32_t grid = table.tile_end[table.count - 1];
        code = HSPZ__LAUNCH((join_rows<STRIDE, WINDOW>), grid, HSPZ__BLOCK, 0, stream, table, work->slots,
                            words, tile);
        tile += grid;
    }
    return code;
}

hspz_status hspz__cuda_join(const hspz__join_work *work, hspz_error *error)
{
    cudaStream_t stream = (cudaStream_t)work->stream;
    uint64_t *words = (uint64_t *)work->scratch, tiles = 0;
    for (uint64_t s = 0; s < work->span_count; s++)
        tiles += tiles_of(work->spans + s);
    cudaError_t code = clear_all(work, stream);
    if (code == cudaSuccess && tiles > 0)
        code = cudaMemsetAsync(words, 0, (1 + tiles) * sizeof *words, stream);
    const bool two = hspz__window_of(work->slots) == 2;
    if (code == cudaSuccess && work->slots.stride == 2)
        code = two ? launch_join<2, 2>(work, words, stream) : launch_join<2, 1>(work, words, stream);
    else if (code == cudaSuccess)
        code = two ? launch_join<1, 2>(work, words, stream) : launch_join<1, 1>(work, words, stream);
    return hspz__cuda_status(code, "hash index join", error);
}

uint64_t hspz__cuda_join_scratch(uint64_t tiles)
{
    return tiles == 0 ? 0 : (tiles + 1) * sizeof(uint64_t);
}
