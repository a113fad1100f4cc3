/* marks_find.c -- the mark rule at full speed: level (a) over the plugin's own index.
 *
 * Idea: the hits of a slot of the mark table depend on each other, those of different slots do not. A round expands some pieces of query text
 * in parallel, each piece sorting its hits by groups of slots, stably; then the groups are worked in parallel, each going
 * through the pieces in order (marks_group.c). Results carry their anchor and are put back into raw order when the round ends.
 *
 * No table is cleared between query records: a right scan ends at the separator it reads, so a mark from an earlier record never
 * exceeds the start of this one, skips none of its hits, and as a floor stops a left scan where the separator does.
 */
#include "marks.h"

#include "marks_group.h"

#include <string.h>

#define PIECE 1024u         /* query positions; a multiple of 64 */
#define PIECES_A_THREAD 24u /* in a round */
#define PIECE_HITS 262144u  /* at most: what is left goes into the next round */

/* Where the expansion stands: `left` positions of the bucket of this variant at this window start are still to be taken, or all
 * when it is UINT32_MAX. */
typedef struct cursor {
    uint64_t position;
    uint32_t variant, left;
} cursor;

typedef struct finder {
    hspz__call *call;
    uint64_t end;
    cursor from;          /* of the round */
    uint64_t first_piece; /* window start of the round's first piece, rounded down */
    uint64_t piece_count;
    hspz__mark_piece *pieces;
    cursor *reached;        /* a piece; position = its end when it is complete */
    hspz_anchor **unsorted; /* a worker: [PIECE_HITS] */
    hspz__mark_group *groups;
    uint64_t *bitmap; /* of the keys that the target has, where it is small enough for a direct look */
    hspz__result result;
    uint64_t windows, hits;
} finder;

/* A bucket with positions. */
typedef struct bucket {
    const hspz__block *block;
    uint32_t key, query, variant;
    uint32_t rank, first, end; /* places in the index */
} bucket;

/* ---- expansion of one piece */

static uint32_t rank_of(const hspz__block *block, uint32_t key)
{
    return block->rank + (uint32_t)__builtin_popcountll(block->bits & ((UINT64_C(1) << (key & 63)) - 1));
}

/* Buckets of the windows key << 32 | position, in the order of SPEC section 4. What the next step reads is asked for. */
static uint32_t list_buckets(const finder *f, const uint64_t *windows, uint32_t count, bucket *buckets)
{
    const hspz__cpu *cpu = f->call->cpu;
    const hspz__words *index = &cpu->index;
    const hspz__keys *keys = &cpu->keys;
    uint16_t present[64];
    if (f->bitmap != NULL)
        cpu->kernels->probe(f->bitmap, windows, count, keys->variant_mask, keys->variant_count, present);
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t rest = f->bitmap != NULL ? present[i] : (1u << keys->variant_count) - 1; rest != 0;
             rest &= rest - 1) {
            const uint32_t v = (uint32_t)__builtin_ctz(rest);
            const uint32_t key = (uint32_t)(windows[i] >> 32) ^ keys->variant_mask[v];
            const hspz__block *block = hspz__words_block(index, key / 64);
            buckets[n] = (bucket){.block = block, .key = key, .query = (uint32_t)windows[i], .variant = v};
            __builtin_prefetch(block);
            n += (f->bitmap != NULL) | (uint32_t)(block->bits >> (key & 63) & 1);
        }
    for (uint32_t i = 0; i < n; i++) {
        buckets[i].rank = rank_of(buckets[i].block, buckets[i].key);
        __builtin_prefetch(&index->starts[buckets[i].rank]);
    }
    for (uint32_t i = 0; i < n; i++) {
        buckets[i].first = index->starts[buckets[i].rank];
        buckets[i].end = index->starts[buckets[i].rank + 1];
        __builtin_prefetch(&index->positions[buckets[i].first]);
    }
    return n;
}

/* Appends the hits of the buckets, each from its last position to its first; false when the piece is full, `at` says where. */
static bool take_hits(const hspz__cpu *cpu, const bucket *buckets, uint32_t n, hspz_anchor *out,
                      uint32_t *count, cursor *at)
{
    const uint32_t *positions = cpu->index.positions;
    const cursor from = *at;
    uint32_t taken = *count;
    for (uint32_t i = 0; i < n; i++) {
        const bucket *b = &buckets[i];
        uint32_t place = b->end, least = b->first;
        if (from.left != UINT32_MAX && b->query == from.position && b->variant <= from.variant)
            place = b->variant < from.variant ? least : least + from.left;
        if (place - least > PIECE_HITS - taken)
            least = place - (PIECE_HITS - taken);
        for (; place > least; place--)
            out[taken++] = (hspz_anchor){.target_end = positions[place - 1], .query_end = b->query};
        if (place > b->first &&
            !(from.left != UINT32_MAX && b->query == from.position && b->variant < from.variant)) {
            *at = (cursor){.position = b->query, .variant = b->variant, .left = place - b->first};
            *count = taken;
            return false;
        }
    }
    *count = taken;
    return true;
}

/* Window starts of piece `number`, its first 64 aligned: [begin, end). */
static void piece_bounds(const finder *f, uint64_t number, uint64_t *begin, uint64_t *end)
{
    *begin = f->first_piece + number * PIECE;
    *end = f->end - *begin < PIECE ? f->end : *begin + PIECE;
    if (*begin < f->from.position)
        *begin = f->from.position;
}

static hspz_status expand_piece(void *context, uint32_t worker, uint64_t number)
{
    finder *f = context;
    const hspz__call *call = f->call;
    const hspz__cpu *cpu = call->cpu;
    uint64_t begin, end, windows[64];
    bucket buckets[64 * HSPZ__VARIANTS_MAX];
    piece_bounds(f, number, &begin, &end);
    hspz_anchor *hits = f->unsorted[worker];
    hspz__mark_piece *piece = &f->pieces[number];
    cursor at = number == 0 ? f->from : (cursor){.position = begin, .left = UINT32_MAX};
    uint32_t count = 0;
    bool complete = true;
    piece->windows = 0;
    for (uint64_t base = begin & ~UINT64_C(63); base < end && complete; base += 64) {
        uint64_t valid = hspz__valid_windows(call->query, cpu->plan->pattern_length, base);
        if (base < begin)
            valid &= ~UINT64_C(0) << (begin - base);
        if (end - base < 64)
            valid &= (UINT64_C(1) << (end - base)) - 1;
        const uint8_t *packed = call->query->packed + (base + HSPZ__PACKED_MARGIN) / 4;
        const uint32_t n = cpu->kernels->keys(&cpu->keys.rule, packed, base, valid, windows);
        const uint32_t listed = list_buckets(f, windows, n, buckets);
        complete = take_hits(cpu, buckets, listed, hits, &count, &at);
        for (uint32_t i = 0; i < n && (complete || (uint32_t)windows[i] < at.position); i++)
            piece->windows++; /* one that is not complete is counted when it is */
    }
    f->reached[number] = complete ? (cursor){.position = end, .left = UINT32_MAX} : at;
    return hspz__mark_piece_sort(piece, cpu->host, hits, count);
}

/* ---- a round */

static hspz_status work_group(void *context, uint32_t worker, uint64_t number)
{
    finder *f = context;
    hspz__mark_group *group = &f->groups[number];
    group->worker = worker;
    return hspz__mark_group_work(group, f->call, f->pieces, f->piece_count);
}

static hspz_status gather(finder *f)
{
    hspz__host *host = f->call->cpu->host;
    hspz_status status = HSPZ_OK;
    for (uint32_t g = 0; g < HSPZ__MARK_GROUPS && status == HSPZ_OK; g++) {
        hspz__found_list *found = &f->groups[g].found;
        status = hspz__found_reserve(&f->result.found, host, found->count);
        if (status == HSPZ_OK && found->count > 0)
            memcpy(f->result.found.items + f->result.found.count, found->items,
                   found->count * sizeof *found->items);
        f->result.found.count += status == HSPZ_OK ? found->count : 0;
        found->count = 0;
    }
    return status == HSPZ_OK ? hspz__result_raw(&f->result) : status;
}

static hspz_status work_round(finder *f)
{
    hspz__call *call = f->call;
    const uint64_t most = PIECES_A_THREAD * (uint64_t)hspz__pool_threads(call->cpu->pool);
    f->first_piece = f->from.position & ~UINT64_C(63);
    f->piece_count = (f->end - f->first_piece + PIECE - 1) / PIECE;
    if (f->piece_count > most)
        f->piece_count = most;
    double start = hspz__seconds();
    hspz_status status = hspz__pool_run(call->cpu->pool, f->piece_count, expand_piece, f, &call->pulse);
    call->output->statistics->seconds_expand += hspz__seconds() - start;
    if (status != HSPZ_OK)
        return status;
    uint64_t complete = 0;
    for (; complete < f->piece_count; complete++) {
        f->windows += f->pieces[complete].windows;
        f->hits += f->pieces[complete].begin[HSPZ__MARK_GROUPS];
        if (f->reached[complete].left !=
            UINT32_MAX) { /* it is worked as far as it came; those after it are made again */
            f->piece_count = complete + 1;
            break;
        }
    }
    f->from = f->reached[f->piece_count - 1];
    start = hspz__seconds();
    status = hspz__pool_run(call->cpu->pool, HSPZ__MARK_GROUPS, work_group, f, &call->pulse);
    call->output->statistics->seconds_gate += hspz__seconds() - start;
    return status == HSPZ_OK ? gather(f) : status;
}

/* ---- the call */

static hspz_status make_bitmap(finder *f)
{
    const hspz__words *index = &f->call->cpu->index;
    if (!index->direct)
        return HSPZ_OK;
    f->bitmap = hspz__alloc(f->call->cpu->host, index->block_count, sizeof *f->bitmap);
    if (f->bitmap == NULL)
        return HSPZ_E_MEMORY;
    for (uint32_t row = 0; row < index->block_count; row++)
        f->bitmap[row] = index->blocks[row].bits;
    return HSPZ_OK;
}

static hspz_status start_finder(finder *f, hspz__call *call)
{
    hspz__host *host = call->cpu->host;
    const uint32_t threads = hspz__pool_threads(call->cpu->pool);
    const uint64_t pieces = PIECES_A_THREAD * (uint64_t)threads;
    f->pieces = hspz__alloc(host, pieces, sizeof *f->pieces);
    f->reached = hspz__alloc(host, pieces, sizeof *f->reached);
    f->unsorted = hspz__alloc(host, threads, sizeof *f->unsorted);
    f->groups = hspz__alloc(host, HSPZ__MARK_GROUPS, sizeof *f->groups);
    if (f->pieces != NULL)
        memset(f->pieces, 0, pieces * sizeof *f->pieces);
    if (f->unsorted != NULL)
        memset(f->unsorted, 0, threads * sizeof *f->unsorted);
    if (f->groups != NULL)
        memset(f->groups, 0, HSPZ__MARK_GROUPS * sizeof *f->groups);
    if (f->pieces == NULL || f->reached == NULL || f->unsorted == NULL || f->groups == NULL)
        return HSPZ_E_MEMORY;
    for (uint32_t g = 0; g < HSPZ__MARK_GROUPS; g++)
        f->groups[g].number = g;
    for (uint32_t i = 0; i < threads; i++) {
        f->unsorted[i] = hspz__alloc(host, PIECE_HITS, sizeof *f->unsorted[i]);
        if (f->unsorted[i] == NULL)
            return HSPZ_E_MEMORY;
    }
    return make_bitmap(f);
}

static void free_finder(finder *f)
{
    hspz__host *host = f->call->cpu->host;
    const uint32_t threads = hspz__pool_threads(f->call->cpu->pool);
    for (uint64_t i = 0; f->pieces != NULL && i < PIECES_A_THREAD * (uint64_t)threads; i++)
        hspz__mark_piece_free(&f->pieces[i], host);
    for (uint32_t i = 0; f->unsorted != NULL && i < threads; i++)
        hspz__free(host, f->unsorted[i]);
    for (uint32_t g = 0; f->groups != NULL && g < HSPZ__MARK_GROUPS; g++)
        hspz__found_free(&f->groups[g].found, host);
    hspz__free(host, f->pieces);
    hspz__free(host, f->reached);
    hspz__free(host, f->unsorted);
    hspz__free(host, f->groups);
    hspz__free(host, f->bitmap);
}

/* Batches and chunks do not show in the output, only in the statistics and in the limit of 2^32 hits a batch. */
static hspz_status count_chunks(finder *f, uint64_t begin, uint64_t end, uint64_t batch_size)
{
    hspz_statistics *statistics = f->call->output->statistics;
    hspz__chunks chunks;
    hspz_status status = hspz__chunks_init(&chunks, f->call, begin, end, batch_size, f->hits);
    statistics->query_positions += f->windows;
    statistics->seeds += f->windows * f->call->cpu->keys.variant_count;
    statistics->hits += f->hits;
    statistics->batches += (end - begin + batch_size - 1) / batch_size;
    statistics->chunks += chunks.chunks;
    for (uint32_t g = 0; g < HSPZ__MARK_GROUPS; g++) {
        statistics->gate_survivors += f->groups[g].survivors;
        statistics->skipped += f->groups[g].skipped;
        statistics->accepted += f->groups[g].accepted;
    }
    hspz__chunks_free(&chunks, f->call->cpu->host);
    return status;
}

hspz_status hspz__marks_find(hspz__call *call, uint64_t begin, uint64_t end, uint64_t batch_size)
{
    finder f = {.call = call, .end = end, .from = {.position = begin, .left = UINT32_MAX}};
    hspz__result_init(&f.result, call);
    hspz_status status = start_finder(&f, call);
    while (status == HSPZ_OK && f.from.position < end) {
        status = work_round(&f);
        call->pulse.done = f.from.position - begin;
    }
    if (status == HSPZ_E_MEMORY)
        hspz__fail(call->error, status, "no memory for the hits of a round");
    if (status == HSPZ_OK)
        status = count_chunks(&f, begin, end, batch_size);
    status = hspz__result_end(&f.result, status);
    free_finder(&f);
    return status;
}
