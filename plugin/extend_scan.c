/* extend_scan.c -- the x-drop scans of one anchor (SPEC section 6), and the judgement of a segment.
 *
 * Idea: pairs are scored 64 at a time, straight from packed bases; the few pairs with a special symbol are put right afterwards. The scans
 * then only add.
 */
#include "cpu.h"

/* Bit i: pair i of 64 lies in both sequences. */
static uint64_t pairs_inside(const hspz__call *call, int64_t target, int64_t query)
{
    const int64_t target_room = (int64_t)call->cpu->target.length - target;
    const int64_t query_room = (int64_t)call->query->length - query;
    const int64_t room = target_room < query_room ? target_room : query_room;
    const int64_t before = target < query ? -target : -query;
    const uint64_t inside = room >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << room) - 1;
    return before > 0 ? inside >> before << before : inside;
}

static void score_special(const hspz__call *call, int64_t target, int64_t query, uint64_t special,
                          int32_t score[64])
{
    for (uint64_t rest = special & pairs_inside(call, target, query); rest != 0; rest &= rest - 1) {
        const int64_t i = __builtin_ctzll(rest);
        score[i] = hspz__pair_score(call, (uint64_t)(target + i), (uint64_t)(query + i));
    }
}

void hspz__pair_scores(const hspz__call *call, int64_t target, int64_t query, int32_t score[64])
{
    const hspz__cpu *cpu = call->cpu;
    cpu->kernels->scores(cpu->symbols.pair_score, cpu->target.packed,
                         (uint64_t)(target + (int64_t)HSPZ__PACKED_MARGIN), call->query->packed,
                         (uint64_t)(query + (int64_t)HSPZ__PACKED_MARGIN), score);
    const uint64_t special =
        hspz__special_bits(&cpu->target, target) | hspz__special_bits(call->query, query);
    if (special != 0)
        score_special(call, target, query, special, score);
}

hspz__side hspz__extend_right(const hspz__call *call, uint32_t r, uint32_t q)
{
    const uint64_t target_room = call->cpu->target.length - r, query_room = call->query->length - q;
    const int64_t room = (int64_t)(target_room < query_room ? target_room : query_room);
    const int64_t xdrop = call->cpu->plan->xdrop;
    int64_t sum = 0, best = 0, at = -1, i = 0;
    bool ended = false;
    while (i < room && !ended) {
        int32_t score[64];
        hspz__pair_scores(call, r + i, q + i, score);
        const int64_t first = i, end = room - i < 64 ? room : i + 64;
        while (i < end && !ended) {
            sum += score[i - first];
            i++;
            if (sum > best) {
                best = sum;
                at = i - 1;
            } else {
                ended = best - sum > xdrop;
            }
        }
    }
    return (hspz__side){.score = best, .extent = at, .read = (uint64_t)i};
}

hspz__side hspz__extend_left(const hspz__call *call, uint32_t r, uint32_t q, uint32_t query_floor)
{
    const int64_t query_room = q > query_floor ? (int64_t)q - query_floor : 0;
    const int64_t room = query_room < (int64_t)r ? query_room : (int64_t)r;
    const int64_t xdrop = call->cpu->plan->xdrop;
    int64_t sum = 0, best = 0, at = 0, i = 0;
    bool ended = false;
    while (i < room && !ended) {
        int32_t score[64];
        hspz__pair_scores(call, (int64_t)r - i - 64, (int64_t)q - i - 64, score);
        const int64_t last = i + 63, end = room - i < 64 ? room : i + 64;
        while (i < end && !ended) {
            sum += score[last - i];
            i++;
            if (sum > best) {
                best = sum;
                at = i;
            } else {
                ended = best - sum > xdrop;
            }
        }
    }
    return (hspz__side){.score = best, .extent = at, .read = (uint64_t)i};
}

/* ---- judgement */

/* Bit i to bit 2 * i. */
static uint64_t spread(uint64_t x)
{
    x &= UINT64_C(0xffffffff);
    x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
    x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x | x << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    x = (x | x << 2) & UINT64_C(0x3333333333333333);
    return (x | x << 1) & UINT64_C(0x5555555555555555);
}

/* matches[c]: number of pairs of two upper-case bases c. */
static void count_matches(const hspz__call *call, uint64_t target, uint64_t query, uint64_t length,
                          uint32_t matches[4])
{
    const hspz__sequence *t = &call->cpu->target, *q = call->query;
    for (uint64_t i = 0; i < length; i += 32) {
        const uint64_t base = hspz__packed_word(t->packed, target + i + HSPZ__PACKED_MARGIN);
        const uint64_t differ = base ^ hspz__packed_word(q->packed, query + i + HSPZ__PACKED_MARGIN);
        const uint64_t special =
            hspz__special_bits(t, (int64_t)(target + i)) | hspz__special_bits(q, (int64_t)(query + i));
        uint64_t same = ~(differ | differ >> 1) & UINT64_C(0x5555555555555555) & ~spread(special);
        if (length - i < 32)
            same &= (UINT64_C(1) << (2 * (length - i))) - 1;
        const uint64_t low = same & base, high = same & base >> 1;
        matches[0] += hspz__count_bits(same & ~low & ~high);
        matches[1] += hspz__count_bits(low & ~high);
        matches[2] += hspz__count_bits(high & ~low);
        matches[3] += hspz__count_bits(low & high);
    }
}

int32_t hspz__accept(const hspz__call *call, uint32_t target_start, uint32_t query_start, uint32_t extent,
                     int32_t total)
{
    const hspz__plan *plan = call->cpu->plan;
    uint32_t matches[4] = {0, 0, 0, 0};
    if (plan->entropy && total <= 3 * (int64_t)plan->hspthresh)
        count_matches(call, target_start, query_start, (uint64_t)extent + 1, matches);
    return hspz__plan_accept(plan, total, extent, matches);
}
