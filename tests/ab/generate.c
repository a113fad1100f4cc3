/* generate.c -- parameters and work of a random case; see generate.h. */
#include "generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- random numbers */

uint64_t ab_next(ab_random *random)
{
    uint64_t x = random->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

uint64_t ab_below(ab_random *random, uint64_t n)
{
    return ab_next(random) % n;
}

uint64_t ab_between(ab_random *random, uint64_t least, uint64_t most)
{
    return least + ab_below(random, most - least + 1);
}

int ab_chance(ab_random *random, uint32_t percent)
{
    return ab_below(random, 100) < percent;
}

/* ---- parameters */

static uint32_t word_bits(const char *pattern)
{
    uint32_t bits = 0;
    for (; *pattern != '\0'; pattern++)
        bits += *pattern == '1' ? 2 : *pattern == 'T' ? 1 : 0;
    return bits;
}

static void random_pattern(char *pattern, ab_random *r)
{
    static const char *const known[] = {
        "1110100110010101111", "1110101100110010101111", "1111", "11111111", "1101011", "1T1T11T1",
        "TTTTTTTTTTTT",        "111111111111111",        "11111"};
    if (ab_chance(r, 60)) {
        strcpy(pattern, known[ab_below(r, sizeof known / sizeof known[0])]);
        return;
    }
    do {
        const uint64_t length = ab_between(r, 4, 32), ones = ab_between(r, 20, 90), ts = ab_below(r, 3) * 20;
        for (uint64_t i = 0; i < length; i++)
            pattern[i] = ab_below(r, 100) >= ones ? '0' : ab_below(r, 100) < ts ? 'T' : '1';
        pattern[length] = '\0';
    } while (word_bits(pattern) < 8 || word_bits(pattern) > 30);
}

static void random_scores(hspz_engine_params *p, ab_random *r)
{
    static const int32_t hoxd70[16] = {91,  -114, -31, -123, -114, 100, -125, -31,
                                       -31, -125, 100, -114, -123, -31, -114, 91};
    memcpy(p->scores, hoxd70, sizeof hoxd70);
    const uint64_t kind = ab_below(r, 10);
    if (kind < 6)
        return;
    for (int t = 0; t < 4; t++)
        for (int q = 0; q < 4; q++) {
            int32_t *s = &p->scores[4 * t + q];
            if (kind == 6) /* match and mismatch */
                *s = t == q ? 1 : -1;
            else if (kind == 7) /* any, also with positive mismatches */
                *s = (int32_t)ab_between(r, 0, 300) - (t == q ? 50 : 250);
            else if (kind == 8) /* asymmetric */
                *s = t == q ? (int32_t)ab_between(r, 50, 120) : -(int32_t)ab_between(r, 10, 200);
            else /* large */
                *s *= (int32_t)ab_between(r, 2, 2000);
        }
}

static int32_t scale_of(const hspz_engine_params *p)
{
    int32_t most = 1;
    for (int i = 0; i < 16; i++)
        if (p->scores[i] > most)
            most = p->scores[i];
    return most;
}

static void random_params(ab_case *c, ab_random *r)
{
    hspz_engine_params *p = &c->params;
    *p = (hspz_engine_params){
        .struct_size = sizeof *p, .device = HSPZ_DEVICE_AUTO, .seed_pattern = c->pattern};
    random_pattern(c->pattern, r);
    p->transitions = (uint32_t)ab_chance(r, 70);
    p->step = ab_chance(r, 70) ? 1 : (uint32_t)ab_between(r, 2, ab_chance(r, 90) ? 40 : 5000);
    random_scores(p, r);
    const int32_t scale = scale_of(p);
    p->xdrop = ab_chance(r, 50) ? 910 : (int32_t)((int64_t)scale * (int64_t)ab_between(r, 1, 4000) / 100);
    p->hspthresh =
        ab_chance(r, 40) ? 3000 : (int32_t)((int64_t)scale * (int64_t)ab_between(r, 400, 4000) / 100);
    if (p->xdrop < 1)
        p->xdrop = 1;
    if (p->hspthresh < 1)
        p->hspthresh = 1;
    p->entropy = (uint32_t)ab_chance(r, 70);
    p->ambiguous = ab_chance(r, 60) ? HSPZ_AMBIGUOUS_NONE : (uint32_t)ab_below(r, 3);
    p->ambiguous_reward = ab_chance(r, 50) ? 0 : (int32_t)ab_below(r, 120);
    p->ambiguous_penalty = ab_chance(r, 50) ? 0 : (int32_t)ab_below(r, 200);
    p->bad_score = ab_chance(r, 80) ? -1000 : (int32_t)ab_below(r, 400) - 350;
    p->fill_score = ab_chance(r, 80) ? -100 : (int32_t)ab_below(r, 400) - 350;
    p->dedup = ab_chance(r, 45) ? HSPZ_DEDUP_CHUNK : (uint32_t)ab_below(r, HSPZ_DEDUP_COUNT);
    p->query_slots = (uint32_t)ab_between(r, 1, 3);
    switch (ab_below(r, 4)) {
    case 0:
        p->max_hits = ab_between(r, 1, 30);
        break;
    case 1:
        p->max_hits = ab_between(r, 30, 3000);
        break;
    default:
        p->max_hits = ab_chance(r, 90) ? HSPZ_MAX_HITS_DEFAULT : ab_between(r, 1, UINT32_MAX);
    }
}

/* ---- work */

static int is_base(uint8_t b)
{
    return b == 'A' || b == 'C' || b == 'G' || b == 'T' || b == 'U';
}

static uint32_t code_of(uint8_t b)
{
    return b == 'A' ? 0 : b == 'C' ? 1 : b == 'G' ? 2 : 3;
}

/* The word of a window of `text`, read as the reverse complement's when `minus`; 0 when it is not valid. */
static int word_at(const ab_case *c, const uint8_t *text, uint64_t length, int minus, uint64_t position,
                   uint32_t *word)
{
    *word = 0;
    for (uint64_t i = 0; c->pattern[i] != '\0'; i++) {
        const uint64_t at = minus ? length - 1 - position - i : position + i;
        if (!is_base(text[at]))
            return 0;
        const uint32_t code = minus ? 3 - code_of(text[at]) : code_of(text[at]);
        if (c->pattern[i] == '1')
            *word = *word << 2 | code;
        else if (c->pattern[i] == 'T')
            *word = *word << 1 | (code & 1);
    }
    return 1;
}

static int make_seeds(const ab_case *c, ab_work *work, ab_random *r)
{
    const uint64_t w = strlen(c->pattern), bits = word_bits(c->pattern);
    const uint64_t windows = c->query_length >= w ? c->query_length - w + 1 : 0;
    const uint64_t most = ab_between(r, 0, windows);
    work->seeds = malloc((most * 18 + 1) * sizeof *work->seeds);
    if (work->seeds == NULL)
        return 0;
    const int shuffled = ab_chance(r, 25);
    for (uint64_t i = 0; i < most; i++) {
        const uint64_t p = shuffled ? ab_below(r, windows) : i;
        uint32_t word;
        if (!word_at(c, c->query, c->query_length, work->strand == HSPZ_STRAND_MINUS, p, &word))
            continue;
        work->seeds[work->count++] = (uint64_t)word << 32 | p;
        uint32_t shift = 0;
        for (uint64_t k = w; k-- > 0 && c->params.transitions;) {
            if (c->pattern[k] == '1')
                work->seeds[work->count++] = (uint64_t)(word ^ 2u << shift) << 32 | p;
            shift += c->pattern[k] == '1' ? 2 : c->pattern[k] == 'T' ? 1 : 0;
        }
        if (shuffled && ab_chance(r, 10)) /* a seed of no window's word */
            work->seeds[work->count++] = ab_below(r, UINT64_C(1) << bits) << 32 | p;
    }
    return 1;
}

static int make_anchors(const ab_case *c, ab_work *work, ab_random *r)
{
    const uint64_t most = ab_between(r, 0, 600);
    work->stride = ab_chance(r, 70) ? sizeof(hspz_anchor) : 4 * (uint32_t)ab_between(r, 3, 5);
    uint8_t *bytes = calloc(most + 1, work->stride);
    if (bytes == NULL)
        return 0;
    work->anchors = (hspz_anchor *)(void *)bytes;
    hspz_anchor a = {0, 0};
    for (uint64_t i = 0; i < most; i++) {
        if (ab_chance(r, 35) || i == 0) {
            a.target_end = (uint32_t)ab_below(r, c->target_length + 1);
            a.query_end = (uint32_t)ab_below(r, c->query_length + 1);
        } else if (ab_chance(r, 90)) { /* further on the diagonal */
            const uint32_t on = (uint32_t)ab_below(r, 8);
            if (a.target_end + on <= c->target_length && a.query_end + on <= c->query_length) {
                a.target_end += on;
                a.query_end += on;
            }
        }
        memcpy(bytes + i * work->stride, &a, sizeof a);
    }
    work->count = most;
    return 1;
}

static void make_finds(ab_case *c, ab_random *r, uint32_t strand, uint32_t batch, uint64_t interval)
{
    const uint64_t w = strlen(c->pattern);
    const uint64_t last =
        c->query_length > w ? c->query_length - w : 0; /* SPEC section 4's intervals end here */
    const int whole = c->params.dedup == HSPZ_DEDUP_LASTZ || c->params.dedup == HSPZ_DEDUP_MAXIMAL;
    for (uint64_t a = 0; a <= last && c->work_count < AB_WORKS_MAX; a += interval) {
        ab_work *work = &c->works[c->work_count++];
        uint64_t begin = whole ? 0 : a, end = whole || last - a < interval ? last : a + interval;
        if (strand == HSPZ_STRAND_MINUS && !whole) {
            const uint64_t low = last - end;
            end = last - begin;
            begin = low;
        }
        if (ab_chance(r, 3))
            end += ab_below(r, 100);
        *work = (ab_work){.level = AB_LEVEL_FIND, .strand = strand};
        work->find = (hspz_find_request){.struct_size = sizeof work->find,
                                         .strand = strand,
                                         .batch_size = batch,
                                         .begin = begin,
                                         .end = end};
        if (whole || last == 0)
            return;
    }
}

static int make_work(ab_case *c, ab_random *r)
{
    const uint32_t level = ab_chance(r, 70)   ? AB_LEVEL_FIND
                           : ab_chance(r, 60) ? AB_LEVEL_SEEDS
                                              : AB_LEVEL_ANCHORS;
    const uint32_t batch = ab_chance(r, 30)   ? 250000
                           : ab_chance(r, 50) ? (uint32_t)ab_between(r, 1, 60)
                                              : (uint32_t)ab_between(r, 60, 3000);
    uint64_t interval = ab_chance(r, 50) ? 10000000 : ab_between(r, 100, 5000);
    if (interval < c->query_length / 20)
        interval = c->query_length / 20 + 1;
    if (interval > 10000000)
        interval = 10000000;
    const uint64_t strands = ab_below(r, 4); /* both, both, plus, minus */
    for (uint32_t strand = 0; strand < 2; strand++) {
        if ((strands == 2 && strand == 1) || (strands == 3 && strand == 0))
            continue;
        if (level == AB_LEVEL_FIND) {
            make_finds(c, r, strand, batch, interval);
            continue;
        }
        ab_work *work = &c->works[c->work_count++];
        *work = (ab_work){.level = level, .strand = strand};
        if (!(level == AB_LEVEL_SEEDS ? make_seeds(c, work, r) : make_anchors(c, work, r)))
            return 0;
    }
    return 1;
}

/* A host's index: that of all windows, or one with holes and wrong entries. */
static int make_index(ab_case *c, ab_random *r)
{
    const uint64_t w = strlen(c->pattern), words = UINT64_C(1) << word_bits(c->pattern);
    const uint64_t windows = c->target_length >= w ? c->target_length - w + 1 : 0;
    c->index_entries = words;
    c->index_table = calloc(words + 1, sizeof *c->index_table);
    c->positions = malloc((windows + 1) * sizeof *c->positions);
    uint32_t *word_of = malloc((windows + 1) * sizeof *word_of);
    if (c->index_table == NULL || c->positions == NULL || word_of == NULL) {
        free(word_of);
        return 0;
    }
    const int odd = ab_chance(r, 40);
    for (uint64_t p = 0; p < windows; p++) {
        word_of[p] = UINT32_MAX;
        if (odd && ab_chance(r, 20))
            word_of[p] = ab_chance(r, 50) ? UINT32_MAX : (uint32_t)ab_below(r, words);
        else if (!word_at(c, c->target, c->target_length, 0, p, &word_of[p]))
            word_of[p] = UINT32_MAX;
        if (word_of[p] != UINT32_MAX)
            c->index_table[word_of[p] + 1]++;
    }
    for (uint64_t word = 0; word < words; word++)
        c->index_table[word + 1] += c->index_table[word];
    c->position_count = c->index_table[words];
    for (uint64_t p = 0; p < windows; p++)
        if (word_of[p] != UINT32_MAX)
            c->positions[c->index_table[word_of[p]]++] = (uint32_t)p;
    free(word_of); /* each start has moved to its bucket's end, which is what the table holds */
    return 1;
}

int ab_case_make(ab_case *c, uint64_t seed)
{
    ab_random random = {.state = seed * UINT64_C(0x2545f4914f6cdd1d) + 1};
    ab_random *r = &random;
    memset(c, 0, sizeof *c);
    c->seed = seed;
    random_params(c, r);
    /* few bits make many hits */
    const uint32_t bits = word_bits(c->pattern);
    uint64_t most = bits < 10 ? 1800 : bits < 14 ? 5000 : bits < 18 ? 12000 : 30000;
    if (ab_chance(r, 5))
        most *= 3;
    if (!ab_genome_make(c, r, most) || (ab_chance(r, 8) && bits <= 16 && !make_index(c, r)) ||
        !make_work(c, r)) {
        ab_case_free(c);
        return 0;
    }
    return 1;
}

void ab_case_free(ab_case *c)
{
    free(c->target);
    free(c->query);
    free(c->index_table);
    free(c->positions);
    for (uint32_t i = 0; i < c->work_count; i++) {
        free(c->works[i].seeds);
        free(c->works[i].anchors);
    }
    memset(c, 0, sizeof *c);
}

void ab_case_describe(const ab_case *c, char *text, size_t size)
{
    static const char *const levels[] = {"find", "seeds", "anchors"};
    const hspz_engine_params *p = &c->params;
    snprintf(text, size,
             "%llu x %llu bases, seed %s, transitions %u, step %u, xdrop %d, K %d, entropy %u, ambiguous %u, "
             "dedup %u, "
             "max_hits %llu, %s, %u calls%s, batch %u",
             (unsigned long long)c->target_length, (unsigned long long)c->query_length, c->pattern,
             p->transitions, p->step, p->xdrop, p->hspthresh, p->entropy, p->ambiguous, p->dedup,
             (unsigned long long)p->max_hits, c->work_count > 0 ? levels[c->works[0].level] : "nothing",
             c->work_count, c->index_table != NULL ? ", host index" : "",
             c->work_count > 0 ? c->works[0].find.batch_size : 0);
}
