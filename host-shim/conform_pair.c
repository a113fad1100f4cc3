/* conform_pair.c -- a pair of sequences that exercises the rules, and its seeds and hits in the plainest C: what a host does
 * that works at levels (b) and (c). Section numbers are SPEC's. */
#include "conform.h"

#include <stdlib.h>
#include <string.h>

#define TARGET_BASES 24000u
#define WIDTH 19u
#define CARE 12u
#define WORDS (1u << (2 * CARE))

static const char pattern[] = "1110100110010101111";
static const char bases_of[] = "ACGT";

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void put_lower(uint8_t *bases, uint32_t from, uint32_t count)
{
    for (uint32_t i = from; i < from + count; i++)
        bases[i] = (uint8_t)(bases[i] | 0x20);
}

/* Records of different lengths, a repeat, soft-masking, N, an IUPAC code and an X. */
static void make_target(uint8_t *bases, uint64_t *random)
{
    for (uint32_t i = 0; i < TARGET_BASES; i++)
        bases[i] = (uint8_t)bases_of[next_random(random) & 3];
    for (uint32_t copy = 1; copy < 6; copy++)
        memcpy(bases + 3000 * copy, bases + 500, 160);
    for (uint32_t i = 0; i < 60; i++)
        bases[20000 + i] = (uint8_t) "CA"[i & 1];
    put_lower(bases, 7000, 300);
    memset(bases + 9000, 'N', 50);
    bases[11000] = 'R';
    bases[11500] = 'X';
    bases[5000] = bases[17000] = '&';
}

static uint8_t complement(uint8_t base)
{
    switch (base) {
    case 'A':
        return 'T';
    case 'C':
        return 'G';
    case 'G':
        return 'C';
    case 'T':
        return 'A';
    default:
        return base;
    }
}

/* The target with about 12 % substitutions; a middle part turned round, so that the minus strand finds something. */
static void make_query(uint8_t *query, const uint8_t *target, uint64_t *random)
{
    memcpy(query, target, TARGET_BASES);
    for (uint32_t i = 12000; i < 16000; i++)
        query[i] = complement(target[12000 + 15999 - i]);
    for (uint32_t i = 0; i < TARGET_BASES; i++)
        if (strchr(bases_of, query[i]) != NULL && next_random(random) % 100 < 12)
            query[i] = (uint8_t)bases_of[next_random(random) & 3];
}

/* Section 3: the word at a window, or false when a base of it is no capital A, C, G, T. */
static bool word_at(const uint8_t *window, uint32_t *word)
{
    *word = 0;
    for (uint32_t i = 0; i < WIDTH; i++) {
        const char *found = window[i] != '\0' ? strchr(bases_of, window[i]) : NULL;
        if (found == NULL)
            return false;
        if (pattern[i] == '1')
            *word = *word << 2 | (uint32_t)(found - bases_of);
    }
    return true;
}

/* Section 3 with step 1: positions 1 .. length-width, ascending within a bucket. */
static void make_index(hspz__pair *p)
{
    uint32_t word;
    for (uint64_t i = 1; i + WIDTH <= p->target_length; i++)
        if (word_at(p->target + i, &word)) {
            p->index_table[word]++;
            p->position_count++;
        }
    for (uint32_t w = 1; w < WORDS; w++)
        p->index_table[w] += p->index_table[w - 1];
    for (uint64_t i = p->target_length - WIDTH; i >= 1; i--)
        if (word_at(p->target + i, &word))
            p->positions[--p->index_table[word]] = (uint32_t)i;
    /* the fill left the start of each bucket; shift to its end */
    memmove(p->index_table, p->index_table + 1, (WORDS - 1) * sizeof *p->index_table);
    p->index_table[WORDS - 1] = (uint32_t)p->position_count;
}

/* Section 4: the exact word, then the transition of each care position from the last to the first. */
static void make_seeds(hspz__pair *p)
{
    uint32_t word;
    for (uint64_t i = 0; i + WIDTH <= p->query_length; i++) {
        if (!word_at(p->query + i, &word))
            continue;
        p->seeds[p->seed_count++] = (uint64_t)word << 32 | i;
        for (uint32_t care = 0; care < CARE; care++)
            p->seeds[p->seed_count++] = (uint64_t)(word ^ 2u << 2 * care) << 32 | i;
    }
}

static uint32_t bucket_start(const hspz__pair *p, uint32_t word)
{
    return word == 0 ? 0 : p->index_table[word - 1];
}

/* Section 5: buckets expand backwards; an anchor lies behind the window on both sides. */
static bool make_anchors(hspz__pair *p)
{
    uint64_t total = 0;
    for (uint64_t s = 0; s < p->seed_count; s++) {
        uint32_t word = (uint32_t)(p->seeds[s] >> 32);
        total += p->index_table[word] - bucket_start(p, word);
    }
    p->anchors = calloc(total + 1, sizeof *p->anchors);
    if (p->anchors == NULL)
        return false;
    for (uint64_t s = 0; s < p->seed_count; s++) {
        uint32_t word = (uint32_t)(p->seeds[s] >> 32), query = (uint32_t)p->seeds[s];
        for (uint32_t at = p->index_table[word]; at > bucket_start(p, word); at--)
            p->anchors[p->anchor_count++] =
                (hspz_anchor){.target_end = p->positions[at - 1] + WIDTH, .query_end = query + WIDTH};
    }
    return true;
}

bool hspz__pair_make(hspz__pair *p)
{
    uint64_t random = 20240229;
    memset(p, 0, sizeof *p);
    p->target_length = p->query_length = TARGET_BASES;
    p->index_entries = WORDS;
    p->target = malloc(TARGET_BASES);
    p->query = malloc(TARGET_BASES);
    p->seeds = calloc((size_t)TARGET_BASES * (CARE + 1), sizeof *p->seeds);
    p->index_table = calloc(WORDS, sizeof *p->index_table);
    p->positions = calloc(TARGET_BASES, sizeof *p->positions);
    if (p->target != NULL && p->query != NULL && p->seeds != NULL && p->index_table != NULL &&
        p->positions != NULL) {
        make_target(p->target, &random);
        make_query(p->query, p->target, &random);
        make_index(p);
        make_seeds(p);
        if (make_anchors(p))
            return true;
    }
    hspz__pair_free(p);
    return false;
}

void hspz__pair_free(hspz__pair *p)
{
    free(p->target);
    free(p->query);
    free(p->seeds);
    free(p->anchors);
    free(p->index_table);
    free(p->positions);
    memset(p, 0, sizeof *p);
}
