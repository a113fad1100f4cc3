/* marks.h -- dedup `lastz`: the mark rule of SPEC section 7. */
#ifndef HSPZ__MARKS_H
#define HSPZ__MARKS_H

#include "cpu.h"

/* Level (a) over the plugin's own index; window starts [begin, end). */
hspz_status hspz__marks_find(hspz__call *call, uint64_t begin, uint64_t end, uint64_t batch_size);
/* The same over a host's index, and levels (b) and (c): hits in the order given, one thread. */
hspz_status hspz__marks_find_host(hspz__call *call, uint64_t begin, uint64_t end, uint64_t batch_size);
hspz_status hspz__marks_seeds(hspz__call *call, const uint64_t *seeds, uint64_t count);
hspz_status hspz__marks_anchors(hspz__call *call, const hspz_anchor_batch *batch);

/* stream.c: seeds of window starts [begin, end) in the order of SPEC section 4; returns their number. */
uint64_t hspz__query_seeds(const hspz__call *call, uint64_t begin, uint64_t end, uint64_t *seeds);
hspz_anchor hspz__anchor_at(const uint8_t *anchors, uint32_t stride, uint64_t i);

#endif
