/* join.cu -- see join.h.
 *
 * A warp takes 8 query windows that are neighbours in word order, looks up the buckets of all their variants, lists the
 * non-empty ones, and then goes through the hits of the list 32 at a time: which entry a hit belongs to follows from one
 * OR over the warp, so that no lane idles however short the buckets are. All lanes run the same straight line of
 * table steps. The few hits whose scan has not ended within the context wait in a queue in shared memory; 32 of them at a
 * time go on along the packed sequences. What the filter cannot reject is collected and written 32 keys at a time.
 *
 * Cost: about 15 shared-memory lookups and 200 instructions a hit; device memory is read 3 to 11 bytes a hit. The table
 * (64 KiB) and the lists leave room for one block of up to 32 warps on an SM.
 */
#include "filter.cuh"
#include "join_list.cuh"

#define QUEUE 64u
#define MOST_WARPS 32

struct warp_space {
    uint32_t start[HSPZ__LIST_ENTRIES]; /* first hit of the entry in the list */
    uint32_t delta[HSPZ__LIST_ENTRIES]; /* index of a hit's target position less the hit's number */
    uint32_t meta[HSPZ__LIST_ENTRIES];  /* query 4 bits, window_best 14, window_sum 14 signed */
    uint32_t r[QUEUE], q[QUEUE], best[QUEUE];
    int32_t right_m[QUEUE], right_h[QUEUE], left_m[QUEUE], left_h[QUEUE];
    uint64_t found[QUEUE];
};

/* What records need besides. */
struct marks_space : warp_space {
    uint32_t bound[QUEUE], place[QUEUE]; /* of pending hits: bases read at most; index of the record */
    uint8_t variant[HSPZ__LIST_ENTRIES], pending_variant[QUEUE];
};

struct queues {
    unsigned pending, found; /* found, with records: how many may survive */
};

size_t hspz__cuda_join_shared(unsigned warps, int marks)
{
    return HSPZ__FILTER_ENTRIES * sizeof(uint32_t) +
           warps * (marks ? sizeof(marks_space) : sizeof(warp_space));
}

template <bool MARKS> struct space_of {
    typedef warp_space type;
};
template <> struct space_of<true> {
    typedef marks_space type;
};

__device__ __forceinline__ uint32_t meta_of(const hspz__cuda_filter &f, uint32_t query, uint32_t variant)
{
    return query | (uint32_t)f.window_best[variant] << 4 | (uint32_t)f.window_sum[variant] << 18;
}

/* Only marks_space has variants. */
__device__ __forceinline__ void note_entry(const hspz__cuda_join &j, warp_space *space, unsigned at,
                                           uint32_t query, uint32_t variant)
{
    space->meta[at] = meta_of(j.filter, query, variant);
}

__device__ __forceinline__ void note_entry(const hspz__cuda_join &j, marks_space *space, unsigned at,
                                           uint32_t query, uint32_t variant)
{
    space->meta[at] = meta_of(j.filter, query, variant);
    space->variant[at] = (uint8_t)variant;
}

__device__ __forceinline__ uint32_t entry_at(const uint32_t *table, uint32_t byte_offset)
{
    return *(const uint32_t *)((const unsigned char *)table + byte_offset);
}

/* Two fields of a word of XORed contexts. */
__device__ __forceinline__ uint32_t low_field(uint32_t x)
{
    return x & 0xfffcu;
}

__device__ __forceinline__ uint32_t high_field(uint32_t x)
{
    return x >> 16;
}

enum { REJECTED, FOUND, PENDING };

struct trial {
    hspz__side right, left;
    int32_t best;   /* left side within the window, at most */
    uint32_t bound; /* with records: bases that the right scan reads, at most */
};

/* The straight line: all fields of the context. */
template <bool MARKS>
__device__ __forceinline__ int try_hit(const hspz__cuda_filter &f, const uint32_t *table, const uint4 *target,
                                       const uint4 *query, uint32_t meta, trial *t)
{
    const uint4 ta = __ldg(target), tb = __ldg(target + 1), qa = __ldg(query), qb = __ldg(query + 1);
    const uint32_t x0 = ta.x ^ qa.x, x1 = ta.y ^ qa.y, x2 = ta.z ^ qa.z, x3 = ta.w ^ qa.w;
    const uint32_t x4 = tb.x ^ qb.x, x5 = tb.y ^ qb.y, x6 = tb.z ^ qb.z, x7 = tb.w ^ qb.w;
    const int32_t headroom = f.headroom;

    int32_t sum;
    int32_t best = (int32_t)hspz__filter_sum_best(entry_at(table, low_field(x0)), &sum);
    if (f.dont_care > HSPZ__FILTER_BLOCK) {
        int32_t more;
        const int32_t other = (int32_t)hspz__filter_sum_best(entry_at(table, high_field(x0)), &more) + sum;
        best = other > best ? other : best;
        sum += more;
    }
    sum += (int32_t)meta >> 18;
    t->best = best + (int32_t)(meta >> 4 & 0x3fffu);

    uint32_t stood = 0; /* right blocks after which the scan went on */
    t->right.m = 0;
    t->right.h = headroom;
    t->left.m = sum > 0 ? sum : 0;
    t->left.h = headroom + (sum < 0 ? sum : 0);
    hspz__side_step(&t->right, entry_at(table, low_field(x1)), headroom);
    stood += MARKS && t->right.h >= 0;
    hspz__side_step(&t->left, entry_at(table, high_field(x4)), headroom);
    hspz__side_step(&t->right, entry_at(table, high_field(x1)), headroom);
    stood += MARKS && t->right.h >= 0;
    hspz__side_step(&t->left, entry_at(table, low_field(x5)), headroom);
    hspz__side_step(&t->right, entry_at(table, low_field(x2)), headroom);
    stood += MARKS && t->right.h >= 0;
    hspz__side_step(&t->left, entry_at(table, high_field(x5)), headroom);
    hspz__side_step(&t->right, entry_at(table, high_field(x2)), headroom);
    stood += MARKS && t->right.h >= 0;
    hspz__side_step(&t->left, entry_at(table, low_field(x6)), headroom);
    hspz__side_step(&t->right, entry_at(table, low_field(x3)), headroom);
    stood += MARKS && t->right.h >= 0;
    hspz__side_step(&t->left, entry_at(table, high_field(x6)), headroom);
    hspz__side_step(&t->right, entry_at(table, high_field(x3)), headroom);
    stood += MARKS && t->right.h >= 0;
    hspz__side_step(&t->left, entry_at(table, low_field(x7)), headroom);
    hspz__side_step(&t->right, entry_at(table, low_field(x4)), headroom);
    stood += MARKS && t->right.h >= 0;
    hspz__side_step(&t->left, entry_at(table, high_field(x7)), headroom);

    t->bound =
        stood < HSPZ__FILTER_SIDE && (x0 & 3u) == 0 ? HSPZ__FILTER_BLOCK * (stood + 1) : HSPZ__MARK_LONG;
    const int32_t left = t->left.m > t->best ? t->left.m : t->best;
    if ((x0 & 3u) != 0 || t->right.m + left >= f.keep)
        return FOUND;
    return t->right.h >= 0 || t->left.h >= 0 ? PENDING : REJECTED;
}

/* Writes the last `count` keys found. */
__device__ void flush_found(const hspz__cuda_join &j, warp_space *space, queues *queue, unsigned count)
{
    const unsigned lane = hspz__lane();
    unsigned long long at = 0;
    __syncwarp();
    if (lane == 0)
        at = atomicAdd(&j.counters->candidates, (unsigned long long)count);
    at = __shfl_sync(HSPZ__FULL, at, 0);
    if (lane < count && at + lane < j.capacity)
        j.keys[at + lane] = space->found[queue->found - count + lane];
    queue->found -= count;
    __syncwarp();
}

__device__ __forceinline__ void push_found(const hspz__cuda_join &j, warp_space *space, queues *queue,
                                           bool push, uint32_t r, uint32_t q)
{
    const unsigned who = __ballot_sync(HSPZ__FULL, push);
    if (who == 0)
        return;
    if (push)
        space->found[queue->found + __popc(who & hspz__lanes_below())] = HSPZ__CUDA_KEY(r, q, j.query.length);
    queue->found += __popc(who);
    if (queue->found >= 32)
        flush_found(j, space, queue, 32);
}

/* Writes the record of a hit. */
__device__ __forceinline__ void write_record(const hspz__cuda_join &j, uint32_t place, uint32_t r, uint32_t q,
                                             uint32_t variant, uint32_t bound, bool maybe)
{
    j.records[place] = hspz__mark_record(&j.layout, r, q, variant, bound, 0, maybe);
}

/* What becomes of pending hits: keys of those found, or the records of all. */
__device__ __forceinline__ void settle(const hspz__cuda_join &j, warp_space *space, queues *queue, unsigned,
                                       bool, bool found, uint32_t r, uint32_t q, uint32_t)
{
    push_found(j, space, queue, found, r, q);
}

__device__ __forceinline__ void settle(const hspz__cuda_join &j, marks_space *space, queues *queue,
                                       unsigned at, bool mine, bool found, uint32_t r, uint32_t q,
                                       uint32_t bound)
{
    if (!mine)
        return;
    const uint32_t before = space->bound[at];
    bound = before < bound ? before : bound;
    write_record(j, space->place[at], r, q, space->pending_variant[at],
                 bound < HSPZ__MARK_LONG ? bound : HSPZ__MARK_LONG, found);
    queue->found += found;
}

/* Takes the last `count` pending hits to their end. */
template <typename S>
__device__ void work_pending(const hspz__cuda_join &j, const uint32_t *table, S *space, queues *queue,
                             unsigned count)
{
    const unsigned lane = hspz__lane(), at = queue->pending - count + lane;
    bool found = false;
    uint32_t r = 0, q = 0, bound = HSPZ__MARK_LONG;
    bool endless = false; /* the right scan goes on beyond every bound */
    __syncwarp();
    if (lane < count) {
        hspz__side right = {space->right_m[at], space->right_h[at]},
                   left = {space->left_m[at], space->left_h[at]};
        const int32_t best = (int32_t)space->best[at];
        r = space->r[at];
        q = space->q[at];
        uint32_t off = HSPZ__FILTER_SIDE * HSPZ__FILTER_BLOCK;
        endless = right.h >= 0;
        while (!found && (right.h >= 0 || left.h >= 0)) {
            if (right.h >= 0) {
                found =
                    hspz__filter_on<false>(j.target, j.query, table, j.filter.headroom, &right, r, q, off);
                bound = right.h < 0 ? off + 14 : HSPZ__MARK_LONG;
                endless = bound >= HSPZ__MARK_LONG;
            }
            if (left.h >= 0)
                found = hspz__filter_on<true>(j.target, j.query, table, j.filter.headroom, &left,
                                              r - j.word.window, q - j.word.window, off) ||
                        found;
            off += 14;
            if (right.m + (left.m > best ? left.m : best) >= j.filter.keep)
                found = true;
        }
    }
    settle(j, space, queue, at, lane < count, found || (j.keep_long && endless), r, q, bound);
    queue->pending -= count;
    __syncwarp();
}

__device__ __forceinline__ void note_pending(warp_space *, unsigned, uint32_t, uint32_t, uint32_t)
{
}

__device__ __forceinline__ void note_pending(marks_space *space, unsigned at, uint32_t bound, uint32_t place,
                                             uint32_t variant)
{
    space->bound[at] = bound;
    space->place[at] = place;
    space->pending_variant[at] = (uint8_t)variant;
}

template <typename S>
__device__ __forceinline__ void push_pending(const hspz__cuda_join &j, const uint32_t *table, S *space,
                                             queues *queue, bool push, const trial &t, uint32_t r, uint32_t q,
                                             uint32_t place, uint32_t variant)
{
    const unsigned who = __ballot_sync(HSPZ__FULL, push);
    if (who == 0)
        return;
    if (push) {
        const unsigned at = queue->pending + __popc(who & hspz__lanes_below());
        space->r[at] = r;
        space->q[at] = q;
        space->best[at] = (uint32_t)t.best;
        space->right_m[at] = t.right.m;
        space->right_h[at] = t.right.h;
        space->left_m[at] = t.left.m;
        space->left_h[at] = t.left.h;
        note_pending(space, at, t.bound, place, variant);
    }
    queue->pending += __popc(who);
    if (queue->pending >= 32)
        work_pending(j, table, space, queue, 32);
}

__device__ __forceinline__ uint32_t variant_at(const warp_space *, uint32_t)
{
    return 0;
}

__device__ __forceinline__ uint32_t variant_at(const marks_space *space, uint32_t entry)
{
    return space->variant[entry];
}

/* All hits of a list whose queries count from `base`. */
template <bool MARKS, typename S>
__device__ void work_list(const hspz__cuda_join &j, const uint32_t *table, S *space, queues *queue,
                          hspz__list l, uint32_t base)
{
    const unsigned lane = hspz__lane();
    uint32_t current = 0; /* entry of the first hit of the window of 32 */
    uint32_t places = 0;  /* of the records of this list */
    if (MARKS) {
        unsigned long long at = 0;
        if (lane == 0 && l.hits > 0)
            at = atomicAdd(&j.counters->written, (unsigned long long)l.hits);
        places = (uint32_t)__shfl_sync(HSPZ__FULL, at, 0);
    }
    for (uint32_t first = 0; first < l.hits; first += 32) {
        const uint32_t look = current + 1 + lane;
        const uint32_t ahead = look < l.entries ? space->start[look] - first : 32;
        const unsigned begins = hspz__warp_or(ahead < 32 ? 1u << ahead : 0u);
        const uint32_t entry = current + __popc(begins & hspz__lanes_upto());
        current += __popc(begins);
        const bool active = first + lane < l.hits;
        int verdict = REJECTED;
        uint32_t hit = 0, query = 0, variant = 0;
        trial t;
        if (active) {
            const uint32_t meta = space->meta[entry];
            hit = space->delta[entry] + first + lane;
            query = base + (meta & 15u);
            variant = variant_at(space, entry);
            verdict = try_hit<MARKS>(j.filter, table,
                                     (const uint4 *)j.target_contexts + 2 * (uint64_t)(hit - j.slice),
                                     (const uint4 *)j.query_contexts + 2 * (uint64_t)query, meta, &t);
        }
        if (!MARKS && !__any_sync(HSPZ__FULL, verdict != REJECTED))
            continue;
        uint32_t r = 0, q = 0;
        if (verdict != REJECTED || (MARKS && active)) {
            r = j.index.positions[hit] + j.word.window;
            q = j.query_windows[query] + j.word.window;
        }
        const uint32_t place = places + first + lane;
        if (!MARKS) {
            push_found(j, space, queue, verdict == FOUND, r, q);
        } else if (active && verdict != PENDING) {
            write_record(j, place, r, q, variant, t.bound, verdict == FOUND);
            queue->found += verdict == FOUND;
        }
        push_pending(j, table, space, queue, verdict == PENDING, t, r, q, place, variant);
    }
}

template <bool PARTS, bool MARKS>
__global__ void __launch_bounds__(32 * MOST_WARPS, 1) join_kernel(hspz__cuda_join j)
{
    HSPZ__DYNAMIC_SHARED(shared);
    typedef typename space_of<MARKS>::type S;
    uint32_t *const table = (uint32_t *)shared;
    S *const space = (S *)(shared + HSPZ__FILTER_ENTRIES * sizeof(uint32_t)) + threadIdx.x / 32;
    for (unsigned i = threadIdx.x; i < HSPZ__FILTER_ENTRIES; i += blockDim.x)
        table[i] = j.filter.table[i];
    __syncthreads();
    const uint32_t windows = (uint32_t)j.counters->windows;
    queues queue = {0, 0};
    hspz__list l;
    uint32_t base;
    while (hspz__next_list<PARTS>(j, windows, space, &l, &base))
        work_list<MARKS>(j, table, space, &queue, l, base);
    if (queue.pending > 0)
        work_pending(j, table, space, &queue, queue.pending);
    if (MARKS) {
        const unsigned found = hspz__warp_sum(queue.found);
        if (hspz__lane() == 0 && found > 0)
            atomicAdd(&j.counters->candidates, (unsigned long long)found);
    } else if (queue.found > 0) {
        flush_found(j, space, &queue, queue.found);
    }
}

template <bool PARTS, bool MARKS>
static cudaError_t run_join(const hspz__cuda_join &j, unsigned blocks, unsigned warps, cudaStream_t stream)
{
    const size_t shared = hspz__cuda_join_shared(warps, MARKS);
    const cudaError_t error = HSPZ__RAISE_SHARED((join_kernel<PARTS, MARKS>), shared);
    if (error != cudaSuccess)
        return error;
    return HSPZ__LAUNCH((join_kernel<PARTS, MARKS>), blocks, 32 * warps, shared, stream, j);
}

cudaError_t hspz__cuda_join_run(const hspz__cuda_join *join, int parts, unsigned blocks, unsigned warps,
                                cudaStream_t stream)
{
    if (join->records != NULL)
        return parts ? run_join<true, true>(*join, blocks, warps, stream)
                     : run_join<false, true>(*join, blocks, warps, stream);
    return parts ? run_join<true, false>(*join, blocks, warps, stream)
                 : run_join<false, false>(*join, blocks, warps, stream);
}
