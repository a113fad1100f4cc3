/* words.h -- the positions of a strand, sorted by seed word.
 *
 * Idea: inside the CPU backend a seed word is a "key": the care bits of the window with the first base lowest, which is what two-bit
 * packed sequence gives without reordering. Keys and words are the same up to a fixed permutation of bits, so buckets and
 * their contents are those of SPEC section 3. Non-empty keys are a bitmap in blocks of 64 keys with the rank of each block: 3 bits
 * a key where every block has a row (direct). Else (hash) only blocks with keys have one, found by the group of 64 blocks that they are
 * of: its number is read from a table of four bytes a group, 1 MiB at most, and the row from a byte for each block. An empty
 * block leads to a row without keys that its group has too, so that no look-up asks whether there is a block.
 */
#ifndef HSPZ__WORDS_H
#define HSPZ__WORDS_H

#include "host_services.h"
#include "kernels.h"
#include "plan.h"
#include "pool.h"
#include "sequence.h"

#define HSPZ__WORD_PART 11u /* bits of a word looked up at once; a word has at most 32 */

/* How a window becomes a key, and which keys are its variants. */
typedef struct hspz__keys {
    uint32_t pattern_length, bits;
    hspz__key_rule rule;
    uint32_t variant_count;
    uint32_t variant_mask[HSPZ__VARIANTS_MAX]; /* the plan's variants, in the plan's order */
    uint32_t care_count;
    uint8_t care_bits[HSPZ__PATTERN_MAX], word_shift[HSPZ__PATTERN_MAX], key_shift[HSPZ__PATTERN_MAX];
    uint32_t
        of_part[3]
               [1u << HSPZ__WORD_PART]; /* what each part of a word adds to the key, the lowest part first */
} hspz__keys;

void hspz__keys_init(hspz__keys *keys, const hspz__plan *plan);

static inline uint32_t hspz__key_of_word(const hspz__keys *keys, uint32_t word)
{
    const uint32_t mask = (1u << HSPZ__WORD_PART) - 1;
    return keys->of_part[0][word & mask] | keys->of_part[1][word >> HSPZ__WORD_PART & mask] |
           keys->of_part[2][word >> 2 * HSPZ__WORD_PART];
}

/* The 32 bases from `position` on, two bits each. */
static inline uint64_t hspz__window(const hspz__sequence *s, uint64_t position)
{
    const uint64_t bit = 2 * (position + HSPZ__PACKED_MARGIN);
    uint64_t low;
    uint8_t high;
    __builtin_memcpy(&low, s->packed + bit / 8, sizeof low);
    high = s->packed[bit / 8 + 8];
    const uint32_t shift = bit % 8;
    return shift == 0 ? low : low >> shift | (uint64_t)high << (64 - shift);
}

static inline uint32_t hspz__key_of_window(const hspz__keys *keys, uint64_t window)
{
    uint64_t key = 0;
    for (uint32_t i = 0; i < keys->rule.runs; i++)
        key |= window >> keys->rule.shift[i] & keys->rule.mask[i];
    return (uint32_t)key;
}

static inline uint32_t hspz__key_at(const hspz__keys *keys, const hspz__sequence *s, uint64_t position)
{
    return hspz__key_of_window(keys, hspz__window(s, position));
}

/* Bit i: the window that starts at `position` + i is valid (SPEC section 3). `position` is a multiple of 64. */
uint64_t hspz__valid_windows(const hspz__sequence *s, uint32_t pattern_length, uint64_t position);

/* Memory that a build needs for a while and the next one may use again; zero-initialised. */
typedef struct hspz__scratch {
    void *memory;
    uint64_t bytes;
} hspz__scratch;

/* At least `count` elements of `size` bytes, contents undefined; NULL when memory is short. */
void *hspz__scratch_get(hspz__scratch *scratch, hspz__host *host, uint64_t count, uint64_t size);
void hspz__scratch_free(hspz__scratch *scratch, hspz__host *host);

#define HSPZ__GROUP_BITS 12u /* of a key do not tell its group */

/* 64 neighbouring blocks, some of them not empty. Their rows follow one another, after a row without keys. */
typedef struct hspz__group {
    uint32_t first_row; /* the one without keys */
    uint8_t row[64];    /* of block i of the group, less first_row; 0: it is empty */
} hspz__group;

typedef struct hspz__words {
    uint64_t count;      /* positions */
    uint32_t *positions; /* by key, ascending within a key */
    uint32_t *
        starts; /* bucket of the key of rank r is positions[starts[r]..starts[r + 1]); ranks ascend with keys, with gaps */
    uint64_t *
        firsts; /* compact words have this instead of `starts`: bit i says that positions[i] is the first of its key, bit `count` is set; the
                         rank of a block is the place of its first position */
    uint32_t block_count; /* rows of `blocks` */
    hspz__block *blocks;  /* ascending id: all ids when direct, else the rows of `groups` */
    hspz__group *groups;  /* when not direct: those with keys, ascending, after one without */
    uint32_t *group_of;   /* place in `groups` of each key / 4096 */
    bool direct;
    hspz__scratch memory[6]; /* behind the arrays, in their order; the next build uses it again */
} hspz__words;

/* What a build works with. */
typedef struct hspz__builder {
    hspz__host *host;
    hspz__pool *pool;
    const hspz__cpu_kernels *kernels;
    const hspz__keys *keys;
} hspz__builder;

typedef enum hspz__words_form { HSPZ__WORDS_AUTO, HSPZ__WORDS_DIRECT, HSPZ__WORDS_HASH } hspz__words_form;

/* An index: all valid windows first + i * step, i < grid. Perhaps compact. Deterministic whatever the threads. `words` is
 * zero-initialised or holds an earlier build, which is replaced. On failure it is empty. */
hspz_status hspz__words_build(hspz__words *words, const hspz__builder *builder,
                              const hspz__sequence *sequence, uint64_t first, uint64_t step, uint64_t grid,
                              hspz__words_form form, hspz_error *error);
/* The same of the tables a host gave with its target, already checked. */
hspz_status hspz__words_import(hspz__words *words, const hspz__builder *builder, const hspz_target *target,
                               hspz__words_form form, hspz_error *error);
/* Words to join with an index: the same of windows first + i, i < grid, in the form that takes less memory, never compact. */
hspz_status hspz__words_sort(hspz__words *words, const hspz__builder *builder, const hspz__sequence *sequence,
                             uint64_t first, uint64_t grid, hspz_error *error);
void hspz__words_free(hspz__words *words, hspz__host *host);

/* Makes words compact, for the functions above, unless they are direct or blocks have many positions. Without memory for it they stay as
 * they are. */
void hspz__words_compact(hspz__words *words, const hspz__builder *builder);
/* Of compact words: where the keys of places [first, last) begin, then `last`. Keys are whole; `starts` has an entry for each and
 * one more. */
void hspz__words_starts(const hspz__words *words, uint32_t first, uint32_t last, uint32_t *starts);
/* hspz__words_bucket of compact words, for the key of `block` with the bit `bit`, which has positions. */
uint32_t hspz__words_bucket_compact(const hspz__words *words, const hspz__block *block, uint64_t bit,
                                    uint32_t *first);

/* The compiler may not use the processor's instruction here. */
static inline uint32_t hspz__count_bits(uint64_t x)
{
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)(x * UINT64_C(0x0101010101010101) >> 56);
}

/* The group numbered `id` of words that are not direct. */
static inline const hspz__group *hspz__words_group(const hspz__words *words, uint32_t id)
{
    return &words->groups[words->group_of[id]];
}

/* The block of 64 keys numbered `id`; an empty one where there is none. */
static inline const hspz__block *hspz__words_block(const hspz__words *words, uint32_t id)
{
    if (words->direct)
        return &words->blocks[id];
    const hspz__group *group = hspz__words_group(words, id / 64);
    return &words->blocks[group->first_row + group->row[id % 64]];
}

/* Asks for the memory that hspz__words_block reads. */
static inline void hspz__words_prefetch(const hspz__words *words, uint32_t id)
{
    if (words->direct)
        __builtin_prefetch(&words->blocks[id]);
    else
        __builtin_prefetch(&hspz__words_group(words, id / 64)->row[id % 64]);
}

/* Place of the first position of a row's block; row = number of rows gives the end. */
static inline uint32_t hspz__words_place(const hspz__words *words, uint32_t row)
{
    if (row == words->block_count)
        return (uint32_t)words->count;
    const uint32_t rank = words->blocks[row].rank;
    return words->starts != NULL ? words->starts[rank] : rank;
}

/* Number of positions with `key`; `first` is the place of the least of them in `positions`. */
static inline uint32_t hspz__words_bucket(const hspz__words *words, uint32_t key, uint32_t *first)
{
    const hspz__block *block = hspz__words_block(words, key / 64);
    const uint64_t bit = UINT64_C(1) << (key % 64);
    *first = 0;
    if ((block->bits & bit) == 0)
        return 0;
    if (words->starts == NULL)
        return hspz__words_bucket_compact(words, block, bit, first);
    const uint32_t rank = block->rank + hspz__count_bits(block->bits & (bit - 1));
    *first = words->starts[rank];
    return words->starts[rank + 1] - *first;
}

#endif
