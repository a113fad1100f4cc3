/* backend_cuda_seeds.h -- what the two halves of the seed pipeline share: batches, parts and chunks in backend_cuda_seeds.c, pieces
 * of hits in backend_cuda_pieces.c.
 */
#ifndef HSPZ__BACKEND_CUDA_SEEDS_H
#define HSPZ__BACKEND_CUDA_SEEDS_H

#include "../kernels/cuda/lastz.h"
#include "../kernels/cuda/seeds.h"
#include "backend_cuda.h"

/* Where the hits of a batch come from; one of the three. */
typedef struct hspz__seed_source {
    int windows; /* level (a): the batch's windows first .. first + count - 1, variant_count seeds each */
    uint32_t first;
    const uint64_t *seeds;            /* level (b), host memory */
    const hspz_anchor_batch *anchors; /* level (c) */
    uint64_t count;                   /* seeds, or anchors */
} hspz__seed_source;

typedef struct hspz__seed_part {
    uint64_t first, count; /* seeds of the batch */
    uint64_t base, hits;   /* hits of the batch before it, and its own */
} hspz__seed_part;

typedef struct hspz__seed_run {
    hspz__cuda_call *call;
    hspz__seed_source from;
    uint64_t part_seeds, piece_hits;
    /* device */
    uint64_t *seeds, *anchors, *sorted;
    uint32_t *prefix, *offsets, *flags, *before, *ids[2], *slots[2], *slot_ends, *marks;
    unsigned long long *sums;
    hspz__cuda_candidates candidates;
    /* host */
    unsigned long long *host_sums;
    uint32_t *host_offsets;
    uint32_t *host_prefix; /* HSPZ_CHUNK_WALK=full: the whole part; sparse: one block */
    uint32_t found;        /* candidates so far */
    int in_pieces;         /* the candidates of this chunk did not fit: some were finished already */
    hspz__seed_part now;
    uint64_t record_begin,
        record_end; /* `lastz`, levels (b) and (c): the marks belong to these query positions */
} hspz__seed_run;

/* Expands, gates and compacts the hits first .. end - 1 of the batch, which lie in the part; survivors become candidates. */
hspz_status hspz__seeds_work_hits(hspz__seed_run *run, uint64_t first, uint64_t end);
/* Where a scope ends: the candidates so far become HSPs, with what earlier pieces of the scope left. */
hspz_status hspz__seeds_finish(hspz__seed_run *run);

#endif
