/* join_window.c -- the hits of a window of the target's words; see join.c for the idea. */
#include "join.h"

#include <string.h>

#define WINDOW HSPZ__WINDOW /* most target positions whose contexts are at hand */
#define WINDOW_AIM 320u     /* a window takes further blocks up to here */
#define SPARSE_AIM 960u     /* the same where few positions have hits */
#define FULL 512u           /* from here on hits that wait are filtered */

/* ---- the filter on the hits of a window */

static uint64_t filter_lanes(const hspz__join *j, const hspz__join_worker *w, uint32_t i, uint32_t n,
                             hspz__rows *rows, uint64_t *likely)
{
    const hspz__cpu *cpu = j->call->cpu;
    if (j->packed)
        return cpu->kernels->filter_packed(&cpu->filter, (const hspz__context *)w->contexts,
                                           j->call->query->packed, hspz__context_offset(cpu),
                                           w->target_at + i, w->query_at + i, n, rows, likely);
    return cpu->kernels->filter(&cpu->filter, (const hspz__context *)w->contexts,
                                (const hspz__context *)j->contexts, w->target_at + i, w->query_at + i, n,
                                rows, likely);
}

/* Under dedup lastz rejected hits count too: they leave marks. */
static hspz_status mark_rejected(const hspz__join *j, hspz__join_worker *w, uint32_t first, uint32_t n,
                                 uint64_t passed)
{
    const hspz__cpu *cpu = j->call->cpu;
    const uint32_t *at = w->target_at + first, *q = w->query_at + first;
    const uint32_t tile_begin = w->screen.marks->tile_begin;
    uint64_t keys[HSPZ__LANES];
    for (uint32_t i = 0; i < n; i++)
        keys[i] = hspz__mark_key(w->positions[at[i]], j->packed ? q[i] : j->query->positions[q[i]],
                                 tile_begin, HSPZ__HIT_NARROW);
    hspz_status status = HSPZ_OK;
    for (uint32_t i = 0; i < n && status == HSPZ_OK; i++)
        if ((passed >> i & 1) == 0)
            status = hspz__mark_lists_put(w->screen.marks, cpu->host, keys[i]);
    return status;
}

/* Places in the window become places in contexts, which are gathered for those not met before. No branch: it could not be foreseen. */
static void gather_contexts(const hspz__cpu *cpu, hspz__join_worker *w, uint32_t hits)
{
    const uint32_t *positions = cpu->index.positions + w->window, before = w->slots;
    uint32_t slots = before;
    for (uint32_t i = 0; i < hits; i++) {
        const uint32_t place = w->target_at[i], known = w->slot_of[place];
        const uint32_t slot = known == HSPZ__NO_SLOT ? slots : known;
        w->slot_position[slots] = positions[place];
        w->slot_of[place] = (uint16_t)slot;
        w->target_at[i] = slot;
        slots += known == HSPZ__NO_SLOT;
    }
    w->slots = slots;
    hspz__contexts(cpu, &cpu->target, w->slot_position + before, slots - before, HSPZ__FLAG_TARGET,
                   w->contexts + before);
}

/* Filters what waits, in full groups; all of it when `all` is set. */
static hspz_status screen_hits(const hspz__join *j, hspz__join_worker *w, bool all)
{
    const hspz__cpu *cpu = j->call->cpu;
    hspz__hits *h = &w->hits_at_hand;
    hspz_status status = HSPZ_OK;
    if (++w->screened % 256 == 0 && hspz__pulse_poll(&j->call->pulse, w->number))
        return HSPZ_E_CANCELLED;
    if (w->hits > UINT32_MAX && !j->counted)
        return HSPZ_E_TOO_MANY_HITS; /* perhaps: join_counted counts, then decides */
    const uint32_t end = all ? h->count : h->count / HSPZ__LANES * HSPZ__LANES;
    memset(w->query_at + h->count, 0, HSPZ__LANES * sizeof *w->query_at); /* the filter looks ahead */
    if (j->sparse)
        gather_contexts(cpu, w, end);
    for (uint32_t i = 0; i < end && status == HSPZ_OK; i += HSPZ__LANES) {
        const uint32_t n = end - i < HSPZ__LANES ? end - i : HSPZ__LANES;
        hspz__rows rows;
        uint64_t likely;
        uint64_t passed = filter_lanes(j, w, i, n, &rows, &likely);
        if (w->screen.marks != NULL)
            status = mark_rejected(j, w, i, n, passed);
        for (; passed != 0 && status == HSPZ_OK; passed &= passed - 1) {
            const uint32_t lane = (uint32_t)__builtin_ctzll(passed);
            const uint32_t q = w->query_at[i + lane];
            status =
                hspz__screen_add(&w->screen, w->positions[w->target_at[i + lane]],
                                 j->packed ? q : j->query->positions[q], likely >> lane & 1, rows.row[lane]);
        }
    }
    h->count -= end;
    if (end > 0 && h->count > 0) {
        memmove(w->target_at, w->target_at + end, h->count * sizeof *w->target_at);
        memmove(w->query_at, w->query_at + end, h->count * sizeof *w->query_at);
    }
    return status;
}

/* ---- hits of a block */

/* All hits of target places [t, t_end) with query places [q, q_end), however many. */
static hspz_status add_product(const hspz__join *j, hspz__join_worker *w, uint32_t t, uint32_t t_end,
                               uint32_t q, uint32_t q_end)
{
    hspz__hits *h = &w->hits_at_hand;
    hspz_status status = HSPZ_OK;
    w->hits += (uint64_t)(t_end - t) * (q_end - q);
    for (; t < t_end && status == HSPZ_OK; t++)
        for (uint32_t at = q; at < q_end && status == HSPZ_OK;) {
            const uint32_t room = HSPZ__JOIN_ROOM - h->count;
            const uint32_t stop = q_end - at < room ? q_end : at + room;
            for (; at < stop; at++) {
                h->target[h->count] = t - w->window;
                h->query[h->count++] = j->packed ? j->query->positions[at] : at;
            }
            if (h->count >= FULL)
                status = screen_hits(j, w, false);
        }
    return status;
}

static void pair_block(const hspz__join *j, hspz__join_worker *w, const hspz__block *block)
{
    const hspz__cpu *cpu = j->call->cpu;
    const hspz__words *query = j->query;
    const hspz__block *others[HSPZ__VARIANTS_MAX];
    const uint32_t variants = cpu->keys.variant_count, *mask = cpu->keys.variant_mask;
    if (query->direct) {
        for (uint32_t v = 0; v < variants; v++)
            others[v] = &query->blocks[block->id ^ mask[v] >> 6];
    } else {
        if (w->group != block->id / 64) {
            w->group = block->id / 64;
            for (uint32_t v = 0; v < variants; v++)
                w->groups[v] = hspz__words_group(query, w->group ^ mask[v] >> HSPZ__GROUP_BITS);
        }
        for (uint32_t v = 0; v < variants; v++) {
            const hspz__group *group = w->groups[v];
            others[v] = &query->blocks[group->first_row + group->row[(block->id ^ mask[v] >> 6) % 64]];
        }
    }
    cpu->kernels->pair(block, others, j->low, variants, &w->ranks);
}

/* The hits of the pairs that wait. The query's lists are read at as many places as there are variants; each step asks for what the next one
 * reads, a few hundred pairs ahead. */
static hspz_status expand_pairs(const hspz__join *j, hspz__join_worker *w)
{
    const hspz__words *query = j->query;
    hspz__rank_pairs *ranks = &w->ranks;
    hspz__hits *h = &w->hits_at_hand;
    const uint32_t *starts = h->target_starts;
    for (uint32_t i = 0; i < ranks->multi_count; i++)
        __builtin_prefetch(query->positions + query->starts[ranks->multi_query[i]]);
    uint32_t *singles = h->query + h->count;
    for (uint32_t i = 0; i < ranks->count; i++) {
        h->target[h->count + i] = starts[ranks->target[i]] - w->window;
        singles[i] = query->starts[ranks->query[i]];
        __builtin_prefetch(query->positions + singles[i]);
    }
    for (uint32_t i = 0; j->packed && i < ranks->count; i++)
        singles[i] = query->positions[singles[i]];
    h->count += ranks->count;
    w->hits += ranks->count;
    hspz_status status = h->count >= FULL ? screen_hits(j, w, false) : HSPZ_OK;
    for (uint32_t i = 0; i < ranks->multi_count && status == HSPZ_OK;) {
        const uint32_t before = h->count;
        i = j->call->cpu->kernels->products(ranks, i, h);
        w->hits += h->count - before;
        if (h->count >= FULL)
            status = screen_hits(j, w, false);
        else if (i < ranks->multi_count) { /* too large for the list */
            const uint32_t t = ranks->multi_target[i], q = ranks->multi_query[i++];
            status = add_product(j, w, starts[t], starts[t + 1], query->starts[q], query->starts[q + 1]);
        }
    }
    ranks->count = 0;
    ranks->multi_count = 0;
    return status;
}

static hspz_status join_block(const hspz__join *j, hspz__join_worker *w, const hspz__block *block)
{
    const hspz__hits *h = &w->hits_at_hand;
    hspz__rank_pairs *ranks = &w->ranks;
    const uint32_t singles = ranks->count, multis = ranks->multi_count;
    pair_block(j, w, block);
    for (uint32_t i = singles; i < ranks->count; i++)
        __builtin_prefetch(h->query_starts + ranks->query[i]);
    for (uint32_t i = multis; i < ranks->multi_count; i++)
        __builtin_prefetch(h->query_starts + ranks->multi_query[i]);
    const uint32_t most = ranks->count > ranks->multi_count ? ranks->count : ranks->multi_count;
    return most < HSPZ__PAIRS_FULL ? HSPZ_OK : expand_pairs(j, w);
}

/* The same restricted to target places [first, last), for blocks larger than a window. */
static hspz_status join_part_of_block(const hspz__join *j, hspz__join_worker *w, const hspz__block *block,
                                      uint32_t first, uint32_t last)
{
    const uint32_t *starts = w->hits_at_hand.target_starts;
    const hspz__words *query = j->query;
    hspz__rank_pairs *ranks = &w->ranks;
    pair_block(j, w, block);
    hspz_status status = HSPZ_OK;
    for (uint32_t i = 0; i < ranks->count + ranks->multi_count && status == HSPZ_OK; i++) {
        const bool single = i < ranks->count;
        const uint32_t q = single ? ranks->query[i] : ranks->multi_query[i - ranks->count];
        const uint32_t r = single ? ranks->target[i] : ranks->multi_target[i - ranks->count];
        uint32_t t = starts[r], t_end = starts[r + 1];
        if (t < first)
            t = first;
        if (t_end > last)
            t_end = last;
        if (t < t_end)
            status = add_product(j, w, t, t_end, query->starts[q], query->starts[q + 1]);
    }
    ranks->count = 0;
    ranks->multi_count = 0;
    return status;
}

/* The hits of rows [row, end) of the target's blocks with places [first, last) of its positions; of a single row, `part`
 * says that these are not all of its places. */
static hspz_status join_window(const hspz__join *j, hspz__join_worker *w, uint32_t row, uint32_t end,
                               uint32_t first, uint32_t last, bool part)
{
    const hspz__cpu *cpu = j->call->cpu;
    const bool compact = cpu->index.starts == NULL;
    hspz_status status = HSPZ_OK;
    w->window = first;
    w->hits_at_hand = (hspz__hits){.target_starts = compact ? w->starts : cpu->index.starts,
                                   .query_starts = j->query->starts,
                                   .query_positions = j->packed ? j->query->positions : NULL,
                                   .target_base = first,
                                   .room = HSPZ__JOIN_ROOM,
                                   .target = w->target_at,
                                   .query = w->query_at};
    w->positions = j->sparse ? w->slot_position : cpu->index.positions + first;
    w->slots = 0;
    if (j->sparse)
        memset(w->slot_of, 0xff, (last - first) * sizeof *w->slot_of);
    else
        hspz__contexts(cpu, &cpu->target, w->positions, last - first, HSPZ__FLAG_TARGET, w->contexts);
    for (uint32_t keys = 0; row < end && status == HSPZ_OK; row++) {
        hspz__block block = cpu->index.blocks[row];
        if (block.bits == 0)
            continue;
        if (compact) {
            block.rank = keys;
            keys += hspz__count_bits(block.bits);
        }
        status = part ? join_part_of_block(j, w, &block, first, last) : join_block(j, w, &block);
    }
    if (status == HSPZ_OK)
        status = expand_pairs(j, w);
    return status == HSPZ_OK ? screen_hits(j, w, true) : status;
}

hspz_status hspz__join_item(void *context_of_run, uint32_t worker, uint64_t item)
{
    hspz__join *j = context_of_run;
    hspz__join_worker *w = &j->workers[worker];
    const hspz__words *index = &j->call->cpu->index;
    uint32_t row = (uint32_t)item * j->rows;
    const uint32_t end = index->block_count - row < j->rows ? index->block_count : row + j->rows;
    const uint32_t aim = j->sparse ? SPARSE_AIM : WINDOW_AIM;
    hspz_status status = HSPZ_OK;
    while (row < end && status == HSPZ_OK) {
        uint32_t next = row + 1;
        uint32_t first = hspz__words_place(index, row), last = hspz__words_place(index, next);
        while (next < end && last - first < aim) {
            const uint32_t further = hspz__words_place(index, next + 1);
            if (further - first > WINDOW)
                break;
            last = further;
            next++;
        }
        const bool part = last - first > WINDOW;
        if (index->starts == NULL)
            hspz__words_starts(index, first, last, w->starts);
        for (; first < last && status == HSPZ_OK; first += WINDOW)
            status = join_window(j, w, row, next, first, last - first < WINDOW ? last : first + WINDOW, part);
        row = next;
    }
    return status;
}
