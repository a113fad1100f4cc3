/* diagonal.c -- the x-drop scans of all anchors of a diagonal, in time linear in the bases they cover.
 *
 * The right scan. Take anchors a < b of a diagonal whose scan from b is known. The running sums of the two scans differ by a constant
 * on all positions from b on, so in a common frame S(p) they are the same curve; only the best value so far differs, and a's
 * is never below b's, since a's best covers S at the start of b. So a's scan walks from a to b by itself; if it gets
 * there with best value M, then
 *   - as long as b's records (strict maxima of S from b on) stay at or below M, a's best stays M, and a stops where S falls below
 *     M - xdrop: looking at the dips between these records decides that;
 *   - from b's first record above M on, both scans have the same best value and so the same future, the same end included.
 * Records at or below M can be forgotten for good, as every anchor further left has a best value of at least S at the start of a
 * scan that a's scan covers. Each base is walked once and each record is dropped once.
 *
 * Only records that a fall follows are kept: inside a rise no dip lies below the start of the rise, which an earlier dip or
 * the start itself already accounts for. On identical sequences the chain therefore stays a handful of records long.
 * A start (no positive prefix yet) is a record without position. An equal later maximum replaces nothing: "above M" is strict.
 *
 * The left scan is the mirror image: anchors ascending, walks descending.
 */
#include "diagonal.h"

#include <string.h>

/* State of a walk. Sums are in the frame of the diagonal. */
typedef struct walk {
    int64_t sum, best, dip; /* dip: least sum since the best */
    int64_t at;
    bool ended;
} walk;

#define INLINE static inline __attribute__((always_inline))

static __attribute__((noinline)) hspz_status grow(hspz__records *records, hspz__host *host)
{
    const uint64_t capacity = records->capacity < 64 ? 64 : 2 * records->capacity;
    hspz__record *items = hspz__alloc(host, capacity, sizeof *items);
    if (items == NULL)
        return HSPZ_E_MEMORY;
    if (records->count > 0)
        memcpy(items, records->items, records->count * sizeof *items);
    hspz__free(host, records->items);
    records->items = items;
    records->capacity = capacity;
    return HSPZ_OK;
}

INLINE hspz_status push(hspz__records *records, hspz__host *host, int64_t level, int64_t at, int64_t dip)
{
    if (records->count == records->capacity) {
        hspz_status status = grow(records, host);
        if (status != HSPZ_OK)
            return status;
    }
    records->items[records->count++] = (hspz__record){.level = level, .at = at, .dip = dip};
    return HSPZ_OK;
}

/* The scores around query position p: score[p & 63] is its own. */
INLINE const int32_t *scores_around(hspz__diagonal *d, int64_t p)
{
    const int64_t window = p & ~INT64_C(63);
    if (d->window != window) {
        hspz__pair_scores(d->call, window + d->shift, window, d->score);
        d->window = window;
    }
    return d->score;
}

/* Walks from query position `from` to `to` (exclusive) in steps of `step` = +1 or -1; records passed go to d->fresh. */
INLINE hspz_status walk_on(hspz__diagonal *d, walk *w, int64_t from, int64_t to, int64_t step)
{
    const hspz__call *call = d->call;
    const int64_t xdrop = call->cpu->plan->xdrop;
    int64_t sum = 0, best = 0, dip = 0, at = -1;
    for (int64_t p = from, edge; p != to && !w->ended; p = edge) {
        const int32_t *score = scores_around(d, p);
        edge = step > 0 ? (p | 63) + 1 : (p & ~INT64_C(63)) - 1;
        if (step > 0 ? edge > to : edge < to)
            edge = to;
        for (; p != edge; p += step) {
            sum += score[p & 63];
            if (sum > best) {
                if (dip < best) {
                    hspz_status status = push(&d->fresh, call->cpu->host, best, at, dip);
                    if (status != HSPZ_OK)
                        return status;
                }
                best = sum;
                dip = sum;
                at = p;
            } else if (sum < dip) {
                dip = sum;
                if (best - sum > xdrop) {
                    w->ended = true;
                    break;
                }
            }
        }
    }
    w->sum = sum;
    w->best = best;
    w->dip = dip;
    w->at = at;
    return HSPZ_OK;
}

/* The walk reached the next anchor: follow its chain. True when a record above the walk's best is left, which then is the
 * top of the chain. */
INLINE bool follow(hspz__records *chain, walk *w, int64_t xdrop)
{
    while (chain->count > 0 && chain->items[chain->count - 1].level <= w->best) {
        const int64_t dip = chain->items[--chain->count].dip;
        if (dip < w->dip)
            w->dip = dip;
    }
    return chain->count > 0 && w->best - w->dip <= xdrop;
}

/* Puts the walk's own records on top of the chain, or makes them the chain when nothing of the old one is left. */
INLINE hspz_status renew(hspz__diagonal *d, const walk *w, bool joined)
{
    hspz__host *host = d->call->cpu->host;
    hspz_status status = HSPZ_OK;
    if (!joined)
        d->chain.count = 0;
    if (!joined || w->dip < w->best)
        status = push(&d->chain, host, w->best, w->at, w->dip);
    while (d->fresh.count > 0 && status == HSPZ_OK) {
        const hspz__record r = d->fresh.items[--d->fresh.count];
        status = push(&d->chain, host, r.level, r.at, r.dip);
    }
    d->fresh.count = 0;
    return status;
}

INLINE hspz__reach reach_of(int64_t score, int64_t at)
{
    return (hspz__reach){.score = score > INT32_MAX ? INT32_MAX : (int32_t)score, .at = (uint32_t)at};
}

/* One side of one anchor whose scan begins at `from`. */
INLINE hspz_status one_side(hspz__diagonal *d, int64_t from, int64_t step, hspz__reach *reach)
{
    walk w = {.ended = false};
    hspz_status status = walk_on(d, &w, from, d->next, step);
    if (status != HSPZ_OK)
        return status;
    bool joined = false;
    int64_t start = 0;
    if (!w.ended && !d->first) { /* into the frame of the chain */
        start = d->frame - w.sum;
        w.best += start;
        w.dip += start;
        for (uint64_t i = 0; i < d->fresh.count; i++) {
            d->fresh.items[i].level += start;
            d->fresh.items[i].dip += start;
        }
        joined = follow(&d->chain, &w, d->call->cpu->plan->xdrop);
    }
    *reach = joined ? reach_of(d->chain.items[0].level - start, d->chain.items[0].at)
                    : reach_of(w.best - start, w.at);
    d->frame = start;
    d->next = from;
    d->first = false;
    return renew(d, &w, joined);
}

/* Neighbouring anchors with a gain between them, while the chain's next record lies above: the walk is that one base, no record comes or
 * goes. This is nearly all there is to do in identical sequence. */
INLINE bool next_door(hspz__diagonal *d, int64_t from, int64_t step, hspz__reach *reach)
{
    if (from + step != d->next || d->first || d->chain.count == 0 ||
        d->chain.items[d->chain.count - 1].level <= d->frame)
        return false;
    const int64_t gain = scores_around(d, from)[from & 63];
    if (gain <= 0)
        return false;
    d->frame -= gain;
    d->next = from;
    *reach = reach_of(d->chain.items[0].level - d->frame, d->chain.items[0].at);
    return true;
}

void hspz__diagonal_start_right(hspz__diagonal *d, const hspz__call *call, int64_t shift)
{
    const int64_t query_length = (int64_t)call->query->length;
    const int64_t target_length = (int64_t)call->cpu->target.length;
    d->call = call;
    d->shift = shift;
    d->window = INT64_MIN;
    d->first = true;
    d->frame = 0;
    d->next = target_length - shift < query_length ? target_length - shift : query_length;
    d->chain.count = 0;
}

void hspz__diagonal_start_left(hspz__diagonal *d, const hspz__call *call, int64_t shift)
{
    d->call = call;
    d->shift = shift;
    d->window = INT64_MIN;
    d->first = true;
    d->frame = 0;
    d->next = (shift < 0 ? -shift : 0) - 1;
    d->chain.count = 0;
}

hspz_status hspz__diagonal_right(hspz__diagonal *d, const uint32_t *anchors, uint64_t count,
                                 hspz__reach *right)
{
    hspz_status status = HSPZ_OK;
    for (uint64_t i = count; i-- > 0 && status == HSPZ_OK;)
        if (!next_door(d, anchors[i], 1, &right[i]))
            status = one_side(d, anchors[i], 1, &right[i]);
    return status;
}

hspz_status hspz__diagonal_left(hspz__diagonal *d, const uint32_t *anchors, uint64_t count, hspz__reach *left)
{
    hspz_status status = HSPZ_OK;
    for (uint64_t i = 0; i < count && status == HSPZ_OK; i++)
        if (!next_door(d, (int64_t)anchors[i] - 1, -1, &left[i]))
            status = one_side(d, (int64_t)anchors[i] - 1, -1, &left[i]);
    return status;
}

bool hspz__diagonal_pass_over(hspz__diagonal *d, int64_t first, int64_t last, int64_t gain)
{
    const int64_t before = first < last ? first - 1 : first + 1;
    if (before != d->next || d->first || d->chain.count == 0 ||
        d->chain.items[d->chain.count - 1].level <= d->frame)
        return false;
    d->frame -= gain;
    d->next = last;
    return true;
}

void hspz__diagonal_free(hspz__diagonal *d, hspz__host *host)
{
    hspz__free(host, d->chain.items);
    hspz__free(host, d->fresh.items);
    memset(d, 0, sizeof *d);
}
