/* backend_cuda_pieces.c -- the seed pipeline from hits to candidates, piece by piece: expansion, reference buckets, gate and compaction, or the
 * slots of the `lastz` rule; see backend_cuda_seeds.h.
 */
#include "backend_cuda_seeds.h"

#include "../kernels/cuda/gate.h"
#include "../kernels/cuda/index.h"
#include "../kernels/cuda/primitives.h"

#include <string.h>

#define DO(what, step) HSPZ__TRY(hspz__cuda_check((step), (what), call->error))

/* ---- steps C.4, C.5 and D: a piece of hits to candidates */

static hspz_status load_anchors(hspz__seed_run *run, uint64_t first, uint32_t count)
{
    hspz__cuda_call *call = run->call;
    hspz__cuda *cuda = call->cuda;
    const unsigned char *at = (const unsigned char *)run->from.anchors->anchors;
    const uint64_t most = HSPZ__STAGING / sizeof(uint64_t);
    for (uint64_t done = 0; done < count; done += most) {
        uint64_t *staged = (uint64_t *)(void *)cuda->download[0];
        const uint64_t length = count - done < most ? count - done : most;
        for (uint64_t i = 0; i < length; i++) {
            hspz_anchor a;
            memcpy(&a, at + (first + done + i) * run->from.anchors->stride, sizeof a);
            staged[i] = (uint64_t)a.target_end << 32 | a.query_end;
        }
        DO("copying anchors", cudaMemcpyAsync(run->anchors + done, staged, length * sizeof *staged,
                                              cudaMemcpyHostToDevice, cuda->stream));
        DO("copying anchors", cudaStreamSynchronize(cuda->stream));
    }
    return HSPZ_OK;
}

static hspz_status expand(hspz__seed_run *run, uint64_t first, uint32_t count)
{
    hspz__cuda_call *call = run->call;
    hspz__cuda *cuda = call->cuda;
    if (run->from.anchors != NULL)
        return load_anchors(run, first, count);
    const int dense = run->now.hits >= (uint64_t)cuda->knobs.density * run->now.count;
    DO("expanding hits", hspz__cuda_expand(run->seeds, run->prefix, 0, run->now.count, (uint32_t)first,
                                           (uint32_t)(first + count), &cuda->target.index, cuda->word.window,
                                           dense, run->anchors, cuda->stream));
    return HSPZ_OK;
}

/* Step D.5: anchors in at most 32 windows of the target, stably. */
static hspz_status bucket_anchors(hspz__seed_run *run, uint32_t count, const uint64_t **anchors,
                                  const uint32_t **ids)
{
    hspz__cuda_call *call = run->call;
    hspz__cuda *cuda = call->cuda;
    const uint32_t bits = hspz__cuda_bits(call->target.length);
    int64_t shift = cuda->knobs.bucket_shift;
    if (shift == 0) /* two classes a byte: three quarters of the L2 hold 1.5 bases a byte of it */
        shift = (int64_t)hspz__cuda_bits((uint64_t)cuda->properties.l2CacheSize * 3 / 2) - 1;
    if (shift < (int64_t)bits - 5)
        shift = (int64_t)bits - 5;
    if (shift >= bits)
        return HSPZ_OK; /* one window */
    int second = 0;
    DO("numbering anchors", hspz__cuda_number(run->ids[0], count, cuda->stream));
    DO("sorting anchors by target window",
       hspz__cuda_sort_u64_u32(run->candidates.temp, &run->candidates.temp_bytes, run->anchors, run->sorted,
                               run->ids[0], run->ids[1], count, 32 + (int)shift, 32 + (int)bits, &second,
                               cuda->stream));
    *anchors = second ? run->sorted : run->anchors;
    *ids = run->ids[second];
    return HSPZ_OK;
}

/* HSPZ_REF_BUCKETS=auto: the first large pieces go both ways in turn, the faster way does the rest. */
static int wants_buckets(const hspz__cuda *cuda, uint32_t count, int *measure)
{
    *measure = 0;
    if (cuda->knobs.buckets != HSPZ__BUCKETS_AUTO)
        return cuda->knobs.buckets == HSPZ__BUCKETS_ON;
    if (count < 1 << 20)
        return 0;
    if (cuda->buckets_measured < 4) {
        *measure = 1;
        return cuda->buckets_measured & 1;
    }
    return cuda->bucket_seconds[1] < cuda->bucket_seconds[0];
}

static hspz_status gate_anchors(hspz__seed_run *run, uint32_t count)
{
    hspz__cuda_call *call = run->call;
    hspz__cuda *cuda = call->cuda;
    const uint64_t *anchors = run->anchors;
    const uint32_t *ids = NULL;
    int measure = 0;
    const int buckets = wants_buckets(cuda, count, &measure);
    if (buckets) /* the anchors stay in raw order for the compaction */
        DO("keeping anchors", cudaMemcpyAsync(run->candidates.steps, run->anchors, count * sizeof(uint64_t),
                                              cudaMemcpyDeviceToDevice, cuda->stream));
    if (measure)
        DO("timing the gate", cudaEventRecord(cuda->event[0], cuda->stream));
    if (buckets)
        HSPZ__TRY(bucket_anchors(run, count, &anchors, &ids));
    if (hspz__cuda_can_screen(cuda))
        DO("gating anchors",
           hspz__cuda_screen(anchors, ids, count, &call->target, &call->strand, &cuda->filter,
                             2 * (unsigned)cuda->properties.multiProcessorCount, run->flags, cuda->stream));
    else
        DO("gating anchors", hspz__cuda_gate(anchors, ids, count, &call->target, &call->strand, &cuda->rules,
                                             run->flags, cuda->stream));
    if (measure) {
        float milliseconds = 0.0f;
        DO("timing the gate", cudaEventRecord(cuda->event[1], cuda->stream));
        DO("timing the gate", cudaEventSynchronize(cuda->event[1]));
        DO("timing the gate", cudaEventElapsedTime(&milliseconds, cuda->event[0], cuda->event[1]));
        cuda->bucket_seconds[buckets] += milliseconds / (float)count;
        cuda->buckets_measured++;
    }
    if (buckets)
        DO("keeping anchors", cudaMemcpyAsync(run->anchors, run->candidates.steps, count * sizeof(uint64_t),
                                              cudaMemcpyDeviceToDevice, cuda->stream));
    return HSPZ_OK;
}

/* Candidates that are ready become segments. `piece`: more of their scope follow, or went before. */
static hspz_status finish(hspz__seed_run *run, int piece)
{
    hspz__cuda_call *call = run->call;
    const uint32_t dedup = call->cuda->plan->dedup;
    const hspz__cuda_finish_plan plan = {
        .count = run->found,
        .ranked = dedup == HSPZ_DEDUP_LASTZ || dedup == HSPZ_DEDUP_NONE,
        .extended = dedup == HSPZ_DEDUP_LASTZ,
        .piece = piece && (dedup == HSPZ_DEDUP_CHUNK || dedup == HSPZ_DEDUP_INTERVAL),
        .labels = {.word = call->cuda->word},
    };
    run->found = 0;
    run->candidates.second = 0;
    return hspz__cuda_finish(call, &run->candidates, &plan);
}

hspz_status hspz__seeds_finish(hspz__seed_run *run)
{
    const int in_pieces = run->in_pieces;
    run->in_pieces = 0;
    HSPZ__TRY(finish(run, in_pieces));
    return in_pieces ? hspz__cuda_merge_pieces(run->call) : HSPZ_OK;
}

/* Survivors of the `count` anchors join the candidates. */
static hspz_status try_emit(hspz__seed_run *run, uint32_t rank, uint32_t count, uint64_t *total)
{
    hspz__cuda_call *call = run->call;
    hspz__cuda *cuda = call->cuda;
    hspz__cuda_candidates *c = &run->candidates;
    unsigned long long found = 0;
    DO("compacting survivors",
       hspz__cuda_emit(run->anchors, run->flags, run->before, count, call->strand.length, rank, run->found,
                       c->capacity, c->keys[0], c->ranks[0], &cuda->counters->candidates, cuda->stream));
    HSPZ__TRY(hspz__cuda_download(cuda, &found, &cuda->counters->candidates, sizeof found, call->error));
    *total = found;
    return HSPZ_OK;
}

/* Where they do not fit, those before them are finished first: extension knows no neighbours, `none` follows raw order, and the
 * other policies merge what pieces left. A buffer holds the survivors of any one piece of hits. */
static hspz_status emit(hspz__seed_run *run, uint32_t rank, uint32_t count)
{
    hspz__cuda_call *call = run->call;
    hspz__cuda_candidates *c = &run->candidates;
    uint64_t total = 0;
    DO("compacting survivors",
       hspz__cuda_scan_u32(c->temp, &c->temp_bytes, run->flags, run->before, count, call->cuda->stream));
    HSPZ__TRY(try_emit(run, rank, count, &total));
    if (total > c->capacity) {
        run->in_pieces = 1;
        HSPZ__TRY(finish(run, 1));
        HSPZ__TRY(try_emit(run, rank, count, &total));
        if (total > c->capacity)
            return hspz__fail(call->error, HSPZ_E_INTERNAL, "more survivors than hits");
    }
    run->found = (uint32_t)total;
    return HSPZ_OK;
}

/* The `lastz` rule: hits by slot, marks carried on. */
static hspz_status walk_slots(hspz__seed_run *run, uint32_t rank, uint32_t count)
{
    hspz__cuda_call *call = run->call;
    hspz__cuda *cuda = call->cuda;
    hspz__cuda_candidates *c = &run->candidates;
    int second = 0;
    DO("sorting hits by slot",
       hspz__cuda_slots(run->anchors, count, run->slots[0], run->ids[0], cuda->stream));
    DO("sorting hits by slot",
       hspz__cuda_sort_u32_u32(c->temp, &c->temp_bytes, run->slots[0], run->slots[1], run->ids[0],
                               run->ids[1], count, 0, HSPZ__SLOT_BITS, &second, cuda->stream));
    DO("sorting hits by slot",
       hspz__cuda_bucket_ends(run->slots[second], count, HSPZ__SLOT_BITS, run->slot_ends, cuda->stream));
    HSPZ__TRY(hspz__cuda_clear_counters(cuda, call->error));
    DO("walking slots",
       hspz__cuda_walk_slots(run->anchors, run->ids[second], run->slot_ends, rank, &call->target,
                             &call->strand, &cuda->rules, cuda->word.window, run->marks, c->keys[0],
                             c->ranks[0], c->right, c->left, c->capacity, &cuda->counters->candidates,
                             &cuda->counters->skipped, cuda->stream));
    HSPZ__TRY(hspz__cuda_read_counters(call));
    run->found = (uint32_t)cuda->host_counters->candidates; /* at most the piece's hits: they fit */
    call->output->statistics->skipped += cuda->host_counters->skipped;
    call->output->statistics->gate_survivors += count - cuda->host_counters->skipped;
    return HSPZ_OK;
}

/* Hits first .. end - 1 of the batch, which lie in the part. */
hspz_status hspz__seeds_work_hits(hspz__seed_run *run, uint64_t first, uint64_t end)
{
    hspz__cuda_call *call = run->call;
    hspz_statistics *statistics = call->output->statistics;
    const uint32_t dedup = call->cuda->plan->dedup;
    for (uint64_t at = first; at < end; at += run->piece_hits) {
        const uint32_t count = end - at < run->piece_hits ? (uint32_t)(end - at) : (uint32_t)run->piece_hits;
        double start = hspz__seconds();
        HSPZ__TRY(expand(run, at, count));
        HSPZ__TRY(hspz__cuda_wait(call->cuda, call->cuda->stream, call->done, call->total, call->error));
        statistics->seconds_expand += hspz__seconds() - start;
        start = hspz__seconds();
        if (dedup == HSPZ_DEDUP_LASTZ) {
            HSPZ__TRY(walk_slots(run, (uint32_t)at, count));
            statistics->seconds_gate += hspz__seconds() - start;
            HSPZ__TRY(hspz__seeds_finish(run));
            continue;
        }
        HSPZ__TRY(gate_anchors(run, count));
        HSPZ__TRY(emit(run, (uint32_t)at, count));
        statistics->seconds_gate += hspz__seconds() - start;
    }
    return HSPZ_OK;
}
