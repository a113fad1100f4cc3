/* letters.h -- what each byte of an input sequence is (SPEC section 2).
 *
 * Idea: one table look-up a byte both checks and counts: each kind has a field of a 64-bit sum, so that a line of a FASTA
 * file is judged by one add per base, and only a line with something special in it is looked at byte by byte.
 * All functions are [any].
 */
#ifndef HSPZ__HOST_LETTERS_H
#define HSPZ__HOST_LETTERS_H

#include "genome.h"

/* Bits of one field of a tally, and how many bytes may be tallied before a field can overflow. */
#define HSPZ__TALLY_BITS 12
#define HSPZ__TALLY_MAX 4095u

/* Fields of a tally, least significant first; a capital A, C, G or T adds to none. The last one has 16 bits. */
enum { HSPZ__MASKED, HSPZ__N, HSPZ__IUPAC, HSPZ__X, HSPZ__SPECIAL };

typedef uint64_t hspz__tally;

/* Sum over bytes[0..count), count <= HSPZ__TALLY_MAX. Everything that is no nucleotide code, and U and u, is special. */
hspz__tally hspz__tally_bytes(const uint8_t *bytes, size_t count);

static inline uint64_t hspz__tally_field(hspz__tally tally, unsigned field)
{
    uint64_t shifted = tally >> (field * HSPZ__TALLY_BITS);
    return field == HSPZ__SPECIAL ? shifted : shifted & HSPZ__TALLY_MAX;
}

/* Adds a tally of `count` bytes without special ones. */
void hspz__composition_add(hspz_composition *composition, hspz__tally tally, uint64_t count);

/* True for a nucleotide code, U included. */
bool hspz__is_letter(uint8_t byte);

/* In words what `byte` is and why it cannot stand in a sequence, for a message: "found '5', a digit". */
#define HSPZ__LETTER_TEXT 160
void hspz__describe_byte(uint8_t byte, char text[HSPZ__LETTER_TEXT]);

/* Raises a..z to capitals in place and returns how many it raised. The bytes are letters. */
uint64_t hspz__raise(uint8_t *bytes, size_t count);

#endif
