/* scores.h -- the scores of packed pairs, by instruction set; kernels.h says what they are. Only the tables of kernels name them. */
#ifndef HSPZ__CPU_SCORES_H
#define HSPZ__CPU_SCORES_H

#include <stdint.h>

void hspz__scores_scalar(const int32_t table[16], const uint8_t *target, uint64_t target_at,
                         const uint8_t *query, uint64_t query_at, int32_t out[64]);
void hspz__scores_avx2(const int32_t table[16], const uint8_t *target, uint64_t target_at,
                       const uint8_t *query, uint64_t query_at, int32_t out[64]);
void hspz__scores_avx512(const int32_t table[16], const uint8_t *target, uint64_t target_at,
                         const uint8_t *query, uint64_t query_at, int32_t out[64]);

#endif
