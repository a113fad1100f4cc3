/* near.cu -- see near.h.
 *
 * Cost: marking reads the sorted items and scans to the left from the first item of each stretch; selecting costs a read of the target
 * position, which neighbours share, and one lookup in the table of cells, which the L2 holds; chains are rare.
 */
#include "join_list.cuh"
#include "near.h"
#include "scan.cuh"

#define BLOCK 256
#define CLOSE 256u       /* items of a diagonal no farther apart: everything between them is marked */
#define THREAD_SCAN 256u /* bases that a thread scans by itself */

/* ---- the tables */

__device__ __forceinline__ uint32_t mix(uint32_t x)
{
    x ^= x >> 15;
    x *= 0x2c1b3c6du;
    return x ^ x >> 13;
}

__device__ __forceinline__ uint32_t hash_cell(uint32_t slot, uint32_t cell)
{
    return mix(cell * 0x9e3779b1u + slot * 0x85ebca6bu);
}

__device__ __forceinline__ uint32_t hash_item(uint32_t r, uint32_t q)
{
    return mix(r * 0x9e3779b1u + q * 0x85ebca6bu);
}

/* The two bits of an entry, both in one word. */
__device__ __forceinline__ uint32_t bits_of(uint32_t hash)
{
    return 1u << (hash & 31u) | 1u << (hash >> 5 & 31u);
}

__device__ __forceinline__ bool has(const uint32_t *table, uint32_t shift, uint32_t hash)
{
    const uint32_t bits = bits_of(hash);
    return (__ldg(&table[hash >> shift]) & bits) == bits;
}

__device__ __forceinline__ void enter(uint32_t *table, uint32_t shift, uint32_t hash)
{
    const uint32_t bits = bits_of(hash);
    uint32_t *const word = &table[hash >> shift];
    if ((*(volatile uint32_t *)word & bits) != bits)
        atomicOr(word, bits);
}

__device__ __forceinline__ uint32_t cell_of(const hspz__cuda_near &near, uint32_t q)
{
    return (q - near.q_begin) >> HSPZ__NEAR_CELL;
}

/* Whether all hits at this place are recorded. */
__device__ __forceinline__ bool is_marked(const hspz__cuda_near &near, uint32_t slot, uint32_t q)
{
    return q >= near.q_tail || has(near.cells, near.shift, hash_cell(slot, cell_of(near, q)));
}

/* ---- marking */

/* What an item asks for: hits from `from` on recorded, from `decided` on decided, if that is not negative. */
struct wish {
    int64_t from, decided;
};

/* The item at q whose left scan reads `back` bases. */
__device__ __forceinline__ wish wish_of(const hspz__cuda_near &near, uint32_t window, uint32_t q,
                                        uint32_t back)
{
    const int64_t low = (int64_t)q - (back > window ? back : window); /* marks up to here are of no effect */
    wish w = {0, low - HSPZ__NEAR_READ};
    w.from = w.decided - 2 * (int64_t)near.reach; /* room for a gap, mostly */
    if (w.from <= (int64_t)near.q_begin) {        /* decided from the unit's begin on */
        w.from = near.q_begin;
        w.decided = -1;
    }
    return w;
}

/* Room for the left scan of an item, and whether marks from before the unit are known down to where it may read. */
__device__ __forceinline__ uint32_t left_room(const hspz__cuda_near &near, uint32_t r, uint32_t q,
                                              uint32_t mark, bool *known)
{
    uint32_t room = r < q ? r : q;
    *known = mark >= near.unsure;
    if (*known)
        room = q > mark ? (q - mark < room ? q - mark : room) : 0;
    return room;
}

template <typename V>
__global__ void mark_kernel(hspz__cuda_near near, const uint64_t *items, uint32_t count,
                            hspz__cuda_strand target, hspz__cuda_strand query, hspz__cuda_rules rules,
                            const uint32_t *marks, uint64_t *requests, hspz__cuda_counters *counters)
{
    __shared__ int32_t scores[HSPZ__CLASSES * HSPZ__ROW];
    for (unsigned i = threadIdx.x; i < HSPZ__CLASSES * HSPZ__ROW; i += blockDim.x)
        scores[i] = rules.scores[i];
    __syncthreads();
    const unsigned lane = hspz__lane();
    const uint32_t window = near.reach - HSPZ__NEAR_READ;
    for (uint64_t base = hspz__thread() / 32 * 32; base < count; base += hspz__threads()) {
        const uint64_t i = base + lane;
        const bool have = i < count;
        const uint64_t key = have ? items[i] : 0, before = have && i > 0 ? items[i - 1] : 0;
        const uint32_t r = (uint32_t)key, q = hspz__key_query(key, query.length),
                       slot = (r - q) & (HSPZ__MARK_SLOTS - 1);
        const bool follows = have && i > 0 && hspz__same_diagonal(before, key, query.length);
        const uint32_t gap = follows ? r - (uint32_t)before : UINT32_MAX;
        bool known = true;
        uint32_t room = 0, back = 0;
        if (have && gap > CLOSE) {
            room = left_room(near, r, q, marks[slot], &known);
            room = gap < room ? gap : room;
            back = hspz__short_read<true, V>(target, query, scores, rules.xdrop, r, q, room, THREAD_SCAN);
        }
        for (unsigned todo = __ballot_sync(HSPZ__FULL, back > THREAD_SCAN); todo != 0; todo &= todo - 1) {
            const unsigned who = (unsigned)__ffs(todo) - 1;
            const uint32_t read =
                hspz__warp_scan<true, V>(target, query, scores, rules.xdrop, __shfl_sync(HSPZ__FULL, r, who),
                                         __shfl_sync(HSPZ__FULL, q, who), __shfl_sync(HSPZ__FULL, room, who))
                    .read;
            back = lane == who ? read : back;
        }
        /* A scan that gets to the item before on the diagonal goes no farther than that one's own. */
        const bool joined = have && (gap <= CLOSE || (follows && back >= gap));
        wish w = {0, -1};
        if (joined) {
            w.from = (int64_t)q - gap < (int64_t)near.q_begin ? near.q_begin : (int64_t)q - gap;
        } else if (have) {
            w = wish_of(near, window, q, back);
            const uint32_t low = q - (back > window ? back : window);
            if (!known && low < near.unsure)
                atomicAdd(&counters->lost, 1ull);
        }
        if (have) {
            enter(near.items, near.shift, hash_item(r, q));
            for (uint32_t cell = cell_of(near, (uint32_t)w.from); cell <= cell_of(near, q); cell++)
                enter(near.cells, near.shift, hash_cell(slot, cell));
        }
        const unsigned asks = __ballot_sync(HSPZ__FULL, w.decided >= 0);
        unsigned long long at = 0;
        if (lane == 0 && asks != 0)
            at = atomicAdd(&counters->requests, (unsigned long long)__popc(asks));
        at = __shfl_sync(HSPZ__FULL, at, 0);
        if (w.decided >= 0)
            requests[at + __popc(asks & hspz__lanes_below())] = (uint64_t)slot << 48 | (uint64_t)w.decided;
    }
}

cudaError_t hspz__cuda_near_mark(const hspz__cuda_near *near, const uint64_t *items, uint32_t count,
                                 const hspz__cuda_strand *target, const hspz__cuda_strand *query,
                                 const hspz__cuda_rules *rules, const uint32_t *marks, uint64_t *requests,
                                 hspz__cuda_counters *counters, cudaStream_t stream)
{
    const hspz__cuda_near n = *near;
    const hspz__cuda_strand t = *target, q = *query;
    const hspz__cuda_rules u = *rules;
    const unsigned grid = hspz__grid(count, BLOCK, 1u << 16);
    if (rules->wide)
        return HSPZ__LAUNCH(mark_kernel<int64_t>, grid, BLOCK, 0, stream, n, items, count, t, q, u, marks,
                            requests, counters);
    return HSPZ__LAUNCH(mark_kernel<int32_t>, grid, BLOCK, 0, stream, n, items, count, t, q, u, marks,
                        requests, counters);
}

/* ---- selecting */

#define QUEUE 64u
#define ROUNDS 2 /* hits a lane has in flight */

struct near_space {
    uint32_t start[HSPZ__LIST_ENTRIES], delta[HSPZ__LIST_ENTRIES];
    uint64_t records[QUEUE];
    uint8_t meta[HSPZ__LIST_ENTRIES]; /* query 4 bits, variant 4 */
};

__device__ __forceinline__ void note_entry(const hspz__cuda_join &, near_space *space, unsigned at,
                                           uint32_t query, uint32_t variant)
{
    space->meta[at] = (uint8_t)(query | variant << 4);
}

/* Writes the last `count` of *queued records. */
__device__ void flush_records(const hspz__cuda_join &j, near_space *space, unsigned *queued, unsigned count,
                              uint32_t capacity)
{
    const unsigned lane = hspz__lane();
    unsigned long long at = 0;
    __syncwarp();
    if (lane == 0)
        at = atomicAdd(&j.counters->written, (unsigned long long)count);
    at = __shfl_sync(HSPZ__FULL, at, 0);
    if (lane < count && at + lane < capacity)
        j.records[at + lane] = space->records[*queued - count + lane];
    *queued -= count;
    __syncwarp();
}

struct near_hit {
    uint32_t r, q, variant;
    bool active;
};

/* Hits first .. first + 31 of the list, one a lane; *current is the entry of the first. `own`: the position of the lane's window. */
__device__ __forceinline__ near_hit locate(const hspz__cuda_join &j, const near_space *space,
                                           const hspz__list &l, uint32_t first, uint32_t own,
                                           uint32_t *current)
{
    const unsigned lane = hspz__lane();
    const uint32_t look = *current + 1 + lane;
    const uint32_t ahead = look < l.entries ? space->start[look] - first : 32;
    const unsigned begins = hspz__warp_or(ahead < 32 ? 1u << ahead : 0u);
    const uint32_t entry = *current + __popc(begins & hspz__lanes_upto());
    *current += __popc(begins);
    near_hit h = {0, 0, 0, first + lane < l.hits};
    const uint32_t meta = h.active ? space->meta[entry] : 0;
    if (h.active)
        h.r = j.index.positions[space->delta[entry] + first + lane] + j.word.window;
    h.q = __shfl_sync(HSPZ__FULL, own, meta & 15u);
    h.variant = meta >> 4;
    return h;
}

template <bool PARTS>
__global__ void __launch_bounds__(BLOCK)
    select_kernel(hspz__cuda_join j, hspz__cuda_near near, uint32_t capacity)
{
    __shared__ near_space spaces[BLOCK / 32];
    near_space *const space = &spaces[threadIdx.x / 32];
    const unsigned lane = hspz__lane();
    const uint32_t windows = (uint32_t)j.counters->windows;
    unsigned queued = 0, items = 0;
    hspz__list l;
    uint32_t base;
    while (hspz__next_list<PARTS>(j, windows, space, &l, &base)) {
        uint32_t own = 0, current = 0;
        if (lane < HSPZ__LIST_WINDOWS && base + lane < windows)
            own = j.query_windows[base + lane] + j.word.window;
        for (uint32_t first = 0; first < l.hits; first += 32 * ROUNDS) {
            near_hit h[ROUNDS];
            bool take[ROUNDS];
#pragma unroll
            for (int k = 0; k < ROUNDS; k++)
                h[k] = locate(j, space, l, first + 32 * k, own, &current);
#pragma unroll
            for (int k = 0; k < ROUNDS; k++)
                take[k] = h[k].active && is_marked(near, (h[k].r - h[k].q) & (HSPZ__MARK_SLOTS - 1), h[k].q);
#pragma unroll
            for (int k = 0; k < ROUNDS; k++) {
                const unsigned who = __ballot_sync(HSPZ__FULL, take[k]);
                if (who == 0)
                    continue;
                const bool item = take[k] && has(near.items, near.shift, hash_item(h[k].r, h[k].q));
                items += __popc(__ballot_sync(HSPZ__FULL, item));
                if (take[k])
                    space->records[queued + __popc(who & hspz__lanes_below())] =
                        hspz__mark_record(&j.layout, h[k].r, h[k].q, h[k].variant,
                                          item ? HSPZ__MARK_LONG : HSPZ__NEAR_READ, 0, item);
                queued += __popc(who);
                if (queued >= 32)
                    flush_records(j, space, &queued, 32, capacity);
            }
        }
    }
    if (queued > 0)
        flush_records(j, space, &queued, queued, capacity);
    if (lane == 0 && items > 0)
        atomicAdd(&j.counters->candidates, (unsigned long long)items);
}

cudaError_t hspz__cuda_near_select(const hspz__cuda_join *join, const hspz__cuda_near *near, int parts,
                                   unsigned blocks, uint32_t capacity, cudaStream_t stream)
{
    const hspz__cuda_join j = *join;
    const hspz__cuda_near n = *near;
    if (parts)
        return HSPZ__LAUNCH(select_kernel<true>, blocks, BLOCK, 0, stream, j, n, capacity);
    return HSPZ__LAUNCH(select_kernel<false>, blocks, BLOCK, 0, stream, j, n, capacity);
}

/* ---- chains */

#define LANE_BUCKET 64u /* longer buckets are searched by the whole warp */

struct chase {
    hspz__cuda_near near;
    uint32_t slot, capacity;
};

__device__ void append_hit(const hspz__cuda_join &j, const chase &c, uint32_t r, uint32_t q, uint32_t variant)
{
    if (is_marked(c.near, c.slot, q)) /* recorded already */
        return;
    const unsigned long long at = atomicAdd(&j.counters->written, 1ull);
    if (at < c.capacity)
        j.records[at] = hspz__mark_record(&j.layout, r, q, variant, HSPZ__NEAR_READ, 0, 0);
}

/* The hits of one bucket with the window at q that lie in the slot, by the whole warp: each position is looked at, or each place of the
 * slot looked up, whichever is less. True when there are any. */
__device__ bool search_bucket(const hspz__cuda_join &j, const chase &c, uint32_t first, uint32_t length,
                              uint32_t q, uint32_t variant)
{
    const uint32_t *const bucket = j.index.positions + first;
    const uint32_t window = j.word.window, places = (j.target.length >> HSPZ__MARK_SLOT_BITS) + 1;
    bool found = false;
    if (length / 16 < places) {
        for (uint32_t k = hspz__lane(); k < length; k += 32) {
            const uint32_t r = bucket[k] + window;
            if (((r - q) & (HSPZ__MARK_SLOTS - 1)) != c.slot)
                continue;
            append_hit(j, c, r, q, variant);
            found = true;
        }
        return __any_sync(HSPZ__FULL, found);
    }
    for (uint32_t k = hspz__lane(); k < places; k += 32) {
        const uint64_t r = (uint64_t)k << HSPZ__MARK_SLOT_BITS | ((c.slot + q) & (HSPZ__MARK_SLOTS - 1));
        if (r < window || r > j.target.length)
            continue;
        uint32_t low = 0, high = length;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (bucket[middle] < (uint32_t)r - window)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == length || bucket[low] != (uint32_t)r - window)
            continue;
        append_hit(j, c, (uint32_t)r, q, variant);
        found = true;
    }
    return __any_sync(HSPZ__FULL, found);
}

/* Whether the slot has hits at position q, which may differ from lane to lane; appends those that are not recorded. */
__device__ bool search_window(const hspz__cuda_join &j, const chase &c, int64_t q)
{
    const uint32_t window = j.word.window;
    const bool valid = q >= (int64_t)c.near.q_begin && q <= (int64_t)j.query.length &&
                       hspz__window_valid(j.query.classes, (uint32_t)q - window, window);
    const uint32_t word = valid ? hspz__word_at(j.word, j.query.codes, (uint32_t)q - window) : 0;
    bool found = false;
    for (uint32_t v = 0; v < j.word.variant_count; v++) {
        uint32_t first = 0;
        const uint32_t length = valid ? hspz__bucket(j.index, word ^ j.word.variant_mask[v], &first) : 0;
        for (uint32_t k = 0; length <= LANE_BUCKET && k < length; k++) {
            const uint32_t r = j.index.positions[first + k] + window;
            if (((r - (uint32_t)q) & (HSPZ__MARK_SLOTS - 1)) != c.slot)
                continue;
            append_hit(j, c, r, (uint32_t)q, v);
            found = true;
        }
        for (unsigned todo = __ballot_sync(HSPZ__FULL, length > LANE_BUCKET); todo != 0; todo &= todo - 1) {
            const unsigned who = (unsigned)__ffs(todo) - 1;
            const bool any =
                search_bucket(j, c, __shfl_sync(HSPZ__FULL, first, who), __shfl_sync(HSPZ__FULL, length, who),
                              __shfl_sync(HSPZ__FULL, (uint32_t)q, who), v);
            found = found || (any && hspz__lane() == who);
        }
    }
    return found;
}

/* Follows the chain of the hit at x back to a gap, or to the unit's begin. reach is more than 32: the hits of a round are one chain. */
__device__ void follow_chain(const hspz__cuda_join &j, const chase &c, int64_t x)
{
    for (int64_t top = x - 1; top >= (int64_t)c.near.q_begin && top > x - (int64_t)c.near.reach; top -= 32) {
        const int64_t q = top - hspz__lane();
        const bool found = search_window(j, c, q);
        const unsigned all = __ballot_sync(HSPZ__FULL, found);
        if (__any_sync(HSPZ__FULL, found && q > x - (int64_t)c.near.reach))
            x = top - (31 - __ffs(__brev(all)) + 1);
    }
}

/* The place before which the records of the slot leave a chain open that reaches `decided`; -1: none. Everything from decided - 2 * reach
 * on is recorded. */
__device__ int64_t open_chain(const hspz__cuda_join &j, const hspz__cuda_near &near, const uint32_t *ends,
                              uint32_t slot, int64_t decided)
{
    const uint32_t first = slot > 0 ? ends[slot - 1] : 0;
    const int64_t reach = near.reach, enough = decided - reach; /* a gap before a hit from here on is seen */
    uint32_t low = first, high = ends[slot];
    while (low < high) { /* the first hit that must be decided */
        const uint32_t middle = low + (high - low) / 2;
        if ((int64_t)hspz__mark_query(&j.layout, j.records[middle]) < decided)
            low = middle + 1;
        else
            high = middle;
    }
    int64_t x = decided;
    for (; low > first && x >= enough; low--) {
        const int64_t q = hspz__mark_query(&j.layout, j.records[low - 1]);
        if (q + reach <= x)
            return -1;
        x = q;
    }
    return x < enough ? x : -1;
}

__global__ void chains_kernel(hspz__cuda_join j, hspz__cuda_near near, const uint32_t *ends,
                              const uint64_t *requests, uint32_t most, uint32_t capacity)
{
    const uint64_t asked = j.counters->requests < most ? j.counters->requests : most;
    const bool tail = near.q_tail != UINT32_MAX && near.q_tail > near.q_begin;
    const uint64_t count = asked + (tail ? HSPZ__MARK_SLOTS : 0);
    for (uint64_t base = hspz__thread() / 32 * 32; base < count; base += hspz__threads()) {
        const uint64_t i = base + hspz__lane();
        uint32_t slot = 0;
        int64_t open = -1;
        if (i < count) {
            slot = i < asked ? (uint32_t)(requests[i] >> 48) : (uint32_t)(i - asked);
            open = open_chain(j, near, ends, slot,
                              i < asked ? (int64_t)(requests[i] & 0xffffffffffffu)
                                        : (int64_t)near.q_tail + 2 * (int64_t)near.reach);
        }
        for (unsigned todo = __ballot_sync(HSPZ__FULL, open >= 0); todo != 0; todo &= todo - 1) {
            const unsigned who = (unsigned)__ffs(todo) - 1;
            const chase c = {near, __shfl_sync(HSPZ__FULL, slot, who), capacity};
            follow_chain(j, c, __shfl_sync(HSPZ__FULL, open, who));
        }
    }
}

cudaError_t hspz__cuda_near_chains(const hspz__cuda_join *join, const hspz__cuda_near *near,
                                   const uint32_t *slot_ends, uint32_t count, const uint64_t *requests,
                                   uint32_t most, uint32_t capacity, cudaStream_t stream)
{
    const hspz__cuda_join j = *join;
    const hspz__cuda_near n = *near;
    if (count == 0) /* no hits, no chains */
        return cudaSuccess;
    return HSPZ__LAUNCH(chains_kernel, hspz__grid((uint64_t)most + HSPZ__MARK_SLOTS, BLOCK, 1u << 14), BLOCK,
                        0, stream, j, n, slot_ends, requests, most, capacity);
}

__global__ void repeats_kernel(const uint64_t *records, uint32_t count, hspz__cuda_counters *counters)
{
    for (uint64_t base = hspz__thread() / 32 * 32; base < count; base += hspz__threads()) {
        const uint64_t i = base + hspz__lane();
        const unsigned who =
            __ballot_sync(HSPZ__FULL, i > 0 && i < count && records[i] == records[i - (i > 0)]);
        if (hspz__lane() == 0 && who != 0)
            atomicAdd(&counters->skipped, 0ull - __popc(who));
    }
}

cudaError_t hspz__cuda_near_repeats(const uint64_t *records, uint32_t count, hspz__cuda_counters *counters,
                                    cudaStream_t stream)
{
    return HSPZ__LAUNCH(repeats_kernel, hspz__grid(count, BLOCK, 1u << 16), BLOCK, 0, stream, records, count,
                        counters);
}
