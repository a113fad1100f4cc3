/* letters.c -- see letters.h */
#include "letters.h"

#include <stdio.h>
#include <string.h>

#define ONE(field) (1ull << ((field)*HSPZ__TALLY_BITS))
#define M ONE(HSPZ__MASKED)
#define N ONE(HSPZ__N)
#define I ONE(HSPZ__IUPAC)
#define X ONE(HSPZ__X)
#define S ONE(HSPZ__SPECIAL)

/* Entry for both cases of a letter. */
#define BOTH(upper, lower, value) [upper] = (value), [lower] = (value)
#define NUCLEOTIDES                                                                                          \
    ['A'] = 0, ['C'] = 0, ['G'] = 0, ['T'] = 0, ['a'] = M, ['c'] = M, ['g'] = M, ['t'] = M,                  \
    BOTH('N', 'n', N), BOTH('R', 'r', I), BOTH('Y', 'y', I), BOTH('S', 's', I), BOTH('W', 'w', I),           \
    BOTH('K', 'k', I), BOTH('M', 'm', I), BOTH('B', 'b', I), BOTH('D', 'd', I), BOTH('H', 'h', I),           \
    BOTH('V', 'v', I), BOTH('X', 'x', X)

#define SPECIAL_4(a) [a] = S, [(a) + 1] = S, [(a) + 2] = S, [(a) + 3] = S
#define SPECIAL_16(a) SPECIAL_4(a), SPECIAL_4((a) + 4), SPECIAL_4((a) + 8), SPECIAL_4((a) + 12)
#define SPECIAL_64(a) SPECIAL_16(a), SPECIAL_16((a) + 16), SPECIAL_16((a) + 32), SPECIAL_16((a) + 48)

/* Every byte outside A..Z and a..z is special; within these ranges what is no code is listed. */
static const uint64_t tally_of[256] = {
    SPECIAL_64(0),     ['@'] = S,         SPECIAL_4('['),    ['_'] = S,         ['`'] = S,
    SPECIAL_4('{'),    ['\x7f'] = S,      SPECIAL_64(128),   SPECIAL_64(192),   BOTH('E', 'e', S),
    BOTH('F', 'f', S), BOTH('I', 'i', S), BOTH('J', 'j', S), BOTH('L', 'l', S), BOTH('O', 'o', S),
    BOTH('P', 'p', S), BOTH('Q', 'q', S), BOTH('U', 'u', S), BOTH('Z', 'z', S), NUCLEOTIDES,
};

/* Four sums, so that no add waits for the one before it. */
hspz__tally hspz__tally_bytes(const uint8_t *bytes, size_t count)
{
    uint64_t sum[4] = {0, 0, 0, 0};
    size_t at = 0;
    for (; at + 8 <= count; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof word);
        sum[0] += tally_of[word & 255] + tally_of[word >> 32 & 255];
        sum[1] += tally_of[word >> 8 & 255] + tally_of[word >> 40 & 255];
        sum[2] += tally_of[word >> 16 & 255] + tally_of[word >> 48 & 255];
        sum[3] += tally_of[word >> 24 & 255] + tally_of[word >> 56];
    }
    for (; at < count; at++)
        sum[0] += tally_of[bytes[at]];
    return sum[0] + sum[1] + sum[2] + sum[3];
}

void hspz__composition_add(hspz_composition *composition, hspz__tally tally, uint64_t count)
{
    uint64_t masked = hspz__tally_field(tally, HSPZ__MASKED), n = hspz__tally_field(tally, HSPZ__N);
    uint64_t iupac = hspz__tally_field(tally, HSPZ__IUPAC), x = hspz__tally_field(tally, HSPZ__X);
    composition->bases += count;
    composition->masked += masked;
    composition->n += n;
    composition->iupac += iupac;
    composition->x += x;
    composition->upper += count - masked - n - iupac - x;
}

bool hspz__is_letter(uint8_t byte)
{
    return byte == 'U' || byte == 'u' ||
           (tally_of[byte] & ~(uint64_t)0 << (HSPZ__SPECIAL * HSPZ__TALLY_BITS)) == 0;
}

void hspz__describe_byte(uint8_t byte, char text[HSPZ__LETTER_TEXT])
{
    const char *why;
    if (byte == HSPZ_SEPARATOR)
        why = "which separates records inside the program";
    else if (byte == '>')
        why = "which begins a record only at the start of a line";
    else if (byte >= '0' && byte <= '9')
        why = "a digit";
    else if (byte == '*')
        why = "which stands for a stop codon in proteins";
    else if (byte == '-' || byte == '.')
        why = "which stands for a gap: alignments must be degapped first";
    else if ((byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z'))
        why = "a letter that is no nucleotide code (is this a protein?)";
    else if (byte == ' ' || byte == '\t' || byte == '\r')
        why = "a blank within a line";
    else
        why = "which is no letter";
    if (byte > 32 && byte < 127)
        (void)snprintf(text, HSPZ__LETTER_TEXT, "found '%c', %s", byte, why);
    else
        (void)snprintf(text, HSPZ__LETTER_TEXT, "found byte 0x%02x, %s", byte, why);
}

/* Without a branch, so that the compiler makes vectors of it. */
uint64_t hspz__raise(uint8_t *bytes, size_t count)
{
    uint64_t raised = 0;
    for (size_t at = 0; at < count; at++) {
        raised += bytes[at] >> 5 & 1;
        bytes[at] &= 0xdf;
    }
    return raised;
}
