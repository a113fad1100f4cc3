/* words_bucket.h -- one bucket of the sort in words.c: pairs with the same high key bits into the tables. */
#ifndef HSPZ__WORDS_BUCKET_H
#define HSPZ__WORDS_BUCKET_H

#include "words.h"

typedef struct hspz__bucket {
    uint64_t *pairs; /* key << 32 | position; positions ascend; may be reordered */
    uint32_t count;
    uint32_t key_bits;    /* low bits of the key that differ */
    uint32_t first_place; /* in words->positions */
    uint32_t first_rank;  /* its ranks, and one more entry of words->starts, are its own */
    uint32_t first_id, first_row;
    hspz__words *words;
} hspz__bucket;

/* Scratch of one worker; zero-initialised. */
typedef struct hspz__bucket_space {
    hspz__scratch bits, multi, before, ranks, places, spare;
} hspz__bucket_space;

/* Number of blocks of 64 keys that are not empty. HSPZ_E_MEMORY without an error text. */
hspz_status hspz__bucket_blocks(const hspz__bucket *bucket, hspz__bucket_space *space, hspz__host *host,
                                uint32_t *blocks);
/* Fills the bucket's part of the tables. HSPZ_E_MEMORY without an error text. */
hspz_status hspz__bucket_write(const hspz__bucket *bucket, hspz__bucket_space *space,
                               const hspz__builder *with);
void hspz__bucket_space_free(hspz__bucket_space *space, hspz__host *host);

#endif
