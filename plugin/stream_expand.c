/* stream_expand.c -- expansion and filter in raw order; see stream.c for the idea. */
#include "stream.h"

#include <string.h>

typedef uint8_t context[HSPZ__CONTEXT];

static hspz_status screen_lanes(const hspz__stream *s, hspz__stream_worker *w)
{
    const hspz__call *call = s->call;
    const hspz__cpu *cpu = call->cpu;
    const uint32_t n = w->lanes;
    _Alignas(64) context target[HSPZ__LANES], query[HSPZ__LANES];
    uint32_t self[2 * HSPZ__LANES];
    for (uint32_t i = 0; i < HSPZ__LANES; i++) {
        self[i] = i;
        self[HSPZ__LANES + i] = 0; /* the filter looks ahead */
    }
    w->lanes = 0;
    if (n == 0)
        return HSPZ_OK;
    if (++w->screened % 1024 == 0 && hspz__pulse_poll(&s->call->pulse, w->number))
        return HSPZ_E_CANCELLED;
    hspz__contexts(cpu, &cpu->target, w->target, n, HSPZ__FLAG_TARGET, target);
    hspz__contexts(cpu, call->query, w->query, n, HSPZ__FLAG_QUERY, query);
    hspz__rows rows;
    uint64_t likely = 0;
    uint64_t passed = cpu->kernels->filter(&cpu->filter, (const context *)target, (const context *)query,
                                           self, self, n, &rows, &likely);
    if (cpu->plan->dedup == HSPZ_DEDUP_NONE)
        likely = 0; /* a survivor must not overtake the hits that wait */
    hspz_status status = HSPZ_OK;
    for (; passed != 0 && status == HSPZ_OK; passed &= passed - 1) {
        const uint32_t k = (uint32_t)__builtin_ctzll(passed);
        status = hspz__screen_add(&w->screen, w->target[k], w->query[k], likely >> k & 1, rows.row[k]);
    }
    return status;
}

static hspz_status add_lane(const hspz__stream *s, hspz__stream_worker *w, uint32_t target, uint32_t query)
{
    w->target[w->lanes] = target;
    w->query[w->lanes] = query;
    return ++w->lanes < HSPZ__LANES ? HSPZ_OK : screen_lanes(s, w);
}

hspz_status hspz__stream_settle(const hspz__stream *s, hspz__stream_worker *w)
{
    hspz_status status = screen_lanes(s, w);
    return status == HSPZ_OK ? hspz__screen_flush(&w->screen) : status;
}

hspz_anchor hspz__anchor_at(const uint8_t *anchors, uint32_t stride, uint64_t i)
{
    hspz_anchor a;
    memcpy(&a, anchors + i * stride, sizeof a);
    return a;
}

static hspz_status expand_anchor(const hspz__stream *s, hspz__stream_worker *w, uint64_t i)
{
    const uint32_t length = s->call->cpu->plan->pattern_length;
    const hspz_anchor a = hspz__anchor_at(s->anchors, s->stride, i);
    if (a.target_end >= length && a.query_end >= length)
        return add_lane(s, w, a.target_end - length, a.query_end - length);
    hspz_status status =
        hspz__stream_settle(s, w); /* no window lies before it: a survivor without screening */
    return status == HSPZ_OK ? hspz__anchors_add(&w->screen.survivors, s->call->cpu->host, a) : status;
}

/* Seeds without hits, the most, are left out first: whether one has hits is a coin that no branch should depend on. */
static hspz_status expand_seeds(const hspz__stream *s, hspz__stream_worker *w, uint64_t begin, uint64_t end)
{
    const uint32_t *positions = s->call->cpu->index.positions;
    uint64_t with_hits[HSPZ__SEEDS_AN_ITEM];
    uint32_t n = 0;
    for (uint64_t i = begin; i < end; i++) {
        with_hits[n] = i;
        n += s->sizes[i] != 0;
    }
    hspz_status status = HSPZ_OK;
    for (uint32_t k = 0; k < n && status == HSPZ_OK; k++) {
        const uint64_t i = with_hits[k];
        if (k + HSPZ__SEEDS_AHEAD < n)
            __builtin_prefetch(positions + s->firsts[with_hits[k + HSPZ__SEEDS_AHEAD]]);
        for (uint32_t j = s->sizes[i]; j-- > 0 && status == HSPZ_OK;)
            status = add_lane(s, w, positions[s->firsts[i] + j], (uint32_t)s->seeds[i]);
    }
    return status;
}

hspz_status hspz__stream_expand(void *context_of_run, uint32_t worker, uint64_t item)
{
    hspz__stream *s = context_of_run;
    hspz__stream_worker *w = &s->workers[worker];
    const uint64_t begin = s->first + item * HSPZ__SEEDS_AN_ITEM;
    const uint64_t end = s->end - begin < HSPZ__SEEDS_AN_ITEM ? s->end : begin + HSPZ__SEEDS_AN_ITEM;
    hspz_status status = HSPZ_OK;
    if (s->anchors != NULL) {
        for (uint64_t i = begin; i < end && status == HSPZ_OK; i++)
            status = expand_anchor(s, w, i);
        return status;
    }
    return expand_seeds(s, w, begin, end);
}
