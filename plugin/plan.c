/* plan.c -- from parameters to numbers; see plan.h.
 *
 * Idea: everything that SPEC sections 2 to 6 derive from parameters alone is derived here, once, in the order of the
 * sections: symbol classes, substitution matrix, seed word and its variants, gate, indexed positions, acceptance.
 */
#include "plan.h"

#include "host_services.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* U counts as T; O is what is no nucleotide code. */
#define A HSPZ__A
#define C HSPZ__C
#define G HSPZ__G
#define T HSPZ__T
#define L HSPZ__LOWER
#define N HSPZ__N
#define I HSPZ__IUPAC
#define X HSPZ__LETTER_X
#define O 0xff
/* clang-format off */
const uint8_t hspz__class_of[256] = {
    [0 ... '&' - 1] = O, ['&'] = HSPZ__SEPARATOR, ['&' + 1 ... 'A' - 1] = O,
    /*       A  B  C  D  E  F  G  H  I  J  K  L  M  N  O  P  Q  R  S  T  U  V  W  X  Y  Z */
    ['A'] = A, I, C, I, O, O, G, I, O, O, I, O, I, N, O, O, O, I, I, T, T, I, I, X, I, O,
    ['Z' + 1 ... 'a' - 1] = O,
    ['a'] = L, I, L, I, O, O, L, I, O, O, I, O, I, N, O, O, O, I, I, L, L, I, I, X, I, O,
    ['z' + 1 ... 255] = O,
};
/* clang-format on */
#undef A
#undef C
#undef G
#undef T
#undef L
#undef N
#undef I
#undef X
#undef O

/* What a field means that a caller of an older minor version does not send. */
static const hspz_engine_params defaults = {
    .struct_size = sizeof(hspz_engine_params),
    .device = HSPZ_DEVICE_AUTO,
    .seed_pattern = "1110100110010101111",
    .transitions = 1,
    .step = 1,
    .xdrop = 910,
    .hspthresh = 3000,
    .entropy = 1,
    .ambiguous = HSPZ_AMBIGUOUS_NONE,
    .bad_score = -1000,
    .fill_score = -100,
    .scores = {91, -114, -31, -123, -114, 100, -125, -31, -31, -125, 100, -114, -123, -31, -114, 91},
    .dedup = HSPZ_DEDUP_CHUNK,
    .query_slots = 1,
    .max_hits = HSPZ_MAX_HITS_DEFAULT,
};

static hspz_status check_range(const char *field, int64_t value, int64_t least, int64_t most,
                               hspz_error *error)
{
    if (value >= least && value <= most)
        return HSPZ_OK;
    return hspz__fail(error, HSPZ_E_ARGUMENT, "%s = %lld is outside %lld..%lld", field, (long long)value,
                      (long long)least, (long long)most);
}

static hspz_status check_params(const hspz_engine_params *p, hspz_error *error)
{
    const struct {
        const char *field;
        int64_t value, least, most;
    } rows[] = {
        {"transitions", p->transitions, 0, 1},
        {"step", p->step, 1, INT32_MAX},
        {"xdrop", p->xdrop, 1, INT32_MAX},
        {"hspthresh", p->hspthresh, 1, INT32_MAX},
        {"entropy", p->entropy, 0, 1},
        {"ambiguous", p->ambiguous, 0, HSPZ_AMBIGUOUS_IUPAC},
        {"ambiguous_reward", p->ambiguous_reward, 0, INT32_MAX},
        {"ambiguous_penalty", p->ambiguous_penalty, 0, INT32_MAX},
        {"dedup", p->dedup, 0, HSPZ_DEDUP_COUNT - 1},
        {"query_slots", p->query_slots, 1, 16},
        {"max_hits", p->max_hits > UINT32_MAX ? INT64_MAX : (int64_t)p->max_hits, 0, UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hspz_status status = check_range(rows[i].field, rows[i].value, rows[i].least, rows[i].most, error);
        if (status != HSPZ_OK)
            return status;
    }
    return HSPZ_OK;
}

/* Section 3: which bases make the word, and where each goes in it; section 4: its variants. */
static hspz_status init_word(hspz__plan *plan, const hspz_engine_params *p, hspz_error *error)
{
    const char *pattern = p->seed_pattern;
    size_t length = pattern != NULL ? strnlen(pattern, HSPZ__PATTERN_MAX + 1) : 0;
    if (length == 0 || length > HSPZ__PATTERN_MAX)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "the seed pattern \"%.40s\" must be 1..%u characters long",
                          pattern != NULL ? pattern : "", HSPZ__PATTERN_MAX);
    for (size_t i = 0; i < length; i++) {
        if (pattern[i] != '0' && pattern[i] != '1' && pattern[i] != 'T')
            return hspz__fail(error, HSPZ_E_ARGUMENT,
                              "the seed pattern \"%s\" holds '%c'; only 1, 0 and T may appear", pattern,
                              pattern[i]);
        if (pattern[i] == '0')
            continue;
        plan->care_offset[plan->care_count] = (uint8_t)i;
        plan->care_bits[plan->care_count] = pattern[i] == '1' ? 2 : 1;
        plan->word_bits += plan->care_bits[plan->care_count];
        plan->care_count++;
    }
    if (plan->word_bits < 8 || plan->word_bits > 30)
        return hspz__fail(
            error, HSPZ_E_ARGUMENT,
            "the seed pattern \"%s\" has a word of %u bits (2 for a 1, 1 for a T); the range is 8..30",
            pattern, plan->word_bits);
    memcpy(plan->pattern, pattern, length + 1);
    plan->pattern_length = (uint32_t)length;

    plan->variant_count = 1; /* the exact word: mask 0 */
    uint32_t shift = 0;
    for (uint32_t i = plan->care_count; i-- > 0;) {
        plan->care_shift[i] = (uint8_t)shift;
        if (plan->care_bits[i] == 2 && p->transitions)
            plan->variant_mask[plan->variant_count++] = UINT32_C(2) << shift;
        shift += plan->care_bits[i];
    }
    return HSPZ_OK;
}

/* Sets row and column of `symbol` against the classes 0..last. */
static void set_symbol(hspz__plan *plan, int symbol, int last, int32_t score)
{
    for (int other = 0; other <= last; other++) {
        plan->score[symbol][other] = score;
        plan->score[other][symbol] = score;
    }
}

/* Section 2: later rules overwrite earlier ones, in the order L, N, X (IUPAC), letter X, E. */
static void init_scores(hspz__plan *plan, const hspz_engine_params *p)
{
    for (int t = 0; t < 4; t++)
        for (int q = 0; q < 4; q++)
            plan->score[t][q] = p->scores[4 * t + q];
    set_symbol(plan, HSPZ__LOWER, HSPZ__LOWER, p->bad_score);
    if (p->ambiguous == HSPZ_AMBIGUOUS_NONE) {
        set_symbol(plan, HSPZ__N, HSPZ__N, p->bad_score);
    } else {
        set_symbol(plan, HSPZ__N, HSPZ__LOWER, -p->ambiguous_penalty);
        plan->score[HSPZ__N][HSPZ__N] = p->ambiguous_reward;
    }
    if (p->ambiguous == HSPZ_AMBIGUOUS_IUPAC) {
        set_symbol(plan, HSPZ__IUPAC, HSPZ__N, -p->ambiguous_penalty);
        plan->score[HSPZ__IUPAC][HSPZ__IUPAC] = p->ambiguous_reward;
    } else {
        set_symbol(plan, HSPZ__IUPAC, HSPZ__N, p->bad_score); /* what stays of this: L and N */
        set_symbol(plan, HSPZ__IUPAC, HSPZ__T, p->fill_score);
        plan->score[HSPZ__IUPAC][HSPZ__IUPAC] = p->fill_score;
    }
    plan->iupac_other = plan->score[HSPZ__IUPAC][HSPZ__IUPAC];
    if (p->ambiguous == HSPZ_AMBIGUOUS_IUPAC && p->dedup == HSPZ_DEDUP_LASTZ)
        plan->iupac_other = -p->ambiguous_penalty;
    set_symbol(plan, HSPZ__LETTER_X, HSPZ__IUPAC, p->bad_score);
    plan->score[HSPZ__LETTER_X][HSPZ__LETTER_X] = p->bad_score;
    /* -10 x xdrop; int32 ends before that for an absurd xdrop, and any score below -xdrop stops a scan alike. */
    int64_t end = -10 * (int64_t)p->xdrop;
    set_symbol(plan, HSPZ__SEPARATOR, HSPZ__LETTER_X, end < INT32_MIN ? INT32_MIN : (int32_t)end);
}

/* Section 6: (float)t >= (float)K is monotonic in t, so that one integer comparison decides it. */
static int32_t least_total(const hspz_engine_params *p)
{
    int32_t least = p->hspthresh;
    if (p->dedup == HSPZ_DEDUP_LASTZ) /* section 7: compared as integers there */
        return least;
    while (least > 1 && (float)(least - 1) >= (float)p->hspthresh)
        least--;
    return least;
}

hspz_status hspz__plan_init(hspz__plan *plan, const hspz_engine_params *params, hspz_error *error)
{
    hspz_engine_params p = defaults;
    memcpy(&p, params, params->struct_size < sizeof p ? params->struct_size : sizeof p);
    memset(plan, 0, sizeof *plan);

    hspz_status status = check_params(&p, error);
    if (status == HSPZ_OK)
        status = init_word(plan, &p, error);
    if (status != HSPZ_OK)
        return status;
    init_scores(plan, &p);
    plan->step = p.step;
    plan->xdrop = p.xdrop;
    plan->hspthresh = p.hspthresh;
    plan->keep_total = least_total(&p);
    plan->entropy = (int32_t)p.entropy;
    plan->dedup = p.dedup;
    plan->query_slots = p.query_slots;
    plan->max_hits = p.max_hits;
    return HSPZ_OK;
}

uint64_t hspz__plan_target_positions(const hspz__plan *plan, uint64_t length, uint64_t *first)
{
    const uint64_t w = plan->pattern_length;
    const uint64_t s = plan->step;
    const uint64_t off = (w + 1) % s;
    *first = s - off;
    if (plan->dedup ==
        HSPZ_DEDUP_LASTZ) { /* all p >= 0 with p = -(w+1) mod s whose window lies in the block */
        *first = (s - off) % s;
        return length < *first + w ? 0 : (length - w - *first) / s + 1;
    }
    return length < w ? 0 : (length - w + off) / s;
}

/* Entropy of the matching bases, at most 1, in the arithmetic of sections 6 and 7. */
static double entropy_of(const hspz__plan *plan, double columns, const uint32_t matches[4])
{
    double terms[4], fused = 0.0;
    for (int base = 0; base < 4; base++) {
        terms[base] = 0.0;
        if (matches[base] == 0)
            continue;
        double p = (double)matches[base] / columns;
        double logarithm = log(p);
        terms[base] = p * logarithm;
        fused = fma(p, logarithm, fused);
    }
    if (plan->dedup == HSPZ_DEDUP_LASTZ)
        return -(terms[0] + terms[1] + terms[2] + terms[3]) / log(4.0);
    return -fused / (double)logf(4.0f);
}

/* (int)value; a float-rounded total near the end of the range may reach 2^31. */
static int32_t to_int(double value)
{
    return value >= (double)INT32_MAX ? INT32_MAX : (int32_t)value;
}

int32_t hspz__plan_accept(const hspz__plan *plan, int32_t total, uint32_t extent, const uint32_t matches[4])
{
    const int64_t k = plan->hspthresh;
    double e = 1.0;
    if (plan->entropy && total >= k && total <= 3 * k &&
        (uint64_t)matches[0] + matches[1] + matches[2] + matches[3] >= 20)
        e = entropy_of(plan, (double)extent + 1.0, matches);
    const int32_t score = to_int((double)total * e);
    const int32_t judged = plan->dedup == HSPZ_DEDUP_LASTZ ? score : to_int((double)(float)total * e);
    return judged >= k ? score : INT32_MIN;
}
