/* words_bucket.h -- one bucket of the sort in words.c: positions with the same high key bits into the tables. */
#ifndef HSPZ__WORDS_BUCKET_H
#define HSPZ__WORDS_BUCKET_H

#include "words.h"

/* Its positions are in words->positions from first_place on, their keys in words->starts from first_rank on; positions ascend. */
typedef struct hspz__bucket {
    hspz__words *words;
    uint32_t count;
    uint32_t key_bits;    /* low bits of the key that differ */
    uint32_t first_place; /* in words->positions */
    uint32_t first_rank;  /* its ranks, and one more entry of words->starts, are its own */
    uint32_t first_id, first_row;
    uint32_t first_group; /* where words are not direct */
} hspz__bucket;

/* Scratch of one worker; zero-initialised. */
typedef struct hspz__bucket_space {
    hspz__scratch pairs, bits, multi, before, ranks, places, spare;
} hspz__bucket_space;

/* Numbers of rows and groups that hspz__bucket_write will fill where words are not direct. It may sort the bucket. HSPZ_E_MEMORY
 * without an error text. */
hspz_status hspz__bucket_rows(const hspz__bucket *bucket, hspz__bucket_space *space, hspz__host *host,
                              uint32_t *rows, uint32_t *groups);
/* Fills the bucket's part of the tables. HSPZ_E_MEMORY without an error text. */
hspz_status hspz__bucket_write(const hspz__bucket *bucket, hspz__bucket_space *space,
                               const hspz__builder *with);
void hspz__bucket_space_free(hspz__bucket_space *space, hspz__host *host);

#endif
