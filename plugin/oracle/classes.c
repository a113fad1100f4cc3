/* classes.c -- SPEC section 2: bytes to symbol classes, and the reverse complement.
 *
 * Idea: one byte a base, holding its class. Classes know their complements: A<->T, C<->G, R<->Y, K<->M, B<->V, D<->H; every other
 * class is its own.
 */
#include "oracle.h"

#include <string.h>

#define NOTHING 0xffu

/* The class of a byte, or NOTHING for what is neither a nucleotide letter nor '&'. U counts as T. */
static uint8_t class_of(unsigned char byte)
{
    switch (byte) {
    case 'A':
        return ORACLE_A;
    case 'C':
        return ORACLE_C;
    case 'G':
        return ORACLE_G;
    case 'T':
    case 'U':
        return ORACLE_T;
    case 'N':
    case 'n':
        return ORACLE_N;
    case 'X':
    case 'x':
        return ORACLE_LETTER_X;
    case '&':
        return ORACLE_SEPARATOR;
    case '\0':
        return NOTHING;
    default: {
        if (strchr("acgtu", byte) != NULL)
            return ORACLE_LOWER;
        const char *iupac = "RrYyKkMmBbVvDdHhSsWw"; /* in the order of their classes */
        const char *at = strchr(iupac, byte);
        return at != NULL ? (uint8_t)(ORACLE_IUPAC + (at - iupac) / 2) : NOTHING;
    }
    }
}

static uint8_t complement(uint8_t code)
{
    if (code <= ORACLE_T)
        return (uint8_t)(ORACLE_T - code);
    return code >= ORACLE_IUPAC && code < ORACLE_IUPAC_END - 2 ? code ^ 1 : code;
}

hspz_status hspz__oracle_encode(hspz__oracle_host *host, const char *name, const uint8_t *bases,
                                uint64_t length, hspz__oracle_sequence *sequence, hspz_error *error)
{
    uint8_t table[256];
    for (int byte = 0; byte < 256; byte++)
        table[byte] = class_of((unsigned char)byte);

    sequence->length = 0;
    sequence->codes = hspz__oracle_alloc(host, length, 1);
    if (sequence->codes == NULL)
        return hspz__oracle_fail(error, HSPZ_E_MEMORY, "no memory for a %s of %llu bases", name,
                                 (unsigned long long)length);
    hspz__oracle_pulse pulse;
    hspz__oracle_pulse_init(&pulse, host, length);
    hspz_status status = HSPZ_OK;
    for (uint64_t i = 0; i < length && status == HSPZ_OK; i++) {
        sequence->codes[i] = table[bases[i]];
        if (sequence->codes[i] == NOTHING)
            status =
                hspz__oracle_fail(error, HSPZ_E_ARGUMENT,
                                  "byte 0x%02x at offset %llu of the %s is no nucleotide code and not '&'",
                                  bases[i], (unsigned long long)i, name);
        else {
            pulse.done = i;
            status = hspz__oracle_pulse_beat(&pulse, 1, error);
        }
    }
    if (status == HSPZ_OK)
        sequence->length = length;
    else
        hspz__oracle_sequence_free(host, sequence);
    return status;
}

hspz_status hspz__oracle_reverse_complement(hspz__oracle_host *host, const hspz__oracle_sequence *forward,
                                            hspz__oracle_sequence *reverse, hspz_error *error)
{
    reverse->length = 0;
    reverse->codes = hspz__oracle_alloc(host, forward->length, 1);
    if (reverse->codes == NULL)
        return hspz__oracle_fail(error, HSPZ_E_MEMORY, "no memory for the reverse complement of %llu bases",
                                 (unsigned long long)forward->length);
    for (uint64_t i = 0; i < forward->length; i++)
        reverse->codes[i] = complement(forward->codes[forward->length - 1 - i]);
    reverse->length = forward->length;
    return HSPZ_OK;
}

void hspz__oracle_sequence_free(hspz__oracle_host *host, hspz__oracle_sequence *sequence)
{
    hspz__oracle_free(host, sequence->codes);
    sequence->codes = NULL;
    sequence->length = 0;
}
