/* words_pairs.h -- where the pairs that words.c sorts come from. */
#ifndef HSPZ__WORDS_PAIRS_H
#define HSPZ__WORDS_PAIRS_H

#include "words.h"

/* Windows of a text, or the positions of a host's tables. */
typedef struct hspz__pair_source {
    const hspz__builder *with;
    const hspz__sequence *sequence;
    uint64_t first, step; /* grid point i is window start first + i * step */
    const hspz_target
        *target; /* of the host's tables, or NULL; grid point i is the i-th of their positions */
    const uint32_t *host_words;
} hspz__pair_source;

/* key << 32 | position of the grid points [begin, end) that have a word, in ascending order. Returns how many. */
uint32_t hspz__pairs_make(const hspz__pair_source *source, uint64_t begin, uint64_t end, uint64_t *out);

#endif
