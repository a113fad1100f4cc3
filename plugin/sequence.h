/* sequence.h -- one strand of a block as the CPU backend keeps it.
 *
 * Idea: one byte a base (its class) for the exact stage, and two bits a base for the filter and the seed words. Symbols that are no
 * upper-case base have no two-bit code: they get a pseudo-random one, so that the filter's upper bound falls there
 * as it does in unrelated sequence. That is safe for symbols that score no better than the worst XOR class; positions near other
 * symbols ("risky") are flagged, and hits there are decided by the exact stage alone.
 */
#ifndef HSPZ__SEQUENCE_H
#define HSPZ__SEQUENCE_H

#include "host_services.h"
#include "kernels.h"
#include "plan.h"
#include "pool.h"
#include "symbols.h"

/* Pseudo-random bases before the first and after the last one in `packed`. */
#define HSPZ__PACKED_MARGIN 256u

typedef struct hspz__sequence {
    uint64_t length;
    uint8_t *classes;  /* length bytes, then 64 separators */
    uint8_t *packed;   /* base i at bits 2 * ((i + margin) % 4) of byte (i + margin) / 4 */
    uint64_t *special; /* bit i: base i is no upper-case A,C,G,T; all bits after the end are set */
    uint64_t *risky;   /* bit i / 64: a context around base i may hold a risky symbol; NULL when none does */
} hspz__sequence;

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
