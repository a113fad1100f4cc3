/* words_bucket.c -- see words_bucket.h.
 *
 * Idea: where the bucket's keys are few (a bitmap of them fits the cache), the bitmap gives each key that occurs its rank, and positions are
 * placed by a counting sort over ranks: three light passes. Where they are many and positions few, as with long seeds on
 * short sequences, the pairs are sorted by a radix sort and read off.
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

/* ---- few keys: bitmaps */

static hspz_status mark_keys(const hspz__bucket *b, hspz__bucket_space *space, hspz__host *host)
{
    const uint32_t blocks = blocks_of(b), mask = (1u << b->key_bits) - 1;
    uint64_t *bits = hspz__scratch_get(&space->bits, host, blocks, sizeof *bits);
    uint64_t *multi = hspz__scratch_get(&space->multi, host, blocks, sizeof *multi);
    if (bits == NULL || multi == NULL)
        return HSPZ_E_MEMORY;
    memset(bits, 0, blocks * sizeof *bits);
    memset(multi, 0, blocks * sizeof *multi);
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t key = (uint32_t)(b->pairs[i] >> 32) & mask;
        const uint64_t bit = UINT64_C(1) << (key & 63);
        multi[key / 64] |= bits[key / 64] & bit;
        bits[key / 64] |= bit;
    }
    return HSPZ_OK;
}

static void put_block(const hspz__bucket *b, uint32_t *row, uint32_t block, uint64_t bits, uint64_t multi,
                      uint32_t rank)
{
    if (bits == 0 && !b->words->direct)
        return;
    b->words->blocks[(*row)++] =
        (hspz__block){.bits = bits, .multi = multi, .rank = b->first_rank + rank, .id = b->first_id + block};
}

static hspz_status write_dense(const hspz__bucket *b, hspz__bucket_space *space, const hspz__builder *with)
{
    hspz_status status = mark_keys(b, space, with->host);
    if (status != HSPZ_OK)
        return status;
    const uint64_t *bits = space->bits.memory, *multi = space->multi.memory;
    uint32_t *before = hspz__scratch_get(&space->before, with->host, blocks_of(b), sizeof *before);
    uint32_t *ranks = hspz__scratch_get(&space->ranks, with->host, (uint64_t)b->count + 64, sizeof *ranks);
    uint32_t *places = hspz__scratch_get(&space->places, with->host, (uint64_t)b->count + 64, sizeof *places);
    if (before == NULL || ranks == NULL || places == NULL)
        return HSPZ_E_MEMORY;
    uint32_t distinct = 0, row = b->first_row;
    for (uint32_t k = 0; k < blocks_of(b); k++) {
        before[k] = distinct;
        put_block(b, &row, k, bits[k], multi[k], distinct);
        distinct += (uint32_t)__builtin_popcountll(bits[k]);
    }
    with->kernels->ranks(b->pairs, b->count, (1u << b->key_bits) - 1, bits, before, ranks);
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
        b->words->positions[places[ranks[i]]++] = (uint32_t)b->pairs[i];
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

static hspz_status sort_pairs(const hspz__bucket *b, hspz__bucket_space *space, hspz__host *host)
{
    uint64_t *pairs = b->pairs;
    if (b->count <= 24) { /* positions came in ascending order and are part of the pair */
        for (uint32_t i = 1; i < b->count; i++) {
            const uint64_t pair = pairs[i];
            uint32_t j = i;
            for (; j > 0 && pairs[j - 1] > pair; j--)
                pairs[j] = pairs[j - 1];
            pairs[j] = pair;
        }
        return HSPZ_OK;
    }
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
    hspz_status status = sort_pairs(b, space, host);
    if (status != HSPZ_OK)
        return status;
    hspz__words *words = b->words;
    uint32_t rank = b->first_rank, row = b->first_row, next = 0; /* next: block to write in the direct form */
    for (uint32_t i = 0; i < b->count;) {
        const uint32_t id = (uint32_t)(b->pairs[i] >> 38);
        for (; words->direct && b->first_id + next < id; next++)
            put_block(b, &row, next, 0, 0, rank - b->first_rank);
        const uint32_t rank_of_block = rank;
        uint64_t bits = 0, multi = 0;
        for (; i < b->count && b->pairs[i] >> 38 == id; i++) {
            const uint64_t bit = UINT64_C(1) << (b->pairs[i] >> 32 & 63);
            words->positions[b->first_place + i] = (uint32_t)b->pairs[i];
            multi |= bits & bit;
            if ((bits & bit) != 0)
                continue;
            bits |= bit;
            words->starts[rank++] = b->first_place + i;
        }
        put_block(b, &row, id - b->first_id, bits, multi, rank_of_block - b->first_rank);
        next = id - b->first_id + 1;
    }
    for (; words->direct && next < blocks_of(b); next++)
        put_block(b, &row, next, 0, 0, rank - b->first_rank);
    words->starts[rank] = b->first_place + b->count;
    return HSPZ_OK;
}

/* ---- either */

hspz_status hspz__bucket_blocks(const hspz__bucket *b, hspz__bucket_space *space, hspz__host *host,
                                uint32_t *blocks)
{
    *blocks = 0;
    if (dense(b)) {
        hspz_status status = mark_keys(b, space, host);
        const uint64_t *bits = space->bits.memory;
        for (uint32_t k = 0; status == HSPZ_OK && k < blocks_of(b); k++)
            *blocks += bits[k] != 0;
        return status;
    }
    hspz_status status = sort_pairs(b, space, host);
    for (uint32_t i = 0; i < b->count && status == HSPZ_OK; i++)
        *blocks += i == 0 || b->pairs[i] >> 38 != b->pairs[i - 1] >> 38;
    return status;
}

hspz_status hspz__bucket_write(const hspz__bucket *b, hspz__bucket_space *space, const hspz__builder *with)
{
    return dense(b) ? write_dense(b, space, with) : write_sparse(b, space, with->host);
}

void hspz__bucket_space_free(hspz__bucket_space *space, hspz__host *host)
{
    hspz__scratch_free(&space->bits, host);
    hspz__scratch_free(&space->multi, host);
    hspz__scratch_free(&space->before, host);
    hspz__scratch_free(&space->ranks, host);
    hspz__scratch_free(&space->places, host);
    hspz__scratch_free(&space->spare, host);
}
