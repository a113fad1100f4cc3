/* cases.c -- see cases.h. */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint64_t next_random(void)
{
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = state;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

void start_random(uint64_t seed)
{
    state = seed;
}

uint64_t below(uint64_t n)
{
    return n > 0 ? next_random() % n : 0;
}

int one_in(uint64_t n)
{
    return below(n) == 0;
}

void *get_memory(size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return memory;
}

/* ---- sequences */

static uint8_t random_base(void)
{
    return (uint8_t) "ACGT"[below(4)];
}

static text random_text(uint64_t length)
{
    text t = {get_memory(length), length};
    for (uint64_t i = 0; i < length; i++)
        t.bases[i] = random_base();
    return t;
}

/* Copies stretches of `from` into `to`, mutated at a rate of one in `rate`. */
static void copy_stretches(text *to, const text *from, uint64_t count, uint64_t longest, uint64_t rate)
{
    for (uint64_t k = 0; k < count; k++) {
        const uint64_t least = to->length < from->length ? to->length : from->length;
        uint64_t length = 1 + below(longest);
        length = length < least ? length : least;
        if (length == 0)
            continue;
        const uint64_t a = below(from->length - length + 1), b = below(to->length - length + 1);
        memmove(to->bases + b, from->bases + a, length);
        for (uint64_t i = 0; i < length; i++)
            if (one_in(rate))
                to->bases[b + i] = random_base();
    }
}

static void tandem(text *t, uint64_t count)
{
    for (uint64_t k = 0; k < count && t->length > 8; k++) {
        const uint64_t period = 1 + below(6), length = below(t->length / 8 + 1),
                       at = below(t->length - length + 1);
        for (uint64_t i = period; i < length; i++)
            t->bases[at + i] = t->bases[at + i - period];
    }
}

static void special(text *t, uint64_t count, uint64_t kind)
{
    static const char iupac[] = "RYSWKMBDHVryswkmbdhv";
    for (uint64_t k = 0; k < count && t->length > 0; k++) {
        uint64_t length = 1 + below(kind == 0 ? 200 : 30);
        const uint64_t at = below(t->length);
        length = length < t->length - at ? length : t->length - at;
        for (uint64_t i = at; i < at + length; i++) {
            uint8_t *b = &t->bases[i];
            if (kind == 0 && *b >= 'A' && *b <= 'Z')
                *b = (uint8_t)(*b - 'A' + 'a');
            else if (kind == 1)
                *b = one_in(9) ? 'n' : 'N';
            else if (kind == 2 && one_in(3))
                *b = (uint8_t)iupac[below(sizeof iupac - 1)];
            else if (kind == 3)
                *b = one_in(2) ? 'X' : 'x';
            else if (kind == 4 && *b == 'T')
                *b = 'U';
        }
        if (kind == 5)
            t->bases[at] = '&';
    }
}

static void reverse_stretch(text *t)
{
    const uint64_t length = below(t->length / 3 + 1), at = below(t->length - length + 1);
    for (uint64_t i = 0; i < length / 2; i++) {
        const uint8_t b = t->bases[at + i];
        t->bases[at + i] = t->bases[at + length - 1 - i];
        t->bases[at + length - 1 - i] = b;
    }
    for (uint64_t i = at; i < at + length; i++) {
        const char *const from = "ACGT", *at_letter = strchr(from, t->bases[i]);
        t->bases[i] = (uint8_t) "TGCA"[at_letter != NULL ? at_letter - from : 0];
    }
}

static void make_pair(text *target, text *query, uint64_t size)
{
    *target = random_text(below(size) + (one_in(20) ? 0 : 40));
    *query = random_text(below(size) + (one_in(20) ? 0 : 40));
    if (one_in(3)) {
        copy_stretches(target, target, 1 + below(20), 300, 3 + below(30));
        tandem(target, below(4));
    }
    if (target->length > 0 && query->length > 0) {
        copy_stretches(query, target, 1 + below(12), size, one_in(3) ? 1000000 : 2 + below(60));
        if (one_in(2))
            reverse_stretch(query);
    }
    tandem(query, below(3));
    for (uint64_t kind = 0; kind < 6; kind++) {
        if (one_in(3))
            special(target, below(8), kind);
        if (one_in(3))
            special(query, below(8), kind);
    }
}

/* ---- random cases */

static const char *const patterns[] = {
    "1110100110010101111",     "11110111", "110100110101",  "1T10T1011",     "TTTTTTTTTTTT",
    "10110010110100000001001", "111111",   "1001001001001", "11111110111111"};

static uint32_t word_bits(const char *pattern)
{
    uint32_t bits = 0;
    for (; *pattern != '\0'; pattern++)
        bits += *pattern == '1' ? 2 : *pattern == 'T' ? 1 : 0;
    return bits;
}

/* The word of the window at p, or -1. */
static int64_t word_at(const char *pattern, const uint8_t *bases, uint64_t length, uint64_t p)
{
    const char *const letters = "ACGT";
    int64_t word = 0;
    for (uint64_t i = 0; pattern[i] != '\0'; i++) {
        const char *at = p + i < length && bases[p + i] != '\0'
                             ? strchr(letters, bases[p + i] == 'U' ? 'T' : bases[p + i])
                             : NULL;
        if (at == NULL)
            return -1;
        if (pattern[i] == '1')
            word = word << 2 | (at - letters);
        else if (pattern[i] == 'T')
            word = word << 1 | ((at - letters) & 1);
    }
    return word;
}

static void make_params(hspz_engine_params *p, uint32_t max_bits)
{
    static const int32_t hoxd70[16] = {91,  -114, -31, -123, -114, 100, -125, -31,
                                       -31, -125, 100, -114, -123, -31, -114, 91};
    *p = (hspz_engine_params){.struct_size = sizeof *p, .query_slots = 1};
    do
        p->seed_pattern = patterns[below(sizeof patterns / sizeof *patterns)];
    while (word_bits(p->seed_pattern) > max_bits);
    p->transitions = !one_in(4);
    p->step = one_in(3) ? 1 + (uint32_t)below(7) : 1;
    p->xdrop = one_in(3) ? 1 + (int32_t)below(2000) : 910;
    p->hspthresh = one_in(3) ? 3000 : 500 + (int32_t)below(3000);
    p->entropy = !one_in(4);
    p->ambiguous = one_in(2) ? 0 : (uint32_t)below(3);
    p->ambiguous_reward = (int32_t)below(120);
    p->ambiguous_penalty = (int32_t)below(120);
    p->bad_score = one_in(8) ? -(int32_t)below(300) : -1000;
    p->fill_score = one_in(8) ? -(int32_t)below(300) : -100;
    memcpy(p->scores, hoxd70, sizeof hoxd70);
    if (one_in(6))
        for (int i = 0; i < 16; i++)
            p->scores[i] = i % 5 == 0 ? 1 + (int32_t)below(300) : -(int32_t)below(400);
    if (one_in(12)) { /* large numbers */
        p->xdrop = 1 << 26;
        p->hspthresh = (int32_t)below(1 << 29) + 1;
        for (int i = 0; i < 16; i++)
            p->scores[i] = i % 5 == 0 ? 5000000 + (int32_t)below(3000000) : -(int32_t)below(30000000);
    }
    p->dedup = (uint32_t)below(HSPZ_DEDUP_COUNT);
    p->max_hits = one_in(3) ? HSPZ_MAX_HITS_DEFAULT : 1 + below(one_in(6) ? 30 : 3000);
}

static void make_seeds(job *j)
{
    const uint64_t window = strlen(j->params.seed_pattern);
    const uint32_t bits = word_bits(j->params.seed_pattern);
    const uint64_t starts = j->query.length >= window ? j->query.length - window + 1 : 0;
    j->count = starts > 0 ? below(2 * starts) : 0;
    j->seeds = get_memory(j->count * sizeof *j->seeds);
    const int ordered = one_in(2);
    for (uint64_t i = 0; i < j->count; i++) {
        const uint64_t position = ordered ? i * starts / j->count : below(starts);
        const int64_t word = word_at(j->params.seed_pattern, j->query.bases, j->query.length, position);
        j->seeds[i] =
            (word >= 0 && j->strand == 0 && !one_in(4) ? (uint64_t)word : below((uint64_t)1 << bits)) << 32 |
            position;
    }
}

static void make_anchors(job *j)
{
    const uint64_t reach = j->target.length < j->query.length ? j->target.length : j->query.length;
    j->count = below(3000);
    j->anchors = get_memory(j->count * sizeof *j->anchors);
    uint64_t diagonal = 0;
    for (uint64_t i = 0; i < j->count; i++) {
        hspz_anchor *a = &j->anchors[i];
        if (one_in(30))
            diagonal = below(reach + 1);
        if (one_in(2)) {
            a->target_end = (uint32_t)below(j->target.length + 1);
            a->query_end = (uint32_t)below(j->query.length + 1);
        } else { /* many on one diagonal, duplicates too */
            a->query_end = (uint32_t)below(reach + 1);
            a->target_end = (uint32_t)(a->query_end + diagonal <= j->target.length ? a->query_end + diagonal
                                                                                   : a->query_end);
        }
    }
}

static int compare_positions(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* A host's own index: some of the right positions, some at words that are not theirs. */
static void make_index(job *j)
{
    const uint64_t window = strlen(j->params.seed_pattern);
    const uint32_t bits = word_bits(j->params.seed_pattern);
    const uint64_t starts = j->target.length >= window ? j->target.length - window + 1 : 0,
                   words = (uint64_t)1 << bits;
    uint64_t *pairs = get_memory(2 * starts * sizeof *pairs), count = 0;
    for (uint64_t p = 0; p < starts; p++) {
        const int64_t word = word_at(j->params.seed_pattern, j->target.bases, j->target.length, p);
        if (word >= 0 && !one_in(5))
            pairs[count++] = (uint64_t)word << 32 | p;
        if (one_in(10))
            pairs[count++] = below(words) << 32 | p;
    }
    qsort(pairs, count, sizeof *pairs, compare_positions);
    j->index_entries = words;
    j->index_table = get_memory(words * sizeof *j->index_table);
    j->positions = get_memory(count * sizeof *j->positions);
    uint64_t i = 0;
    for (uint64_t word = 0; word < words; word++) {
        for (; i < count && pairs[i] >> 32 == word; i++)
            if (j->position_count == 0 || i == 0 || pairs[i] != pairs[i - 1])
                j->positions[j->position_count++] = (uint32_t)pairs[i];
        j->index_table[word] = (uint32_t)j->position_count;
    }
    free(pairs);
}

void make_job(job *j, uint64_t seed, uint64_t size, uint32_t max_bits, const char *pattern)
{
    start_random(seed);
    memset(j, 0, sizeof *j);
    make_params(&j->params, max_bits);
    if (pattern != NULL)
        j->params.seed_pattern = pattern;
    make_pair(&j->target, &j->query, one_in(4) ? size * 4 : size);
    j->strand = (uint32_t)below(2);
    j->level = one_in(2) ? 0 : (uint32_t)below(3);
    j->begin = one_in(3) ? below(j->query.length + 1) : 0;
    j->end = one_in(4) ? j->begin + below(j->query.length + 1) : j->query.length;
    j->interval = one_in(2) ? j->query.length + 1 : 1 + j->query.length / (1 + below(4));
    j->batch_size = one_in(3) ? 250000 : 1 + (uint32_t)below(one_in(4) ? 5 : 2000);
    if (j->level == 1)
        make_seeds(j);
    if (j->level == 2)
        make_anchors(j);
    if (one_in(5) && pattern == NULL)
        make_index(j);
}

void free_job(job *j)
{
    free(j->target.bases);
    free(j->query.bases);
    free(j->seeds);
    free(j->anchors);
    free(j->index_table);
    free(j->positions);
}
