/* exchange.h -- the bits of a block of 64 keys under XOR of the key. */
#ifndef HSPZ__EXCHANGE_H
#define HSPZ__EXCHANGE_H

#include <stdint.h>

/* Bit k of the result is bit k XOR mask of `bits`; mask < 64. */
static inline uint64_t hspz__exchange(uint64_t bits, uint32_t mask)
{
    if (mask & 1)
        bits = (bits & UINT64_C(0x5555555555555555)) << 1 | (bits >> 1 & UINT64_C(0x5555555555555555));
    if (mask & 2)
        bits = (bits & UINT64_C(0x3333333333333333)) << 2 | (bits >> 2 & UINT64_C(0x3333333333333333));
    if (mask & 4)
        bits = (bits & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4 | (bits >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f));
    if (mask & 8)
        bits = (bits & UINT64_C(0x00ff00ff00ff00ff)) << 8 | (bits >> 8 & UINT64_C(0x00ff00ff00ff00ff));
    if (mask & 16)
        bits = (bits & UINT64_C(0x0000ffff0000ffff)) << 16 | (bits >> 16 & UINT64_C(0x0000ffff0000ffff));
    if (mask & 32)
        bits = bits << 32 | bits >> 32;
    return bits;
}

#endif
