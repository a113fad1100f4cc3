/* marks_list.h -- hits on their way from the join to the mark rule.
 *
 * Idea: a hit is one 64-bit key: slot of the mark table, query position within the tile, how many times the slot's period the diagonal is away,
 * and what the filter said. Each worker of the join drops its hits into 256 lists by the high bits of the slot.
 */
#ifndef HSPZ__MARKS_LIST_H
#define HSPZ__MARKS_LIST_H

#include "host_services.h"

#define HSPZ__MARK_SLOTS 65536u
#define HSPZ__MARK_LISTS 256u
#define HSPZ__SLOTS_A_LIST (HSPZ__MARK_SLOTS / HSPZ__MARK_LISTS)
#define HSPZ__TILE_BITS 24u /* a tile has at most so many query positions */

/* What the filter said: the right scan of a rejected hit reads at most so many bases. */
#define HSPZ__HIT_NARROW 0u /* rejected within a context */
#define HSPZ__HIT_WIDE 1u   /* rejected within the wide one */
#define HSPZ__HIT_PASSED 2u
#define HSPZ__NARROW_READ 54u
#define HSPZ__WIDE_READ 108u

/* slot (16 bits) | query position in the tile (24) | period + 2^17 (18) | unused (4) | what the filter said (2) */
static inline uint64_t hspz__mark_key(uint32_t target, uint32_t query, uint32_t tile_begin, uint32_t said)
{
    const int64_t diagonal = (int64_t)target - (int64_t)query;
    return (uint64_t)(diagonal & 0xffff) << 48 | (uint64_t)(query - tile_begin) << 24 |
           (uint64_t)((diagonal >> 16) + (1 << 17)) << 6 | said;
}

static inline uint32_t hspz__mark_slot(uint64_t key)
{
    return (uint32_t)(key >> 48);
}

static inline uint32_t hspz__mark_query(uint64_t key, uint32_t tile_begin)
{
    return ((uint32_t)(key >> 24) & 0xffffff) + tile_begin;
}

static inline uint32_t hspz__mark_target(uint64_t key, uint32_t query)
{
    const int64_t period = (int64_t)(key >> 6 & 0x3ffff) - (1 << 17);
    return (uint32_t)(period * 65536 + (int64_t)hspz__mark_slot(key) + (int64_t)query);
}

/* A chunk lies at a multiple of its size, so that the place of the next key tells when it is full. */
#define HSPZ__MARK_CHUNK 2047u
#define HSPZ__MARK_CHUNK_BYTES 16384u
typedef struct hspz__mark_chunk {
    struct hspz__mark_chunk *next;
    uint64_t keys[HSPZ__MARK_CHUNK];
} hspz__mark_chunk;

/* The lists of one worker; zero-initialised. */
typedef struct hspz__mark_lists {
    uint64_t *place[HSPZ__MARK_LISTS]; /* of the next key; at the end of a chunk, or NULL: there is no room */
    hspz__mark_chunk *lists[HSPZ__MARK_LISTS]; /* the chunk being filled first */
    hspz__mark_chunk *last[HSPZ__MARK_LISTS];  /* the chunk that was taken first */
    uint64_t chunks[HSPZ__MARK_LISTS];         /* of each list */
    hspz__mark_chunk *spare;
    void *slabs;     /* memory of the chunks */
    uint32_t unused; /* chunks of the first slab that were never taken */
    uint32_t tile_begin;
    uint64_t hits, most; /* beyond `most` the join ends with HSPZ_E_TOO_MANY_HITS */
} hspz__mark_lists;

/* Puts a new chunk in front of list `number`. HSPZ_E_MEMORY without an error text. */
hspz_status hspz__mark_lists_grow(hspz__mark_lists *lists, hspz__host *host, uint32_t number);
/* Keys of list `number`. */
uint64_t hspz__mark_lists_count(const hspz__mark_lists *lists, uint32_t number);
/* Sorts the keys of list `number` of all `count` workers by slot and query position into `a`; `a` and `b` have room for
 * all, less than 2^32. */
void hspz__mark_lists_sort(const hspz__mark_lists *lists, uint32_t count, uint32_t number, uint64_t *a,
                           uint64_t *b);
/* Empties the lists and keeps their memory. */
void hspz__mark_lists_clear(hspz__mark_lists *lists);
void hspz__mark_lists_free(hspz__mark_lists *lists, hspz__host *host);

static inline hspz_status hspz__mark_lists_put(hspz__mark_lists *lists, hspz__host *host, uint64_t key)
{
    const uint32_t number = hspz__mark_slot(key) / HSPZ__SLOTS_A_LIST;
    if ((uintptr_t)lists->place[number] % HSPZ__MARK_CHUNK_BYTES == 0) {
        hspz_status status = hspz__mark_lists_grow(lists, host, number);
        if (status != HSPZ_OK)
            return status;
    }
    *lists->place[number]++ = key;
    return HSPZ_OK;
}

static inline hspz_status hspz__mark_lists_add(hspz__mark_lists *lists, hspz__host *host, uint32_t target,
                                               uint32_t query, uint32_t said)
{
    return hspz__mark_lists_put(lists, host, hspz__mark_key(target, query, lists->tile_begin, said));
}

#endif
