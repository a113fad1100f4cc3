/* backend_cuda_finish.c -- from candidates to segments, deduplicated and ordered; see backend_cuda.h.
 *
 * Idea: whatever produced the candidates, from here on there is one path: sort by diagonal, extend all anchors exactly and at linear
 * cost (kernels/cuda/extend.h), drop what fails the gate, collapse equal neighbours, judge entropy, apply the dedup rule
 * among neighbours, sort for output. The host is asked twice for a count, and for the rare
 * entropy decision that the device cannot make for sure.
 *
 * The arrays of the candidates serve several stages:
 *   keys, ranks   candidates, sorted between [0] and [1]; later sort keys and places of the output
 *   heads         heads of groups, later of records; flags: accepted, kept
 *   before        prefix sums; first each anchor's group
 *   steps         functions of the groups of one side; later records for the host to judge
 *   right, left   reaches; later, as one stretch of memory, the accepted records and their order
 *   records, order   records; later the kept ones
 */
#include "backend_cuda.h"

#include "../kernels/cuda/extend.h"
#include "../kernels/cuda/primitives.h"

#include <math.h>
#include <string.h>

#define GAP 256u /* anchors farther apart go to different groups; any value gives the same result */

/* ---- arrays */

hspz_status hspz__cuda_temp_bytes(hspz__cuda *cuda, uint64_t capacity, size_t *bytes, hspz_error *error)
{
    size_t need[4] = {0, 0, 0, 0};
    int second;
    cudaError_t result =
        hspz__cuda_sort_u64(NULL, &need[0], NULL, NULL, capacity, 0, 64, &second, cuda->stream);
    if (result == cudaSuccess)
        result = hspz__cuda_sort_u64_u32(NULL, &need[1], NULL, NULL, NULL, NULL, capacity, 0, 64, &second,
                                         cuda->stream);
    if (result == cudaSuccess)
        result = hspz__cuda_scan_u32(NULL, &need[2], NULL, NULL, capacity, cuda->stream);
    if (result == cudaSuccess)
        result = hspz__cuda_scan_steps(NULL, &need[3], NULL, capacity, cuda->stream);
    for (int i = 0; i < 4; i++)
        *bytes = need[i] > *bytes ? need[i] : *bytes;
    *bytes += 1 << 18; /* fewer elements may be sorted in another way */
    return hspz__cuda_check(result, "sizing device scratch", error);
}

void hspz__cuda_take_candidates(hspz__cuda_arena *arena, uint32_t capacity, hspz__cuda_candidates *c)
{
    const uint64_t n = capacity;
    c->capacity = capacity;
    for (int k = 0; k < 2; k++) {
        c->keys[k] = hspz__cuda_take(arena, n, sizeof(uint64_t));
        c->ranks[k] = hspz__cuda_take(arena, n, sizeof(uint32_t));
    }
    c->heads = hspz__cuda_take(arena, n, sizeof(uint32_t));
    c->before = hspz__cuda_take(arena, n, sizeof(uint32_t));
    c->starts = hspz__cuda_take(arena, n, sizeof(uint32_t));
    c->flags = hspz__cuda_take(arena, n, sizeof(uint32_t));
    c->right = hspz__cuda_take(arena, 2 * n,
                               sizeof *c->right); /* 24 bytes each: as much as a record and its order */
    c->left = c->right != NULL ? c->right + n : NULL;
    c->steps = hspz__cuda_take(arena, n, sizeof *c->steps);
    c->records = hspz__cuda_take(arena, n, sizeof *c->records);
    c->order = hspz__cuda_take(arena, n, sizeof *c->order);
    c->temp = hspz__cuda_take(arena, c->temp_bytes, 1);
    c->second = 0;
}

/* One device step of this file. */
#define DO(what, step) HSPZ__TRY(hspz__cuda_check((step), (what), call->error))

static hspz_status scan(hspz__cuda_call *call, hspz__cuda_candidates *c, const uint32_t *in, uint32_t *out,
                        uint64_t count)
{
    DO("summing flags", hspz__cuda_scan_u32(c->temp, &c->temp_bytes, in, out, count, call->cuda->stream));
    return HSPZ_OK;
}

/* Sorts keys by bits low .. high - 1, with ranks if asked. */
static hspz_status sort_keys(hspz__cuda_call *call, hspz__cuda_candidates *c, uint32_t count, int with_ranks,
                             uint32_t low, uint32_t high)
{
    int turned = 0;
    const int from = c->second, to = 1 - c->second;
    if (with_ranks)
        DO("sorting candidates",
           hspz__cuda_sort_u64_u32(c->temp, &c->temp_bytes, c->keys[from], c->keys[to], c->ranks[from],
                                   c->ranks[to], count, (int)low, (int)high, &turned, call->cuda->stream));
    else
        DO("sorting candidates",
           hspz__cuda_sort_u64(c->temp, &c->temp_bytes, c->keys[from], c->keys[to], count, (int)low,
                               (int)high, &turned, call->cuda->stream));
    c->second = turned ? to : from;
    return HSPZ_OK;
}

/* ---- extension */

/* Diagonals and target positions use few of their 32 bits each. */
static hspz_status sort_by_diagonal(hspz__cuda_call *call, hspz__cuda_candidates *c,
                                    const hspz__cuda_finish_plan *plan)
{
    const uint64_t lengths = (uint64_t)call->target.length + call->strand.length;
    const uint32_t target_bits = hspz__cuda_bits(call->target.length);
    const uint32_t diagonal_bits = lengths > UINT32_MAX ? 32 : hspz__cuda_bits(lengths);
    HSPZ__TRY(sort_keys(call, c, plan->count, plan->ranked, 0, target_bits));
    return sort_keys(call, c, plan->count, plan->ranked, 32, 32 + diagonal_bits);
}

static hspz_status extend_side(hspz__cuda_call *call, hspz__cuda_candidates *c, uint32_t count,
                               uint32_t groups, int left)
{
    hspz__cuda *cuda = call->cuda;
    const uint64_t *keys = c->keys[c->second];
    hspz__cuda_reach *reaches = left ? c->left : c->right;
    DO("extending anchors",
       hspz__cuda_scan_groups(keys, count, c->starts, groups, &call->target, &call->strand, &cuda->rules,
                              left, reaches, c->steps, cuda->stream));
    DO("extending anchors", hspz__cuda_scan_steps(c->temp, &c->temp_bytes, c->steps, groups, cuda->stream));
    DO("extending anchors",
       hspz__cuda_settle(keys, count, c->before, groups, left, c->steps, reaches, cuda->stream));
    return HSPZ_OK;
}

static hspz_status extend(hspz__cuda_call *call, hspz__cuda_candidates *c, uint32_t count)
{
    hspz__cuda *cuda = call->cuda;
    const uint64_t *keys = c->keys[c->second];
    const uint32_t length = call->strand.length;
    if (cuda->knobs.plain_extend) {
        DO("extending anchors", hspz__cuda_materialize(keys, count, &call->target, &call->strand,
                                                       &cuda->rules, c->right, c->left, cuda->stream));
        return HSPZ_OK;
    }
    DO("grouping anchors", hspz__cuda_group_heads(keys, count, length, GAP, c->heads, cuda->stream));
    HSPZ__TRY(scan(call, c, c->heads, c->before, count));
    DO("grouping anchors", hspz__cuda_group_starts(keys, count, length, GAP, c->before, c->starts,
                                                   &cuda->counters->groups, cuda->stream));
    HSPZ__TRY(hspz__cuda_read_counters(call));
    const uint32_t groups = cuda->host_counters->groups;
    HSPZ__TRY(extend_side(call, c, count, groups, 0));
    return extend_side(call, c, count, groups, 1);
}

/* ---- records */

static hspz__cuda_segments segments_of(const hspz__cuda_call *call, const hspz__cuda_candidates *c,
                                       const hspz__cuda_finish_plan *plan)
{
    const hspz__plan *rules = call->cuda->plan;
    const bool lastz = rules->dedup == HSPZ_DEDUP_LASTZ;
    return (hspz__cuda_segments){
        .keys = c->keys[c->second],
        .ranks = plan->ranked ? c->ranks[c->second] : NULL,
        .count = plan->count,
        .right = c->right,
        .left = c->left,
        .target = call->target,
        .query = call->strand,
        .labels = plan->labels,
        .keep_total = rules->keep_total,
        .hspthresh = rules->hspthresh,
        .entropy = rules->entropy,
        .ln4 = lastz ? log(4.0) : (double)logf(4.0f),
        .raw = lastz || rules->dedup == HSPZ_DEDUP_NONE,
    };
}

/* The decisions that the device left to the host. */
static hspz_status judge_on_host(hspz__cuda_call *call, hspz__cuda_candidates *c, uint32_t count)
{
    hspz__cuda *cuda = call->cuda;
    if (count == 0)
        return HSPZ_OK;
    hspz__cuda_uncertain *rows = hspz__alloc(cuda->host, count, sizeof *rows);
    if (rows == NULL)
        return hspz__fail(call->error, HSPZ_E_MEMORY, "no memory to judge %u segments", count);
    hspz_status status = hspz__cuda_download(cuda, rows, c->steps, count * sizeof *rows, call->error);
    for (uint32_t i = 0; i < count && status == HSPZ_OK; i++)
        rows[i].total = hspz__plan_accept(cuda->plan, rows[i].total, rows[i].extent, rows[i].matches);
    if (status == HSPZ_OK)
        status = hspz__cuda_check(
            cudaMemcpyAsync(c->steps, rows, count * sizeof *rows, cudaMemcpyHostToDevice, cuda->stream),
            "judging segments", call->error);
    if (status == HSPZ_OK)
        status = hspz__cuda_check(hspz__cuda_apply((hspz__cuda_uncertain *)(void *)c->steps, count,
                                                   c->records, c->flags, cuda->stream),
                                  "judging segments", call->error);
    if (status == HSPZ_OK) /* rows must outlive the copy */
        status = hspz__cuda_check(cudaStreamSynchronize(cuda->stream), "judging segments", call->error);
    hspz__free(cuda->host, rows);
    return status;
}

/* Records of the survivors, judged: flags say which are accepted. *count = records. */
static hspz_status make_records(hspz__cuda_call *call, hspz__cuda_candidates *c, const hspz__cuda_segments *s,
                                uint32_t *count)
{
    hspz__cuda *cuda = call->cuda;
    DO("finding survivors", hspz__cuda_mark_heads(s, c->heads, cuda->counters, cuda->stream));
    HSPZ__TRY(scan(call, c, c->heads, c->before, s->count));
    DO("making records",
       hspz__cuda_make_records(s, c->heads, c->before, c->records, c->order, cuda->counters, cuda->stream));
    HSPZ__TRY(hspz__cuda_read_counters(call));
    *count = (uint32_t)cuda->host_counters->records;
    if (*count == 0)
        return HSPZ_OK;
    DO("judging segments",
       hspz__cuda_judge(s, c->records, *count, c->flags, (hspz__cuda_uncertain *)(void *)c->steps,
                        cuda->counters, cuda->stream));
    HSPZ__TRY(hspz__cuda_read_counters(call));
    HSPZ__TRY(judge_on_host(call, c, (uint32_t)cuda->host_counters->uncertain));
    DO("counting accepted segments",
       hspz__cuda_count_accepted(s, c->heads, c->before, c->flags, cuda->counters, cuda->stream));
    return HSPZ_OK;
}

/* ---- dedup and order */

typedef struct record_list {
    hspz_hsp *records;
    uint64_t *order;
} record_list;

/* What is flagged goes from one list to the other; *count becomes its number. */
static hspz_status compact(hspz__cuda_call *call, hspz__cuda_candidates *c, record_list from, record_list to,
                           uint32_t *count)
{
    hspz__cuda *cuda = call->cuda;
    HSPZ__TRY(scan(call, c, c->flags, c->before, *count));
    DO("compacting records", hspz__cuda_compact(from.records, from.order, c->flags, c->before, *count,
                                                to.records, to.order, &cuda->counters->kept, cuda->stream));
    HSPZ__TRY(hspz__cuda_read_counters(call));
    *count = (uint32_t)cuda->host_counters->kept;
    return HSPZ_OK;
}

static hspz_status apply_rule(hspz__cuda_call *call, hspz__cuda_candidates *c, uint32_t rule,
                              record_list *now_in, record_list *spare, uint32_t *count)
{
    hspz__cuda *cuda = call->cuda;
    if (*count == 0)
        return HSPZ_OK;
    DO("dedup", hspz__cuda_dedup(now_in->records, now_in->order, *count, rule, c->flags, cuda->stream));
    HSPZ__TRY(compact(call, c, *now_in, *spare, count));
    const record_list swap = *now_in;
    *now_in = *spare;
    *spare = swap;
    return HSPZ_OK;
}

/* Sorts for output into spare->records. */
static hspz_status sort_output(hspz__cuda_call *call, hspz__cuda_candidates *c,
                               const hspz__cuda_finish_plan *plan, uint32_t raw, const record_list *in,
                               const record_list *spare, uint32_t count)
{
    hspz__cuda *cuda = call->cuda;
    uint32_t target_bits = hspz__cuda_bits(call->target.length),
             query_bits = hspz__cuda_bits(call->strand.length);
    const uint32_t label_bits = plan->most_label > 0 ? hspz__cuda_bits(plan->most_label) : 0;
    const bool twice = !raw && target_bits + query_bits + label_bits > 64;
    if (twice) {
        target_bits = 32;
        query_bits = 32;
    }
    c->second = 0;
    DO("ordering records", hspz__cuda_output_keys(in->records, in->order, count, raw, query_bits, target_bits,
                                                  c->keys[0], c->ranks[0], cuda->stream));
    HSPZ__TRY(sort_keys(call, c, count, 1, 0, raw || twice ? 64 : target_bits + query_bits + label_bits));
    if (twice) {
        DO("ordering records",
           hspz__cuda_order_keys(in->order, c->ranks[c->second], count, c->keys[c->second], cuda->stream));
        HSPZ__TRY(sort_keys(call, c, count, 1, 0, label_bits));
    }
    DO("ordering records",
       hspz__cuda_gather(in->records, c->ranks[c->second], count, spare->records, cuda->stream));
    return HSPZ_OK;
}

/* ---- all of it */

static hspz_status records_to_sink(hspz__cuda_call *call, hspz__cuda_candidates *c,
                                   const hspz__cuda_finish_plan *plan, const hspz__cuda_segments *s,
                                   uint32_t count)
{
    const uint32_t dedup = call->cuda->plan->dedup;
    record_list first = {c->records, c->order};
    record_list second = {(hspz_hsp *)(void *)c->right, NULL};
    second.order = (uint64_t *)(void *)(second.records + c->capacity);
    HSPZ__TRY(compact(call, c, first, second, &count)); /* the accepted ones */
    call->output->statistics->accepted += call->cuda->host_counters->accepted_hits;
    if (plan->piece)
        return hspz__cuda_output(call, second.records, count, 1);
    if (dedup == HSPZ_DEDUP_CHUNK || dedup == HSPZ_DEDUP_INTERVAL)
        HSPZ__TRY(apply_rule(call, c, HSPZ_DEDUP_CHUNK, &second, &first, &count));
    if (dedup == HSPZ_DEDUP_INTERVAL || dedup == HSPZ_DEDUP_MAXIMAL)
        HSPZ__TRY(apply_rule(call, c, dedup, &second, &first, &count));
    if (count == 0)
        return HSPZ_OK;
    HSPZ__TRY(sort_output(call, c, plan, s->raw, &second, &first, count));
    HSPZ__TRY(hspz__cuda_wait(call->cuda, call->cuda->stream, call->done, call->total, call->error));
    return hspz__cuda_output(call, first.records, count, 0);
}

/* Counters that earlier stages of the call have used. */
static hspz_status clear_own_counters(hspz__cuda_call *call)
{
    hspz__cuda_counters *c = call->cuda->counters;
    DO("clearing counters",
       cudaMemsetAsync(c, 0, offsetof(hspz__cuda_counters, candidates), call->cuda->stream));
    return HSPZ_OK;
}

hspz_status hspz__cuda_finish(hspz__cuda_call *call, hspz__cuda_candidates *c,
                              const hspz__cuda_finish_plan *plan)
{
    hspz_statistics *statistics = call->output->statistics;
    if (plan->count == 0)
        return HSPZ_OK;
    double start = hspz__seconds();
    HSPZ__TRY(clear_own_counters(call));
    if (!plan->extended) {
        HSPZ__TRY(sort_by_diagonal(call, c, plan));
        HSPZ__TRY(extend(call, c, plan->count));
    }
    const hspz__cuda_segments s = segments_of(call, c, plan);
    uint32_t records = 0;
    HSPZ__TRY(make_records(call, c, &s, &records));
    if (call->cuda->plan->dedup != HSPZ_DEDUP_LASTZ)
        statistics->gate_survivors += call->cuda->host_counters->survivors;
    statistics->seconds_extend += hspz__seconds() - start;
    if (records == 0)
        return HSPZ_OK;
    start = hspz__seconds();
    const double transfer = statistics->seconds_transfer;
    const hspz_status status = records_to_sink(call, c, plan, &s, records);
    statistics->seconds_dedup += hspz__seconds() - start - (statistics->seconds_transfer - transfer);
    return status;
}
