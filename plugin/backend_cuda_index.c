/* backend_cuda_index.c -- the target index on the device; see backend_cuda.h, kernels/cuda/index.h and compact.h.
 *
 * Idea: a radix sort of (word, position), then the bucket table in one of two forms (`seed_index`). Direct: one entry for every word there
 * can be, 64 MiB for 12of19 but 1 GiB for 14of22 and 4 GiB for weight 15. Compact (`hash`): a bitmap with ranks and one entry
 * for every word that occurs. `auto` takes the compact form where it needs less than half, and where there is no memory
 * for the direct one. Both give the same buckets.
 */
#include "backend_cuda.h"

#include "../kernels/cuda/compact.h"
#include "../kernels/cuda/index.h"
#include "../kernels/cuda/primitives.h"

#include <string.h>

#define DIRECT_BITS 24u /* up to here a direct table is small, and fastest */

#define DO(what, step) HSPZ__TRY(hspz__cuda_check((step), (what), error))

/* ---- which form */

static int wants_compact(const hspz__cuda *cuda, uint64_t positions)
{
    const uint32_t bits = cuda->word.bits;
    const uint64_t words = (uint64_t)1 << bits, distinct = positions < words ? positions : words;
    if (cuda->knobs.seed_index != HSPZ__INDEX_AUTO)
        return cuda->knobs.seed_index == HSPZ__INDEX_HASH;
    return bits > DIRECT_BITS &&
           hspz__cuda_blocks(words, HSPZ__COMPACT_BLOCK) * 12 + distinct * 4 < words * 2;
}

/* Whether a failed direct table may be replaced. */
static int may_retry(const hspz__cuda *cuda, hspz_status status)
{
    return status == HSPZ_E_DEVICE_MEMORY && cuda->knobs.seed_index == HSPZ__INDEX_AUTO;
}

static hspz_status allocate_direct(hspz__cuda *cuda, hspz_error *error)
{
    hspz__cuda_target *t = &cuda->target;
    HSPZ__TRY(
        hspz__cuda_allocate(cuda, &t->ends, sizeof(uint32_t) << cuda->word.bits, "the bucket table", error));
    t->index.ends = t->ends.start;
    return HSPZ_OK;
}

static hspz_status allocate_compact(hspz__cuda *cuda, uint32_t distinct, hspz_error *error)
{
    hspz__cuda_target *t = &cuda->target;
    const uint64_t blocks = hspz__cuda_blocks((uint64_t)1 << cuda->word.bits, HSPZ__COMPACT_BLOCK);
    const char *what = "the bucket table";
    HSPZ__TRY(hspz__cuda_allocate(cuda, &t->bitmap, blocks * sizeof(uint64_t), what, error));
    HSPZ__TRY(hspz__cuda_allocate(cuda, &t->ranks, blocks * sizeof(uint32_t), what, error));
    HSPZ__TRY(
        hspz__cuda_allocate(cuda, &t->starts, ((uint64_t)distinct + 1) * sizeof(uint32_t), what, error));
    t->index.bitmap = t->bitmap.start;
    t->index.ranks = t->ranks.start;
    t->index.starts = t->starts.start;
    return HSPZ_OK;
}

void hspz__cuda_release_index(hspz__cuda *cuda)
{
    hspz__cuda_target *t = &cuda->target;
    hspz__cuda_release(cuda, &t->ends);
    hspz__cuda_release(cuda, &t->bitmap);
    hspz__cuda_release(cuda, &t->ranks);
    hspz__cuda_release(cuda, &t->starts);
    hspz__cuda_release(cuda, &t->positions);
    memset(&t->index, 0, sizeof t->index);
}

/* ---- sorted words */

typedef struct sort_space {
    uint32_t *words[2], *positions[2];
    void *temp;
    size_t temp_bytes;
} sort_space;

static void take_sort_space(hspz__cuda_arena *arena, uint64_t count, sort_space *s)
{
    for (int k = 0; k < 2; k++) {
        s->words[k] = hspz__cuda_take(arena, count, sizeof(uint32_t));
        s->positions[k] = hspz__cuda_take(arena, count, sizeof(uint32_t));
    }
    s->temp = hspz__cuda_take(arena, s->temp_bytes, 1);
}

/* Words and positions in the arena, sorted; *second tells in which of the two arrays. Waits; *valid of them are words. */
static hspz_status sort_windows(hspz__cuda *cuda, uint64_t first, uint32_t count, sort_space *s, int *second,
                                uint32_t *valid, hspz_error *error)
{
    const int bits = (int)cuda->word.bits + 1;
    size_t scan = 0;
    unsigned long long windows = 0;
    DO("sorting the target's words", hspz__cuda_sort_u32_u32(NULL, &s->temp_bytes, NULL, NULL, NULL, NULL,
                                                             count, 0, bits, second, cuda->stream));
    DO("sorting the target's words", hspz__cuda_scan_u32(NULL, &scan, NULL, NULL, count, cuda->stream));
    s->temp_bytes = scan > s->temp_bytes ? scan : s->temp_bytes;
    hspz__cuda_arena measure = {0};
    take_sort_space(&measure, count, s);
    HSPZ__TRY(hspz__cuda_reserve(cuda, &cuda->arena, measure.used, "the target index", error));
    hspz__cuda_arena arena = hspz__cuda_arena_of(cuda);
    take_sort_space(&arena, count, s);
    HSPZ__TRY(hspz__cuda_clear_counters(cuda, error));
    DO("making the target's words",
       hspz__cuda_words(&cuda->target.sequence.strand, &cuda->word, (uint32_t)first, cuda->plan->step, count,
                        s->words[0], s->positions[0], &cuda->counters->windows, cuda->stream));
    DO("sorting the target's words",
       hspz__cuda_sort_u32_u32(s->temp, &s->temp_bytes, s->words[0], s->words[1], s->positions[0],
                               s->positions[1], count, 0, bits, second, cuda->stream));
    HSPZ__TRY(hspz__cuda_download(cuda, &windows, &cuda->counters->windows, sizeof windows, error));
    *valid = (uint32_t)windows;
    return HSPZ_OK;
}

/* ---- the plugin's own index */

/* In the sort's other arrays there is room for heads and their sums. */
static hspz_status make_compact(hspz__cuda *cuda, const sort_space *s, int second, uint32_t valid,
                                hspz_error *error)
{
    hspz__cuda_target *t = &cuda->target;
    const uint32_t *words = s->words[second];
    uint32_t *heads = s->words[1 - second], *before = s->positions[1 - second];
    uint32_t last[2] = {0, 0};
    size_t temp_bytes = s->temp_bytes;
    if (valid > 0) {
        DO("making the bucket table", hspz__cuda_compact_heads(words, valid, heads, cuda->stream));
        DO("making the bucket table",
           hspz__cuda_scan_u32(s->temp, &temp_bytes, heads, before, valid, cuda->stream));
        HSPZ__TRY(hspz__cuda_download(cuda, &last[0], heads + valid - 1, sizeof *last, error));
        HSPZ__TRY(hspz__cuda_download(cuda, &last[1], before + valid - 1, sizeof *last, error));
    }
    const uint32_t distinct = last[0] + last[1];
    HSPZ__TRY(allocate_compact(cuda, distinct, error));
    DO("making the bucket table", cudaMemsetAsync(t->bitmap.start, 0, t->bitmap.bytes, cuda->stream));
    if (valid > 0) {
        DO("making the bucket table",
           hspz__cuda_compact_table(words, heads, before, valid, distinct, cuda->word.bits, t->bitmap.start,
                                    t->ranks.start, t->starts.start, cuda->stream));
        return HSPZ_OK;
    }
    DO("making the bucket table", cudaMemsetAsync(t->ranks.start, 0, t->ranks.bytes, cuda->stream));
    DO("making the bucket table", cudaMemsetAsync(t->starts.start, 0, t->starts.bytes, cuda->stream));
    return HSPZ_OK;
}

static hspz_status make_direct(hspz__cuda *cuda, const uint32_t *words, uint32_t count, hspz_error *error)
{
    hspz__cuda_target *t = &cuda->target;
    HSPZ__TRY(allocate_direct(cuda, error));
    if (count == 0)
        DO("clearing the index", cudaMemsetAsync(t->ends.start, 0, t->ends.bytes, cuda->stream));
    else
        DO("making the bucket table",
           hspz__cuda_bucket_ends(words, count, cuda->word.bits, t->ends.start, cuda->stream));
    return HSPZ_OK;
}

hspz_status hspz__cuda_build_index(hspz__cuda *cuda, uint64_t length, hspz_error *error)
{
    hspz__cuda_target *t = &cuda->target;
    uint64_t first = 0;
    const uint64_t count = hspz__plan_target_positions(cuda->plan, length, &first);
    sort_space s = {.temp_bytes = 0};
    int second = 0;
    uint32_t valid = 0;
    t->own_index = 1;
    if (count > 0)
        HSPZ__TRY(sort_windows(cuda, first, (uint32_t)count, &s, &second, &valid, error));
    int compact = wants_compact(cuda, valid);
    if (!compact) {
        const hspz_status status = make_direct(cuda, s.words[second], (uint32_t)count, error);
        compact = may_retry(cuda, status);
        if (!compact)
            HSPZ__TRY(status);
        else
            hspz__cuda_forget(error);
    }
    if (compact)
        HSPZ__TRY(make_compact(cuda, &s, second, valid, error));
    HSPZ__TRY(hspz__cuda_allocate(cuda, &t->positions, (uint64_t)valid * sizeof(uint32_t), "target positions",
                                  error));
    t->index.positions = t->positions.start;
    t->index.count = valid;
    if (valid == 0)
        return HSPZ_OK;
    return hspz__cuda_check(cudaMemcpyAsync(t->positions.start, s.positions[second], t->positions.bytes,
                                            cudaMemcpyDeviceToDevice, cuda->stream),
                            "keeping the target positions", error);
}

/* ---- the host's own index */

typedef struct host_table {
    uint64_t *bitmap;
    uint32_t *ranks, *starts, distinct;
} host_table;

/* The host's table in compact form. */
static void compress(const hspz_target *target, host_table *out)
{
    uint32_t begin = 0, rank = 0;
    for (uint64_t word = 0; word < target->index_entries; word++) {
        const uint64_t block = word / HSPZ__COMPACT_BLOCK, bit = word % HSPZ__COMPACT_BLOCK;
        if (bit == 0) {
            out->bitmap[block] = 0;
            out->ranks[block] = rank;
        }
        if (target->index_table[word] == begin)
            continue;
        out->bitmap[block] |= (uint64_t)1 << bit;
        out->starts[rank++] = begin;
        begin = target->index_table[word];
    }
    out->starts[rank] = begin;
}

static hspz_status upload_compact(hspz__cuda *cuda, const hspz_target *target, hspz_error *error)
{
    hspz__cuda_target *t = &cuda->target;
    hspz__host *host = cuda->host;
    const uint64_t blocks = hspz__cuda_blocks((uint64_t)1 << cuda->word.bits, HSPZ__COMPACT_BLOCK);
    host_table h = {0};
    for (uint64_t word = 0; word < target->index_entries; word++)
        h.distinct += target->index_table[word] != (word > 0 ? target->index_table[word - 1] : 0);
    hspz_status status = allocate_compact(cuda, h.distinct, error);
    if (status != HSPZ_OK)
        return status;
    h.bitmap = hspz__alloc(host, blocks, sizeof *h.bitmap);
    h.ranks = hspz__alloc(host, blocks, sizeof *h.ranks);
    h.starts = hspz__alloc(host, (uint64_t)h.distinct + 1, sizeof *h.starts);
    if (h.bitmap == NULL || h.ranks == NULL || h.starts == NULL)
        status = hspz__fail(error, HSPZ_E_MEMORY, "no memory to make the index table compact");
    if (status == HSPZ_OK) {
        compress(target, &h);
        status = hspz__cuda_upload(cuda, t->bitmap.start, h.bitmap, t->bitmap.bytes, error);
    }
    if (status == HSPZ_OK)
        status = hspz__cuda_upload(cuda, t->ranks.start, h.ranks, t->ranks.bytes, error);
    if (status == HSPZ_OK)
        status = hspz__cuda_upload(cuda, t->starts.start, h.starts, t->starts.bytes, error);
    hspz__free(host, h.bitmap);
    hspz__free(host, h.ranks);
    hspz__free(host, h.starts);
    return status;
}

hspz_status hspz__cuda_import_index(hspz__cuda *cuda, const hspz_target *target, double *transfer,
                                    hspz_error *error)
{
    hspz__cuda_target *t = &cuda->target;
    const double start = hspz__seconds();
    int compact = wants_compact(cuda, target->position_count);
    if (!compact) {
        const hspz_status status = allocate_direct(cuda, error);
        compact = may_retry(cuda, status);
        if (compact) {
            hspz__cuda_forget(error);
        } else {
            HSPZ__TRY(status);
            HSPZ__TRY(hspz__cuda_upload(cuda, t->ends.start, target->index_table, t->ends.bytes, error));
        }
    }
    if (compact)
        HSPZ__TRY(upload_compact(cuda, target, error));
    HSPZ__TRY(hspz__cuda_allocate(cuda, &t->positions, target->position_count * sizeof(uint32_t),
                                  "target positions", error));
    HSPZ__TRY(hspz__cuda_upload(cuda, t->positions.start, target->positions, t->positions.bytes, error));
    *transfer += hspz__seconds() - start;
    t->index.positions = t->positions.start;
    t->index.count = (uint32_t)target->position_count;
    return HSPZ_OK;
}
