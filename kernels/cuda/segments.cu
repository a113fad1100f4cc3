/* segments.cu -- see segments.h. */
#include "device.cuh"
#include "segments.h"

#include <limits.h>

#define BLOCK 256

static unsigned grid_of(uint64_t items)
{
    return hspz__grid(items, BLOCK, 1u << 20);
}

struct segment {
    uint32_t target_start, query_start, extent;
    int32_t total;
};

__device__ __forceinline__ segment segment_of(const hspz__cuda_segments &s, uint64_t i)
{
    const uint64_t key = s.keys[i];
    const uint32_t left = s.left[i].bases, right = s.right[i].bases;
    const int64_t total = (int64_t)s.left[i].score + s.right[i].score;
    segment out;
    out.target_start = (uint32_t)key - left;
    out.query_start = hspz__key_query(key, s.query.length) - left;
    out.extent = left + right - 1;
    out.total = total > INT32_MAX ? INT32_MAX : (int32_t)total;
    return out;
}

/* Index of the variant by which a query window meets a target window (SPEC section 4). */
__device__ uint32_t variant_of(const hspz__cuda_segments &s, uint32_t target_window, uint32_t query_window)
{
    const hspz__cuda_word &word = s.labels.word;
    const uint32_t mask =
        hspz__word_at(word, s.target.codes, target_window) ^ hspz__word_at(word, s.query.codes, query_window);
    uint32_t variant = 0;
    for (uint32_t v = 1; v < word.variant_count; v++)
        if (word.variant_mask[v] == mask)
            variant = v;
    return variant;
}

__device__ uint32_t label_of(const hspz__cuda_segments &s, uint64_t i)
{
    const hspz__cuda_labels &l = s.labels;
    if (l.batch_size == 0)
        return 0;
    const uint64_t key = s.keys[i];
    const uint32_t window = hspz__key_query(key, s.query.length) - l.word.window;
    const uint32_t batch = (window - l.begin) / l.batch_size;
    if (l.first_chunk == NULL)
        return batch;
    const uint32_t first = l.first_chunk[batch], end = l.first_chunk[batch + 1];
    if (end - first <= 1)
        return first;
    const uint64_t seed = (uint64_t)window << 4 | variant_of(s, (uint32_t)key - l.word.window, window);
    uint32_t low = first, high = end - 1; /* chunks whose cut is at or before the seed */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (l.cuts[middle] <= seed)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Raw order of SPEC section 5: query window, variant, target position from last to first. */
__device__ uint64_t raw_order(const hspz__cuda_segments &s, uint64_t i)
{
    if (s.ranks != NULL)
        return s.ranks[i];
    const uint64_t key = s.keys[i];
    const uint32_t target = (uint32_t)key - s.labels.word.window;
    const uint32_t query = hspz__key_query(key, s.query.length) - s.labels.word.window;
    const uint64_t seed = (uint64_t)(query - s.labels.begin) << 4 | variant_of(s, target, query);
    return seed << 32 | (uint32_t)~target; /* query - begin < 2^28: callers see to it */
}

__global__ void mark_heads_kernel(hspz__cuda_segments s, uint32_t *heads, hspz__cuda_counters *counters)
{
    __shared__ unsigned survivors;
    if (threadIdx.x == 0)
        survivors = 0;
    __syncthreads();
    unsigned mine = 0;
    for (uint64_t i = hspz__thread(); i < s.count; i += hspz__threads()) {
        const segment now = segment_of(s, i);
        const bool survives = now.total >= s.keep_total;
        bool head = survives;
        if (survives && !s.raw && i > 0 && hspz__same_diagonal(s.keys[i], s.keys[i - 1], s.query.length)) {
            const segment before = segment_of(s, i - 1);
            head = before.target_start != now.target_start || before.extent != now.extent ||
                   label_of(s, i) != label_of(s, i - 1);
        }
        heads[i] = head;
        mine += survives;
    }
    mine = hspz__warp_sum(mine);
    if (hspz__lane() == 0)
        atomicAdd(&survivors, mine);
    __syncthreads();
    if (threadIdx.x == 0 && survivors > 0)
        atomicAdd(&counters->survivors, (unsigned long long)survivors);
}

cudaError_t hspz__cuda_mark_heads(const hspz__cuda_segments *s, uint32_t *heads,
                                  hspz__cuda_counters *counters, cudaStream_t stream)
{
    const hspz__cuda_segments copy = *s;
    return HSPZ__LAUNCH(mark_heads_kernel, grid_of(s->count), BLOCK, 0, stream, copy, heads, counters);
}

__global__ void make_records_kernel(hspz__cuda_segments s, const uint32_t *heads, const uint32_t *before,
                                    hspz_hsp *records, uint64_t *order, hspz__cuda_counters *counters)
{
    for (uint64_t i = hspz__thread(); i < s.count; i += hspz__threads()) {
        if (i + 1 == s.count)
            counters->records = (unsigned long long)before[i] + heads[i];
        if (!heads[i])
            continue;
        const segment now = segment_of(s, i);
        const hspz_hsp hsp = {now.target_start, now.query_start, now.extent, now.total};
        records[before[i]] = hsp;
        order[before[i]] = s.raw ? raw_order(s, i) : label_of(s, i);
    }
}

cudaError_t hspz__cuda_make_records(const hspz__cuda_segments *s, const uint32_t *heads,
                                    const uint32_t *before, hspz_hsp *records, uint64_t *order,
                                    hspz__cuda_counters *counters, cudaStream_t stream)
{
    const hspz__cuda_segments copy = *s;
    return HSPZ__LAUNCH(make_records_kernel, grid_of(s->count), BLOCK, 0, stream, copy, heads, before,
                        records, order, counters);
}

/* Columns of the closed segment where both symbols are the same one of A, C, G, T; by a whole warp. */
__device__ void count_matches(const hspz__cuda_segments &s, const hspz_hsp &hsp, uint32_t matches[4])
{
    uint32_t mine[4] = {0, 0, 0, 0};
    for (uint64_t k = hspz__lane(); k <= hsp.extent; k += 32) {
        const unsigned t = hspz__class(s.target.classes, hsp.target_start + (uint32_t)k);
        const unsigned q = hspz__class(s.query.classes, hsp.query_start + (uint32_t)k);
#pragma unroll
        for (unsigned base = 0; base < 4; base++)
            mine[base] += t == base && q == base;
    }
    for (unsigned base = 0; base < 4; base++)
        matches[base] = hspz__warp_sum(mine[base]);
}

/* 1 accepted, 0 rejected, 2 too close to a rounding border for this arithmetic. Totals up to 2^24 are exact as floats, and
 * the error of total * entropy stays below 1e-7; hspz__plan_accept is the rule. */
__device__ int judge_total(const hspz__cuda_segments &s, int32_t total, uint32_t extent,
                           const uint32_t matches[4], bool in_band, int32_t *score)
{
    *score = total;
    if (total > 1 << 24)
        return 2;
    const uint64_t sum = (uint64_t)matches[0] + matches[1] + matches[2] + matches[3];
    if (!in_band || sum < 20)
        return total >= s.hspthresh;
    double entropy = 0.0;
    for (int base = 0; base < 4; base++) {
        if (matches[base] == 0)
            continue;
        const double p = (double)matches[base] / ((double)extent + 1.0);
        entropy -= p * log(p);
    }
    const double value = (double)total * (entropy / s.ln4);
    if (value < (double)s.hspthresh - 0.5)
        return 0;
    *score = (int32_t)value;
    if (fabs(value - rint(value)) < 1e-6)
        return 2;
    return *score >= s.hspthresh;
}

__global__ void judge_kernel(hspz__cuda_segments s, hspz_hsp *records, uint32_t count, uint32_t *accepted,
                             hspz__cuda_uncertain *uncertain, hspz__cuda_counters *counters)
{
    for (uint64_t i = hspz__thread() / 32; i < count; i += hspz__threads() / 32) {
        const hspz_hsp hsp = records[i];
        const int64_t k = s.hspthresh;
        const bool in_band = s.entropy && hsp.score >= k && hsp.score <= 3 * k;
        uint32_t matches[4] = {0, 0, 0, 0};
        if (in_band)
            count_matches(s, hsp, matches);
        if (hspz__lane() != 0)
            continue;
        int32_t score;
        const int verdict = judge_total(s, hsp.score, hsp.extent, matches, in_band, &score);
        accepted[i] = verdict == 1;
        if (verdict == 1)
            records[i].score = score;
        if (verdict == 2) {
            const unsigned long long at = atomicAdd(&counters->uncertain, 1ull);
            const hspz__cuda_uncertain row = {
                (uint32_t)i, hsp.score, hsp.extent, {matches[0], matches[1], matches[2], matches[3]}, 0};
            uncertain[at] = row;
        }
    }
}

cudaError_t hspz__cuda_judge(const hspz__cuda_segments *s, hspz_hsp *records, uint32_t count,
                             uint32_t *accepted, hspz__cuda_uncertain *uncertain,
                             hspz__cuda_counters *counters, cudaStream_t stream)
{
    const hspz__cuda_segments copy = *s;
    return HSPZ__LAUNCH(judge_kernel, grid_of((uint64_t)count * 32), BLOCK, 0, stream, copy, records, count,
                        accepted, uncertain, counters);
}

__global__ void apply_kernel(const hspz__cuda_uncertain *judged, uint32_t count, hspz_hsp *records,
                             uint32_t *accepted)
{
    for (uint64_t i = hspz__thread(); i < count; i += hspz__threads()) {
        const hspz__cuda_uncertain row = judged[i];
        accepted[row.record] = row.total != INT_MIN;
        if (row.total != INT_MIN)
            records[row.record].score = row.total;
    }
}

cudaError_t hspz__cuda_apply(const hspz__cuda_uncertain *judged, uint32_t count, hspz_hsp *records,
                             uint32_t *accepted, cudaStream_t stream)
{
    return HSPZ__LAUNCH(apply_kernel, grid_of(count), BLOCK, 0, stream, judged, count, records, accepted);
}

__global__ void count_accepted_kernel(hspz__cuda_segments s, const uint32_t *heads, const uint32_t *before,
                                      const uint32_t *accepted, hspz__cuda_counters *counters)
{
    __shared__ unsigned all;
    if (threadIdx.x == 0)
        all = 0;
    __syncthreads();
    unsigned mine = 0;
    for (uint64_t i = hspz__thread(); i < s.count; i += hspz__threads()) {
        if (segment_of(s, i).total >= s.keep_total)
            mine += accepted[before[i] + heads[i] - 1];
    }
    mine = hspz__warp_sum(mine);
    if (hspz__lane() == 0)
        atomicAdd(&all, mine);
    __syncthreads();
    if (threadIdx.x == 0 && all > 0)
        atomicAdd(&counters->accepted_hits, (unsigned long long)all);
}

cudaError_t hspz__cuda_count_accepted(const hspz__cuda_segments *s, const uint32_t *heads,
                                      const uint32_t *before, const uint32_t *accepted,
                                      hspz__cuda_counters *counters, cudaStream_t stream)
{
    const hspz__cuda_segments copy = *s;
    return HSPZ__LAUNCH(count_accepted_kernel, grid_of(s->count), BLOCK, 0, stream, copy, heads, before,
                        accepted, counters);
}

__global__ void compact_kernel(const hspz_hsp *records, const uint64_t *order, const uint32_t *flags,
                               const uint32_t *before, uint32_t count, hspz_hsp *out, uint64_t *out_order,
                               unsigned long long *total)
{
    for (uint64_t i = hspz__thread(); i < count; i += hspz__threads()) {
        if (i + 1 == count)
            *total = (unsigned long long)before[i] + flags[i];
        if (flags[i]) {
            out[before[i]] = records[i];
            out_order[before[i]] = order[i];
        }
    }
}

cudaError_t hspz__cuda_compact(const hspz_hsp *records, const uint64_t *order, const uint32_t *flags,
                               const uint32_t *before, uint32_t count, hspz_hsp *out, uint64_t *out_order,
                               unsigned long long *total, cudaStream_t stream)
{
    return HSPZ__LAUNCH(compact_kernel, grid_of(count), BLOCK, 0, stream, records, order, flags, before,
                        count, out, out_order, total);
}

__device__ __forceinline__ bool one_diagonal(const hspz_hsp &a, const hspz_hsp &b)
{
    return a.target_start - a.query_start == b.target_start - b.query_start;
}

__device__ __forceinline__ bool contains(const hspz_hsp &outer, const hspz_hsp &inner)
{
    return outer.target_start <= inner.target_start &&
           inner.target_start + inner.extent <= outer.target_start + outer.extent;
}

__device__ bool keeps(const hspz_hsp *records, const uint64_t *order, uint32_t count, uint32_t rule,
                      uint64_t i)
{
    const hspz_hsp now = records[i];
    if (i > 0) {
        const hspz_hsp previous = records[i - 1];
        if (one_diagonal(previous, now)) {
            if (rule == HSPZ_DEDUP_CHUNK && order[i] == order[i - 1] &&
                (contains(previous, now) || contains(now, previous)))
                return false;
            if (rule == HSPZ_DEDUP_INTERVAL && previous.target_start == now.target_start &&
                previous.extent == now.extent)
                return false;
            if (rule == HSPZ_DEDUP_MAXIMAL && contains(previous, now))
                return false;
        }
    }
    if (rule == HSPZ_DEDUP_MAXIMAL && i + 1 < count) {
        const hspz_hsp next = records[i + 1];
        if (one_diagonal(now, next) && contains(next, now) && next.extent > now.extent)
            return false;
    }
    return true;
}

__global__ void dedup_kernel(const hspz_hsp *records, const uint64_t *order, uint32_t count, uint32_t rule,
                             uint32_t *keep)
{
    for (uint64_t i = hspz__thread(); i < count; i += hspz__threads())
        keep[i] = keeps(records, order, count, rule, i);
}

cudaError_t hspz__cuda_dedup(const hspz_hsp *records, const uint64_t *order, uint32_t count, uint32_t rule,
                             uint32_t *keep, cudaStream_t stream)
{
    return HSPZ__LAUNCH(dedup_kernel, grid_of(count), BLOCK, 0, stream, records, order, count, rule, keep);
}

__global__ void output_keys_kernel(const hspz_hsp *records, const uint64_t *order, uint32_t count,
                                   uint32_t raw, uint32_t query_bits, uint32_t target_bits, uint64_t *keys,
                                   uint32_t *places)
{
    for (uint64_t i = hspz__thread(); i < count; i += hspz__threads()) {
        uint64_t key = order[i];
        if (!raw) {
            const uint32_t bits = query_bits + target_bits;
            key = (bits < 64 ? key << bits : 0) | (uint64_t)records[i].query_start << target_bits |
                  records[i].target_start;
        }
        keys[i] = key;
        places[i] = (uint32_t)i;
    }
}

cudaError_t hspz__cuda_output_keys(const hspz_hsp *records, const uint64_t *order, uint32_t count,
                                   uint32_t raw, uint32_t query_bits, uint32_t target_bits, uint64_t *keys,
                                   uint32_t *places, cudaStream_t stream)
{
    return HSPZ__LAUNCH(output_keys_kernel, grid_of(count), BLOCK, 0, stream, records, order, count, raw,
                        query_bits, target_bits, keys, places);
}

__global__ void order_keys_kernel(const uint64_t *order, const uint32_t *places, uint32_t count,
                                  uint64_t *keys)
{
    for (uint64_t i = hspz__thread(); i < count; i += hspz__threads())
        keys[i] = order[places[i]];
}

cudaError_t hspz__cuda_order_keys(const uint64_t *order, const uint32_t *places, uint32_t count,
                                  uint64_t *keys, cudaStream_t stream)
{
    return HSPZ__LAUNCH(order_keys_kernel, grid_of(count), BLOCK, 0, stream, order, places, count, keys);
}

__global__ void gather_kernel(const hspz_hsp *records, const uint32_t *places, uint32_t count, hspz_hsp *out)
{
    for (uint64_t i = hspz__thread(); i < count; i += hspz__threads())
        out[i] = records[places[i]];
}

cudaError_t hspz__cuda_gather(const hspz_hsp *records, const uint32_t *places, uint32_t count, hspz_hsp *out,
                              cudaStream_t stream)
{
    return HSPZ__LAUNCH(gather_kernel, grid_of(count), BLOCK, 0, stream, records, places, count, out);
}
