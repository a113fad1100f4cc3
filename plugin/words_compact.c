/* words_compact.c -- words without the list of starts, a bit for each position instead.
 *
 * Idea: the starts of the buckets are as many as the positions where keys are long. But positions lie in the order of their keys, so that a bit
 * which says "the first of its key" tells the same when the blocks know where their positions begin. A walk along the keys
 * reads the bits in order; a look-up needs them only in blocks that have a key with several positions.
 */
#include "words.h"

#include <string.h>

#define ROWS_AN_ITEM 4096u
#define CROWD 16u /* positions a block: beyond, look-ups would take long */

static hspz_status compact_rows(void *context, uint32_t worker, uint64_t item)
{
    (void)worker;
    const hspz__words *words = context;
    const uint64_t begin = item * ROWS_AN_ITEM, left = words->block_count - begin;
    uint64_t bits = 0, at = 0; /* items share words of the bitmap */
    for (hspz__block *block = words->blocks + begin,
                     *end = block + (left < ROWS_AN_ITEM ? left : ROWS_AN_ITEM);
         block < end; block++) {
        const uint32_t *start = words->starts + block->rank;
        block->rank = *start;
        for (const uint32_t *stop = start + hspz__count_bits(block->bits); start < stop; start++) {
            if (*start / 64 != at) {
                __atomic_fetch_or(&words->firsts[at], bits, __ATOMIC_RELAXED);
                at = *start / 64;
                bits = 0;
            }
            bits |= UINT64_C(1) << *start % 64;
        }
    }
    __atomic_fetch_or(&words->firsts[at], bits, __ATOMIC_RELAXED);
    return HSPZ_OK;
}

void hspz__words_compact(hspz__words *words, const hspz__builder *builder)
{
    if (words->direct || words->count > (uint64_t)words->block_count * CROWD)
        return;
    const uint64_t size = words->count / 64 + 1;
    uint64_t *firsts = hspz__scratch_get(&words->memory[5], builder->host, size, sizeof *firsts);
    if (firsts == NULL)
        return;
    memset(firsts, 0, size * sizeof *firsts);
    words->firsts = firsts;
    firsts[words->count / 64] = UINT64_C(1) << words->count % 64;
    hspz__pool_run(builder->pool, (words->block_count + (uint64_t)ROWS_AN_ITEM - 1) / ROWS_AN_ITEM,
                   compact_rows, words, NULL);
    hspz__scratch_free(&words->memory[1], builder->host);
    words->starts = NULL;
}

/* No branch on a bit: they cannot be foreseen. */
void hspz__words_starts(const hspz__words *words, uint32_t first, uint32_t last, uint32_t *starts)
{
    for (uint32_t place = first; place < last;) {
        uint64_t bits = words->firsts[place / 64] >> place % 64;
        const uint32_t left = 64 - place % 64, stop = last - place < left ? last : place + left;
        for (; place < stop; place++, bits >>= 1) {
            *starts = place;
            starts += bits & 1;
        }
    }
    *starts = last;
}

/* Where the k-th key after the one whose positions begin at `place` begins. */
static uint32_t skip_keys(const hspz__words *words, uint32_t place, uint32_t k)
{
    uint64_t at = place / 64, bits = words->firsts[at] & ~UINT64_C(0) << place % 64;
    for (uint32_t n = hspz__count_bits(bits); n <= k; n = hspz__count_bits(bits)) {
        k -= n;
        bits = words->firsts[++at];
    }
    for (; k > 0; k--)
        bits &= bits - 1;
    return (uint32_t)(at * 64) + (uint32_t)__builtin_ctzll(bits);
}

uint32_t hspz__words_bucket_compact(const hspz__words *words, const hspz__block *block, uint64_t bit,
                                    uint32_t *first)
{
    const uint32_t before = hspz__count_bits(block->bits & (bit - 1));
    *first = block->rank + before;
    if ((block->multi & (bit | (bit - 1))) == 0)
        return 1;
    *first = skip_keys(words, block->rank, before);
    return skip_keys(words, *first, 1) - *first;
}
