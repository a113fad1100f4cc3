/* stream.h -- what the two files of the raw-order way share.
 *
 * Idea: stream.c counts, cuts chunks and gives results; stream_expand.c turns the seeds or anchors of a chunk into survivors.
 */
#ifndef HSPZ__STREAM_H
#define HSPZ__STREAM_H

#include "cpu.h"
#include "marks.h"

#define HSPZ__SEEDS_AN_ITEM 4096u
#define HSPZ__SEEDS_AHEAD 16u /* of the expansion, for look-ups */

typedef struct hspz__stream_worker {
    hspz__screen screen;
    uint32_t number;
    uint32_t screened;
    uint32_t lanes;
    uint32_t target[HSPZ__LANES], query[HSPZ__LANES]; /* window starts */
} hspz__stream_worker;

typedef struct hspz__stream {
    hspz__call *call;
    const uint64_t *seeds; /* or */
    const uint8_t *anchors;
    uint32_t stride;
    uint64_t count;  /* of seeds or anchors */
    uint32_t *sizes; /* hits of each seed */
    _Atomic uint64_t hits;
    uint64_t first, end; /* the chunk at work */
    hspz__stream_worker *workers;
    hspz__anchors raw; /* none: survivors in raw order */
    uint64_t chunk;    /* number of the chunk in the call */
    hspz__result result;
} hspz__stream;

/* The key of seed i, and a hint that its bucket is going to be looked up. */
static inline uint32_t hspz__stream_key(const hspz__stream *s, uint64_t i)
{
    return hspz__key_of_word(&s->call->cpu->keys, (uint32_t)(s->seeds[i] >> 32));
}

static inline void hspz__stream_prefetch(const hspz__words *index, uint32_t key)
{
    if (index->direct)
        __builtin_prefetch(&index->blocks[key / 64]);
    else
        __builtin_prefetch(&index->table[(key / 64 * UINT32_C(2654435761) >> 7) & index->table_mask]);
}

/* Seeds or anchors [first + item * HSPZ__SEEDS_AN_ITEM, ...) of the chunk become survivors of `worker`; `stream` is a hspz__stream. */
hspz_status hspz__stream_expand(void *stream, uint32_t worker, uint64_t item);
/* Everything that waits becomes a survivor or not, so that what follows comes later in the list. */
hspz_status hspz__stream_settle(const hspz__stream *s, hspz__stream_worker *w);

#endif
