/* extend_scan.c -- the x-drop scans of one anchor (SPEC section 6), and the judgement of a segment. */
#include "cpu.h"

hspz__side hspz__extend_right(const hspz__call *call, uint32_t r, uint32_t q)
{
    const uint8_t *target = call->cpu->target.classes + r;
    const uint8_t *query = call->query->classes + q;
    const uint64_t target_room = call->cpu->target.length - r, query_room = call->query->length - q;
    const int64_t room = (int64_t)(target_room < query_room ? target_room : query_room);
    const int32_t(*score)[HSPZ__SYMBOL_ROW] = call->cpu->symbols.score;
    const int64_t xdrop = call->cpu->plan->xdrop;
    int64_t sum = 0, best = 0, at = -1, i = 0;
    while (i < room) {
        sum += score[target[i]][query[i]];
        i++;
        if (sum > best) {
            best = sum;
            at = i - 1;
        } else if (best - sum > xdrop) {
            break;
        }
    }
    return (hspz__side){.score = best, .extent = at, .read = (uint64_t)i};
}

hspz__side hspz__extend_left(const hspz__call *call, uint32_t r, uint32_t q, uint32_t query_floor)
{
    const uint8_t *target = call->cpu->target.classes + r;
    const uint8_t *query = call->query->classes + q;
    const int64_t query_room = q > query_floor ? (int64_t)q - query_floor : 0;
    const int64_t room = query_room < (int64_t)r ? query_room : (int64_t)r;
    const int32_t(*score)[HSPZ__SYMBOL_ROW] = call->cpu->symbols.score;
    const int64_t xdrop = call->cpu->plan->xdrop;
    int64_t sum = 0, best = 0, at = 0, i = 0;
    while (i < room) {
        i++;
        sum += score[target[-i]][query[-i]];
        if (sum > best) {
            best = sum;
            at = i;
        } else if (best - sum > xdrop) {
            break;
        }
    }
    return (hspz__side){.score = best, .extent = at, .read = (uint64_t)i};
}

int32_t hspz__accept(const hspz__call *call, uint32_t target_start, uint32_t query_start, uint32_t extent,
                     int32_t total)
{
    const hspz__plan *plan = call->cpu->plan;
    uint32_t matches[4] = {0, 0, 0, 0};
    if (plan->entropy && total <= 3 * (int64_t)plan->hspthresh)
        call->cpu->kernels->matches(call->cpu->target.classes + target_start,
                                    call->query->classes + query_start, (uint64_t)extent + 1, matches);
    return hspz__plan_accept(plan, total, extent, matches);
}
