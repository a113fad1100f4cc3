/* sizes.h -- whole numbers and sizes from text, strictly.
 *
 * Idea: a number is the whole text or it is refused: no leading blanks, nothing behind it, no silent wrap. Sizes
 * may end in K, M, G (decimal: 10^3, 10^6, 10^9) or Ki, Mi, Gi (2^10, 2^20, 2^30).
 */
#ifndef HSPZ__SIZES_H
#define HSPZ__SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum hspz__number {
    HSPZ__NUMBER_OK,
    HSPZ__NUMBER_EMPTY,   /* no text at all */
    HSPZ__NUMBER_GARBAGE, /* not a whole number, or something follows it */
    HSPZ__NUMBER_RANGE    /* outside least..most, or beyond int64_t */
} hspz__number;

/* Reads `text` into *value, which changes only on HSPZ__NUMBER_OK. `suffixes` admits K, M, G, Ki, Mi, Gi. [any] */
hspz__number hspz__number_parse(const char *text, bool suffixes, int64_t least, int64_t most, int64_t *value);

/* Writes `value` in plain decimal, or, with `suffixes`, with the largest suffix that leaves no remainder (decimal
 * ones first). `text` has room for 32 bytes. [any] */
void hspz__number_format(int64_t value, bool suffixes, char text[32]);

#endif
