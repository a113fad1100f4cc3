/* chains.c -- see chains.h.
 *
 * Idea: query and target are made column by column along a few diagonals that share one slot (65536 apart), and of some other slots
 * beside them, with filler that holds no seed words between them. A column is a mismatch unless something is put there, so that a lone hit reads `read` bases to the
 * right, X-drop over the loss of a column, and is rejected. Hits are set one after the other just so far apart that the
 * one's mark reaches the next but not the one after: each is skipped or not as the whole chain before it says. What ends the
 * chain is an HSP that lies on one hit, or is cut off on its left by a mark, so that the output tells the state of the chain. Chains
 * are longer than any fixed look back, break off just at the border of a mark, and run across records and units.
 */
#include "chains.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS 65536u
#define MOST_DIAGONALS 8u
#define MOST_COPIES 90u /* of a word, beside its place: long buckets */

typedef struct chain_case {
    job *j;
    int transitions;       /* mismatches are transitions, which cost less */
    uint64_t window, read; /* pattern length; bases that a lone hit reads, about */
    uint64_t shift, diagonals, slots;
    uint64_t slot;  /* the one at work */
    int one_word;   /* all hits have the word with which the query begins */
    int sparse;     /* columns of hits that do not count mismatch */
    uint64_t stray; /* one column in so many matches by chance; 0: none */
} chain_case;

static uint8_t *target_at(const chain_case *c, uint64_t diagonal, uint64_t q)
{
    return &c->j->target.bases[c->shift + c->slot * c->j->query.length + diagonal * SLOTS + q];
}

static uint8_t transition(uint8_t base)
{
    return (uint8_t) "GTAC"[strchr("ACGT", base) - "ACGT"];
}

static uint8_t mismatch(const chain_case *c, uint8_t base)
{
    if (c->transitions)
        return transition(base);
    return strchr("AG", base) != NULL ? (uint8_t) "CT"[below(2)] : (uint8_t) "AG"[below(2)];
}

/* ---- columns */

/* The query's first word before q, in columns that mismatch on all diagonals. */
static void put_word(const chain_case *c, uint64_t q)
{
    memcpy(c->j->query.bases + q - c->window, c->j->query.bases, c->window);
    for (uint64_t d = 0; d < c->diagonals; d++)
        for (uint64_t i = q - c->window; i < q; i++)
            *target_at(c, d, i) = mismatch(c, c->j->query.bases[i]);
}

/* A hit of the window that ends at q: by the word itself or by a transition of it. */
static void put_hit(const chain_case *c, uint64_t diagonal, uint64_t q)
{
    const hspz_engine_params *p = &c->j->params;
    if (c->one_word)
        put_word(c, q);
    const uint64_t changed = p->transitions && one_in(4) ? below(c->window) : c->window;
    for (uint64_t i = 0; i < c->window; i++) {
        const uint8_t base = c->j->query.bases[q - c->window + i];
        uint8_t *const to = target_at(c, diagonal, q - c->window + i);
        if (p->seed_pattern[i] == '0' && c->sparse)
            *to = mismatch(c, base);
        else
            *to = i == changed && p->seed_pattern[i] != '0' ? transition(base) : base;
    }
}

/* Columns first .. end - 1 match but for one in `each`. */
static void put_stretch(const chain_case *c, uint64_t diagonal, uint64_t first, uint64_t end, uint64_t each)
{
    for (uint64_t q = first; q < end; q++)
        if (q % each != 0)
            *target_at(c, diagonal, q) = c->j->query.bases[q];
}

/* An HSP, or an island that falls short of one, on the hit at q and at least `before` columns to its left; returns where it ends. */
static uint64_t put_island(const chain_case *c, uint64_t diagonal, uint64_t q, uint64_t before, uint64_t room)
{
    const uint64_t enough = (uint64_t)c->j->params.hspthresh / 45,
                   each = before == 0 && one_in(4) ? 1 + room : 4;
    uint64_t after = below(2 * enough);
    if (one_in(2))
        before += below(2 * enough);
    after = after < room - q ? after : room - q;
    before = before < q - c->window ? before : q - c->window;
    put_stretch(c, diagonal, q - c->window - before, q - c->window, each);
    put_stretch(c, diagonal, q, q + after, each);
    put_hit(c, diagonal, q);
    return q + after;
}

/* ---- chains */

enum { HALF, BORDER, INSIDE, CROWD, ANY, KINDS };

/* From one hit of a chain to the next. */
static uint64_t next_step(const chain_case *c, uint64_t kind)
{
    const uint64_t border = c->read + c->window;
    switch (one_in(16) ? below(KINDS) : kind) {
    case HALF: /* every second one is skipped */
        return border * (52 + below(46)) / 100;
    case BORDER: /* around where the mark ends */
        return border - 2 + below(4);
    case INSIDE: /* the farthest that the mark still forbids */
        return border - 1;
    case CROWD: /* within one another */
        return 1 + below(c->window + 4);
    default:
        return 1 + below(border + border / 8);
    }
}

/* A chain that begins after q and ends in an island; returns where that ends. */
static uint64_t put_chain(const chain_case *c, uint64_t q, uint64_t room)
{
    const uint64_t kind = one_in(3)   ? HALF
                          : one_in(2) ? INSIDE
                                      : below(KINDS),
                   hits = one_in(4) ? below(4) : below(40);
    uint64_t diagonal = below(c->diagonals);
    for (uint64_t k = 0; k < hits; k++) {
        q += next_step(c, kind);
        if (q > room)
            return room;
        /* a scan that meets the next hit on its own diagonal goes on for longer */
        if (kind <= INSIDE ? !one_in(16) : one_in(4))
            diagonal = (diagonal + 1) % c->diagonals;
        put_hit(c, diagonal, q);
        /* A mark that reaches farther than the others, by a hit that is rejected all the same. */
        if (k == 0 && one_in(3)) {
            const uint64_t on = below((uint64_t)c->j->params.hspthresh / 80);
            put_stretch(c, diagonal, q, q + on < room ? q + on : room, 4);
            q += on;
        }
    }
    diagonal = (diagonal + 1) % c->diagonals;
    if (!one_in(3)) {
        q += next_step(c, kind);
        return q > room ? room : put_island(c, diagonal, q, 0, room);
    }
    /* The chain's last mark lies deep in the island, or before the unit's tail. */
    const uint64_t far = 300 + below(1200);
    return q + far > room ? room : put_island(c, diagonal, q + far, far + below(100), room);
}

/* ---- the case */

static void make_chain_params(chain_case *c)
{
    /* Of so many bits that the hits put there are most of all. */
    static const char *const patterns[] = {"111111111",
                                           "1001001001001001001001001",
                                           "1101001101010011",
                                           "1T110T10T10111T1",
                                           "10110010110100000001001",
                                           "11110111",
                                           "10001000100010111001",
                                           "11000100001000010000100001000011"};
    static const int32_t hoxd70[16] = {91,  -114, -31, -123, -114, 100, -125, -31,
                                       -31, -125, 100, -114, -123, -31, -114, 91};
    hspz_engine_params *p = &c->j->params;
    *p = (hspz_engine_params){.struct_size = sizeof *p, .query_slots = 1};
    p->seed_pattern = patterns[below(sizeof patterns / sizeof *patterns)];
    c->window = strlen(p->seed_pattern);
    p->transitions = !one_in(3);
    p->step = one_in(8) ? 2 : 1;
    /* Reads of up to 126 bases, at what keeps the filter of use. It looks at 49 bases and then 14 more at a time, so that 119 is the most
     * that a hit reads which is no item. */
    const int plain = !one_in(3);
    c->transitions = !one_in(4);
    if (c->transitions && c->diagonals > 1)
        c->read = one_in(3) ? 20 + below(100) : one_in(5) ? 126 - below(12) : 119;
    else
        c->read = 10 + below(50);
    c->stray = c->read < 80 && one_in(2) ? 16 + below(20) : 0;
    const int32_t loss = plain ? (c->transitions ? 40 : 100) : c->transitions ? 31 : 119;
    p->xdrop = loss * ((int32_t)c->read - 1) + (plain ? (int32_t)below((uint64_t)loss) : 0);
    p->hspthresh = 2000 + (int32_t)below(4000);
    p->entropy = one_in(4);
    p->bad_score = -1000;
    p->fill_score = -100;
    for (int i = 0; i < 16; i++)
        p->scores[i] = !plain ? hoxd70[i] : i % 5 == 0 ? 100 : (i ^ i >> 2) % 4 == 2 ? -40 : -100;
    p->dedup = HSPZ_DEDUP_LASTZ;
    p->max_hits = one_in(2) ? HSPZ_MAX_HITS_DEFAULT : 1 + below(3000);
}

static void make_query(chain_case *c, uint64_t length)
{
    text *t = &c->j->query;
    *t = (text){get_memory(length), length};
    for (uint64_t q = 0; q < length; q++)
        t->bases[q] = (uint8_t) "ACGT"[below(4)];
}

/* Filler, the diagonals' columns, and copies of the query's first word where there is room. */
static void make_target(chain_case *c)
{
    text *t = &c->j->target;
    const text *query = &c->j->query;
    const uint64_t length = c->shift + (c->diagonals - 1) * SLOTS + c->slots * query->length;
    *t = (text){get_memory(length), length};
    memset(t->bases, 'a', length);
    for (c->slot = 0; c->slot < c->slots; c->slot++)
        for (uint64_t d = 0; d < c->diagonals; d++)
            for (uint64_t q = 0; q < query->length; q++)
                *target_at(c, d, q) =
                    c->stray > 0 && one_in(c->stray) ? query->bases[q] : mismatch(c, query->bases[q]);
    for (uint64_t k = 0; c->one_word && k < MOST_COPIES && (k + 1) * 40 <= c->shift; k++)
        memcpy(t->bases + k * 40, query->bases, c->window);
}

static void reverse_query(text *t)
{
    for (uint64_t i = 0, k = t->length; i < k--; i++) {
        const uint8_t b = t->bases[i];
        t->bases[i] = t->bases[k];
        t->bases[k] = b;
    }
    for (uint64_t i = 0; i < t->length; i++)
        if (t->bases[i] != '&')
            t->bases[i] = (uint8_t) "TGCA"[strchr("ACGT", t->bases[i]) - "ACGT"];
}

void make_chains(job *j, uint64_t seed, uint64_t size)
{
    chain_case c = {.j = j};
    memset(j, 0, sizeof *j);
    start_random(seed);
    c.one_word = one_in(4);
    c.diagonals = one_in(8) ? 1 : (c.one_word ? !one_in(3) : one_in(8)) ? MOST_DIAGONALS : 2 + below(2);
    make_chain_params(&c);
    c.sparse = !one_in(4);
    c.shift = c.one_word ? MOST_COPIES * 40 : 1 + below(100);
    const uint64_t least = 4 * c.window + 1000,
                   length = size > 2 * least ? size / 2 + below(size / 2) : least;
    make_query(&c, length < SLOTS / 4 ? length : SLOTS / 4);
    /* Words are written into the query: hits of other slots would be lost. */
    const uint64_t most = (SLOTS - c.shift) / j->query.length;
    c.slots = c.one_word ? 1 : (most + 1) / 2 + below(most / 2 + 1);
    make_target(&c);
    const uint64_t room = j->query.length - 1;
    for (c.slot = 0; c.slot < c.slots; c.slot++)
        for (uint64_t q = 2 * c.window + below(300); q < room;)
            q = put_chain(&c, q, room) + (one_in(2) ? below(900) : below(c.read + c.window));
    for (uint64_t k = one_in(2) ? below(8) : 0; k > 0; k--)
        j->query.bases[below(j->query.length)] = '&';
    j->strand = (uint32_t)below(2);
    if (j->strand == 1)
        reverse_query(&j->query);
    j->end = j->query.length;
    j->interval = j->query.length + 1;
    j->batch_size = one_in(2) ? 250000 : 1 + (uint32_t)below(2000);
}
