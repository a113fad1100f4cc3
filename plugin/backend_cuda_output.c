/* backend_cuda_output.c -- from segments to the sink; see backend_cuda.h.
 *
 * Idea: records come down through two pinned buffers while the sink works on the other. Most go out at once. `maximal` holds what it
 * found, thinned out whenever it has doubled, until the call ends; `interval` remembers what it gave out. A chunk whose candidates do not fit
 * the device comes in pieces: their accepted segments, far fewer, wait in host memory without their duplicates, and the chunk rule,
 * which depends on nothing but the set of segments (dedup.h), is applied to all of them when the chunk ends.
 */
#include "backend_cuda.h"

#include <string.h>

#define FEW ((uint64_t)1 << 16) /* segments that need not be thinned out yet */

/* One device step of this file. */
#define DO(what, step) HSPZ__TRY(hspz__cuda_check((step), (what), call->error))

static hspz_status no_memory(const hspz__cuda_call *call, hspz_status status)
{
    if (status == HSPZ_OK)
        return status;
    return hspz__fail(call->error, status, "no host memory to hold %llu HSPs; use smaller blocks",
                      (unsigned long long)(call->held.count + call->pieces.count));
}

/* ---- lists */

static hspz_status hold(hspz__cuda_call *call, hspz__found_list *list, const hspz_hsp *hsps, uint64_t count)
{
    HSPZ__TRY(no_memory(call, hspz__found_reserve(list, call->cuda->host, count)));
    for (uint64_t i = 0; i < count; i++)
        list->items[list->count++] = (hspz__found){.label = 0, .hsp = hsps[i]};
    return HSPZ_OK;
}

static hspz_status give_list(hspz__cuda_call *call, hspz__found_list *list)
{
    hspz_hsp *buffer = (hspz_hsp *)(void *)call->cuda->download[0];
    const uint64_t most = HSPZ__STAGING / sizeof *buffer;
    for (uint64_t at = 0; at < list->count; at += most) {
        const uint64_t length = list->count - at < most ? list->count - at : most;
        for (uint64_t i = 0; i < length; i++)
            buffer[i] = list->items[at + i].hsp;
        HSPZ__TRY(hspz__output_hsps(call->output, buffer, length, call->error));
    }
    list->count = 0;
    return HSPZ_OK;
}

/* A segment that several pieces found is held once: the list is sorted and thinned out whenever it has doubled. */
static hspz_status thin_pieces(hspz__cuda_call *call)
{
    hspz__found_list *list = &call->pieces;
    if (list->count < FEW || list->count < 2 * call->pieces_thinned)
        return HSPZ_OK;
    HSPZ__TRY(no_memory(call, hspz__found_sort(list, call->cuda->host, HSPZ__ORDER_DIAGONAL)));
    uint64_t kept = 1;
    for (uint64_t i = 1; i < list->count; i++)
        if (memcmp(&list->items[i].hsp, &list->items[kept - 1].hsp, sizeof(hspz_hsp)) != 0)
            list->items[kept++] = list->items[i];
    list->count = kept;
    call->pieces_thinned = kept;
    return HSPZ_OK;
}

/* ---- a download */

/* A part of a download: to the sink, or held back. */
static hspz_status give(hspz__cuda_call *call, const hspz_hsp *hsps, uint64_t count, int piece)
{
    const uint32_t dedup = call->cuda->plan->dedup;
    if (piece)
        return hold(call, &call->pieces, hsps, count);
    if (call->whole || (dedup != HSPZ_DEDUP_INTERVAL && dedup != HSPZ_DEDUP_MAXIMAL))
        return hspz__output_hsps(call->output, hsps, count, call->error);
    return hold(call, &call->held, hsps, count);
}

/* Downloads through the two pinned buffers while the sink works on the other. */
static hspz_status download(hspz__cuda_call *call, const hspz_hsp *records, uint64_t count, int piece)
{
    hspz__cuda *cuda = call->cuda;
    const uint64_t most = HSPZ__STAGING / sizeof *records;
    for (uint64_t at = 0, turn = 0; at < count + most; at += most, turn ^= 1) {
        double start = hspz__seconds();
        if (at < count) { /* this part starts on its way, then the one before is given out */
            const uint64_t length = count - at < most ? count - at : most;
            if (at > 0)
                DO("copying HSPs", cudaEventSynchronize(cuda->event[turn ^ 1]));
            DO("copying HSPs", cudaMemcpyAsync(cuda->download[turn], records + at, length * sizeof *records,
                                               cudaMemcpyDeviceToHost, cuda->stream));
            DO("copying HSPs", cudaEventRecord(cuda->event[turn], cuda->stream));
        } else {
            DO("copying HSPs", cudaEventSynchronize(cuda->event[turn ^ 1]));
        }
        call->output->statistics->seconds_transfer += hspz__seconds() - start;
        if (at > 0) {
            const uint64_t length = count - (at - most) < most ? count - (at - most) : most;
            HSPZ__TRY(give(call, (const hspz_hsp *)(void *)cuda->download[turn ^ 1], length, piece));
        }
    }
    return HSPZ_OK;
}

static hspz_status thin_held(hspz__cuda_call *call)
{
    HSPZ__TRY(no_memory(call, hspz__dedup_maximal(&call->held, call->cuda->host)));
    call->held_thinned = call->held.count;
    return HSPZ_OK;
}

/* What a finish left, when others follow or came before: `interval` gives it out at once, `maximal` may thin it out. */
static hspz_status settle_held(hspz__cuda_call *call)
{
    hspz__host *host = call->cuda->host;
    if (call->held.count == 0)
        return HSPZ_OK;
    if (call->cuda->plan->dedup == HSPZ_DEDUP_INTERVAL) {
        HSPZ__TRY(no_memory(call, hspz__dedup_interval(&call->held, host, &call->seen)));
        return give_list(call, &call->held);
    }
    return call->held.count < FEW || call->held.count < 2 * call->held_thinned ? HSPZ_OK : thin_held(call);
}

hspz_status hspz__cuda_output(hspz__cuda_call *call, const hspz_hsp *records, uint64_t count, int piece)
{
    if (count == 0)
        return HSPZ_OK;
    HSPZ__TRY(download(call, records, count, piece));
    return piece ? thin_pieces(call) : settle_held(call);
}

/* ---- ends */

hspz_status hspz__cuda_merge_pieces(hspz__cuda_call *call)
{
    const double start = hspz__seconds();
    hspz__found_list *list = &call->pieces;
    call->pieces_thinned = 0;
    if (list->count == 0)
        return HSPZ_OK;
    HSPZ__TRY(no_memory(call, hspz__dedup_chunk(list, call->cuda->host)));
    if (call->cuda->plan->dedup == HSPZ_DEDUP_INTERVAL)
        HSPZ__TRY(no_memory(call, hspz__dedup_interval(list, call->cuda->host, &call->seen)));
    const hspz_status status = give_list(call, list);
    call->output->statistics->seconds_dedup += hspz__seconds() - start;
    return status;
}

hspz_status hspz__cuda_call_end(hspz__cuda_call *call)
{
    if (call->held.count == 0) /* only `maximal` still holds something */
        return HSPZ_OK;
    HSPZ__TRY(thin_held(call));
    return give_list(call, &call->held);
}

void hspz__cuda_call_free(hspz__cuda_call *call)
{
    hspz__found_free(&call->held, call->cuda->host);
    hspz__found_free(&call->pieces, call->cuda->host);
    hspz__seen_free(&call->seen, call->cuda->host);
}
