/* filter.c -- the numbers behind the filter, and why it may reject.
 *
 * The exact scan of a side keeps d, the best prefix less the running sum, and m, the best prefix. A base that scores x makes
 *     m += max(0, x - d),  d = max(d - x, 0),  and the side ends when d > xdrop.
 * Both are monotonic: a larger x, or a smaller d before, leaves d no larger and m no smaller. Three changes follow, each of
 * which only lowers d and raises m, so that a side of the filter never ends before the exact side and never has a smaller m:
 *   1. x becomes the most that any two bases of this XOR class score. (Symbols that are no bases carry an arbitrary code, which
 *      is admissible because what they score is at most the least of the four bounds; others are flagged.)
 *   2. d is compared with xdrop after every third base only. With B the best prefix of the three (at least 0) and S their
 *      sum, three steps without a comparison are m += max(0, B - d), d = max(d - B, 0) + (B - S).
 *   3. d and m are kept in units of `scale`, in eight bits: B rounded up, B - S rounded down, d saturating (it stays a lower
 *      bound), m saturating at 255 (the comparison with `keep` <= 255 then passes).
 * A hit whose sides both ended has exact total <= scale * (m_left + m_right); below `keep` = ceil(keep_total / scale) that is
 * less than keep_total. A side that did not end within the context proves nothing and the hit passes. Reaching the end of a block is
 * an end of the exact side as well, so whatever codes stand there do no harm.
 */
#include "kernels.h"

static int32_t ceil_div(int64_t value, int64_t by)
{
    return (int32_t)((value + by - 1) / by);
}

/* Best prefix (at least 0) and sum of three classes in scanning order. */
static void three(const int32_t bound[4], const uint32_t class_of[3], int64_t *best, int64_t *sum)
{
    *best = 0;
    *sum = 0;
    for (uint32_t i = 0; i < 3; i++) {
        *sum += bound[class_of[i]];
        if (*sum > *best)
            *best = *sum;
    }
}

void hspz__filter_init(hspz__filter *filter, const int32_t score[4][4], int32_t xdrop, int32_t keep_total)
{
    int64_t highest = 0;
    for (uint32_t x = 0; x < 4; x++) {
        filter->bound[x] = score[0][x];
        for (uint32_t t = 1; t < 4; t++)
            if (score[t][t ^ x] > filter->bound[x])
                filter->bound[x] = score[t][t ^ x];
        if (filter->bound[x] > highest)
            highest = filter->bound[x];
    }
    /* The finest scale in which xdrop and a rise fit eight bits with room; a coarser one where totals near keep_total would
     * saturate otherwise, as long as xdrop keeps some resolution. */
    int64_t scale = ceil_div(xdrop, 250);
    if (ceil_div(3 * highest, 250) > scale)
        scale = ceil_div(3 * highest, 250);
    int64_t wanted = ceil_div(keep_total, 255);
    if (wanted > ceil_div(xdrop, 64))
        wanted = ceil_div(xdrop, 64);
    if (wanted > scale)
        scale = wanted;
    filter->scale = (int32_t)scale;
    filter->drop = (uint8_t)(xdrop / scale);
    const int64_t keep = ((int64_t)keep_total + scale - 1) / scale;
    filter->keep = (uint8_t)(keep > 255 ? 255 : keep);
    for (uint32_t code = 0; code < 64; code++)
        for (uint32_t side = 0; side < 2; side++) {
            const uint32_t low = code & 3, middle = code >> 2 & 3, high = code >> 4;
            const uint32_t order[2][3] = {{low, middle, high}, {high, middle, low}};
            int64_t best, sum;
            three(filter->bound, order[side], &best, &sum);
            const int64_t fall = (best - sum) / scale;
            filter->rise[side][code] = (uint8_t)ceil_div(best, scale);
            filter->fall[side][code] = (uint8_t)(fall > 255 ? 255 : fall);
        }
}
