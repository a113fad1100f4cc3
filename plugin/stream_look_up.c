/* stream_look_up.c -- the buckets of a batch's seeds.
 *
 * Idea: seeds come in text order, so each look-up misses the cache two or three times, one miss after the other. Here seeds go through the steps
 * of a look-up in groups, one step a group behind the other; each step asks for the memory that the next one reads.
 */
#include "stream.h"

#define GROUP 64u
#define STEPS 4u /* groups at work at a time, a power of two */

/* A group on its way. */
typedef struct group {
    uint32_t count;
    uint32_t key[GROUP], rank[GROUP];
    const hspz__block *block[GROUP];
} group;

static void make_keys(const hspz__stream *s, group *g, uint64_t begin, uint64_t end)
{
    const hspz__words *index = &s->call->cpu->index;
    g->count = (uint32_t)(end - begin < GROUP ? end - begin : GROUP);
    for (uint32_t i = 0; i < g->count; i++) {
        g->key[i] = hspz__key_of_word(&s->call->cpu->keys, (uint32_t)(s->seeds[begin + i] >> 32));
        hspz__words_prefetch(index, g->key[i] / 64);
    }
}

static void find_blocks(const hspz__words *index, group *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        g->block[i] = hspz__words_block(index, g->key[i] / 64);
        __builtin_prefetch(g->block[i]);
    }
}

/* A key without positions gets the rank of the next one that has some, which is in the same memory. */
static void find_ranks(const hspz__words *index, group *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const uint64_t below = (UINT64_C(1) << g->key[i] % 64) - 1;
        g->rank[i] = g->block[i]->rank + hspz__count_bits(g->block[i]->bits & below);
        if (index->starts == NULL) /* compact: the rank is a place */
            __builtin_prefetch(index->firsts + g->block[i]->rank / 64);
        else if (g->block[i]->bits >> g->key[i] % 64 & 1)
            __builtin_prefetch(index->starts + g->rank[i]);
    }
}

static uint64_t read_starts(const hspz__words *index, const group *g, uint32_t *sizes, uint32_t *firsts)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        sizes[i] = 0;
        firsts[i] = 0;
        if ((g->block[i]->bits >> g->key[i] % 64 & 1) == 0)
            continue;
        if (index->starts == NULL) {
            sizes[i] =
                hspz__words_bucket_compact(index, g->block[i], UINT64_C(1) << g->key[i] % 64, &firsts[i]);
        } else {
            firsts[i] = index->starts[g->rank[i]];
            sizes[i] = index->starts[g->rank[i] + 1] - firsts[i];
        }
        sum += sizes[i];
    }
    return sum;
}

hspz_status hspz__stream_look_up(void *stream, uint32_t worker, uint64_t item)
{
    (void)worker;
    hspz__stream *s = stream;
    const hspz__words *index = &s->call->cpu->index;
    const uint64_t begin = item * HSPZ__SEEDS_AN_ITEM;
    const uint64_t end = s->count - begin < HSPZ__SEEDS_AN_ITEM ? s->count : begin + HSPZ__SEEDS_AN_ITEM;
    const uint64_t groups = (end - begin + GROUP - 1) / GROUP;
    group at_work[STEPS];
    uint64_t sum = 0;
    for (uint64_t k = 0; k < groups + STEPS - 1; k++) {
        if (k < groups)
            make_keys(s, &at_work[k % STEPS], begin + k * GROUP, end);
        if (k >= 1 && k - 1 < groups)
            find_blocks(index, &at_work[(k - 1) % STEPS]);
        if (k >= 2 && k - 2 < groups)
            find_ranks(index, &at_work[(k - 2) % STEPS]);
        if (k >= 3) {
            const uint64_t at = begin + (k - 3) * GROUP;
            sum += read_starts(index, &at_work[(k - 3) % STEPS], s->sizes + at, s->firsts + at);
        }
    }
    atomic_fetch_add(&s->hits, sum);
    return HSPZ_OK;
}
