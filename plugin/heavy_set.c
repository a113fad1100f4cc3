/* heavy_set.c -- see heavy_set.h. */
#include "heavy_set.h"

#include <stdlib.h>
#include <string.h>

#define SAMPLE 2048u
#define SHARE 32u /* a diagonal is heavy from one in so many anchors, */
#define SPARSE                                                                                               \
    64u /* and one anchor in so many query positions on: a bitmap takes a bit of each, a list 64 of an anchor */
#define MARGIN 16u
#define LEAST 1024u /* anchors in all */

typedef struct place {
    uint64_t diagonal;
    uint32_t q;
} place;

static int ascending(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->diagonal != y->diagonal)
        return x->diagonal < y->diagonal ? -1 : 1;
    return (x->q > y->q) - (x->q < y->q);
}

/* The stretch between the least and the largest position seen, and a part further either way. */
static void add(hspz__heavy_set *set, const hspz__call *call, uint64_t diagonal, uint64_t least,
                uint64_t most)
{
    const uint64_t margin = (most - least) / MARGIN + 64, length = call->query->length;
    const uint64_t first = (least > margin ? least - margin : 0) & ~UINT64_C(63);
    const uint64_t end = length - most > margin ? most + margin : length;
    const uint32_t slot = hspz__heavy_slot(diagonal);
    if (set->count == HSPZ__HEAVY_MAX || set->slot[slot] != UINT64_MAX)
        return; /* takes the other way, which is right too */
    hspz__heavy *h = &set->diagonal[set->count];
    *h = (hspz__heavy){.call = call,
                       .shift = (int64_t)diagonal - (int64_t)length,
                       .first = first,
                       .words = (end - first) / 64 + 1};
    set->slot[slot] = diagonal;
    set->number[slot] = (uint8_t)set->count++;
}

void hspz__heavy_find(hspz__heavy_set *set, const hspz__call *call, hspz__anchor_block *const *blocks,
                      uint64_t block_count, uint64_t anchors, bool allowed)
{
    const uint64_t length = call->query->length;
    set->count = 0;
    memset(set->slot, 0xff, sizeof set->slot);
    if (!allowed || anchors < LEAST)
        return;
    place sample[SAMPLE];
    for (uint64_t i = 0; i < SAMPLE; i++) {
        const hspz__anchor_block *block = blocks[i * block_count / SAMPLE];
        const hspz_anchor *a = &block->items[i * UINT64_C(2654435761) % block->count];
        sample[i] = (place){.diagonal = (uint64_t)a->target_end + (length - a->query_end), .q = a->query_end};
    }
    qsort(sample, SAMPLE, sizeof *sample, ascending);
    for (uint32_t begin = 0, end; begin < SAMPLE; begin = end) {
        for (end = begin + 1; end < SAMPLE && sample[end].diagonal == sample[begin].diagonal; end++)
            ;
        const uint64_t seen = end - begin, least = sample[begin].q, most = sample[end - 1].q;
        if (seen >= SAMPLE / SHARE && seen * (anchors / SAMPLE + 1) >= (most - least) / SPARSE)
            add(set, call, sample[begin].diagonal, least, most);
    }
}

bool hspz__heavy_marks_start(const hspz__heavy_set *set, hspz__heavy_marks *marks, uint32_t number)
{
    const hspz__heavy *h = &set->diagonal[number];
    marks->bits[number] = hspz__alloc(h->call->cpu->host, h->words, sizeof(uint64_t));
    if (marks->bits[number] == NULL)
        return false;
    memset(marks->bits[number], 0, h->words * sizeof(uint64_t));
    return true;
}

void hspz__heavy_unite(hspz__heavy_set *set, hspz__heavy_marks *marks, uint32_t number)
{
    hspz__heavy *h = &set->diagonal[number];
    uint64_t *bits = marks->bits[number];
    marks->bits[number] = NULL;
    if (h->bits == NULL) {
        h->bits = bits;
        return;
    }
    for (uint64_t i = 0; bits != NULL && i < h->words; i++)
        h->bits[i] |= bits[i];
    hspz__free(h->call->cpu->host, bits);
}

void hspz__heavy_marks_free(const hspz__heavy_set *set, hspz__heavy_marks *marks)
{
    for (uint32_t i = 0; i < set->count; i++)
        hspz__free(set->diagonal[i].call->cpu->host, marks->bits[i]);
}

void hspz__heavy_set_free(hspz__heavy_set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        hspz__heavy_free(&set->diagonal[i]);
    set->count = 0;
}
