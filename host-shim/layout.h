/* layout.h -- how a genome is cut into blocks and a block into intervals (SPEC section 4), and the way back from block
 * positions to records.
 *
 * Idea: a block is a slice of hspz_genome.bases, so it costs nothing. It takes whole records in file order and closes
 * once its length, separators counted, exceeds `block_size`; the '&' that would follow is not part of it. Positions of
 * a block are 0-based; a minus-strand position counts in the reverse complement of the block, separators included.
 * All functions are [any]; a layout is read-only after hspz_layout_make.
 */
#ifndef HSPZ_HOST_LAYOUT_H
#define HSPZ_HOST_LAYOUT_H

#include "failure.h"
#include "genome.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HSPZ_BLOCK_SIZE_DEFAULT 500000000u   /* --seq-block-size */
#define HSPZ_INTERVAL_SIZE_DEFAULT 10000000u /* --lastz-interval-size */
#define HSPZ_BLOCK_MAX 4294967294u           /* bytes a block may have: the ABI's 2^32 - 2 */

typedef struct hspz_block {
    const uint8_t *bases; /* borrowed from the genome */
    uint64_t length;      /* bases and separators, 0..HSPZ_BLOCK_MAX */
    uint64_t offset;      /* sum of the lengths of the blocks before it: the r of tmp<n>.block<q>.r<offset> */
    size_t first_record;  /* index in genome->records */
    size_t record_count;  /* at least 1 */
} hspz_block;

typedef struct hspz_layout {
    const hspz_genome *genome; /* borrowed; must outlive the layout */
    hspz_block *blocks;        /* in file order; block number = index */
    size_t block_count;        /* at least 1 */
} hspz_layout;

/* Cuts `genome` into blocks; block_size >= 1. Refuses a block of 2^32 - 1 or more bytes (HSPZ_EXIT_DATA), naming the
 * record that fills it. Release with hspz_layout_free. */
int hspz_layout_make(const hspz_genome *genome, uint64_t block_size, hspz_layout *layout,
                     hspz_failure *failure) __attribute__((warn_unused_result));
void hspz_layout_free(hspz_layout *layout);

/* Where a block position lies. */
typedef struct hspz_place {
    const hspz_record *record;
    size_t record_index; /* in genome->records */
    uint64_t
        position; /* 0-based in the record; for the minus strand in the record's own reverse complement */
} hspz_place;

/* Maps `position` of a block on `strand` (HSPZ_STRAND_PLUS, HSPZ_STRAND_MINUS of the ABI) to its record: binary search.
 * False when the position is a separator or outside the block. */
bool hspz_layout_locate(const hspz_layout *layout, const hspz_block *block, uint32_t strand,
                        uint64_t position, hspz_place *place);

/* Start of a record within its block, plus frame; and the start of its reverse complement within the block's minus
 * frame. `record` is an index in genome->records, within the block. */
uint64_t hspz_block_record_start(const hspz_layout *layout, const hspz_block *block, size_t record,
                                 uint32_t strand);

/* One interval of a query block: hspz_find_request's begin and end (position `end` is included by the batch rule). */
typedef struct hspz_interval {
    uint64_t begin;
    uint64_t end;
} hspz_interval;

/* Number of intervals of a block of `length` bytes for a pattern of `width` bases, `interval_size` >= 1. With D = length -
 * width: 0 when D < 0, else the number of k with k*interval_size < D, at least 1 (one window, at position 0, if D = 0). */
uint64_t hspz_interval_count(uint64_t length, uint32_t width, uint64_t interval_size);

/* Interval `k` (0-based, below the count): plus [k*I, min((k+1)*I, D)); minus [D-b, D-a) of the plus interval [a,b). */
hspz_interval hspz_interval_at(uint64_t length, uint32_t width, uint64_t interval_size, uint64_t k,
                               uint32_t strand);

#ifdef __cplusplus
}
#endif

#endif
