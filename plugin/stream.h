/* stream.h -- what the files of the raw-order way share.
 *
 * Idea: stream_look_up.c counts, stream.c cuts chunks and gives results, stream_expand.c turns the seeds or anchors of a chunk into survivors.
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
    uint64_t count; /* of seeds or anchors */
    uint32_t *sizes,
        *firsts; /* of each seed: its hits, and the place of the least in the index; NULL with anchors */
    _Atomic uint64_t hits;
    uint64_t first, end; /* the chunk at work */
    hspz__stream_worker *workers;
    hspz__anchors raw; /* none: survivors in raw order */
    uint64_t chunk;    /* number of the chunk in the call */
    hspz__result result;
} hspz__stream;

/* Looks up seeds [item * HSPZ__SEEDS_AN_ITEM, ...) and adds their hits; `stream` is a hspz__stream. */
hspz_status hspz__stream_look_up(void *stream, uint32_t worker, uint64_t item);
/* Seeds or anchors [first + item * HSPZ__SEEDS_AN_ITEM, ...) of the chunk become survivors of `worker`; `stream` is a hspz__stream. */
hspz_status hspz__stream_expand(void *stream, uint32_t worker, uint64_t item);
/* Everything that waits becomes a survivor or not, so that what follows comes later in the list. */
hspz_status hspz__stream_settle(const hspz__stream *s, hspz__stream_worker *w);

#endif
