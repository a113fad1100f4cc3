/* screen.c -- the wide stage of the filter; see cpu.h.
 *
 * Idea: a hit whose upper bound reaches the threshold within its context is a survivor of the filter at once. The others that could not be
 * rejected, a few in a hundred, are judged again on 128 further bases gathered from the packed sequences; what passes that
 * is nearly always a survivor.
 */
#include "cpu.h"

#include <string.h>

typedef uint8_t context[HSPZ__CONTEXT];

void hspz__contexts(const hspz__cpu *cpu, const hspz__sequence *s, const uint32_t *positions, uint32_t count,
                    uint8_t flag, uint8_t (*out)[HSPZ__CONTEXT])
{
    cpu->kernels->contexts(s->packed, positions, hspz__context_offset(cpu), count, out);
    if (s->risky == NULL)
        return;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t block = ((uint64_t)positions[i] + cpu->plan->pattern_length) / 64;
        if (s->risky[block / 64] >> (block % 64) & 1)
            out[i][HSPZ__CONTEXT - 1] |= flag;
    }
}

/* The bases that continue a context: 72 before its left part, 56 that follow the last base scanned of its right part. */
static void outer_contexts(const hspz__cpu *cpu, const hspz__sequence *s, const uint32_t *positions,
                           uint32_t count, context *out)
{
    _Alignas(64) context right[HSPZ__LANES];
    const uint32_t offset = hspz__context_offset(cpu);
    cpu->kernels->contexts(s->packed, positions, offset - 4 * HSPZ__CONTEXT_LEFT, count, out);
    cpu->kernels->contexts(s->packed, positions, offset + 4 * HSPZ__CONTEXT_RIGHT - 2, count, right);
    for (uint32_t i = 0; i < count; i++)
        memcpy(out[i] + HSPZ__CONTEXT_LEFT, right[i] + HSPZ__CONTEXT_LEFT, HSPZ__CONTEXT_RIGHT);
}

static hspz_status add_survivor(hspz__screen *screen, uint32_t target, uint32_t query)
{
    const hspz__cpu *cpu = screen->call->cpu;
    const uint32_t w = cpu->plan->pattern_length;
    if (screen->marks != NULL)
        return hspz__mark_lists_add(screen->marks, cpu->host, target, query, HSPZ__HIT_PASSED);
    return hspz__anchors_add(&screen->survivors, cpu->host,
                             (hspz_anchor){.target_end = target + w, .query_end = query + w});
}

uint64_t hspz__screen_wide(const hspz__call *call, const uint32_t *target, const uint32_t *query,
                           uint32_t count, hspz__rows *rows)
{
    const hspz__cpu *cpu = call->cpu;
    hspz__rows outer, other;
    outer_contexts(cpu, &cpu->target, target, count, outer.row);
    outer_contexts(cpu, call->query, query, count, other.row);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < HSPZ__CONTEXT; k++)
            outer.row[i][k] ^= other.row[i][k];
    if (count < HSPZ__LANES) { /* the kernels read whole groups */
        memset(rows->row[count], 0, (HSPZ__LANES - count) * sizeof rows->row[0]);
        memset(outer.row[count], 0, (HSPZ__LANES - count) * sizeof outer.row[0]);
    }
    return cpu->kernels->filter_wide(&cpu->filter, rows, &outer, count);
}

hspz_status hspz__screen_flush(hspz__screen *screen)
{
    const uint32_t n = screen->count;
    if (n == 0)
        return HSPZ_OK;
    uint64_t passed = hspz__screen_wide(screen->call, screen->target, screen->query, n, &screen->rows);
    hspz_status status = HSPZ_OK;
    for (uint32_t i = 0; screen->marks != NULL && i < n && status == HSPZ_OK; i++)
        if ((passed >> i & 1) == 0)
            status = hspz__mark_lists_add(screen->marks, screen->call->cpu->host, screen->target[i],
                                          screen->query[i], HSPZ__HIT_WIDE);
    for (; passed != 0 && status == HSPZ_OK; passed &= passed - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(passed);
        status = add_survivor(screen, screen->target[i], screen->query[i]);
    }
    screen->count = 0;
    return status;
}

hspz_status hspz__screen_add(hspz__screen *screen, uint32_t target, uint32_t query, bool likely,
                             const uint8_t row[HSPZ__CONTEXT])
{
    if (likely)
        return add_survivor(screen, target, query);
    screen->target[screen->count] = target;
    screen->query[screen->count] = query;
    memcpy(screen->rows.row[screen->count], row, HSPZ__CONTEXT);
    return ++screen->count < HSPZ__LANES ? HSPZ_OK : hspz__screen_flush(screen);
}
