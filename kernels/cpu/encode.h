/* encode.h -- the two kernels of encoding, by instruction set; kernels.h says what they do. Only the tables of kernels name them. */
#ifndef HSPZ__CPU_ENCODE_H
#define HSPZ__CPU_ENCODE_H

#include <stdint.h>

uint8_t hspz__translate_scalar(const uint8_t table[256], const uint8_t *bytes, uint64_t count, uint8_t *out);
uint64_t hspz__pack_scalar(const uint8_t bytes[64], uint8_t packed[16]);

uint8_t hspz__translate_avx2(const uint8_t table[256], const uint8_t *bytes, uint64_t count, uint8_t *out);
uint64_t hspz__pack_avx2(const uint8_t bytes[64], uint8_t packed[16]);

uint8_t hspz__translate_avx512(const uint8_t table[256], const uint8_t *bytes, uint64_t count, uint8_t *out);
uint64_t hspz__pack_avx512(const uint8_t bytes[64], uint8_t packed[16]);

#endif
