/* screen.c -- the wide stage of the filter; see cpu.h.
 *
 * Idea: what the first stage could not reject, a few hits in a hundred, is judged again on 256 bases gathered from the packed sequences. What
 * passes that is nearly always a survivor.
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
    _Alignas(64) context right[HSPZ__SCREEN_HITS];
    const uint32_t offset = hspz__context_offset(cpu);
    cpu->kernels->contexts(s->packed, positions, offset - 4 * HSPZ__CONTEXT_LEFT, count, out);
    cpu->kernels->contexts(s->packed, positions, offset + 4 * HSPZ__CONTEXT_RIGHT - 2, count, right);
    for (uint32_t i = 0; i < count; i++)
        memcpy(out[i] + HSPZ__CONTEXT_LEFT, right[i] + HSPZ__CONTEXT_LEFT, HSPZ__CONTEXT_RIGHT);
}

static void xor_into(context *rows, const context *other, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < HSPZ__CONTEXT; k++)
            rows[i][k] ^= other[i][k];
}

hspz_status hspz__screen_flush(hspz__screen *screen)
{
    const hspz__call *call = screen->call;
    const hspz__cpu *cpu = call->cpu;
    const uint32_t n = screen->count;
    if (n == 0)
        return HSPZ_OK;
    hspz_status status = hspz__anchors_reserve(&screen->survivors, cpu->host, n);
    if (status != HSPZ_OK)
        return status;
    _Alignas(64) context inner[HSPZ__SCREEN_HITS], outer[HSPZ__SCREEN_HITS], other[HSPZ__SCREEN_HITS];
    if (n < HSPZ__SCREEN_HITS) { /* the kernels read whole groups */
        memset(inner, 0, sizeof inner);
        memset(outer, 0, sizeof outer);
    }
    hspz__contexts(cpu, &cpu->target, screen->target, n, HSPZ__FLAG_TARGET, inner);
    hspz__contexts(cpu, call->query, screen->query, n, HSPZ__FLAG_QUERY, other);
    xor_into(inner, (const context *)other, n);
    outer_contexts(cpu, &cpu->target, screen->target, n, outer);
    outer_contexts(cpu, call->query, screen->query, n, other);
    xor_into(outer, (const context *)other, n);
    uint64_t passed =
        cpu->kernels->filter_wide(&cpu->filter, (const context *)inner, (const context *)outer, n);
    const uint32_t w = cpu->plan->pattern_length;
    for (; passed != 0; passed &= passed - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(passed);
        screen->survivors.items[screen->survivors.count++] =
            (hspz_anchor){.target_end = screen->target[i] + w, .query_end = screen->query[i] + w};
    }
    screen->count = 0;
    return HSPZ_OK;
}

hspz_status hspz__screen_add(hspz__screen *screen, uint32_t target, uint32_t query)
{
    screen->target[screen->count] = target;
    screen->query[screen->count] = query;
    return ++screen->count < HSPZ__SCREEN_HITS ? HSPZ_OK : hspz__screen_flush(screen);
}
