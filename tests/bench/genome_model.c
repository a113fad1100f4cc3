/* genome_model.c -- see genome_model.h */
#include "genome_model.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENT_MAX 6000u
#define TRANSITIONS 0.67   /* share of the substitutions */
#define SUBSTITUTIONS 0.90 /* share of the mutations; the rest is half insertions, half deletions */
#define LONG_INDEL 0.02    /* share of the indels that are long */
#define CG_KEPT 0.25       /* CG is that rare against chance */
#define GC_MEAN 0.41
#define GC_SPREAD 0.065   /* standard deviation between isochores */
#define ISOCHORE 100000.0 /* mean bases */
#define REGION 4000.0     /* mean bases of one rate of evolution */
#define CONSERVED 0.12    /* share of slow regions, which keep a fifth of the mutations */
#define GAIN 0.02         /* chance of a new element at the end of a region, each lineage */
#define TANDEM 0.05       /* share of the repeats that is tandem */
#define MARGIN 16         /* the ancestor is a sixteenth longer: lineages may lose bases */

/* Random numbers ------------------------------------------------------------------------------------------ */

typedef struct dice {
    uint64_t state;
} dice;

static uint64_t bits(dice *dice)
{
    uint64_t z = (dice->state += 0x9e3779b97f4a7c15ull); /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* In [0, 1). */
static double uniform(dice *dice)
{
    return (double)(bits(dice) >> 11) * 0x1p-53;
}

/* In [0, limit), limit >= 1. */
static uint64_t below(dice *dice, uint64_t limit)
{
    return bits(dice) % limit;
}

static uint64_t exponential(dice *dice, double mean)
{
    return 1 + (uint64_t)(-mean * log(1.0 - uniform(dice)));
}

static double normal(dice *dice)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += uniform(dice);
    return sum - 6;
}

/* Letters ------------------------------------------------------------------------------------------------- */

static uint8_t transition(uint8_t base)
{
    switch (base & 0xdf) {
    case 'A':
        return (uint8_t)('G' | (base & 0x20));
    case 'G':
        return (uint8_t)('A' | (base & 0x20));
    case 'C':
        return (uint8_t)('T' | (base & 0x20));
    default:
        return (uint8_t)('C' | (base & 0x20));
    }
}

static uint8_t complement(uint8_t base)
{
    switch (base & 0xdf) {
    case 'A':
        return (uint8_t)('T' | (base & 0x20));
    case 'T':
        return (uint8_t)('A' | (base & 0x20));
    case 'C':
        return (uint8_t)('G' | (base & 0x20));
    default:
        return (uint8_t)('C' | (base & 0x20));
    }
}

static uint8_t substitute(dice *dice, uint8_t base)
{
    if (uniform(dice) < TRANSITIONS)
        return transition(base);
    uint8_t other = complement(base); /* A<->T, C<->G are transversions, and so is the transition of that */
    return bits(dice) & 1 ? other : transition(other);
}

static void turn_around(uint8_t *bases, uint64_t count)
{
    for (uint64_t i = 0; i < (count + 1) / 2; i++) {
        uint8_t low = complement(bases[i]), high = complement(bases[count - 1 - i]);
        bases[i] = high;
        bases[count - 1 - i] = low;
    }
}

static uint8_t draw_base(dice *dice, double gc, uint8_t previous)
{
    uint8_t base;
    do {
        double u = uniform(dice);
        base = (uint8_t)(u < gc ? (u < gc / 2 ? 'G' : 'C') : (u < (1 + gc) / 2 ? 'A' : 'T'));
    } while (previous == 'C' && base == 'G' && uniform(dice) >= CG_KEPT);
    return base;
}

static void draw_background(dice *dice, uint8_t *bases, uint64_t count)
{
    uint8_t previous = 'A';
    for (uint64_t at = 0; at < count;) {
        uint64_t left = exponential(dice, ISOCHORE);
        double gc = GC_MEAN + GC_SPREAD * normal(dice);
        for (; left > 0 && at < count; left--, at++)
            previous = bases[at] = draw_base(dice, gc, previous);
    }
}

/* Evolution ----------------------------------------------------------------------------------------------- */

/* Letters of a lineage on their way out: never more than `room`. */
typedef struct lineage {
    uint8_t *bases;
    uint64_t count;
    uint64_t room;
} lineage;

static void emit(lineage *to, const uint8_t *bases, uint64_t count)
{
    uint64_t free_room = to->room - to->count;
    if (count > free_room)
        count = free_room;
    memcpy(to->bases + to->count, bases, (size_t)count);
    to->count += count;
}

static uint64_t indel_length(dice *dice)
{
    return uniform(dice) < LONG_INDEL ? exponential(dice, 300) : exponential(dice, 2);
}

/* One mutation at *from (which has bases up to `end`); moves it on. */
static void mutate(dice *dice, lineage *to, const uint8_t **from, const uint8_t *end)
{
    double kind = uniform(dice);
    uint64_t left = (uint64_t)(end - *from);
    if (kind < SUBSTITUTIONS) {
        uint8_t base = substitute(dice, **from);
        emit(to, &base, 1);
        ++*from;
    } else if (kind < (1 + SUBSTITUTIONS) / 2) {
        uint64_t length = indel_length(dice);
        *from += length < left ? length : left;
    } else {
        for (uint64_t length = indel_length(dice); length > 0; length--) {
            uint8_t base = (uint8_t)(draw_base(dice, GC_MEAN, 'A') | (**from & 0x20));
            emit(to, &base, 1);
        }
    }
}

/* Copies `count` bases with `rate` mutations a base. The distance to the next one is drawn, not each base. */
static void copy_mutated(dice *dice, lineage *to, const uint8_t *from, uint64_t count, double rate)
{
    const uint8_t *end = from + count;
    double scale = rate > 0 ? 1 / log1p(-(rate < 0.9 ? rate : 0.9)) : 0;
    while (from < end) {
        uint64_t left = (uint64_t)(end - from);
        double gap = rate > 0 ? log(1.0 - uniform(dice)) * scale : (double)left;
        uint64_t kept = gap < (double)left ? (uint64_t)gap : left;
        emit(to, from, kept);
        from += kept;
        if (from < end)
            mutate(dice, to, &from, end);
    }
}

/* Elements ------------------------------------------------------------------------------------------------ */

typedef struct family {
    uint8_t *consensus; /* capitals */
    uint64_t length;
    double age;    /* mutations a base that copies carry */
    double weight; /* cumulative share of the copies */
} family;

typedef struct elements {
    family *families;
    uint64_t count;
    double masked;
} elements;

static void free_elements(elements *elements)
{
    for (uint64_t i = 0; elements->families != NULL && i < elements->count; i++)
        free(elements->families[i].consensus);
    free(elements->families);
}

/* Short families have the most copies; ages run from young to old. */
static int make_elements(dice *dice, const genome_model *model, elements *elements)
{
    double sum = 0;
    elements->count = model->families;
    elements->masked = model->masked;
    elements->families = calloc(model->families, sizeof *elements->families);
    if (elements->families == NULL)
        return -1;
    for (uint64_t i = 0; i < model->families; i++) {
        family *family = &elements->families[i];
        family->length = i % 4 == 3 ? 1500 + below(dice, ELEMENT_MAX - 1500) : 120 + below(dice, 400);
        family->age = 0.13 + 0.22 * uniform(dice);
        family->weight = sum += i % 4 == 3 ? 1 : 4;
        family->consensus = malloc(family->length);
        if (family->consensus == NULL)
            return -1;
        draw_background(dice, family->consensus, family->length);
    }
    for (uint64_t i = 0; i < model->families; i++)
        elements->families[i].weight /= sum;
    return 0;
}

/* One copy, turned and cut short at random, soft-masked or not. */
static void emit_copy(dice *dice, const elements *elements, lineage *to, double age_scale)
{
    double pick = uniform(dice);
    const family *family = elements->families;
    while (family < elements->families + elements->count - 1 && family->weight < pick)
        family++;
    uint64_t start =
        family->length > 1000 ? below(dice, family->length - 100) : below(dice, family->length / 8);
    uint64_t begin = to->count;
    copy_mutated(dice, to, family->consensus + start, family->length - start,
                 family->age * age_scale * (0.5 + uniform(dice)));
    if (bits(dice) & 1)
        turn_around(to->bases + begin, to->count - begin);
    if (uniform(dice) < elements->masked)
        for (uint64_t at = begin; at < to->count; at++)
            to->bases[at] |= 0x20;
}

/* Micro- and minisatellites: a unit again and again, slightly worn. */
static void emit_tandem(dice *dice, const elements *elements, lineage *to)
{
    uint8_t unit[64];
    bool micro = bits(dice) % 4 != 0, lower = uniform(dice) < elements->masked;
    uint64_t length = micro ? 1 + below(dice, 6) : 10 + below(dice, sizeof unit - 10);
    uint64_t copies = micro ? 5 + exponential(dice, 12) : 2 + exponential(dice, 6);
    draw_background(dice, unit, length);
    for (uint64_t i = 0; lower && i < length; i++)
        unit[i] |= 0x20;
    for (; copies > 0; copies--)
        copy_mutated(dice, to, unit, length, 0.03);
}

/* Lays copies over the background until their share is reached. */
static void lay_repeats(dice *dice, const genome_model *model, const elements *elements, uint8_t *bases,
                        uint64_t count)
{
    /* copies overlap: a share s of the genome is hit by -log(1-s) of its length */
    double wanted = -log(1 - model->repeats) * (double)count, tandem = 0, laid = 0;
    while (laid < wanted) {
        uint64_t place = below(dice, count);
        lineage to = {.bases = bases + place, .room = count - place};
        bool is_tandem = tandem < TANDEM * laid;
        if (is_tandem)
            emit_tandem(dice, elements, &to);
        else
            emit_copy(dice, elements, &to, 1);
        tandem += is_tandem ? (double)to.count : 0;
        laid += (double)to.count;
    }
}

/* The pair ------------------------------------------------------------------------------------------------ */

/* A segment of the ancestor evolves; regions differ in rate and now and then gain an element. */
static void evolve(dice *dice, const genome_model *model, const elements *elements, lineage *to,
                   const uint8_t *from, uint64_t count)
{
    for (uint64_t at = 0; at < count && to->count < to->room;) {
        uint64_t length = exponential(dice, REGION);
        double rate = model->divergence / 2;
        rate *= uniform(dice) < CONSERVED ? 0.2 : 0.7 + 0.6 * uniform(dice);
        if (length > count - at)
            length = count - at;
        copy_mutated(dice, to, from + at, length, rate);
        if (uniform(dice) < GAIN)
            emit_copy(dice, elements, to, 0.5);
        at += length;
    }
}

typedef struct segment {
    uint64_t start;
    uint64_t length;
    bool inverted;
} segment;

/* Cuts the ancestor, inverts some segments and lets some change places; NULL when memory is short. */
static segment *make_segments(dice *dice, const genome_model *model, uint64_t size, uint64_t *count)
{
    uint64_t capacity = 64 + 2 * size / model->segment, made = 0, at = 0;
    segment *segments = calloc(capacity, sizeof *segments);
    if (segments == NULL)
        return NULL;
    while (at < size) {
        uint64_t length = exponential(dice, (double)model->segment);
        if (length > size - at || made + 1 == capacity)
            length = size - at;
        segments[made++] =
            (segment){.start = at, .length = length, .inverted = uniform(dice) < model->inverted};
        at += length;
    }
    for (uint64_t i = 0; i < made; i++) {
        if (uniform(dice) >= model->moved / 2) /* an exchange moves two */
            continue;
        uint64_t other = below(dice, made);
        segment kept = segments[i];
        segments[i] = segments[other];
        segments[other] = kept;
    }
    *count = made;
    return segments;
}

/* The ancestor's segment is turned in place for the time of the copy. */
static void evolve_segments(dice *dice, const genome_model *model, const elements *elements, lineage *to,
                            uint8_t *ancestor, const segment *segments, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint8_t *from = ancestor + segments[i].start;
        if (segments[i].inverted)
            turn_around(from, segments[i].length);
        evolve(dice, model, elements, to, from, segments[i].length);
        if (segments[i].inverted)
            turn_around(from, segments[i].length);
    }
}

/* Fills up with background what deletions left open, then adds gaps of the assembly and ambiguity codes. */
static void finish(dice *dice, const genome_model *model, lineage *to)
{
    static const char codes[] = "RYSWKMBDHV";
    draw_background(dice, to->bases + to->count, to->room - to->count);
    to->count = to->room;
    for (uint64_t i = 0; i < model->n_runs; i++) {
        uint64_t length = 50 + exponential(dice, 5000), most = to->room / 100 + 1;
        length = length > 50000 ? 50000 : length;
        length = length > most ? most : length;
        memset(to->bases + below(dice, to->room - length + 1), 'N', (size_t)length);
    }
    for (uint64_t i = 0; i < model->iupac; i++)
        to->bases[below(dice, to->room)] = (uint8_t)codes[below(dice, sizeof codes - 1)];
}

genome_model genome_model_defaults(uint64_t size)
{
    return (genome_model){.size = size,
                          .seed = 1,
                          .divergence = 0.15,
                          .repeats = 0.42,
                          .masked = 0.57,
                          .inverted = 0.15,
                          .moved = 0.15,
                          .segment = size / 40 < 500000 ? size / 40 + 100 : 500000,
                          .families = 400,
                          .n_runs = size / 4000000 + 1,
                          .iupac = size / 1000000};
}

int genome_model_make(const genome_model *model, uint8_t **target, uint8_t **query)
{
    uint64_t ancestral = model->size + model->size / MARGIN, segment_count = 0;
    dice dice = {.state = model->seed};
    elements elements = {0};
    segment *segments = NULL;
    uint8_t *ancestor = malloc(ancestral);
    lineage first = {.bases = malloc(model->size), .room = model->size};
    lineage second = {.bases = malloc(model->size), .room = model->size};
    int result = -1;
    if (ancestor != NULL && first.bases != NULL && second.bases != NULL &&
        make_elements(&dice, model, &elements) == 0)
        segments = make_segments(&dice, model, ancestral, &segment_count);
    if (segments != NULL) {
        draw_background(&dice, ancestor, ancestral);
        lay_repeats(&dice, model, &elements, ancestor, ancestral);
        evolve(&dice, model, &elements, &first, ancestor, ancestral);
        evolve_segments(&dice, model, &elements, &second, ancestor, segments, segment_count);
        finish(&dice, model, &first);
        finish(&dice, model, &second);
        result = 0;
    }
    if (result != 0) {
        free(first.bases);
        free(second.bases);
        first.bases = second.bases = NULL;
    }
    *target = first.bases;
    *query = second.bases;
    free_elements(&elements);
    free(segments);
    free(ancestor);
    return result;
}
