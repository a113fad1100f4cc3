/* words.c -- sorting positions by seed word; see words.h.
 *
 * Idea: a radix sort from the top. (key, position) pairs are scattered into a few thousand buckets by the high bits of the key, with
 * counts per piece of text so that threads never meet and order never depends on them; each bucket then fits a cache and is
 * sorted by its low bits, stably, so that positions ascend. Cost: two passes over the text, two over each bucket.
 */
#include "words.h"

#include <string.h>

#define PIECE 65536u /* grid points an item */
#define BUCKET 2048u /* aimed positions a bucket */
#define BUCKETS_MAX_BITS 12u
#define BLOCK_BITS 6u

void hspz__keys_init(hspz__keys *keys, const hspz__plan *plan)
{
    memset(keys, 0, sizeof *keys);
    keys->pattern_length = plan->pattern_length;
    keys->care_count = plan->care_count;
    for (uint32_t i = 0; i < plan->care_count; i++) {
        keys->care_bits[i] = plan->care_bits[i];
        keys->word_shift[i] = plan->care_shift[i];
        keys->key_shift[i] = (uint8_t)keys->bits;
        for (uint32_t b = 0; b < plan->care_bits[i]; b++) {
            const uint32_t from = 2u * plan->care_offset[i] + b, to = keys->bits++;
            keys->care_mask |= UINT64_C(1) << from;
            if (keys->runs == 0 || keys->shift[keys->runs - 1] != from - to)
                keys->shift[keys->runs++] = (uint8_t)(from - to);
            keys->mask[keys->runs - 1] |= UINT64_C(1) << to;
        }
    }
    keys->variant_count = plan->variant_count;
    for (uint32_t v = 0; v < plan->variant_count; v++)
        keys->variant_mask[v] = hspz__key_of_word(keys, plan->variant_mask[v]);
}

uint32_t hspz__key_of_word(const hspz__keys *keys, uint32_t word)
{
    uint32_t key = 0;
    for (uint32_t i = 0; i < keys->care_count; i++)
        key |= (word >> keys->word_shift[i] & ((1u << keys->care_bits[i]) - 1)) << keys->key_shift[i];
    return key;
}

/* Special symbols spoil the windows that start up to w - 1 bases before them: the bitmap is smeared downwards. */
uint64_t hspz__valid_windows(const hspz__sequence *s, uint32_t pattern_length, uint64_t position)
{
    if (position >= s->length)
        return 0;
    unsigned __int128 bad =
        (unsigned __int128)s->special[position / 64 + 1] << 64 | s->special[position / 64];
    if (bad == 0)
        return ~UINT64_C(0);
    uint32_t covered = 1;
    while (2 * covered <= pattern_length) {
        bad |= bad >> covered;
        covered *= 2;
    }
    bad |= bad >> (pattern_length - covered);
    return ~(uint64_t)bad;
}

/* ---- where pairs come from */

typedef struct build {
    hspz__words *words;
    hspz__host *host;
    const hspz__keys *keys;
    const hspz__sequence *sequence;
    uint64_t first, step, grid;
    const hspz_target *target; /* of the host's tables, or NULL */
    const uint32_t *host_words;
    uint64_t pieces;
    uint32_t bucket_bits, bucket_shift; /* number of a bucket: key >> bucket_shift */
    uint32_t *counts;                   /* [piece][bucket], then places */
    uint32_t *bucket_begin;             /* [buckets + 1] */
    uint32_t *bucket_keys;              /* distinct keys of a bucket, then those before it */
    uint32_t *bucket_blocks;
    uint64_t *pairs, *spare;
} build;

static uint32_t pairs_of_text(const build *b, uint64_t piece, uint64_t *out)
{
    const uint32_t w = b->keys->pattern_length;
    const uint64_t begin = piece * PIECE;
    const uint64_t end = b->grid - begin < PIECE ? b->grid : begin + PIECE;
    uint32_t count = 0;
    if (b->step == 1) {
        uint64_t p = b->first + begin;
        const uint64_t stop = b->first + end;
        while (p < stop) {
            const uint64_t base = p & ~UINT64_C(63);
            uint64_t valid = hspz__valid_windows(b->sequence, w, base) >> (p - base) << (p - base);
            if (stop - base < 64)
                valid &= (UINT64_C(1) << (stop - base)) - 1;
            for (; valid != 0; valid &= valid - 1) {
                const uint64_t at = base + (uint64_t)__builtin_ctzll(valid);
                out[count++] = (uint64_t)hspz__key_at(b->keys, b->sequence, at) << 32 | at;
            }
            p = base + 64;
        }
        return count;
    }
    for (uint64_t i = begin; i < end; i++) {
        const uint64_t at = b->first + i * b->step;
        if (hspz__valid_windows(b->sequence, w, at & ~UINT64_C(63)) >> (at & 63) & 1)
            out[count++] = (uint64_t)hspz__key_at(b->keys, b->sequence, at) << 32 | at;
    }
    return count;
}

static uint32_t pairs_of_host(const build *b, uint64_t piece, uint64_t *out)
{
    const uint64_t begin = piece * PIECE;
    const uint64_t end = b->grid - begin < PIECE ? b->grid : begin + PIECE;
    uint32_t count = 0;
    for (uint64_t i = begin; i < end; i++)
        out[count++] = (uint64_t)hspz__key_of_word(b->keys, b->host_words[i]) << 32 | b->target->positions[i];
    return count;
}

static uint64_t *make_pairs(const build *b, uint64_t piece, uint32_t *count)
{
    const uint64_t left = b->grid - piece * PIECE;
    uint64_t *pairs = hspz__alloc(b->host, left < PIECE ? left : PIECE, sizeof *pairs);
    if (pairs != NULL)
        *count = b->target != NULL ? pairs_of_host(b, piece, pairs) : pairs_of_text(b, piece, pairs);
    return pairs;
}

/* ---- the sort */

static hspz_status count_piece(void *context, uint32_t worker, uint64_t piece)
{
    (void)worker;
    build *b = context;
    uint32_t n = 0;
    uint64_t *pairs = make_pairs(b, piece, &n);
    if (pairs == NULL)
        return HSPZ_E_MEMORY;
    uint32_t *counts = b->counts + (piece << b->bucket_bits);
    memset(counts, 0, sizeof *counts << b->bucket_bits);
    for (uint32_t i = 0; i < n; i++)
        counts[pairs[i] >> 32 >> b->bucket_shift]++;
    hspz__free(b->host, pairs);
    return HSPZ_OK;
}

static hspz_status scatter_piece(void *context, uint32_t worker, uint64_t piece)
{
    (void)worker;
    build *b = context;
    uint32_t n = 0;
    uint64_t *pairs = make_pairs(b, piece, &n);
    if (pairs == NULL)
        return HSPZ_E_MEMORY;
    uint32_t *place = b->counts + (piece << b->bucket_bits);
    for (uint32_t i = 0; i < n; i++)
        b->pairs[place[pairs[i] >> 32 >> b->bucket_shift]++] = pairs[i];
    hspz__free(b->host, pairs);
    return HSPZ_OK;
}

static void sort_small(uint64_t *pairs, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        const uint64_t pair = pairs[i];
        uint32_t j = i;
        for (; j > 0 && pairs[j - 1] > pair; j--)
            pairs[j] = pairs[j - 1];
        pairs[j] = pair;
    }
}

/* One stable pass over `width` bits of the pairs. */
static void radix_pass(const uint64_t *from, uint64_t *to, uint32_t n, uint32_t shift, uint32_t width)
{
    uint32_t place[1u << 9] = {0};
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

static hspz_status sort_bucket(void *context, uint32_t worker, uint64_t bucket)
{
    (void)worker;
    build *b = context;
    const uint32_t begin = b->bucket_begin[bucket], n = b->bucket_begin[bucket + 1] - begin;
    uint64_t *pairs = b->pairs + begin;
    if (n <= 24) {
        sort_small(pairs, n); /* positions came in ascending order and are part of the pair */
    } else {
        uint64_t *spare = b->spare + begin;
        const uint32_t low = (b->bucket_shift + 1) / 2; /* two passes, at most 9 bits each; more bits: four */
        if (low <= 9) {
            radix_pass(pairs, spare, n, 32, low);
            radix_pass(spare, pairs, n, 32 + low, b->bucket_shift - low);
        } else {
            const uint32_t quarter = (b->bucket_shift + 3) / 4;
            for (uint32_t pass = 0; pass < 4; pass += 2) {
                const uint32_t at = pass * quarter;
                const uint32_t left = b->bucket_shift - at - quarter;
                radix_pass(pairs, spare, n, 32 + at, quarter);
                radix_pass(spare, pairs, n, 32 + at + quarter, left < quarter ? left : quarter);
            }
        }
    }
    uint32_t distinct = 0, blocks = 0;
    uint64_t last = UINT64_MAX;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t key = pairs[i] >> 32;
        distinct += key != last;
        blocks += key >> BLOCK_BITS != last >> BLOCK_BITS;
        last = key;
    }
    b->bucket_keys[bucket] = distinct;
    b->bucket_blocks[bucket] = blocks;
    return HSPZ_OK;
}

/* Fills the tables of a bucket, whose blocks belong to it alone. */
static hspz_status write_bucket(void *context, uint32_t worker, uint64_t bucket)
{
    (void)worker;
    build *b = context;
    hspz__words *words = b->words;
    const uint32_t begin = b->bucket_begin[bucket], end = b->bucket_begin[bucket + 1];
    uint32_t rank = b->bucket_keys[bucket], row = b->bucket_blocks[bucket];
    uint64_t last = UINT64_MAX;
    hspz__block *block = NULL;
    uint32_t id = (uint32_t)bucket << (b->bucket_shift - BLOCK_BITS); /* next block of the direct form */
    const uint32_t stop = ((uint32_t)bucket + 1) << (b->bucket_shift - BLOCK_BITS);
    for (uint32_t i = begin; i < end; i++) {
        const uint64_t key = b->pairs[i] >> 32;
        words->positions[i] = (uint32_t)b->pairs[i];
        if (key == last)
            continue;
        if (key >> BLOCK_BITS != last >> BLOCK_BITS) {
            if (words->direct)
                for (; id < (uint32_t)(key >> BLOCK_BITS); id++)
                    words->blocks[id] = (hspz__block){.rank = rank, .id = id};
            block = words->direct ? &words->blocks[id++] : &words->blocks[row++];
            *block = (hspz__block){.rank = rank, .id = (uint32_t)(key >> BLOCK_BITS)};
        }
        block->bits |= UINT64_C(1) << (key & 63);
        words->starts[rank++] = i;
        last = key;
    }
    for (; words->direct && id < stop; id++)
        words->blocks[id] = (hspz__block){.rank = rank, .id = id};
    return HSPZ_OK;
}

/* Exclusive sums; returns the total. */
static uint64_t sum_up(uint32_t *values, uint64_t count)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t value = values[i];
        values[i] = (uint32_t)sum;
        sum += value;
    }
    return sum;
}

/* counts[piece][bucket] become places in `pairs`: bucket by bucket, piece by piece. */
static void place_pieces(build *b)
{
    const uint32_t buckets = 1u << b->bucket_bits;
    uint32_t sum = 0;
    for (uint32_t bucket = 0; bucket < buckets; bucket++) {
        b->bucket_begin[bucket] = sum;
        for (uint64_t piece = 0; piece < b->pieces; piece++) {
            uint32_t *count = &b->counts[(piece << b->bucket_bits) + bucket];
            const uint32_t value = *count;
            *count = sum;
            sum += value;
        }
    }
    b->bucket_begin[buckets] = sum;
    b->words->count = sum;
}

static void fill_table(hspz__words *words)
{
    memset(words->table, 0, ((uint64_t)words->table_mask + 1) * sizeof *words->table);
    for (uint32_t row = 0; row < words->block_count; row++) {
        uint32_t slot = words->blocks[row].id * UINT32_C(2654435761) >> 7;
        while (words->table[slot & words->table_mask] != 0)
            slot++;
        words->table[slot & words->table_mask] = row + 1;
    }
}

static bool alloc_tables(build *b, hspz__words_form form, uint64_t blocks)
{
    hspz__words *words = b->words;
    const uint64_t all = UINT64_C(1) << (b->keys->bits - BLOCK_BITS);
    words->direct =
        form == HSPZ__WORDS_DIRECT || (form == HSPZ__WORDS_AUTO && all <= words->count / 2 + 1024);
    words->block_count = (uint32_t)(words->direct ? all : blocks);
    words->positions = hspz__alloc(b->host, words->count, sizeof *words->positions);
    words->starts = hspz__alloc(b->host, (uint64_t)words->distinct + 1, sizeof *words->starts);
    words->blocks = hspz__alloc(b->host, words->block_count, sizeof *words->blocks);
    if (words->direct)
        return words->positions != NULL && words->starts != NULL && words->blocks != NULL;
    uint64_t slots = 64;
    while (slots < 2 * blocks)
        slots *= 2;
    words->table_mask = (uint32_t)(slots - 1);
    words->table = hspz__alloc(b->host, slots, sizeof *words->table);
    return words->positions != NULL && words->starts != NULL && words->blocks != NULL && words->table != NULL;
}

static hspz_status build_all(build *b, hspz__pool *pool, hspz__words_form form)
{
    const uint32_t buckets = 1u << b->bucket_bits;
    hspz_status status = hspz__pool_run(pool, b->pieces, count_piece, b, NULL);
    if (status != HSPZ_OK)
        return status;
    place_pieces(b);
    b->pairs = hspz__alloc(b->host, b->words->count, sizeof *b->pairs);
    b->spare = hspz__alloc(b->host, b->words->count, sizeof *b->spare);
    if (b->pairs == NULL || b->spare == NULL)
        return HSPZ_E_MEMORY;
    status = hspz__pool_run(pool, b->pieces, scatter_piece, b, NULL);
    if (status == HSPZ_OK)
        status = hspz__pool_run(pool, buckets, sort_bucket, b, NULL);
    if (status != HSPZ_OK)
        return status;
    hspz__free(b->host, b->spare);
    b->spare = NULL;
    b->words->distinct = (uint32_t)sum_up(b->bucket_keys, buckets);
    const uint64_t blocks = sum_up(b->bucket_blocks, buckets);
    if (!alloc_tables(b, form, blocks))
        return HSPZ_E_MEMORY;
    status = hspz__pool_run(pool, buckets, write_bucket, b, NULL);
    b->words->starts[b->words->distinct] = (uint32_t)b->words->count;
    if (!b->words->direct)
        fill_table(b->words);
    return status;
}

static hspz_status run_build(build *b, hspz__pool *pool, hspz__words_form form, hspz_error *error)
{
    hspz__host *host = b->host;
    memset(b->words, 0, sizeof *b->words);
    b->pieces = (b->grid + PIECE - 1) / PIECE;
    while (b->bucket_bits < BUCKETS_MAX_BITS && b->bucket_bits + BLOCK_BITS < b->keys->bits &&
           b->grid >> b->bucket_bits > BUCKET)
        b->bucket_bits++;
    b->bucket_shift = b->keys->bits - b->bucket_bits;
    const uint64_t buckets = UINT64_C(1) << b->bucket_bits;
    b->counts = hspz__alloc(host, b->pieces << b->bucket_bits, sizeof *b->counts);
    b->bucket_begin = hspz__alloc(host, buckets + 1, sizeof *b->bucket_begin);
    b->bucket_keys = hspz__alloc(host, buckets, sizeof *b->bucket_keys);
    b->bucket_blocks = hspz__alloc(host, buckets, sizeof *b->bucket_blocks);
    hspz_status status = HSPZ_E_MEMORY;
    if (b->counts != NULL && b->bucket_begin != NULL && b->bucket_keys != NULL && b->bucket_blocks != NULL)
        status = build_all(b, pool, form);
    hspz__free(host, b->counts);
    hspz__free(host, b->bucket_begin);
    hspz__free(host, b->bucket_keys);
    hspz__free(host, b->bucket_blocks);
    hspz__free(host, b->pairs);
    hspz__free(host, b->spare);
    if (status == HSPZ_OK)
        return HSPZ_OK;
    hspz__words_free(b->words, host);
    return hspz__fail(error, status, "no memory to sort %llu positions by their words",
                      (unsigned long long)b->grid);
}

hspz_status hspz__words_build(hspz__words *words, hspz__host *host, hspz__pool *pool, const hspz__keys *keys,
                              const hspz__sequence *sequence, uint64_t first, uint64_t step, uint64_t grid,
                              hspz__words_form form, hspz_error *error)
{
    build b = {.words = words,
               .host = host,
               .keys = keys,
               .sequence = sequence,
               .first = first,
               .step = step,
               .grid = grid};
    return run_build(&b, pool, form, error);
}

hspz_status hspz__words_import(hspz__words *words, hspz__host *host, hspz__pool *pool, const hspz__keys *keys,
                               const hspz_target *target, hspz__words_form form, hspz_error *error)
{
    uint32_t *host_words = hspz__alloc(host, target->position_count, sizeof *host_words);
    if (host_words == NULL)
        return hspz__fail(error, HSPZ_E_MEMORY, "no memory for the %llu positions of the host's index",
                          (unsigned long long)target->position_count);
    uint64_t i = 0;
    for (uint64_t word = 0; word < target->index_entries; word++)
        for (; i < target->index_table[word]; i++)
            host_words[i] = (uint32_t)word;
    build b = {.words = words,
               .host = host,
               .keys = keys,
               .target = target,
               .host_words = host_words,
               .grid = target->position_count};
    hspz_status status = run_build(&b, pool, form, error);
    hspz__free(host, host_words);
    return status;
}

void hspz__words_free(hspz__words *words, hspz__host *host)
{
    hspz__free(host, words->positions);
    hspz__free(host, words->starts);
    hspz__free(host, words->blocks);
    hspz__free(host, words->table);
    memset(words, 0, sizeof *words);
}
