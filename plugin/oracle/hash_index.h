/* hash_index.h -- the oracle's hash index: what its checks and its algorithms share. */
#ifndef HSPZ__ORACLE_HASH_INDEX_H
#define HSPZ__ORACLE_HASH_INDEX_H

#include "hspz_hash_index.h"

/* The extension "hspz.hash_index/1" of the oracle: host memory, sequential. */
extern const hspz_hash_index hspz__oracle_hash_index;

/* Judge a request by every rule of hspz_hash_index.h. On HSPZ_OK *max_probe is the effective bound. [any] */
hspz_status hspz__oracle_check_build(const hspz_hash_build *request, uint32_t *max_probe, hspz_error *error);
hspz_status hspz__oracle_check_batch_build(const hspz_hash_batch_build *request, uint32_t *max_probe,
                                           hspz_error *error);
hspz_status hspz__oracle_check_query(const hspz_hash_query *request, uint32_t *max_probe, hspz_error *error);
hspz_status hspz__oracle_check_join(const hspz_hash_join *request, uint32_t *max_probe, hspz_error *error);
hspz_status hspz__oracle_check_batch_join(const hspz_hash_batch_join *request, uint32_t *max_probe,
                                          hspz_error *error);

#endif
