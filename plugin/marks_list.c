/* marks_list.c -- see marks_list.h. */
#include "marks_list.h"

#include <string.h>

#define CHUNKS_A_SLAB 510u /* just less than 8 MiB with all headers: huge pages */

typedef struct slab {
    struct slab *next;
    unsigned char memory[(CHUNKS_A_SLAB + 1) * HSPZ__MARK_CHUNK_BYTES];
} slab;

static hspz__mark_chunk *chunk_at(slab *s, uint32_t number)
{
    const uintptr_t begin =
        ((uintptr_t)s->memory + HSPZ__MARK_CHUNK_BYTES - 1) & ~(uintptr_t)(HSPZ__MARK_CHUNK_BYTES - 1);
    return (hspz__mark_chunk *)(begin + (uintptr_t)number * HSPZ__MARK_CHUNK_BYTES);
}

static hspz_status add_slab(hspz__mark_lists *lists, hspz__host *host)
{
    slab *more = hspz__alloc(host, 1, sizeof *more);
    if (more == NULL)
        return HSPZ_E_MEMORY;
    more->next = lists->slabs;
    lists->slabs = more;
    lists->unused = CHUNKS_A_SLAB; /* taken one by one, so that memory is touched when it is needed */
    return HSPZ_OK;
}

hspz_status hspz__mark_lists_grow(hspz__mark_lists *lists, hspz__host *host, uint32_t number)
{
    lists->hits += HSPZ__MARK_CHUNK;
    if (lists->hits > lists->most)
        return HSPZ_E_TOO_MANY_HITS;
    hspz__mark_chunk *chunk = lists->spare;
    if (chunk != NULL) {
        lists->spare = chunk->next;
    } else {
        if (lists->unused == 0) {
            hspz_status status = add_slab(lists, host);
            if (status != HSPZ_OK)
                return status;
        }
        chunk = chunk_at(lists->slabs, CHUNKS_A_SLAB - lists->unused--);
    }
    chunk->next = lists->lists[number];
    if (chunk->next == NULL)
        lists->last[number] = chunk;
    lists->lists[number] = chunk;
    lists->place[number] = chunk->keys;
    lists->chunks[number]++;
    return HSPZ_OK;
}

static uint64_t keys_in(const hspz__mark_lists *lists, uint32_t number, const hspz__mark_chunk *chunk)
{
    return chunk == lists->lists[number] ? (uint64_t)(lists->place[number] - chunk->keys) : HSPZ__MARK_CHUNK;
}

uint64_t hspz__mark_lists_count(const hspz__mark_lists *lists, uint32_t number)
{
    const hspz__mark_chunk *first = lists->lists[number];
    return first != NULL ? (lists->chunks[number] - 1) * HSPZ__MARK_CHUNK + keys_in(lists, number, first) : 0;
}

/* Three digits cover the query position and what differs of the slots of a list. */
#define DIGITS 3u
#define WIDTH 11u
typedef struct places {
    uint32_t of[DIGITS][1u << WIDTH];
} places;

static inline uint32_t digit(uint64_t key, uint32_t number)
{
    return (uint32_t)(key >> (24 + number * WIDTH)) & ((1u << WIDTH) - 1);
}

static void count_digits(places *p, const uint64_t *keys, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < DIGITS; k++)
            p->of[k][digit(keys[i], k)]++;
}

static void counts_to_places(places *p)
{
    for (uint32_t k = 0; k < DIGITS; k++) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < 1u << WIDTH; i++) {
            const uint32_t count = p->of[k][i];
            p->of[k][i] = sum;
            sum += count;
        }
    }
}

static inline void scatter(places *p, uint32_t number, const uint64_t *keys, uint64_t n, uint64_t *to)
{
    for (uint64_t i = 0; i < n; i++)
        to[p->of[number][digit(keys[i], number)]++] = keys[i];
}

/* Chunks lie all over: the processor does not foresee the first lines of the next one. */
static void prefetch(const hspz__mark_chunk *chunk)
{
    for (uint32_t i = 0; chunk != NULL && i < 64; i += 8)
        __builtin_prefetch(chunk->keys + i);
}

void hspz__mark_lists_sort(const hspz__mark_lists *lists, uint32_t count, uint32_t number, uint64_t *a,
                           uint64_t *b)
{
    places p;
    uint64_t n = 0;
    memset(&p, 0, sizeof p);
    for (uint32_t i = 0; i < count; i++)
        for (const hspz__mark_chunk *c = lists[i].lists[number]; c != NULL; c = c->next) {
            prefetch(c->next);
            count_digits(&p, c->keys, keys_in(&lists[i], number, c));
        }
    counts_to_places(&p);
    for (uint32_t i = 0; i < count; i++)
        for (const hspz__mark_chunk *c = lists[i].lists[number]; c != NULL; c = c->next) {
            scatter(&p, 0, c->keys, keys_in(&lists[i], number, c), a);
            n += keys_in(&lists[i], number, c);
        }
    scatter(&p, 1, a, n, b);
    scatter(&p, 2, b, n, a);
}

void hspz__mark_lists_clear(hspz__mark_lists *lists)
{
    lists->hits = 0;
    memset(lists->place, 0, sizeof lists->place);
    memset(lists->chunks, 0, sizeof lists->chunks);
    for (uint32_t i = 0; i < HSPZ__MARK_LISTS; i++)
        if (lists->lists[i] != NULL) { /* the whole chain at once */
            lists->last[i]->next = lists->spare;
            lists->spare = lists->lists[i];
            lists->lists[i] = NULL;
        }
}

void hspz__mark_lists_free(hspz__mark_lists *lists, hspz__host *host)
{
    slab *one = lists->slabs;
    while (one != NULL) {
        slab *next = one->next;
        hspz__free(host, one);
        one = next;
    }
    memset(lists, 0, sizeof *lists);
}
