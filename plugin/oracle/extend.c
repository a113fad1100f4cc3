/* extend.c -- SPEC section 6: the sequential x-drop scan.
 *
 * Idea: from an anchor (r, q) the right scan walks i = 0,1,2,... over score(T[r+i], Q[q+i]), the left scan i = 1,2,3,... over
 * score(T[r-i], Q[q-i]). Each keeps the running sum and the best prefix; an equal later maximum does not replace
 * the earlier one; a position where best - sum exceeds x-drop ends the scan, as the edge of either block does.
 */
#include "oracle.h"

#include <limits.h>

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

hspz__oracle_side hspz__oracle_right(const hspz__oracle_rules *rules, const hspz__oracle_sequence *target,
                                     const hspz__oracle_sequence *query, uint64_t r, uint64_t q)
{
    const uint8_t *t_codes = target->codes + r;
    const uint8_t *q_codes = query->codes + q;
    const int64_t room = (int64_t)least(target->length - r, query->length - q);
    const int64_t xdrop = rules->params.xdrop;
    int64_t sum = 0;
    int64_t best = 0;
    int64_t best_at = -1;
    int64_t i = 0;
    for (; i < room; i++) {
        sum += rules->score[t_codes[i] * ORACLE_ROW + q_codes[i]];
        if (sum > best) {
            best = sum;
            best_at = i;
        } else if (best - sum > xdrop) {
            i++;
            break;
        }
    }
    return (hspz__oracle_side){.score = best, .extent = best_at, .read = (uint64_t)i};
}

hspz__oracle_side hspz__oracle_left(const hspz__oracle_rules *rules, const hspz__oracle_sequence *target,
                                    const hspz__oracle_sequence *query, uint64_t r, uint64_t q,
                                    uint64_t query_floor)
{
    const uint8_t *t_codes = target->codes + r;
    const uint8_t *q_codes = query->codes + q;
    const int64_t room = q > query_floor ? (int64_t)least(r, q - query_floor) : 0;
    const int64_t xdrop = rules->params.xdrop;
    int64_t sum = 0;
    int64_t best = 0;
    int64_t best_at = 0;
    int64_t i = 1;
    for (; i <= room; i++) {
        sum += rules->score[t_codes[-i] * ORACLE_ROW + q_codes[-i]];
        if (sum > best) {
            best = sum;
            best_at = i;
        } else if (best - sum > xdrop) {
            i++;
            break;
        }
    }
    return (hspz__oracle_side){.score = best, .extent = best_at, .read = (uint64_t)(i - 1)};
}

/* total = right + left; an extent is the number of bases less one. A total beyond int32 (an HSP of more than 20 million
 * bases) is kept at INT32_MAX: the section is silent there, and a wrapped score would lose the best HSPs of all. */
hspz__oracle_segment hspz__oracle_join(uint64_t r, uint64_t q, const hspz__oracle_side *left,
                                       const hspz__oracle_side *right)
{
    int64_t total = left->score + right->score;
    return (hspz__oracle_segment){
        .target_start = (uint32_t)(r - (uint64_t)left->extent),
        .query_start = (uint32_t)(q - (uint64_t)left->extent),
        .extent = (uint32_t)(left->extent + right->extent),
        .total = total > INT32_MAX ? INT32_MAX : (int32_t)total,
    };
}
