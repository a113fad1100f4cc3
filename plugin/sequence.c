/* sequence.c -- encoding a block; see sequence.h.
 *
 * Idea: pieces of 64 Ki bases are independent items for the pool, worked in parts that stay in the cache: bytes to symbols, symbols to two
 * bits and to the bitmap of special ones. A reverse complement is made of the forward strand's bits, 64 bases at a time. The few risky
 * symbols are spread over their neighbourhood afterwards.
 */
#include "sequence.h"

#include <string.h>

#define PIECE 65536u /* bases an item */
#define PART 4096u   /* bases at a time; both are multiples of 64 */

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
    _Atomic uint32_t seen; /* special symbols that occur */
} encoding;

static uint8_t random_code(uint64_t multiplier, uint64_t position)
{
    uint64_t x = (position + 1) * multiplier;
    x ^= x >> 29;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    return (uint8_t)(x >> 62);
}

/* What the special ones among 64 bases at `at` are goes into `symbols`, and they get their pseudo-random codes. Returns which occur. */
static uint32_t store_special(const encoding *e, uint64_t at, const uint8_t symbols[64])
{
    uint32_t seen = 0;
    uint8_t *packed = e->sequence->packed + (HSPZ__PACKED_MARGIN + at) / 4;
    uint8_t *out = e->sequence->symbols + at / 2;
    for (uint32_t k = 0; k < 32; k++)
        out[k] = (uint8_t)(((symbols[2 * k] - HSPZ__LOWER) & 15u) | ((symbols[2 * k + 1] - HSPZ__LOWER) & 15u)
                                                                        << 4);
    for (uint64_t rest = e->sequence->special[at / 64]; rest != 0; rest &= rest - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(rest), shift = 2 * (i % 4);
        const uint32_t code = random_code(e->multiplier, at + i);
        packed[i / 4] = (uint8_t)((packed[i / 4] & ~(3u << shift)) | code << shift);
        seen |= 1u << (symbols[i] & 31u);
    }
    return seen;
}

/* ---- from bytes */

static void note_bad(encoding *e, const uint8_t *symbols, uint64_t at)
{
    while (*symbols != 0xff) {
        symbols++;
        at++;
    }
    uint64_t least = atomic_load(&e->bad);
    while (at < least && !atomic_compare_exchange_weak(&e->bad, &least, at))
        ;
}

static uint32_t read_part(encoding *e, uint64_t at, uint64_t count)
{
    hspz__sequence *s = e->sequence;
    uint8_t symbols[PART];
    uint32_t seen = 0;
    if ((e->kernels->translate(e->symbols->of_byte, e->bases + at, count, symbols) & 0x80u) != 0)
        note_bad(e, symbols, at);
    memset(symbols + count, HSPZ__SEPARATOR, -count % 64); /* the last word reaches beyond the end */
    for (uint64_t i = 0; i < count; i += 64) {
        const uint64_t special =
            e->kernels->pack(symbols + i, s->packed + (HSPZ__PACKED_MARGIN + at + i) / 4);
        s->special[(at + i) / 64] = special;
        if (special != 0)
            seen |= store_special(e, at + i, symbols + i);
    }
    return seen;
}

/* ---- from the other strand */

/* 32 bases backwards, complemented: A and T, C and G have codes that sum up to three. */
static uint64_t reverse_word(uint64_t word)
{
    word = __builtin_bswap64(~word);
    word = (word >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (word & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
    return (word >> 2 & UINT64_C(0x3333333333333333)) | (word & UINT64_C(0x3333333333333333)) << 2;
}

static uint64_t reverse_bits(uint64_t word)
{
    word = ~reverse_word(word);
    return (word >> 1 & UINT64_C(0x5555555555555555)) | (word & UINT64_C(0x5555555555555555)) << 1;
}

/* 64 bases at `at`: those of the forward strand that end at its position length - 1 - at. */
static uint32_t reverse_group(encoding *e, uint64_t at)
{
    hspz__sequence *s = e->sequence;
    const int64_t from = (int64_t)s->length - 64 - (int64_t)at;
    const uint64_t packed_from = (uint64_t)(from + (int64_t)HSPZ__PACKED_MARGIN);
    const uint64_t words[2] = {reverse_word(hspz__packed_word(e->forward->packed, packed_from + 32)),
                               reverse_word(hspz__packed_word(e->forward->packed, packed_from))};
    memcpy(s->packed + (HSPZ__PACKED_MARGIN + at) / 4, words, sizeof words);
    const uint64_t special = reverse_bits(hspz__special_bits(e->forward, from));
    s->special[at / 64] = from < 0 ? special | ~UINT64_C(0) << (64 + from) : special;
    if (s->special[at / 64] == 0)
        return 0;
    uint8_t symbols[64];
    memset(symbols, HSPZ__SEPARATOR, sizeof symbols);
    for (uint64_t rest = special; rest != 0; rest &= rest - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(rest);
        symbols[i] = e->symbols->complement[hspz__symbol_at(e->forward, s->length - 1 - at - i)];
    }
    return store_special(e, at, symbols);
}

/* ---- all of it */

static hspz_status encode_piece(void *context, uint32_t worker, uint64_t item)
{
    (void)worker;
    encoding *e = context;
    const uint64_t length = e->sequence->length;
    const uint64_t begin = item * PIECE;
    const uint64_t end = length - begin < PIECE ? length : begin + PIECE;
    uint32_t seen = 0;
    if (e->bases != NULL)
        for (uint64_t at = begin; at < end; at += PART)
            seen |= read_part(e, at, end - at < PART ? end - at : PART);
    else
        for (uint64_t at = begin; at < end; at += 64)
            seen |= reverse_group(e, at);
    atomic_fetch_or(&e->seen, seen);
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
        if ((s->special[i / 64] >> (i % 64) & 1) == 0 || (risky >> hspz__symbol_at(s, i) & 1u) == 0)
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
    s->packed = hspz__alloc(host, rounded / 4 + HSPZ__PACKED_MARGIN / 2 + 64, 1);
    s->special = hspz__alloc(host, rounded / 64 + 2, sizeof *s->special);
    s->symbols = hspz__alloc(host, rounded / 2, 1);
    hspz_status status = HSPZ_OK;
    if (s->packed == NULL || s->special == NULL || s->symbols == NULL) {
        status = HSPZ_E_MEMORY;
    } else {
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
    hspz__free(host, sequence->symbols);
    hspz__free(host, sequence->packed);
    hspz__free(host, sequence->special);
    hspz__free(host, sequence->risky);
    memset(sequence, 0, sizeof *sequence);
}
