/* backend_cuda_join.c -- level (a) by word join; see backend_cuda.h and kernels/cuda/join.h.
 *
 * Idea: the request is worked off in units of whole batches, as many query windows as the buffers hold. A unit's windows are sorted by
 * word and get their contexts; one launch over all hits leaves the candidates. Batches and MAX_HITS chunks are labels: the
 * counts per batch tell how many chunks each has, and only where a batch has several are their borders looked up. A unit
 * whose candidates do not fit is done again with more room, or in halves; a single batch that does not fit is left to the seed
 * pipeline, which needs next to nothing, and the join goes on behind it.
 */
#include "backend_cuda_unit.h"

#include "../kernels/cuda/join.h"
#include "../kernels/cuda/primitives.h"

#include <string.h>

#define MOST_UNIT_WINDOWS ((uint64_t)1 << 28) /* the raw order has 28 bits for them */
#define MOST_CHUNKS ((uint64_t)1 << 22)       /* of a unit; more are left to the seed pipeline */
#define LEAST_CANDIDATES ((uint64_t)1 << 12)  /* with room for fewer it is not worth trying */

#define DO(what, step) HSPZ__TRY(hspz__cuda_check((step), (what), call->error))

/* ---- labels */

/* First label of each batch on the device, and the borders of chunks within batches. */
static hspz_status cut_chunks(hspz__cuda_unit *u, uint64_t chunks)
{
    hspz__cuda_call *call = u->call;
    hspz__cuda *cuda = call->cuda;
    hspz__cuda_candidates *c = &u->candidates;
    unsigned long long *hits = hspz__alloc(cuda->host, u->batches, sizeof *hits);
    uint32_t *first = hspz__alloc(cuda->host, (uint64_t)u->batches + 1, sizeof *first);
    hspz_status status = HSPZ_OK;
    if (hits == NULL || first == NULL)
        status = hspz__fail(call->error, HSPZ_E_MEMORY, "no memory to label %u batches", u->batches);
    if (status == HSPZ_OK)
        status = hspz__cuda_download(cuda, hits, u->batch_hits, u->batches * sizeof *hits, call->error);
    if (status == HSPZ_OK) {
        first[0] = 0;
        for (uint32_t b = 0; b < u->batches; b++)
            first[b + 1] = first[b] + (uint32_t)(hits[b] / cuda->plan->max_hits + 1);
        status = hspz__cuda_check(cudaMemcpyAsync(u->first_chunk, first,
                                                  ((uint64_t)u->batches + 1) * sizeof *first,
                                                  cudaMemcpyHostToDevice, cuda->stream),
                                  "labelling chunks", call->error);
    }
    if (status == HSPZ_OK)
        status = hspz__cuda_check(cudaStreamSynchronize(cuda->stream), "labelling chunks", call->error);
    hspz__free(cuda->host, hits);
    hspz__free(cuda->host, first);
    HSPZ__TRY(status);

    /* The query contexts have done their work: their memory, 32 bytes a window, takes the borders. */
    u->cuts = (uint64_t *)(void *)u->contexts;
    if (chunks > (uint64_t)u->count * 4)
        return hspz__fail(call->error, HSPZ_E_INTERNAL, "more chunks than room for their borders");
    DO("labelling chunks", cudaMemsetAsync(u->window_hits + u->count, 0, sizeof(uint32_t), cuda->stream));
    DO("labelling chunks",
       hspz__cuda_window_hits(&u->join, u->begin, u->count, u->window_hits, cuda->stream));
    DO("labelling chunks", hspz__cuda_scan_u32(c->temp, &c->temp_bytes, u->window_hits, u->window_hits,
                                               (uint64_t)u->count + 1, cuda->stream));
    DO("labelling chunks",
       hspz__cuda_cuts(&u->join, u->begin, u->count, u->batch_size, u->batches, cuda->plan->max_hits,
                       u->window_hits, u->first_chunk, u->cuts, cuda->stream));
    return HSPZ_OK;
}

static hspz_status finish_unit(hspz__cuda_unit *u, const hspz__cuda_counters *found)
{
    hspz__cuda_call *call = u->call;
    const hspz__plan *plan = call->cuda->plan;
    const bool scoped = plan->dedup == HSPZ_DEDUP_CHUNK || plan->dedup == HSPZ_DEDUP_INTERVAL;
    hspz__cuda_finish_plan finish = {.count = (uint32_t)found->candidates,
                                     .labels = {.begin = u->begin, .word = call->cuda->word}};
    if (scoped && u->batches > 1) {
        finish.labels.batch_size = u->batch_size;
        finish.most_label = u->batches - 1;
    }
    if (scoped && found->most_hits >= plan->max_hits) {
        HSPZ__TRY(cut_chunks(u, found->chunks));
        finish.labels.batch_size = u->batch_size;
        finish.labels.first_chunk = u->first_chunk;
        finish.labels.cuts = u->cuts;
        finish.most_label = (uint32_t)found->chunks;
    }
    u->candidates.second = 0;
    return hspz__cuda_finish(call, &u->candidates, &finish);
}

/* ---- units */

enum { DONE, DECLINED, TOO_LARGE };

/* What a unit needs, as far as it is known. */
typedef struct needs {
    uint64_t candidates, parts;
} needs;

/* The counts come before the join so that a hopeless batch is refused before it costs anything. */
static hspz_status run_unit(hspz__cuda_unit *u, needs *need, int *outcome)
{
    hspz__cuda_call *call = u->call;
    hspz__cuda *cuda = call->cuda;
    hspz_statistics *statistics = call->output->statistics;
    *outcome = TOO_LARGE;
    double start = hspz__seconds();
    HSPZ__TRY(hspz__unit_sort(u));
    HSPZ__TRY(hspz__unit_count(u));
    HSPZ__TRY(hspz__cuda_read_counters(call));
    statistics->seconds_query += hspz__seconds() - start;
    start = hspz__seconds();
    if (cuda->host_counters->refused != UINT64_MAX)
        return hspz__unit_refuse(u, cuda->host_counters->refused);
    const bool scoped = cuda->plan->dedup == HSPZ_DEDUP_CHUNK || cuda->plan->dedup == HSPZ_DEDUP_INTERVAL;
    if (scoped && cuda->host_counters->most_hits >= cuda->plan->max_hits &&
        (cuda->host_counters->chunks > MOST_CHUNKS || cuda->host_counters->chunks > (uint64_t)u->count * 4)) {
        *outcome = DECLINED;
        return HSPZ_OK;
    }
    HSPZ__TRY(hspz__unit_join(u, &need->parts));
    statistics->seconds_gate += hspz__seconds() - start;
    const hspz__cuda_counters found = *cuda->host_counters;
    need->candidates = found.candidates;
    if (need->parts > u->part_capacity || found.candidates > u->candidates.capacity)
        return HSPZ_OK;
    *outcome = DONE;
    hspz__unit_note(u, &found);
    statistics->batches += u->batches;
    statistics->chunks += found.chunks;
    return finish_unit(u, &found);
}

/* More room where the last try lacked it. False: there is none. */
static bool grow(hspz__cuda_unit *u, const needs *need, uint64_t *capacity, uint64_t most)
{
    const uint64_t budget = hspz__cuda_budget(u->call->cuda), at_most = hspz__unit_most_capacity(u);
    if (need->parts > u->part_capacity)
        u->part_capacity = need->parts + need->parts / 8;
    if (need->candidates > *capacity)
        *capacity = need->candidates + need->candidates / 8;
    return *capacity <= most && *capacity <= at_most &&
           u->part_capacity * sizeof(hspz__cuda_part) <= budget / 4;
}

/* Windows begin .. begin + count - 1: done, declined, or too large for the memory there is. */
static hspz_status try_unit(hspz__cuda_unit *u, int *outcome)
{
    hspz__cuda_call *call = u->call;
    const int64_t fixed = call->cuda->knobs.candidates;
    uint64_t capacity = hspz__unit_first_capacity(u), most = fixed > 0 ? (uint64_t)fixed : UINT32_MAX;
    needs need = {0, 0};
    u->part_capacity = hspz__unit_first_parts(u);
    *outcome = TOO_LARGE;
    for (;;) {
        const hspz_status status = hspz__unit_reserve(u, (uint32_t)capacity);
        if (status == HSPZ_E_DEVICE_MEMORY) { /* less than the plan counted on */
            hspz__cuda_forget(call->error);
            most = capacity - 1;
            capacity /= 2;
            if (capacity < LEAST_CANDIDATES || capacity < need.candidates)
                return HSPZ_OK;
            continue;
        }
        HSPZ__TRY(status);
        HSPZ__TRY(run_unit(u, &need, outcome));
        if (*outcome != TOO_LARGE || !grow(u, &need, &capacity, most))
            return HSPZ_OK;
    }
}

hspz_status hspz__cuda_find_by_join(hspz__cuda_call *call, const hspz_find_request *request, uint64_t end,
                                    int *declined, uint64_t *next)
{
    hspz__cuda *cuda = call->cuda;
    /* A batch longer than the request is as long as the request. */
    const uint64_t size =
        request->batch_size < end - request->begin ? request->batch_size : end - request->begin;
    uint64_t most = hspz__unit_windows(cuda, size);
    *next = request->begin;
    *declined = 0;
    most = most < size ? size : most; /* batches stay whole: their chunks have labels */
    if (most > MOST_UNIT_WINDOWS) {   /* a batch of more windows than a unit may have */
        *declined = 1;
        return HSPZ_OK;
    }
    while (*next < end) {
        const uint64_t count = end - *next < most ? end - *next : most;
        hspz__cuda_unit u = {
            .call = call, .begin = (uint32_t)*next, .count = (uint32_t)count, .batch_size = (uint32_t)size};
        u.batches = (uint32_t)((count + size - 1) / size);
        call->done = *next - request->begin;
        if (hspz__cancelled(cuda->host, call->done, call->total))
            return hspz__fail(call->error, HSPZ_E_CANCELLED, "cancelled by the host");
        call->whole = count == end - request->begin;
        int outcome = DONE;
        HSPZ__TRY(try_unit(&u, &outcome));
        call->whole = 0;
        if (outcome == DONE) {
            *next += count;
            continue;
        }
        if (outcome == DECLINED) {
            *declined = 1;
            return HSPZ_OK;
        }
        if (count <= size) { /* one batch */
            HSPZ__TRY(hspz__cuda_find_by_seeds(call, request, *next, *next + count));
            *next += count;
            continue;
        }
        most = (count / size + 1) / 2 * size;
    }
    return HSPZ_OK;
}
