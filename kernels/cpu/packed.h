/* packed.h -- reading bases of two bits, four a byte, the first in the lowest bits. */
#ifndef HSPZ__CPU_PACKED_H
#define HSPZ__CPU_PACKED_H

#include <stdint.h>
#include <string.h>

/* At least 29 bases from base `at` of `packed` on, the first lowest. Reads eight bytes. */
static inline uint64_t hspz__packed_part(const uint8_t *packed, uint64_t at)
{
    uint64_t word;
    memcpy(&word, packed + at / 4, sizeof word);
    return word >> (2 * (at % 4));
}

/* 32 bases. Reads nine bytes. */
static inline uint64_t hspz__packed_word(const uint8_t *packed, uint64_t at)
{
    const uint32_t shift = 2 * (uint32_t)(at % 4);
    const uint64_t word = hspz__packed_part(packed, at);
    return shift == 0 ? word : word | (uint64_t)packed[at / 4 + 8] << (64 - shift);
}

#endif
