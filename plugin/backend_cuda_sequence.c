/* backend_cuda_sequence.c -- targets and queries on the device: upload, encoding, contexts; see backend_cuda.h.
 *
 * Idea: the bytes go to the device as they are and are encoded there, both strands of a query in one pass. The contexts of the fast gate, 32 bytes a position, stay resident if at least as much
 * memory is left for the work; otherwise the index is divided into slices of words whose contexts are made when needed.
 */
#include "backend_cuda.h"

#include "../kernels/cuda/compact.h"
#include "../kernels/cuda/encode.h"
#include "../kernels/cuda/index.h"

#include <string.h>

/* ---- sequences */

static void release_sequence(hspz__cuda *cuda, hspz__cuda_sequence *s)
{
    hspz__cuda_release(cuda, &s->classes);
    hspz__cuda_release(cuda, &s->codes);
    hspz__cuda_release(cuda, &s->odd);
    memset(s, 0, sizeof *s);
}

static hspz_status clear_memory(hspz__cuda *cuda, const hspz__cuda_memory *memory, hspz_error *error)
{
    return hspz__cuda_check(cudaMemsetAsync(memory->start, 0, memory->bytes, cuda->upload_stream),
                            "clearing device memory", error);
}

static hspz_status allocate_sequence(hspz__cuda *cuda, hspz__cuda_sequence *s, uint64_t length,
                                     const char *what, hspz_error *error)
{
    const uint64_t word = sizeof(uint32_t);
    s->strand.length = (uint32_t)length;
    HSPZ__TRY(hspz__cuda_allocate(cuda, &s->classes, HSPZ__CUDA_CLASS_WORDS(length) * word, what, error));
    HSPZ__TRY(hspz__cuda_allocate(cuda, &s->codes, HSPZ__CUDA_CODE_WORDS(length) * word, what, error));
    HSPZ__TRY(
        clear_memory(cuda, &s->classes, error)); /* the words after the last group are read, never used */
    HSPZ__TRY(clear_memory(cuda, &s->codes, error));
    s->strand.classes = s->classes.start;
    s->strand.codes = (uint32_t *)s->codes.start + HSPZ__CUDA_PAD / 16;
    if (cuda->filter.odd_classes == 0)
        return HSPZ_OK;
    HSPZ__TRY(hspz__cuda_allocate(cuda, &s->odd, HSPZ__CUDA_ODD_WORDS(length) * word, what, error));
    s->strand.odd = s->odd.start;
    return clear_memory(cuda, &s->odd, error);
}

/* Uploads and encodes; `minus` may be NULL. Waits. */
static hspz_status encode(hspz__cuda *cuda, const char *what, const uint8_t *bases, uint64_t length,
                          uint32_t salt, hspz__cuda_sequence *plus, hspz__cuda_sequence *minus,
                          double *transfer, hspz_error *error)
{
    const uint64_t place = (length + 255) / 256 * 256; /* what the kernel notes stands behind the bases */
    unsigned long long notes[2] = {UINT64_MAX, UINT64_MAX};
    HSPZ__TRY(hspz__cuda_reserve(cuda, &cuda->ascii, place + sizeof notes, "bases on their way to the device",
                                 error));
    uint8_t *ascii = cuda->ascii.start;
    unsigned long long *on_device = (unsigned long long *)(void *)(ascii + place);
    const double start = hspz__seconds();
    HSPZ__TRY(hspz__cuda_upload(cuda, ascii, bases, length, error));
    *transfer += hspz__seconds() - start;
    HSPZ__TRY(hspz__cuda_check(cudaMemsetAsync(on_device, 0xff, sizeof notes, cuda->upload_stream),
                               "encoding", error));
    HSPZ__TRY(
        hspz__cuda_check(hspz__cuda_encode(ascii, (uint32_t)length, cuda->class_of, cuda->filter.odd_classes,
                                           salt, &plus->strand, minus != NULL ? &minus->strand : NULL,
                                           on_device, cuda->upload_stream),
                         "encoding", error));
    HSPZ__TRY(hspz__cuda_check(
        cudaMemcpyAsync(notes, on_device, sizeof notes, cudaMemcpyDeviceToHost, cuda->upload_stream),
        "encoding", error));
    HSPZ__TRY(hspz__cuda_check(cudaStreamSynchronize(cuda->upload_stream), "encoding", error));
    if (notes[0] != UINT64_MAX)
        return hspz__fail(error, HSPZ_E_ARGUMENT,
                          "byte 0x%02x at offset %llu of the %s is no nucleotide code and not '&'",
                          bases[notes[0]], notes[0], what);
    if (notes[1] == UINT64_MAX) { /* no odd symbol: nothing to look up */
        plus->strand.odd = NULL;
        if (minus != NULL)
            minus->strand.odd = NULL;
    }
    return HSPZ_OK;
}

/* ---- contexts */

#define SAMPLES 4096u

/* Divides the words into slices of at most `most` positions, or of one sample where that alone has more. */
static hspz_status make_slices(hspz__cuda *cuda, uint64_t most, hspz_error *error)
{
    hspz__cuda_target *t = &cuda->target;
    const uint32_t bits = cuda->word.bits, shift = bits > 12 ? bits - 12 : 0, samples = 1u << (bits - shift);
    t->slice_word = hspz__alloc(cuda->host, samples + 1, sizeof *t->slice_word);
    t->slice_position = hspz__alloc(cuda->host, samples + 1, sizeof *t->slice_position);
    uint32_t *ends = hspz__alloc(cuda->host, samples, sizeof *ends), *device_ends = NULL;
    hspz__cuda_arena arena = {0};
    hspz__cuda_take(&arena, samples, sizeof *ends);
    hspz_status status = HSPZ_OK;
    if (t->slice_word == NULL || t->slice_position == NULL || ends == NULL) {
        status = HSPZ_E_MEMORY;
        hspz__fail(error, status, "no memory to divide the target index");
    }
    if (status == HSPZ_OK) /* the arena is free */
        status = hspz__cuda_reserve(cuda, &cuda->arena, arena.used, "the target index", error);
    if (status == HSPZ_OK) {
        arena = hspz__cuda_arena_of(cuda);
        device_ends = hspz__cuda_take(&arena, samples, sizeof *ends);
        status =
            hspz__cuda_check(hspz__cuda_index_samples(&t->index, shift, samples, device_ends, cuda->stream),
                             "dividing the target index", error);
    }
    if (status == HSPZ_OK)
        status = hspz__cuda_download(cuda, ends, device_ends, samples * sizeof *ends, error);
    if (status == HSPZ_OK) {
        t->slices = 0;
        t->slice_word[0] = 0;
        t->slice_position[0] = 0;
        for (uint32_t i = 0; i < samples; i++) {
            const uint32_t begin = t->slice_position[t->slices],
                           next = i + 1 < samples ? ends[i + 1] : UINT32_MAX;
            if (i + 1 < samples && next - begin <= most)
                continue;
            t->slices++;
            t->slice_word[t->slices] = (i + 1) << shift;
            t->slice_position[t->slices] = ends[i];
            if (ends[i] - begin > t->slice_most)
                t->slice_most = ends[i] - begin;
        }
    }
    hspz__free(cuda->host, ends);
    return status;
}

static hspz_status make_contexts(hspz__cuda *cuda, hspz_error *error)
{
    hspz__cuda_target *t = &cuda->target;
    const uint64_t context = HSPZ__CONTEXT_WORDS * sizeof(uint32_t), bytes = t->index.count * context;
    const uint64_t budget = hspz__cuda_budget(cuda);
    if (cuda->knobs.slice_positions > 0)
        return make_slices(cuda, (uint64_t)cuda->knobs.slice_positions, error);
    if (bytes > (budget - (budget < cuda->arena.bytes ? budget : cuda->arena.bytes)) / 2)
        return make_slices(cuda, budget / 4 / context + 1, error);
    const hspz_status status = hspz__cuda_allocate(cuda, &t->contexts, bytes, "target contexts", error);
    if (status == HSPZ_E_DEVICE_MEMORY) { /* somebody else was faster */
        hspz__cuda_forget(error);
        return make_slices(cuda, hspz__cuda_budget(cuda) / 4 / context + 1, error);
    }
    HSPZ__TRY(status);
    return hspz__cuda_check(hspz__cuda_contexts(&t->sequence.strand, &cuda->word, &cuda->filter,
                                                t->index.positions, t->index.count, NULL, 1,
                                                t->contexts.start, cuda->stream),
                            "making the target's contexts", error);
}

static hspz_status set_target(hspz__cuda *cuda, const hspz_target *target, double *transfer,
                              hspz_error *error)
{
    hspz__cuda_target *t = &cuda->target;
    HSPZ__TRY(allocate_sequence(cuda, &t->sequence, target->length, "the target", error));
    HSPZ__TRY(encode(cuda, "target", target->bases, target->length, 0x243f6a88u, &t->sequence, NULL, transfer,
                     error));
    HSPZ__TRY(target->index_table != NULL ? hspz__cuda_import_index(cuda, target, transfer, error)
                                          : hspz__cuda_build_index(cuda, target->length, error));
    t->join = t->own_index && hspz__cuda_can_join(cuda);
    if (t->join && t->index.count > 0)
        HSPZ__TRY(make_contexts(cuda, error));
    return hspz__cuda_check(cudaStreamSynchronize(cuda->stream), "indexing the target", error);
}

hspz_status hspz__cuda_set_target(hspz__cuda *cuda, const hspz_target *target, hspz_statistics *statistics,
                                  hspz_error *error)
{
    double transfer = 0.0;
    const double start = hspz__seconds();
    hspz_status status = set_target(cuda, target, &transfer, error);
    if (status == HSPZ_E_DEVICE_MEMORY && (cuda->arena.bytes > 0 || cuda->ascii.bytes > 0)) {
        hspz__cuda_clear_target(cuda); /* the arena of earlier work may be what is missing */
        hspz__cuda_release(cuda, &cuda->arena);
        hspz__cuda_release(cuda, &cuda->ascii);
        hspz__cuda_forget(error);
        status = set_target(cuda, target, &transfer, error);
    }
    statistics->seconds_transfer += transfer;
    statistics->seconds_index += hspz__seconds() - start - transfer;
    if (status == HSPZ_OK)
        statistics->target_positions += cuda->target.index.count;
    else
        hspz__cuda_clear_target(cuda);
    return status;
}

void hspz__cuda_clear_target(hspz__cuda *cuda)
{
    hspz__cuda_target *t = &cuda->target;
    hspz__cuda_settle_streams(cuda); /* a target that failed may still be at work */
    release_sequence(cuda, &t->sequence);
    hspz__cuda_release_index(cuda);
    hspz__cuda_release(cuda, &t->contexts);
    hspz__free(cuda->host, t->slice_word);
    hspz__free(cuda->host, t->slice_position);
    memset(t, 0, sizeof *t);
}

/* ---- query */

static hspz_status note_records(hspz__cuda *cuda, hspz__cuda_query *q, const hspz_query *query,
                                hspz_error *error)
{
    const uint8_t *end = query->bases + query->length;
    uint64_t count = 0;
    if (cuda->plan->dedup != HSPZ_DEDUP_LASTZ || query->length == 0)
        return HSPZ_OK;
    for (const uint8_t *at = query->bases; (at = memchr(at, '&', (size_t)(end - at))) != NULL; at++)
        count++;
    for (int strand = 0; strand < 2; strand++) {
        q->record_ends[strand] = hspz__alloc(cuda->host, count + 1, sizeof **q->record_ends);
        if (q->record_ends[strand] == NULL)
            return hspz__fail(error, HSPZ_E_MEMORY, "no memory to note %llu records",
                              (unsigned long long)count + 1);
        q->record_ends[strand][count] = (uint32_t)query->length;
    }
    for (const uint8_t *at = query->bases; (at = memchr(at, '&', (size_t)(end - at))) != NULL; at++) {
        q->record_ends[0][q->records] = (uint32_t)(at - query->bases);
        q->record_ends[1][count - 1 - q->records] = (uint32_t)(end - 1 - at);
        q->records++;
    }
    q->records++; /* the last one has no separator */
    return HSPZ_OK;
}

static void note_query(hspz__cuda *cuda, hspz__cuda_query *q)
{
    uint64_t bytes = 0;
    for (int strand = 0; strand < 2; strand++)
        bytes +=
            q->strand[strand].classes.bytes + q->strand[strand].codes.bytes + q->strand[strand].odd.bytes;
    pthread_mutex_lock(&cuda->lock);
    q->set = 1;
    cuda->queries++;
    if (bytes > cuda->largest_query)
        cuda->largest_query = bytes;
    pthread_mutex_unlock(&cuda->lock);
}

static hspz_status set_query(hspz__cuda *cuda, uint32_t slot, const hspz_query *query, double *transfer,
                             hspz_error *error)
{
    hspz__cuda_query *q = &cuda->query[slot];
    for (int strand = 0; strand < 2; strand++)
        HSPZ__TRY(allocate_sequence(cuda, &q->strand[strand], query->length, "the query", error));
    HSPZ__TRY(note_records(cuda, q, query, error));
    return encode(cuda, "query", query->bases, query->length, 0x13198a2eu, &q->strand[0], &q->strand[1],
                  transfer, error);
}

hspz_status hspz__cuda_set_query(hspz__cuda *cuda, uint32_t slot, const hspz_query *query,
                                 hspz_statistics *statistics, hspz_error *error)
{
    double transfer = 0.0;
    const double start = hspz__seconds();
    hspz_status status = set_query(cuda, slot, query, &transfer, error);
    if (status == HSPZ_E_DEVICE_MEMORY) { /* the arena plans anew with what is left */
        hspz__cuda_clear_query(cuda, slot);
        pthread_mutex_lock(&cuda->work);
        hspz__cuda_release(cuda, &cuda->arena);
        hspz__cuda_forget(error);
        status = set_query(cuda, slot, query, &transfer, error);
        pthread_mutex_unlock(&cuda->work);
    }
    statistics->seconds_transfer += transfer;
    statistics->seconds_query += hspz__seconds() - start - transfer;
    if (status == HSPZ_OK)
        note_query(cuda, &cuda->query[slot]);
    else
        hspz__cuda_clear_query(cuda, slot);
    return status;
}

void hspz__cuda_clear_query(hspz__cuda *cuda, uint32_t slot)
{
    hspz__cuda_query *q = &cuda->query[slot];
    if (cuda->upload_stream != NULL)
        (void)cudaStreamSynchronize(cuda->upload_stream); /* a failed upload may still be at work */
    if (q->set) {
        pthread_mutex_lock(&cuda->lock);
        cuda->queries--;
        pthread_mutex_unlock(&cuda->lock);
    }
    for (int strand = 0; strand < 2; strand++) {
        release_sequence(cuda, &q->strand[strand]);
        hspz__free(cuda->host, q->record_ends[strand]);
    }
    memset(q, 0, sizeof *q);
}
