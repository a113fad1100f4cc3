/* segments.h -- HSPs of blocks as lines of a LASTZ segments file.
 *
 * A line: target name, start, end, query name, start, end, strand, score; tab separated; 1-based, inclusive, relative to
 * the record; on the minus strand in the record's reverse complement (SPEC section 7).
 *
 * Order. LASTZ wants query records in file order. On the plus strand a call's HSPs have it already. On the minus strand
 * the block was searched backwards, so the records come last first: KegAlign writes the whole list backwards,
 * and so do we. Under the policies that promise LASTZ's own order (lastz, maximal) only the records are turned round, and
 * what belongs to one record keeps its order.
 */
#ifndef HSPZ_HOST_SEGMENTS_H
#define HSPZ_HOST_SEGMENTS_H

#include "record_names.h"
#include "scheduler.h"

/* Finds the record of a closed interval of a block; remembers the last one, for neighbours mostly share it. */
typedef struct hspz__locator {
    const hspz_layout *layout;
    const hspz_block *block;
    uint32_t strand;
    size_t record; /* the remembered one: positions start..end-1 */
    uint64_t start;
    uint64_t end;
} hspz__locator;

/* Both sides of a call, for its HSPs one after another. */
typedef struct hspz__placer {
    const hspz__names *names;
    const hspz_library *library; /* whose HSPs they are, for the sentence */
    hspz__locator target;
    hspz__locator query;
} hspz__placer;

void hspz__placer_init(hspz__placer *placer, const hspz_inputs *inputs, const hspz__names *names,
                       const hspz_library *library, const hspz_call *call);

/* Points both locators at the records of an HSP. An HSP that is not within one record on either side is a plugin's bug:
 * HSPZ_EXIT_PLUGIN. */
int hspz__placer_seek(hspz__placer *placer, const hspz_hsp *hsp, hspz_failure *failure);

/* Appends the line of the HSP sought last. */
void hspz__placer_line(const hspz__placer *placer, const hspz_hsp *hsp, hspz__text *text);

/* Puts a call's HSPs in the order of its file. Refuses (HSPZ_EXIT_PLUGIN) HSPs whose query records go back and forth. */
int hspz__segments_order(hspz__placer *placer, int64_t dedup, hspz_hsps *hsps, hspz_failure *failure);

#endif
