/* collect.c -- see collect.h. */
#include "collect.h"

#include <limits.h>

/* Neighbouring anchors mostly lie in one batch, whose bounds are kept. */
static uint64_t batch_of(hspz__collector *c, uint32_t r, uint32_t q)
{
    const hspz__chunks *chunks = c->how->chunks;
    if (chunks->split)
        return hspz__chunks_label(chunks, c->call, r, q);
    if (q >= c->label_begin && q < c->label_end)
        return c->label;
    c->label = hspz__chunks_label(chunks, c->call, r, q);
    c->label_begin = chunks->begin + c->label * chunks->batch_size + c->call->cpu->plan->pattern_length;
    c->label_end = c->label_begin + chunks->batch_size;
    return c->label;
}

static uint64_t label_of(hspz__collector *c, uint32_t r, uint32_t q)
{
    switch (c->how->kind) {
    case HSPZ__LABEL_CHUNK:
        return batch_of(c, r, q);
    case HSPZ__LABEL_ANCHOR:
        return (uint64_t)r << 32 | q;
    case HSPZ__LABEL_CONSTANT:
        break;
    }
    return c->how->constant;
}

void hspz__collect_start(hspz__collector *c)
{
    c->any = false;
}

hspz_status hspz__collect(hspz__collector *c, int64_t shift, const uint32_t *anchors, uint64_t count,
                          const hspz__reach *left, const hspz__reach *right)
{
    const int32_t keep = c->call->cpu->plan->keep_total;
    hspz_status status = HSPZ_OK;
    for (uint64_t i = 0; i < count && status == HSPZ_OK; i++) {
        const int32_t total = hspz__total(left[i].score, right[i].score);
        if (total < keep)
            continue;
        c->survivors++;
        const uint32_t q = anchors[i];
        const uint32_t start = left[i].at != HSPZ__NOWHERE ? left[i].at : q;
        const uint32_t end = right[i].at != HSPZ__NOWHERE ? right[i].at : q - 1;
        const bool same = c->any && c->last.hsp.query_start == start && c->last.hsp.extent == end - start;
        if (!same) {
            c->last.hsp = (hspz_hsp){
                .target_start = (uint32_t)(start + shift), .query_start = start, .extent = end - start};
            c->last.hsp.score = hspz__accept(c->call, c->last.hsp.target_start, start, end - start, total);
            c->any = true;
        }
        if (c->last.hsp.score == INT32_MIN)
            continue;
        c->accepted++;
        const uint64_t label = label_of(c, (uint32_t)(q + shift), q);
        if (same && label == c->last.label)
            continue;
        c->last.label = label;
        status = hspz__found_reserve(&c->found, c->call->cpu->host, 1);
        if (status == HSPZ_OK)
            c->found.items[c->found.count++] = c->last;
    }
    return status;
}

/* The first anchor at or after q, or the end. */
static uint64_t next_marked(const hspz__marked *m, uint64_t q)
{
    while (q < m->end) {
        const uint64_t i = q - m->first, rest = m->bits[i / 64] >> (i % 64);
        if (rest != 0) {
            q += (uint64_t)__builtin_ctzll(rest);
            return q < m->end ? q : m->end;
        }
        q = m->first + (i | 63) + 1;
    }
    return m->end;
}

/* Anchors of [q, end). */
static uint64_t count_marked(const hspz__marked *m, uint64_t q, uint64_t end)
{
    uint64_t count = 0;
    while (q < end) {
        const uint64_t i = q - m->first, left = end - q, width = 64 - i % 64 < left ? 64 - i % 64 : left;
        const uint64_t mask = width == 64 ? ~UINT64_C(0) : (UINT64_C(1) << width) - 1;
        count += hspz__count_bits(m->bits[i / 64] >> (i % 64) & mask);
        q += width;
    }
    return count;
}

/* One anchor stands for all of its batch. */
hspz_status hspz__collect_marked(hspz__collector *c, int64_t shift, const hspz__marked *anchors,
                                 const hspz__reach *left, const hspz__reach *right)
{
    const uint64_t end = anchors->end;
    hspz_status status = HSPZ_OK;
    for (uint64_t q = next_marked(anchors, anchors->begin); q < end && status == HSPZ_OK;) {
        const uint32_t anchor = (uint32_t)q;
        const uint64_t survivors = c->survivors, accepted = c->accepted;
        status = hspz__collect(c, shift, &anchor, 1, left, right);
        const bool labelled = c->accepted > accepted && c->how->kind == HSPZ__LABEL_CHUNK;
        const uint64_t stop = labelled && c->label_end < end ? c->label_end : end;
        const uint64_t others = count_marked(anchors, q, stop) - 1;
        c->survivors += c->survivors > survivors ? others : 0;
        c->accepted += c->accepted > accepted ? others : 0;
        q = next_marked(anchors, stop);
    }
    return status;
}
