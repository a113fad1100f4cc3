/* sort_keys.c -- a radix sort of 64-bit keys. */
#include "cpu.h"

#include <string.h>

/* One pass of a stable radix sort over `width` bits. */
static void sort_pass(const uint64_t *from, uint64_t *to, uint64_t n, uint32_t shift, uint32_t width)
{
    uint64_t place[1u << 11];
    const uint64_t mask = (UINT64_C(1) << width) - 1;
    memset(place, 0, (mask + 1) * sizeof *place);
    for (uint64_t i = 0; i < n; i++)
        place[from[i] >> shift & mask]++;
    uint64_t sum = 0;
    for (uint64_t d = 0; d <= mask; d++) {
        const uint64_t count = place[d];
        place[d] = sum;
        sum += count;
    }
    for (uint64_t i = 0; i < n; i++)
        to[place[from[i] >> shift & mask]++] = from[i];
}

/* Bits in which all keys agree cost nothing. */
uint64_t *hspz__sort_keys(uint64_t *keys, uint64_t *spare, uint64_t count)
{
    if (count <= 32) {
        for (uint64_t i = 1; i < count; i++) {
            const uint64_t key = keys[i];
            uint64_t j = i;
            for (; j > 0 && keys[j - 1] > key; j--)
                keys[j] = keys[j - 1];
            keys[j] = key;
        }
        return keys;
    }
    uint64_t differ = 0;
    for (uint64_t i = 1; i < count; i++)
        differ |= keys[i] ^ keys[0];
    const uint32_t width = count < 2048 ? 7 : 11;
    for (uint32_t shift = 0; shift < 64 && differ >> shift != 0; shift += width) {
        shift += (uint32_t)__builtin_ctzll(differ >> shift);
        sort_pass(keys, spare, count, shift, shift + width > 64 ? 64 - shift : width);
        uint64_t *swap = keys;
        keys = spare;
        spare = swap;
    }
    return keys;
}
