/* sequence.c -- encoding a block; see sequence.h.
 *
 * Idea: pieces of 64 Ki bases are independent items for the pool: bytes to classes (or classes to reversed classes), classes to two bits
 * and to the bitmap of special symbols. The few risky symbols are spread over their neighbourhood afterwards.
 */
#include "sequence.h"

#include <string.h>

#define PIECE 65536u /* bases an item; a multiple of 256 */
#define TAIL 64u

/* A context reaches this far from an anchor: see kernels/cpu/kernels.h. */
#define REACH 192u

typedef struct encoding {
    hspz__sequence *sequence;
    const uint8_t *bases;          /* or */
    const hspz__sequence *forward; /* to be reversed */
    uint64_t multiplier;
    _Atomic uint64_t bad; /* least offset of an unusable byte */
    const hspz__symbols *symbols;
    const hspz__cpu_kernels *kernels;
    _Atomic uint32_t seen; /* special classes that occur */
} encoding;

static uint8_t random_code(uint64_t multiplier, uint64_t position)
{
    uint64_t x = (position + 1) * multiplier;
    x ^= x >> 29;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    return (uint8_t)(x >> 62);
}

/* Special symbols among 64 bases at `at` get their pseudo-random codes; returns which classes they are. */
static uint32_t code_special(const encoding *e, uint64_t at, uint64_t special, uint8_t packed[16])
{
    uint32_t seen = 0;
    for (; special != 0; special &= special - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(special), shift = 2 * (i % 4);
        const uint32_t code = random_code(e->multiplier, at + i);
        packed[i / 4] = (uint8_t)((packed[i / 4] & ~(3u << shift)) | code << shift);
        seen |= 1u << (e->sequence->classes[at + i] & 31u);
    }
    return seen;
}

/* Classes of [begin, end), which are in place, into `packed` and `special`. `begin` is a multiple of 64. */
static void pack_piece(encoding *e, uint64_t begin, uint64_t end)
{
    hspz__sequence *s = e->sequence;
    uint32_t seen = 0;
    for (uint64_t i = begin; i < end; i += 64) {
        uint8_t *packed = s->packed + (HSPZ__PACKED_MARGIN + i) / 4;
        s->special[i / 64] = e->kernels->pack(s->classes + i, packed);
        if (s->special[i / 64] != 0)
            seen |= code_special(e, i, s->special[i / 64], packed);
    }
    atomic_fetch_or(&e->seen, seen);
}

static void read_bases(encoding *e, uint64_t begin, uint64_t end)
{
    uint8_t *classes = e->sequence->classes;
    if ((e->kernels->translate(e->symbols->of_byte, e->bases + begin, end - begin, classes + begin) &
         0x80u) == 0)
        return;
    uint64_t at = begin;
    while (classes[at] != 0xff)
        at++;
    uint64_t least = atomic_load(&e->bad);
    while (at < least && !atomic_compare_exchange_weak(&e->bad, &least, at))
        ;
}

static void read_reversed(encoding *e, uint64_t begin, uint64_t end)
{
    const uint8_t *last = e->forward->classes + (e->forward->length - 1 - begin);
    e->kernels->translate_back(e->symbols->complement, last, end - begin, e->sequence->classes + begin);
}

static hspz_status encode_piece(void *context, uint32_t worker, uint64_t item)
{
    (void)worker;
    encoding *e = context;
    const uint64_t length = e->sequence->length;
    const uint64_t begin = item * PIECE;
    const uint64_t end = length - begin < PIECE ? length : begin + PIECE;
    if (e->bases != NULL)
        read_bases(e, begin, end);
    else
        read_reversed(e, begin, end);
    pack_piece(e, begin, end); /* the last word reaches into the separators after the end */
    return HSPZ_OK;
}

static void fill_margins(encoding *e)
{
    hspz__sequence *s = e->sequence;
    const uint64_t before = HSPZ__PACKED_MARGIN / 4;
    const uint64_t after = before + (s->length + 63) / 64 * 16;
    for (uint64_t i = 0; i < before; i++) {
        s->packed[i] = (uint8_t)(random_code(e->multiplier, ~i) * 85u ^ i * 37u);
        s->packed[after + i] = (uint8_t)(random_code(e->multiplier, s->length + i) * 85u ^ i * 101u);
    }
}

/* Marks the blocks of 64 bases whose contexts may reach a risky symbol. */
static hspz_status spread_risk(encoding *e, hspz__host *host)
{
    hspz__sequence *s = e->sequence;
    const uint32_t risky = atomic_load(&e->seen) & e->symbols->risky;
    if (risky == 0)
        return HSPZ_OK;
    const uint64_t blocks = s->length / 64 + 1;
    const uint64_t words = blocks / 64 + 1;
    s->risky = hspz__alloc(host, words, sizeof *s->risky);
    if (s->risky == NULL)
        return HSPZ_E_MEMORY;
    memset(s->risky, 0, words * sizeof *s->risky);
    for (uint64_t i = 0; i < s->length; i++) {
        if (s->special[i / 64] >> (i % 64) == 0) { /* none from here to the end of the word */
            i |= 63;
            continue;
        }
        if ((risky >> s->classes[i] & 1u) == 0)
            continue;
        uint64_t first = i >= REACH ? (i - REACH) / 64 : 0;
        uint64_t last = (i + REACH) / 64 < blocks ? (i + REACH) / 64 : blocks - 1;
        for (uint64_t b = first; b <= last; b++)
            s->risky[b / 64] |= UINT64_C(1) << (b % 64);
    }
    return HSPZ_OK;
}

static hspz_status encode(encoding *e, hspz__host *host, hspz__pool *pool, uint64_t length, uint32_t salt,
                          const char *name, hspz_error *error)
{
    hspz__sequence *s = e->sequence;
    const uint64_t rounded = (length + 63) / 64 * 64;
    e->multiplier = salt != 0 ? UINT64_C(0xd1342543de82ef95) : UINT64_C(0x9e3779b97f4a7c15);
    *s = (hspz__sequence){.length = length};
    s->classes = hspz__alloc(host, rounded + TAIL, 1);
    s->packed = hspz__alloc(host, rounded / 4 + HSPZ__PACKED_MARGIN / 2 + 64, 1);
    s->special = hspz__alloc(host, rounded / 64 + 2, sizeof *s->special);
    hspz_status status = HSPZ_OK;
    if (s->classes == NULL || s->packed == NULL || s->special == NULL) {
        status = HSPZ_E_MEMORY;
    } else {
        memset(s->classes + length, HSPZ__SEPARATOR, rounded + TAIL - length);
        memset(s->special + rounded / 64, 0xff, 2 * sizeof *s->special);
        memset(s->packed + rounded / 4 + HSPZ__PACKED_MARGIN / 2, 0, 64);
        atomic_init(&e->bad, UINT64_MAX);
        atomic_init(&e->seen, 0);
        hspz__pool_run(pool, (length + PIECE - 1) / PIECE, encode_piece, e, NULL);
        fill_margins(e);
        status = spread_risk(e, host);
    }
    if (status != HSPZ_OK)
        hspz__fail(error, status, "no memory for a %s of %llu bases", name, (unsigned long long)length);
    const uint64_t bad = status == HSPZ_OK ? atomic_load(&e->bad) : UINT64_MAX;
    if (bad != UINT64_MAX)
        status = hspz__fail(error, HSPZ_E_ARGUMENT,
                            "byte 0x%02x at offset %llu of the %s is no nucleotide code and not '&'",
                            e->bases[bad], (unsigned long long)bad, name);
    if (status != HSPZ_OK)
        hspz__sequence_free(s, host);
    return status;
}

hspz_status hspz__sequence_encode(hspz__sequence *sequence, hspz__host *host, hspz__pool *pool,
                                  const uint8_t *bases, uint64_t length, const hspz__symbols *symbols,
                                  const hspz__cpu_kernels *kernels, uint32_t salt, const char *name,
                                  hspz_error *error)
{
    encoding e = {.sequence = sequence, .bases = bases, .symbols = symbols, .kernels = kernels};
    return encode(&e, host, pool, length, salt, name, error);
}

hspz_status hspz__sequence_reverse(hspz__sequence *sequence, hspz__host *host, hspz__pool *pool,
                                   const hspz__sequence *forward, const hspz__symbols *symbols,
                                   const hspz__cpu_kernels *kernels, uint32_t salt, hspz_error *error)
{
    encoding e = {.sequence = sequence, .forward = forward, .symbols = symbols, .kernels = kernels};
    return encode(&e, host, pool, forward->length, salt, "reverse complement", error);
}

void hspz__sequence_free(hspz__sequence *sequence, hspz__host *host)
{
    hspz__free(host, sequence->classes);
    hspz__free(host, sequence->packed);
    hspz__free(host, sequence->special);
    hspz__free(host, sequence->risky);
    memset(sequence, 0, sizeof *sequence);
}
