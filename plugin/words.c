/* words.c -- sorting positions by seed word; see words.h.
 *
 * Idea: a radix sort from the top. Positions and their keys are scattered into a few thousand buckets by the high bits of the key, with
 * counts per piece of text so that threads never meet and order never depends on them. They lie in the very arrays that the tables
 * take in the end: a build needs hardly any memory beyond them. In a bucket, whose keys are few, a bitmap of the keys that occur gives
 * each a rank, and a counting sort by rank does the rest (words_bucket.c). Buckets number their ranks from their own first place on.
 */
#include "words.h"

#include "words_bucket.h"
#include "words_pairs.h"

#include <string.h>

#define RUN 16384u      /* grid points whose pairs are at hand: they fit the second-level cache */
#define PIECE (4 * RUN) /* an item; adds several cache lines to a bucket, so that threads rarely share one */
#define BUCKET 2048u    /* aimed positions a bucket */
#define BUCKETS_MAX_BITS 12u

typedef struct build {
    hspz__words *words;
    const hspz__builder *with;
    hspz__pair_source source;
    uint64_t grid; /* its points */
    uint64_t pieces;
    uint32_t bucket_bits, bucket_shift; /* number of a bucket: key >> bucket_shift */
    uint32_t *counts;                   /* [piece][bucket], then places */
    uint32_t *bucket_begin;             /* [buckets + 1] */
    uint32_t *bucket_rows;              /* not direct: rows of a bucket, then those before it */
    uint32_t *bucket_groups;            /* the same of its groups */
    hspz__bucket_space *spaces;         /* a worker */
} build;

static uint64_t piece_end(const build *b, uint64_t piece)
{
    return b->grid - piece * PIECE < PIECE ? b->grid : (piece + 1) * PIECE;
}

/* ---- into buckets */

static hspz_status count_piece(void *context, uint32_t worker, uint64_t piece)
{
    build *b = context;
    uint64_t *pairs = hspz__scratch_get(&b->spaces[worker].spare, b->with->host, RUN, sizeof *pairs);
    if (pairs == NULL)
        return HSPZ_E_MEMORY;
    uint32_t *counts = b->counts + (piece << b->bucket_bits);
    memset(counts, 0, sizeof *counts << b->bucket_bits);
    const uint64_t end = piece_end(b, piece);
    for (uint64_t at = piece * PIECE; at < end; at += RUN) {
        const uint32_t n = hspz__pairs_make(&b->source, at, end - at < RUN ? end : at + RUN, pairs);
        for (uint32_t i = 0; i < n; i++)
            counts[pairs[i] >> 32 >> b->bucket_shift]++;
    }
    return HSPZ_OK;
}

/* counts[piece][bucket] become places in words->positions: bucket by bucket, piece by piece. Row by row, to read along memory. */
static void place_pieces(build *b)
{
    const uint32_t buckets = 1u << b->bucket_bits;
    memset(b->bucket_begin, 0, ((uint64_t)buckets + 1) * sizeof *b->bucket_begin);
    for (uint64_t piece = 0; piece < b->pieces; piece++)
        for (uint32_t bucket = 0; bucket < buckets; bucket++)
            b->bucket_begin[bucket + 1] += b->counts[(piece << b->bucket_bits) + bucket];
    for (uint32_t bucket = 0; bucket < buckets; bucket++)
        b->bucket_begin[bucket + 1] += b->bucket_begin[bucket];
    b->words->count = b->bucket_begin[buckets];
    uint32_t *next = b->bucket_rows; /* not in use yet */
    memcpy(next, b->bucket_begin, buckets * sizeof *next);
    for (uint64_t piece = 0; piece < b->pieces; piece++)
        for (uint32_t bucket = 0; bucket < buckets; bucket++) {
            uint32_t *count = &b->counts[(piece << b->bucket_bits) + bucket];
            const uint32_t n = *count;
            *count = next[bucket];
            next[bucket] += n;
        }
}

static hspz_status scatter_piece(void *context, uint32_t worker, uint64_t piece)
{
    build *b = context;
    uint64_t *pairs = hspz__scratch_get(&b->spaces[worker].spare, b->with->host, RUN, sizeof *pairs);
    if (pairs == NULL)
        return HSPZ_E_MEMORY;
    uint32_t *place = b->counts + (piece << b->bucket_bits);
    uint32_t *positions = b->words->positions, *keys = b->words->starts;
    const uint64_t end = piece_end(b, piece);
    for (uint64_t at = piece * PIECE; at < end; at += RUN) {
        const uint32_t n = hspz__pairs_make(&b->source, at, end - at < RUN ? end : at + RUN, pairs);
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t key = (uint32_t)(pairs[i] >> 32), bucket = key >> b->bucket_shift;
            const uint32_t to = place[bucket]++;
            positions[to] = (uint32_t)pairs[i];
            keys[to + bucket] = key;
        }
    }
    return HSPZ_OK;
}

/* ---- buckets into tables */

static hspz__bucket bucket_at(const build *b, uint64_t number)
{
    const uint32_t begin = b->bucket_begin[number];
    const uint32_t blocks = 1u << (b->bucket_shift - 6);
    return (hspz__bucket){.words = b->words,
                          .count = b->bucket_begin[number + 1] - begin,
                          .key_bits = b->bucket_shift,
                          .first_place = begin,
                          .first_rank = begin + (uint32_t)number,
                          .first_id = (uint32_t)number * blocks};
}

static hspz_status count_rows(void *context, uint32_t worker, uint64_t number)
{
    build *b = context;
    const hspz__bucket bucket = bucket_at(b, number);
    return hspz__bucket_rows(&bucket, &b->spaces[worker], b->with->host, &b->bucket_rows[number],
                             &b->bucket_groups[number]);
}

static hspz_status write_bucket(void *context, uint32_t worker, uint64_t number)
{
    build *b = context;
    hspz__bucket bucket = bucket_at(b, number);
    bucket.first_row = b->words->direct ? bucket.first_id : b->bucket_rows[number];
    bucket.first_group = b->words->direct ? 0 : b->bucket_groups[number];
    return hspz__bucket_write(&bucket, &b->spaces[worker], b->with);
}

/* Exclusive sums from 1 on; returns the total. */
static uint64_t sum_up(uint32_t *values, uint64_t count)
{
    uint64_t sum = 1;
    for (uint64_t i = 0; i < count; i++) {
        sum += values[i];
        values[i] = (uint32_t)(sum - values[i]);
    }
    return sum;
}

static hspz_status alloc_positions(build *b)
{
    hspz__words *words = b->words;
    hspz__host *host = b->with->host;
    words->positions = hspz__scratch_get(&words->memory[0], host, words->count + 16,
                                         sizeof *words->positions); /* read in sixteens */
    words->starts = hspz__scratch_get(&words->memory[1], host, words->count + (UINT64_C(1) << b->bucket_bits),
                                      sizeof *words->starts);
    return words->positions != NULL && words->starts != NULL ? HSPZ_OK : HSPZ_E_MEMORY;
}

/* Row 0 and group 0 are those without keys. */
static hspz_status alloc_groups(build *b, uint64_t groups)
{
    hspz__words *words = b->words;
    hspz__host *host = b->with->host;
    const uint32_t bits = b->with->keys->bits;
    const uint64_t ids = bits > HSPZ__GROUP_BITS ? UINT64_C(1) << (bits - HSPZ__GROUP_BITS) : 1;
    words->groups = hspz__scratch_get(&words->memory[3], host, groups, sizeof *words->groups);
    words->group_of = hspz__scratch_get(&words->memory[4], host, ids, sizeof *words->group_of);
    if (words->groups == NULL || words->group_of == NULL)
        return HSPZ_E_MEMORY;
    words->groups[0] = (hspz__group){.first_row = 0};
    memset(words->group_of, 0, ids * sizeof *words->group_of);
    return HSPZ_OK;
}

static hspz_status alloc_rows(build *b)
{
    hspz__words *words = b->words;
    const uint32_t buckets = 1u << b->bucket_bits;
    uint64_t rows = UINT64_C(1) << (b->with->keys->bits - 6);
    if (!words->direct) {
        hspz_status status = hspz__pool_run(b->with->pool, buckets, count_rows, b, NULL);
        if (status != HSPZ_OK)
            return status;
        rows = sum_up(b->bucket_rows, buckets);
        status = alloc_groups(b, sum_up(b->bucket_groups, buckets));
        if (status != HSPZ_OK)
            return status;
    }
    words->block_count = (uint32_t)rows;
    words->blocks = hspz__scratch_get(&words->memory[2], b->with->host, rows, sizeof *words->blocks);
    if (words->blocks == NULL)
        return HSPZ_E_MEMORY;
    words->blocks[0] = (hspz__block){0};
    return HSPZ_OK;
}

static hspz_status build_all(build *b)
{
    hspz__pool *pool = b->with->pool;
    hspz_status status = hspz__pool_run(pool, b->pieces, count_piece, b, NULL);
    if (status != HSPZ_OK)
        return status;
    place_pieces(b);
    status = alloc_positions(b);
    if (status == HSPZ_OK)
        status = hspz__pool_run(pool, b->pieces, scatter_piece, b, NULL);
    if (status == HSPZ_OK)
        status = alloc_rows(b);
    if (status == HSPZ_OK)
        status = hspz__pool_run(pool, UINT64_C(1) << b->bucket_bits, write_bucket, b, NULL);
    return status;
}

/* A bucket has 64 keys at least, and whole groups where there are groups. */
static void choose_form(build *b, hspz__words_form form)
{
    const uint32_t bits = b->with->keys->bits;
    const uint64_t rows = UINT64_C(1) << (bits - 6);
    b->words->direct = form == HSPZ__WORDS_DIRECT || (form == HSPZ__WORDS_AUTO && rows <= b->grid + 1024);
    const uint32_t least = b->words->direct ? 6 : bits < HSPZ__GROUP_BITS ? bits : HSPZ__GROUP_BITS;
    while (b->bucket_bits < BUCKETS_MAX_BITS && b->bucket_bits + least < bits &&
           b->grid >> b->bucket_bits > BUCKET)
        b->bucket_bits++;
    b->bucket_shift = bits - b->bucket_bits;
}

static hspz_status run_build(build *b, hspz__words_form form, hspz_error *error)
{
    hspz__host *host = b->with->host;
    const uint32_t threads = hspz__pool_threads(b->with->pool);
    b->pieces = (b->grid + PIECE - 1) / PIECE;
    choose_form(b, form);
    const uint64_t buckets = UINT64_C(1) << b->bucket_bits;
    b->counts = hspz__alloc(host, b->pieces << b->bucket_bits, sizeof *b->counts);
    b->bucket_begin = hspz__alloc(host, buckets + 1, sizeof *b->bucket_begin);
    b->bucket_rows = hspz__alloc(host, buckets, sizeof *b->bucket_rows);
    b->bucket_groups = hspz__alloc(host, buckets, sizeof *b->bucket_groups);
    b->spaces = hspz__alloc(host, threads, sizeof *b->spaces);
    hspz_status status = HSPZ_E_MEMORY;
    if (b->counts != NULL && b->bucket_begin != NULL && b->bucket_rows != NULL && b->bucket_groups != NULL &&
        b->spaces != NULL) {
        memset(b->spaces, 0, threads * sizeof *b->spaces);
        status = build_all(b);
        for (uint32_t i = 0; i < threads; i++)
            hspz__bucket_space_free(&b->spaces[i], host);
    }
    hspz__free(host, b->counts);
    hspz__free(host, b->bucket_begin);
    hspz__free(host, b->bucket_rows);
    hspz__free(host, b->bucket_groups);
    hspz__free(host, b->spaces);
    if (status == HSPZ_OK)
        return HSPZ_OK;
    hspz__words_free(b->words, host);
    return hspz__fail(error, status, "no memory to sort %llu positions by their words",
                      (unsigned long long)b->grid);
}

static hspz_status build_index(build *b, hspz__words_form form, hspz_error *error)
{
    hspz_status status = run_build(b, form, error);
    if (status == HSPZ_OK)
        hspz__words_compact(b->words, b->with);
    return status;
}

hspz_status hspz__words_build(hspz__words *words, const hspz__builder *builder,
                              const hspz__sequence *sequence, uint64_t first, uint64_t step, uint64_t grid,
                              hspz__words_form form, hspz_error *error)
{
    build b = {.words = words,
               .with = builder,
               .source = {.with = builder, .sequence = sequence, .first = first, .step = step},
               .grid = grid};
    return build_index(&b, form, error);
}

hspz_status hspz__words_sort(hspz__words *words, const hspz__builder *builder, const hspz__sequence *sequence,
                             uint64_t first, uint64_t grid, hspz_error *error)
{
    build b = {.words = words,
               .with = builder,
               .source = {.with = builder, .sequence = sequence, .first = first, .step = 1},
               .grid = grid};
    return run_build(&b, HSPZ__WORDS_AUTO, error);
}

hspz_status hspz__words_import(hspz__words *words, const hspz__builder *builder, const hspz_target *target,
                               hspz__words_form form, hspz_error *error)
{
    uint32_t *host_words = hspz__alloc(builder->host, target->position_count, sizeof *host_words);
    if (host_words == NULL)
        return hspz__fail(error, HSPZ_E_MEMORY, "no memory for the %llu positions of the host's index",
                          (unsigned long long)target->position_count);
    uint64_t i = 0;
    for (uint64_t word = 0; word < target->index_entries; word++)
        for (; i < target->index_table[word]; i++)
            host_words[i] = (uint32_t)word;
    build b = {.words = words,
               .with = builder,
               .source = {.with = builder, .target = target, .host_words = host_words},
               .grid = target->position_count};
    hspz_status status = build_index(&b, form, error);
    hspz__free(builder->host, host_words);
    return status;
}
