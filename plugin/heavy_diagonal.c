/* heavy_diagonal.c -- see heavy_diagonal.h. */
#include "heavy_diagonal.h"

#include <string.h>

/* Query position of the first bit of a word. */
static int64_t place_of(const hspz__heavy *h, uint64_t word)
{
    return (int64_t)(h->first + 64 * word);
}

/* ---- sums */

/* Query positions [*begin, *end) of the diagonal lie in both sequences. */
static void bounds(const hspz__heavy *h, int64_t *begin, int64_t *end)
{
    const int64_t query = (int64_t)h->call->query->length,
                  target = (int64_t)h->call->cpu->target.length - h->shift;
    *begin = h->shift < 0 ? -h->shift : 0;
    *end = target < query ? target : query;
}

static int64_t gain_at(const hspz__heavy *h, int64_t q)
{
    return hspz__pair_score(h->call, (uint64_t)(q + h->shift), (uint64_t)q);
}

/* Sum of the scores of [from, to), at most 64 of them, as far as the diagonal goes; *least is the smallest of them, 0 where it does not. */
static int64_t sum_within(const hspz__heavy *h, int64_t from, int64_t to, int64_t *least)
{
    int64_t begin, end, sum = 0;
    bounds(h, &begin, &end);
    *least = from < begin || to > end ? 0 : INT64_MAX;
    begin = from < begin ? begin : from;
    end = to < end ? to : end;
    if (begin >= end)
        return 0;
    int32_t score[64];
    hspz__pair_scores(h->call, begin + h->shift, begin, score);
    for (int64_t i = 0; i < end - begin; i++) {
        sum += score[i];
        if (score[i] < *least)
            *least = score[i];
    }
    return sum;
}

static int64_t sum_of(const hspz__heavy *h, int64_t from, int64_t to)
{
    int64_t sum = 0, least;
    for (; from < to; from += 64)
        sum += sum_within(h, from, to - from < 64 ? to : from + 64, &least);
    return sum;
}

hspz_status hspz__heavy_start(hspz__heavy *h)
{
    if (h->bits == NULL)
        h->words = 0; /* no anchor at all */
    h->sums = hspz__alloc(h->call->cpu->host, h->words + 1, sizeof *h->sums);
    h->rising = hspz__alloc(h->call->cpu->host, h->words, sizeof *h->rising);
    if (h->sums == NULL || h->rising == NULL)
        return HSPZ_E_MEMORY;
    h->sums[0] = 0;
    for (uint64_t word = 0; word < h->words; word++) {
        const int64_t from = place_of(h, word);
        int64_t least;
        h->sums[word + 1] = h->sums[word] + sum_within(h, from, from + 64, &least);
        h->rising[word] = least > 0;
    }
    return HSPZ_OK;
}

/* Sum of the scores of all pairs from h->first on, or less those before it, up to query position q. */
static int64_t sum_before(const hspz__heavy *h, uint32_t q)
{
    const int64_t first = (int64_t)h->first, end = place_of(h, h->words);
    if (q < first)
        return -sum_of(h, q, first);
    if (q >= end)
        return h->sums[h->words] + sum_of(h, end, q);
    const uint64_t word = (uint64_t)(q - first) / 64;
    return h->sums[word] + sum_of(h, place_of(h, word), q);
}

/* ---- passes */

static hspz_status add_change(const hspz__heavy *h, hspz__changes *changes, hspz__change change)
{
    if (changes->count == changes->capacity) {
        hspz__host *host = h->call->cpu->host;
        const uint64_t capacity = changes->capacity < 256 ? 256 : 2 * changes->capacity;
        hspz__change *items = hspz__alloc(host, capacity, sizeof *items);
        if (items == NULL)
            return HSPZ_E_MEMORY;
        if (changes->count > 0)
            memcpy(items, changes->items, changes->count * sizeof *items);
        hspz__free(host, changes->items);
        changes->items = items;
        changes->capacity = capacity;
    }
    changes->items[changes->count++] = change;
    return HSPZ_OK;
}

/* An anchor without a positive prefix is a change of its own: its level is that of its own place. */
static hspz_status note(hspz__heavy *h, uint32_t side, uint32_t anchor, uint32_t at)
{
    hspz__changes *changes = &h->changes[side];
    if (changes->count > 0 && at != HSPZ__NOWHERE && changes->items[changes->count - 1].at == at)
        return HSPZ_OK;
    const uint32_t end = at == HSPZ__NOWHERE ? anchor : side == 0 ? at + 1 : at;
    return add_change(h, changes, (hspz__change){.anchor = anchor, .at = at, .level = sum_before(h, end)});
}

/* 64 anchors in rising sequence: they end where the one before them does, if that lies above them all. */
static bool pass_over(hspz__heavy *h, uint32_t side, uint64_t word)
{
    const int64_t first = place_of(h, word);
    if (~h->bits[word] != 0 || !h->rising[word])
        return false;
    if (side == 0)
        return hspz__diagonal_pass_over(&h->diagonal[0], first + 63, first,
                                        h->sums[word + 1] - h->sums[word]);
    if (word == 0 || !h->rising[word - 1])
        return false;
    const int64_t gain = h->sums[word + 1] - h->sums[word] + gain_at(h, first - 1) - gain_at(h, first + 63);
    return hspz__diagonal_pass_over(&h->diagonal[1], first - 1, first + 62, gain);
}

static hspz_status work_word(hspz__heavy *h, uint32_t side, uint64_t word)
{
    uint32_t anchors[64], n = 0;
    hspz__reach reach[64];
    for (uint64_t rest = h->bits[word]; rest != 0; rest &= rest - 1)
        anchors[n++] = (uint32_t)(place_of(h, word) + __builtin_ctzll(rest));
    hspz_status status = side == 0 ? hspz__diagonal_right(&h->diagonal[0], anchors, n, reach)
                                   : hspz__diagonal_left(&h->diagonal[1], anchors, n, reach);
    for (uint32_t i = 0; i < n && status == HSPZ_OK; i++) {
        const uint32_t k = side == 0 ? n - 1 - i : i;
        status = note(h, side, anchors[k], reach[k].at);
    }
    return status;
}

hspz_status hspz__heavy_pass(hspz__heavy *h, uint32_t side)
{
    hspz_status status = HSPZ_OK;
    if (side == 0)
        hspz__diagonal_start_right(&h->diagonal[0], h->call, h->shift);
    else
        hspz__diagonal_start_left(&h->diagonal[1], h->call, h->shift);
    for (uint64_t i = 0; i < h->words && status == HSPZ_OK; i++) {
        const uint64_t word = side == 0 ? h->words - 1 - i : i;
        if (h->bits[word] != 0 && !pass_over(h, side, word))
            status = work_word(h, side, word);
    }
    return status;
}

/* ---- collection */

hspz_status hspz__heavy_collect(const hspz__heavy *h, hspz__collector *c)
{
    const hspz__changes *lefts = &h->changes[1];
    const uint64_t last = h->first + 64 * h->words;
    uint64_t right = h->changes[0].count, begin = h->first;
    hspz_status status = HSPZ_OK;
    hspz__collect_start(c);
    /* Right changes were noted from the last anchor to the first: each holds for the anchors up to its own. */
    for (uint64_t left = 0; left < lefts->count && status == HSPZ_OK;) {
        const hspz__change *l = &lefts->items[left], *r = &h->changes[0].items[right - 1];
        const uint64_t left_end = left + 1 < lefts->count ? lefts->items[left + 1].anchor : last;
        const uint64_t right_end = right > 1 ? (uint64_t)r->anchor + 1 : last;
        const uint64_t end = left_end < right_end ? left_end : right_end;
        const hspz__reach from = {.score = 0, .at = l->at};
        const hspz__reach to = {.score = hspz__total(0, r->level - l->level), .at = r->at};
        const hspz__marked anchors = {.bits = h->bits, .first = h->first, .begin = begin, .end = end};
        status = hspz__collect_marked(c, h->shift, &anchors, &from, &to);
        begin = end;
        left += left_end == end;
        right -= right_end == end && right > 1;
    }
    return status;
}

void hspz__heavy_free(hspz__heavy *h)
{
    hspz__host *host = h->call->cpu->host;
    for (uint32_t side = 0; side < 2; side++) {
        hspz__diagonal_free(&h->diagonal[side], host);
        hspz__free(host, h->changes[side].items);
    }
    hspz__free(host, h->bits);
    hspz__free(host, h->sums);
    hspz__free(host, h->rising);
}
