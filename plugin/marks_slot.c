/* marks_slot.c -- the walk along the slots of the mark table; see marks_find.c for the idea. */
#include "marks_slot.h"

#include <limits.h>

static uint32_t mark_value(const hspz__call *call, const hspz__mark *m)
{
    if (m->q == 0)
        return m->bound;
    return m->q + (uint32_t)hspz__extend_right(call, m->r, m->q).read;
}

static hspz_status extend_hit(const hspz__call *call, hspz__mark_worker *w, hspz__mark *m, uint32_t r,
                              uint32_t q)
{
    const hspz__side left = hspz__extend_left(call, r, q, mark_value(call, m));
    const hspz__side right = hspz__extend_right(call, r, q);
    *m = (hspz__mark){.bound = q + (uint32_t)right.read};
    const int32_t total = hspz__total(left.score, right.score);
    if (total < call->cpu->plan->keep_total)
        return HSPZ_OK;
    hspz__found found = {.label = (uint64_t)r << 32 | q,
                         .hsp = {.target_start = r - (uint32_t)left.extent,
                                 .query_start = q - (uint32_t)left.extent,
                                 .extent = (uint32_t)(left.extent + right.extent)}};
    found.hsp.score =
        hspz__accept(call, found.hsp.target_start, found.hsp.query_start, found.hsp.extent, total);
    if (found.hsp.score == INT32_MIN)
        return HSPZ_OK;
    w->accepted++;
    hspz_status status = hspz__found_reserve(&w->found, call->cpu->host, 1);
    if (status == HSPZ_OK)
        w->found.items[w->found.count++] = found;
    return status;
}

/* Most bases that the right scan of a hit reads which the filter rejected. */
static uint32_t reads_of(uint64_t key)
{
    return (key & 3) == HSPZ__HIT_NARROW ? HSPZ__NARROW_READ : HSPZ__WIDE_READ;
}

/* The mark of a hit that the filter rejected. */
static hspz__mark rejected_mark(const hspz__mark_finder *f, uint64_t key)
{
    const uint32_t length = f->call->cpu->plan->pattern_length, query = hspz__mark_query(key, f->tile_begin);
    const uint32_t q = query + length, reads = reads_of(key);
    return (hspz__mark){.r = hspz__mark_target(key, query) + length,
                        .q = q,
                        .bound = q > UINT32_MAX - reads ? UINT32_MAX : q + reads};
}

static hspz_status work_hit(const hspz__mark_finder *f, hspz__mark_worker *w, hspz__mark *m, uint64_t key)
{
    const uint32_t query = hspz__mark_query(key, f->tile_begin), length = f->call->cpu->plan->pattern_length;
    if (m->bound > query) {
        if (m->q != 0 && m->q <= query)
            *m = (hspz__mark){.bound = mark_value(f->call, m)};
        if (m->bound > query) {
            w->skipped++;
            return HSPZ_OK;
        }
    }
    w->survivors++;
    if ((key & 3) == HSPZ__HIT_PASSED)
        return extend_hit(f->call, w, m, hspz__mark_target(key, query) + length, query + length);
    *m = rejected_mark(f, key);
    return HSPZ_OK;
}

/* Hits of one slot and query position, of which there is rarely more than one: variant first, then target descending. */
static void order_equals(const hspz__mark_finder *f, uint64_t *keys, uint64_t n)
{
    const uint32_t w = f->call->cpu->plan->pattern_length;
    for (uint64_t i = 1; i < n; i++)
        for (uint64_t j = i; j > 0; j--) {
            const uint32_t q = hspz__mark_query(keys[j], f->tile_begin);
            const uint32_t a = hspz__mark_target(keys[j - 1], q), b = hspz__mark_target(keys[j], q);
            const uint32_t va = hspz__variant_of(f->call, a + w, q + w),
                           vb = hspz__variant_of(f->call, b + w, q + w);
            if (va < vb || (va == vb && a > b))
                break;
            const uint64_t swap = keys[j];
            keys[j] = keys[j - 1];
            keys[j - 1] = swap;
        }
}

/* ---- one list of slots */

/* What of a slot's hits needs no scan: from keys[i] on, hits that the mark surely skips, as its scan begins behind them or is worked out, and
 * rejected hits that it surely does not, alone at their position. Each of these leaves its mark. Returns the first hit that is neither. */
static uint64_t pass_over(const hspz__mark_finder *f, hspz__mark_worker *w, const uint64_t *keys, uint64_t i,
                          uint64_t n, hspz__mark *m)
{
    const uint64_t tile_begin = f->tile_begin, length = f->call->cpu->plan->pattern_length, first = i;
    uint64_t floor = m->q != 0 ? m->q : m->bound, bound = m->bound, last = n, survivors = 0;
    for (; i < n; i++) {
        const uint64_t key = keys[i], query = (key >> 24 & 0xffffff) + tile_begin;
        if (query < floor)
            continue;
        if (query < bound || (key & 3) == HSPZ__HIT_PASSED || (keys[i + 1] ^ key) >> 24 == 0)
            break;
        floor = query + length;
        bound = floor + reads_of(key);
        last = i;
        survivors++;
    }
    w->survivors += survivors;
    w->skipped += i - first - survivors;
    if (last < n)
        *m = rejected_mark(f, keys[last]);
    return i;
}

/* The hits of one slot, sorted by query position; keys[n] is of another slot. */
static hspz_status work_slot(const hspz__mark_finder *f, hspz__mark_worker *w, uint64_t *keys, uint64_t n)
{
    hspz__mark m = f->marks[hspz__mark_slot(keys[0])];
    hspz_status status = HSPZ_OK;
    for (uint64_t i = pass_over(f, w, keys, 0, n, &m), end; i < n && status == HSPZ_OK;
         i = pass_over(f, w, keys, end, n, &m)) {
        for (end = i + 1; end < n && keys[end] >> 24 == keys[i] >> 24; end++)
            ;
        if (end - i > 1)
            order_equals(f, keys + i, end - i);
        for (uint64_t k = i; k < end && status == HSPZ_OK; k++)
            status = work_hit(f, w, &m, keys[k]);
    }
    f->marks[hspz__mark_slot(keys[0])] = m;
    return status;
}

uint64_t hspz__mark_keys(const hspz__mark_finder *f, uint32_t number)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < f->threads; i++)
        n += hspz__mark_lists_count(&f->lists[i], number);
    return n;
}

hspz_status hspz__mark_work_list(void *finder, uint32_t worker, uint64_t number)
{
    hspz__mark_finder *f = finder;
    hspz__mark_worker *w = &f->workers[worker];
    const uint64_t n = hspz__mark_keys(f, (uint32_t)number);
    if (n > UINT32_MAX)
        return HSPZ_E_MEMORY;
    /* Of the size of the longest list at once: growing from list to list would touch new memory each time. */
    uint64_t *keys = hspz__scratch_get(&w->keys, f->call->cpu->host, 2 * f->longest + 1, sizeof *keys);
    if (keys == NULL)
        return HSPZ_E_MEMORY;
    hspz__mark_lists_sort(f->lists, f->threads, (uint32_t)number, keys, keys + n + 1);
    keys[n] = n > 0 ? ~keys[n - 1] : 0;
    hspz_status status = HSPZ_OK;
    for (uint64_t i = 0, end; i < n && status == HSPZ_OK; i = end) {
        for (end = i + 1; end < n && hspz__mark_slot(keys[end]) == hspz__mark_slot(keys[i]); end++)
            ;
        status = work_slot(f, w, keys + i, end - i);
        if (status == HSPZ_OK && hspz__pulse_poll(&f->call->pulse, worker))
            status = HSPZ_E_CANCELLED;
    }
    return status;
}
