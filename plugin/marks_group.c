/* marks_group.c -- see marks_group.h.
 *
 * Idea: nearly every hit is noise that leaves a mark nobody ever looks at. A hit that is not skipped becomes the slot's pending mark, and only a
 * later hit of the slot that comes close makes its right scan be worked out. The filter judges 64 hits at a time; a hit that
 * it rejects has no segment, and its right scan read at most the bases that the filter looked at, which bounds the mark. Hits that pass are
 * extended exactly; their left scan needs the mark they found, which is kept with them.
 */
#include "marks_group.h"

#include <limits.h>
#include <string.h>

typedef uint8_t context[HSPZ__CONTEXT];

#define NARROW_REACH 54u /* bases right of the anchor that the filter scans */
#define WIDE_REACH 108u

static uint32_t slot_of(uint32_t target, uint32_t query)
{
    return (target - query) % HSPZ__MARK_SLOTS;
}

hspz_status hspz__mark_piece_sort(hspz__mark_piece *piece, hspz__host *host, const hspz_anchor *hits,
                                  uint32_t count)
{
    memset(piece->begin, 0, sizeof piece->begin);
    piece->hits = hspz__scratch_get(&piece->memory, host, count, sizeof *piece->hits);
    if (piece->hits == NULL)
        return HSPZ_E_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        piece->begin[slot_of(hits[i].target_end, hits[i].query_end) / HSPZ__GROUP_SLOTS + 1]++;
    uint32_t place[HSPZ__MARK_GROUPS];
    for (uint32_t g = 0; g < HSPZ__MARK_GROUPS; g++) {
        piece->begin[g + 1] += piece->begin[g];
        place[g] = piece->begin[g];
    }
    for (uint32_t i = 0; i < count; i++)
        piece->hits[place[slot_of(hits[i].target_end, hits[i].query_end) / HSPZ__GROUP_SLOTS]++] = hits[i];
    return HSPZ_OK;
}

void hspz__mark_piece_free(hspz__mark_piece *piece, hspz__host *host)
{
    hspz__scratch_free(&piece->memory, host);
}

static uint32_t mark_value(const hspz__call *call, const hspz__mark *mark)
{
    if (mark->q == 0)
        return mark->bound;
    return mark->q + (uint32_t)hspz__extend_right(call, mark->r, mark->q).read;
}

/* The slot's mark if it is still the one that this hit left, else NULL. */
static hspz__mark *own_mark(hspz__mark_group *group, uint32_t r, uint32_t q)
{
    hspz__mark *mark = &group->marks[slot_of(r, q) % HSPZ__GROUP_SLOTS];
    return mark->q == q && mark->r == r ? mark : NULL;
}

/* The exact rule for a hit that passed the filter. */
static hspz_status extend_hit(hspz__mark_group *group, hspz__call *call, uint32_t target, uint32_t query,
                              const hspz__mark *before)
{
    const hspz__plan *plan = call->cpu->plan;
    const uint32_t r = target + plan->pattern_length, q = query + plan->pattern_length;
    const hspz__side left = hspz__extend_left(call, r, q, mark_value(call, before));
    const hspz__side right = hspz__extend_right(call, r, q);
    hspz__mark *mark = own_mark(group, r, q);
    if (mark != NULL)
        *mark = (hspz__mark){.bound = q + (uint32_t)right.read};
    const int32_t total = hspz__total(left.score, right.score);
    if (total < plan->keep_total)
        return HSPZ_OK;
    hspz__found found = {.label = (uint64_t)r << 32 | q,
                         .hsp = {.target_start = r - (uint32_t)left.extent,
                                 .query_start = q - (uint32_t)left.extent,
                                 .extent = (uint32_t)(left.extent + right.extent)}};
    found.hsp.score =
        hspz__accept(call, found.hsp.target_start, found.hsp.query_start, found.hsp.extent, total);
    if (found.hsp.score == INT32_MIN)
        return HSPZ_OK;
    group->accepted++;
    hspz_status status = hspz__found_reserve(&group->found, call->cpu->host, 1);
    if (status == HSPZ_OK)
        group->found.items[group->found.count++] = found;
    return status;
}

/* A rejected hit: how far its right scan can have read. */
static void bound_mark(hspz__mark_group *group, const hspz__call *call, uint32_t target, uint32_t query,
                       uint32_t reach)
{
    const uint32_t w = call->cpu->plan->pattern_length;
    hspz__mark *mark = own_mark(group, target + w, query + w);
    if (mark != NULL)
        mark->bound = mark->q > UINT32_MAX - reach ? UINT32_MAX : mark->q + reach;
}

static hspz_status flush_wide(hspz__mark_group *group, hspz__call *call)
{
    hspz__mark_lanes *lanes = &group->wide;
    const uint32_t n = lanes->count;
    if (n == 0)
        return HSPZ_OK;
    const uint64_t passed = hspz__screen_wide(call, lanes->target, lanes->query, n, &lanes->rows);
    hspz_status status = HSPZ_OK;
    lanes->count = 0;
    for (uint32_t i = 0; i < n && status == HSPZ_OK; i++) {
        if (passed >> i & 1)
            status = extend_hit(group, call, lanes->target[i], lanes->query[i], &lanes->before[i]);
        else
            bound_mark(group, call, lanes->target[i], lanes->query[i], WIDE_REACH);
    }
    return status;
}

static hspz_status add_wide(hspz__mark_group *group, hspz__call *call, uint32_t i, const uint8_t *row)
{
    hspz__mark_lanes *to = &group->wide;
    to->target[to->count] = group->narrow.target[i];
    to->query[to->count] = group->narrow.query[i];
    to->before[to->count] = group->narrow.before[i];
    memcpy(to->rows.row[to->count], row, HSPZ__CONTEXT);
    return ++to->count < HSPZ__LANES ? HSPZ_OK : flush_wide(group, call);
}

static hspz_status flush_narrow(hspz__mark_group *group, hspz__call *call)
{
    const hspz__cpu *cpu = call->cpu;
    hspz__mark_lanes *lanes = &group->narrow;
    const uint32_t n = lanes->count;
    if (n == 0)
        return HSPZ_OK;
    _Alignas(64) context target[HSPZ__LANES], query[HSPZ__LANES];
    uint32_t self[2 * HSPZ__LANES];
    for (uint32_t i = 0; i < HSPZ__LANES; i++) {
        self[i] = i;
        self[HSPZ__LANES + i] = 0; /* the filter looks ahead */
    }
    hspz__contexts(cpu, &cpu->target, lanes->target, n, HSPZ__FLAG_TARGET, target);
    hspz__contexts(cpu, call->query, lanes->query, n, HSPZ__FLAG_QUERY, query);
    uint64_t likely;
    const uint64_t passed = cpu->kernels->filter(
        &cpu->filter, (const context *)target, (const context *)query, self, self, n, &lanes->rows, &likely);
    hspz_status status = HSPZ_OK;
    lanes->count = 0;
    for (uint32_t i = 0; i < n && status == HSPZ_OK; i++) {
        if ((passed >> i & 1) == 0)
            bound_mark(group, call, lanes->target[i], lanes->query[i], NARROW_REACH);
        else if (likely >> i & 1)
            status = extend_hit(group, call, lanes->target[i], lanes->query[i], &lanes->before[i]);
        else
            status = add_wide(group, call, i, lanes->rows.row[i]);
    }
    return status;
}

static hspz_status work_hit(hspz__mark_group *group, hspz__call *call, const hspz_anchor *hit)
{
    const uint32_t target = hit->target_end, query = hit->query_end;
    hspz__mark *mark = &group->marks[slot_of(target, query) % HSPZ__GROUP_SLOTS];
    if (mark->bound > query) {
        if (mark->q != 0)
            *mark = (hspz__mark){.bound = mark_value(call, mark)};
        if (mark->bound > query) {
            group->skipped++;
            return HSPZ_OK;
        }
    }
    group->survivors++;
    hspz__mark_lanes *lanes = &group->narrow;
    const uint32_t w = call->cpu->plan->pattern_length;
    lanes->target[lanes->count] = target;
    lanes->query[lanes->count] = query;
    lanes->before[lanes->count] = *mark;
    *mark = (hspz__mark){.r = target + w, .q = query + w, .bound = UINT32_MAX};
    return ++lanes->count < HSPZ__LANES ? HSPZ_OK : flush_narrow(group, call);
}

hspz_status hspz__mark_group_work(hspz__mark_group *group, hspz__call *call, const hspz__mark_piece *pieces,
                                  uint64_t count)
{
    hspz_status status = HSPZ_OK;
    const uint32_t g = group->number;
    for (uint64_t p = 0; p < count; p++) {
        const hspz_anchor *hits = pieces[p].hits;
        for (uint32_t i = pieces[p].begin[g]; i < pieces[p].begin[g + 1] && status == HSPZ_OK; i++) {
            if (++group->worked % 16384 == 0 && hspz__pulse_poll(&call->pulse, group->worker))
                return HSPZ_E_CANCELLED;
            status = work_hit(group, call, &hits[i]);
        }
    }
    if (status == HSPZ_OK)
        status = flush_narrow(group, call);
    return status == HSPZ_OK ? flush_wide(group, call) : status;
}
