/* words_bucket.c -- see words_bucket.h.
 *
 * Idea: a bucket is taken out of the tables as pairs, key << 32 | position, and comes back in order. Where its keys are few (a bitmap of
 * them fits the cache), the bitmap gives each key that occurs its rank, and positions are placed by a counting sort over ranks: three
 * light passes. Where they are many and positions few, as with long seeds on short sequences, the pairs are sorted by a radix
 * sort and read off.
 */
#include "words_bucket.h"

#include <string.h>

#define BITMAP_MAX 8192u /* words of a bitmap */

static uint32_t blocks_of(const hspz__bucket *b)
{
    return 1u << (b->key_bits - 6);
}

static bool dense(const hspz__bucket *b)
{
    return blocks_of(b) <= BITMAP_MAX && blocks_of(b) <= 16 + 8 * (uint64_t)b->count;
}

static uint64_t *load_pairs(const hspz__bucket *b, hspz__bucket_space *space, hspz__host *host)
{
    uint64_t *pairs = hspz__scratch_get(&space->pairs, host, (uint64_t)b->count + 1, sizeof *pairs);
    const uint32_t *positions = b->words->positions + b->first_place,
                   *keys = b->words->starts + b->first_rank;
    for (uint32_t i = 0; pairs != NULL && i < b->count; i++)
        pairs[i] = (uint64_t)keys[i] << 32 | positions[i];
    return pairs;
}

/* ---- rows: blocks of ascending ids */

typedef struct rows {
    hspz__words *words;
    hspz__group *group; /* the last one, or NULL */
    uint32_t row, next_group, group_id;
} rows;

static rows rows_of(const hspz__bucket *b)
{
    return (rows){.words = b->words, .row = b->first_row, .next_group = b->first_group};
}

static void put_block(rows *r, const hspz__block *block)
{
    hspz__words *words = r->words;
    if (!words->direct) {
        if (block->bits == 0)
            return;
        if (r->group == NULL || r->group_id != block->id / 64) {
            r->group_id = block->id / 64;
            words->group_of[r->group_id] = r->next_group;
            r->group = &words->groups[r->next_group++];
            *r->group = (hspz__group){.first_row = r->row};
            words->blocks[r->row++] = (hspz__block){.rank = block->rank, .id = block->id};
        }
        r->group->row[block->id % 64] = (uint8_t)(r->row - r->group->first_row);
    }
    words->blocks[r->row++] = *block;
}

/* ---- few keys: bitmaps */

static hspz_status mark_keys(const hspz__bucket *b, const uint64_t *pairs, hspz__bucket_space *space,
                             hspz__host *host)
{
    const uint32_t blocks = blocks_of(b), mask = (1u << b->key_bits) - 1;
    uint64_t *bits = hspz__scratch_get(&space->bits, host, blocks, sizeof *bits);
    uint64_t *multi = hspz__scratch_get(&space->multi, host, blocks, sizeof *multi);
    if (bits == NULL || multi == NULL)
        return HSPZ_E_MEMORY;
    memset(bits, 0, blocks * sizeof *bits);
    memset(multi, 0, blocks * sizeof *multi);
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t key = (uint32_t)(pairs[i] >> 32) & mask;
        const uint64_t bit = UINT64_C(1) << (key & 63);
        multi[key / 64] |= bits[key / 64] & bit;
        bits[key / 64] |= bit;
    }
    return HSPZ_OK;
}

static hspz_status write_dense(const hspz__bucket *b, hspz__bucket_space *space, const hspz__builder *with)
{
    const uint64_t *pairs = load_pairs(b, space, with->host);
    hspz_status status = pairs != NULL ? mark_keys(b, pairs, space, with->host) : HSPZ_E_MEMORY;
    if (status != HSPZ_OK)
        return status;
    const uint64_t *bits = space->bits.memory, *multi = space->multi.memory;
    uint32_t *before = hspz__scratch_get(&space->before, with->host, blocks_of(b), sizeof *before);
    uint32_t *ranks = hspz__scratch_get(&space->ranks, with->host, (uint64_t)b->count + 64, sizeof *ranks);
    uint32_t *places = hspz__scratch_get(&space->places, with->host, (uint64_t)b->count + 64, sizeof *places);
    if (before == NULL || ranks == NULL || places == NULL)
        return HSPZ_E_MEMORY;
    uint32_t distinct = 0;
    rows to = rows_of(b);
    for (uint32_t k = 0; k < blocks_of(b); k++) {
        before[k] = distinct;
        put_block(&to, &(hspz__block){bits[k], multi[k], b->first_rank + distinct, b->first_id + k});
        distinct += hspz__count_bits(bits[k]);
    }
    with->kernels->ranks(pairs, b->count, (1u << b->key_bits) - 1, bits, before, ranks);
    memset(places, 0, distinct * sizeof *places);
    for (uint32_t i = 0; i < b->count; i++)
        places[ranks[i]]++;
    uint32_t *starts = b->words->starts + b->first_rank, sum = b->first_place;
    for (uint32_t r = 0; r < distinct; r++) {
        const uint32_t size = places[r];
        starts[r] = sum;
        places[r] = sum;
        sum += size;
    }
    starts[distinct] = sum;
    for (uint32_t i = 0; i < b->count; i++)
        b->words->positions[places[ranks[i]]++] = (uint32_t)pairs[i];
    return HSPZ_OK;
}

/* ---- many keys: a radix sort */

/* One stable pass over `width` bits of the pairs. */
static void radix_pass(const uint64_t *from, uint64_t *to, uint32_t n, uint32_t shift, uint32_t width)
{
    uint32_t place[1u << 8] = {0};
    const uint64_t mask = (UINT64_C(1) << width) - 1;
    for (uint32_t i = 0; i < n; i++)
        place[from[i] >> shift & mask]++;
    uint32_t sum = 0;
    for (uint32_t d = 0; d <= mask; d++) {
        const uint32_t count = place[d];
        place[d] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < n; i++)
        to[place[from[i] >> shift & mask]++] = from[i];
}

static bool in_order(const uint64_t *pairs, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (pairs[i - 1] > pairs[i])
            return false;
    return true;
}

/* Positions came in ascending order and are part of the pair. */
static hspz_status sort_pairs(const hspz__bucket *b, uint64_t *pairs, hspz__bucket_space *space,
                              hspz__host *host)
{
    if (b->count <= 24) {
        for (uint32_t i = 1; i < b->count; i++) {
            const uint64_t pair = pairs[i];
            uint32_t j = i;
            for (; j > 0 && pairs[j - 1] > pair; j--)
                pairs[j] = pairs[j - 1];
            pairs[j] = pair;
        }
        return HSPZ_OK;
    }
    if (in_order(pairs, b->count)) /* sorted when its rows were counted */
        return HSPZ_OK;
    uint64_t *spare = hspz__scratch_get(&space->spare, host, b->count, sizeof *spare);
    if (spare == NULL)
        return HSPZ_E_MEMORY;
    const uint32_t quarter = (b->key_bits + 3) / 4; /* four passes of at most eight bits */
    for (uint32_t at = 0; at < 4 * quarter; at += 2 * quarter) {
        const uint32_t first = at < b->key_bits ? b->key_bits - at : 0;
        const uint32_t second = at + quarter < b->key_bits ? b->key_bits - at - quarter : 0;
        radix_pass(pairs, spare, b->count, 32 + at, first < quarter ? first : quarter);
        radix_pass(spare, pairs, b->count, 32 + at + quarter, second < quarter ? second : quarter);
    }
    return HSPZ_OK;
}

static hspz_status write_sparse(const hspz__bucket *b, hspz__bucket_space *space, hspz__host *host)
{
    uint64_t *pairs = load_pairs(b, space, host);
    hspz_status status = pairs != NULL ? sort_pairs(b, pairs, space, host) : HSPZ_E_MEMORY;
    if (status != HSPZ_OK)
        return status;
    hspz__words *words = b->words;
    rows to = rows_of(b);
    uint32_t rank = b->first_rank, next = b->first_id; /* next: block to write in the direct form */
    for (uint32_t i = 0; i < b->count;) {
        hspz__block block = {.rank = rank, .id = (uint32_t)(pairs[i] >> 38)};
        for (; words->direct && next < block.id; next++)
            put_block(&to, &(hspz__block){.rank = rank, .id = next});
        for (; i < b->count && pairs[i] >> 38 == block.id; i++) {
            const uint64_t bit = UINT64_C(1) << (pairs[i] >> 32 & 63);
            words->positions[b->first_place + i] = (uint32_t)pairs[i];
            block.multi |= block.bits & bit;
            if ((block.bits & bit) != 0)
                continue;
            block.bits |= bit;
            words->starts[rank++] = b->first_place + i;
        }
        put_block(&to, &block);
        next = block.id + 1;
    }
    for (; words->direct && next < b->first_id + blocks_of(b); next++)
        put_block(&to, &(hspz__block){.rank = rank, .id = next});
    words->starts[rank] = b->first_place + b->count;
    return HSPZ_OK;
}

/* ---- either */

static hspz_status rows_of_dense(const hspz__bucket *b, hspz__bucket_space *space, hspz__host *host,
                                 uint32_t *rows, uint32_t *groups)
{
    const uint32_t *keys = b->words->starts + b->first_rank, mask = blocks_of(b) - 1;
    uint8_t *present = hspz__scratch_get(&space->bits, host, blocks_of(b), sizeof *present);
    if (present == NULL)
        return HSPZ_E_MEMORY;
    memset(present, 0, blocks_of(b));
    for (uint32_t i = 0; i < b->count; i++)
        present[keys[i] >> 6 & mask] = 1;
    for (uint32_t k = 0; k < blocks_of(b);) {
        uint32_t some = 0;
        do
            some += present[k++];
        while (k % 64 != 0 && k < blocks_of(b));
        *groups += some != 0;
        *rows += some + (some != 0);
    }
    return HSPZ_OK;
}

/* The pairs go back as they are sorted. */
static hspz_status rows_of_sparse(const hspz__bucket *b, hspz__bucket_space *space, hspz__host *host,
                                  uint32_t *rows, uint32_t *groups)
{
    uint64_t *pairs = load_pairs(b, space, host);
    hspz_status status = pairs != NULL ? sort_pairs(b, pairs, space, host) : HSPZ_E_MEMORY;
    for (uint32_t i = 0; i < b->count && status == HSPZ_OK; i++) {
        b->words->positions[b->first_place + i] = (uint32_t)pairs[i];
        b->words->starts[b->first_rank + i] = (uint32_t)(pairs[i] >> 32);
        const bool group =
            i == 0 || pairs[i] >> (32 + HSPZ__GROUP_BITS) != pairs[i - 1] >> (32 + HSPZ__GROUP_BITS);
        const bool block = i == 0 || pairs[i] >> 38 != pairs[i - 1] >> 38;
        *groups += group;
        *rows += group + block;
    }
    return status;
}

hspz_status hspz__bucket_rows(const hspz__bucket *b, hspz__bucket_space *space, hspz__host *host,
                              uint32_t *rows, uint32_t *groups)
{
    *rows = 0;
    *groups = 0;
    return dense(b) ? rows_of_dense(b, space, host, rows, groups)
                    : rows_of_sparse(b, space, host, rows, groups);
}

hspz_status hspz__bucket_write(const hspz__bucket *b, hspz__bucket_space *space, const hspz__builder *with)
{
    return dense(b) ? write_dense(b, space, with) : write_sparse(b, space, with->host);
}

void hspz__bucket_space_free(hspz__bucket_space *space, hspz__host *host)
{
    hspz__scratch_free(&space->pairs, host);
    hspz__scratch_free(&space->bits, host);
    hspz__scratch_free(&space->multi, host);
    hspz__scratch_free(&space->before, host);
    hspz__scratch_free(&space->ranks, host);
    hspz__scratch_free(&space->places, host);
    hspz__scratch_free(&space->spare, host);
}
