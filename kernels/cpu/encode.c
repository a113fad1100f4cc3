/* encode.c -- bytes to symbol classes and classes to two bits, in plain C: the reference. */
#include "encode.h"

#include <string.h>

uint8_t hspz__translate_scalar(const uint8_t table[256], const uint8_t *bytes, uint64_t count, uint8_t *out)
{
    uint8_t all = 0;
    for (uint64_t i = 0; i < count; i++) {
        out[i] = table[bytes[i]];
        all |= out[i];
    }
    return all;
}

/* Two bits each of eight bytes, first byte lowest. */
static uint16_t squeeze(uint64_t x)
{
    x &= UINT64_C(0x0303030303030303);
    x = (x | x >> 6) & UINT64_C(0x000f000f000f000f);
    x = (x | x >> 12) & UINT64_C(0x000000ff000000ff);
    return (uint16_t)(x | x >> 24);
}

uint64_t hspz__pack_scalar(const uint8_t bytes[64], uint8_t packed[16])
{
    uint64_t special = 0;
    for (uint32_t k = 0; k < 64; k += 8) {
        uint64_t x = 0;
        for (uint32_t i = 0; i < 8; i++)
            x |= (uint64_t)bytes[k + i] << 8 * i;
        const uint16_t bits = squeeze(x);
        packed[k / 4] = (uint8_t)bits;
        packed[k / 4 + 1] = (uint8_t)(bits >> 8);
        x = (x >> 2 | x >> 3 | x >> 4 | x >> 5 | x >> 6) &
            UINT64_C(0x0101010101010101); /* bits of 4 and above */
        special |= (x * UINT64_C(0x0102040810204080) >> 56) << k;
    }
    return special;
}
