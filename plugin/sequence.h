/* sequence.h -- one strand of a block as the CPU backend keeps it, in seven bits a base.
 *
 * Idea: two bits a base serve the filter, the seed words and, nearly everywhere, the exact stage; one bit tells the symbols that are no
 * upper-case base, and four bits which symbol that is. In `packed` such symbols get a pseudo-random code, so that the filter's upper
 * bound falls there as it does in unrelated sequence. That is safe for symbols that score no better than the worst XOR class; positions
 * near other symbols ("risky") are flagged, and hits there are decided by the exact stage alone.
 */
#ifndef HSPZ__SEQUENCE_H
#define HSPZ__SEQUENCE_H

#include "host_services.h"
#include "kernels.h"
#include "packed.h"
#include "plan.h"
#include "pool.h"
#include "symbols.h"

/* Pseudo-random bases before the first and after the last one in `packed`. */
#define HSPZ__PACKED_MARGIN 256u

typedef struct hspz__sequence {
    uint64_t length;
    uint8_t *packed;   /* base i at bits 2 * ((i + margin) % 4) of byte (i + margin) / 4 */
    uint64_t *special; /* bit i: base i is no upper-case A,C,G,T; all bits after the end are set */
    uint8_t *symbols;  /* symbol less HSPZ__LOWER at bits 4 * (i % 2) of byte i / 2, for special bases only */
    uint64_t *risky;   /* bit i / 64: a context around base i may hold a risky symbol; NULL when none does */
} hspz__sequence;

/* Bit i: base at + i is special, for `at` from -63 to the length; no base before the first one is. */
static inline uint64_t hspz__special_bits(const hspz__sequence *s, int64_t at)
{
    if (at < 0)
        return s->special[0] << -at;
    const uint64_t *word = s->special + at / 64;
    const uint32_t shift = (uint32_t)(at % 64);
    return shift == 0 ? word[0] : word[0] >> shift | word[1] << (64 - shift);
}

/* The symbol (symbols.h) of base i. */
static inline uint32_t hspz__symbol_at(const hspz__sequence *s, uint64_t i)
{
    if (s->special[i / 64] >> (i % 64) & 1)
        return HSPZ__LOWER + (s->symbols[i / 2] >> (4 * (i % 2)) & 15u);
    const uint64_t at = i + HSPZ__PACKED_MARGIN;
    return s->packed[at / 4] >> (2 * (at % 4)) & 3u;
}

/* `salt` tells target from query, so that their pseudo-random codes differ. Bytes that are no nucleotide code and not '&'
 * are HSPZ_E_ARGUMENT. On failure `sequence` is empty. */
hspz_status hspz__sequence_encode(hspz__sequence *sequence, hspz__host *host, hspz__pool *pool,
                                  const uint8_t *bases, uint64_t length, const hspz__symbols *symbols,
                                  const hspz__cpu_kernels *kernels, uint32_t salt, const char *name,
                                  hspz_error *error);
/* The reverse complement of `forward`. */
hspz_status hspz__sequence_reverse(hspz__sequence *sequence, hspz__host *host, hspz__pool *pool,
                                   const hspz__sequence *forward, const hspz__symbols *symbols,
                                   const hspz__cpu_kernels *kernels, uint32_t salt, hspz_error *error);
void hspz__sequence_free(hspz__sequence *sequence, hspz__host *host);

#endif
