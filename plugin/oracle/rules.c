/* rules.c -- SPEC sections 3, 4 and 6: what follows from the parameters alone.
 *
 * Idea: parameters are checked once, field by field, and turned into numbers that the stages only read: the layout of the
 * seed word, the transitions in the order in which seeds are emitted, and the least total that passes the gate.
 */
#include "oracle.h"

#include <limits.h>
#include <string.h>

/* What a field means that a host of an older minor version does not send: SPEC's defaults. */
static const hspz_engine_params default_params = {
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

/* Section 3: a '1' puts two bits into the word, a 'T' one, the first one most significant. */
static hspz_status read_pattern(hspz__oracle_rules *rules, const char *pattern, hspz_error *error)
{
    if (pattern == NULL)
        return hspz__oracle_fail(error, HSPZ_E_ARGUMENT, "seed_pattern is missing");
    size_t length = strnlen(pattern, ORACLE_PATTERN_MAX + 1);
    if (length == 0 || length > ORACLE_PATTERN_MAX)
        return hspz__oracle_fail(error, HSPZ_E_ARGUMENT,
                                 "seed pattern \"%.40s\" is %s; its length must be 1..%u", pattern,
                                 length == 0 ? "empty" : "too long", ORACLE_PATTERN_MAX);
    uint32_t bits = 0;
    for (size_t i = 0; i < length; i++) {
        if (strchr("01T", pattern[i]) == NULL)
            return hspz__oracle_fail(error, HSPZ_E_ARGUMENT,
                                     "seed pattern \"%s\" may hold 1, 0 and T only, not '%c'", pattern,
                                     pattern[i]);
        bits += pattern[i] == '1' ? 2 : pattern[i] == 'T' ? 1 : 0;
    }
    if (bits < 8 || bits > 30)
        return hspz__oracle_fail(
            error, HSPZ_E_ARGUMENT,
            "seed pattern \"%s\" has weight %.1f (a word of %u bits); the weight must be "
            "4..15 (8..30 bits: 2 for a 1, 1 for a T)",
            pattern, bits / 2.0, bits);
    memcpy(rules->pattern, pattern, length + 1);
    rules->window = (uint32_t)length;
    rules->word_bits = bits;
    return HSPZ_OK;
}

/* Section 4: the exact word first, then the transition (XOR 2 on its two bits) of each '1', from the last to the first. A 'T'
 * has no transition to add: its one bit is the same for both bases of a transition. */
static void list_variants(hspz__oracle_rules *rules)
{
    rules->variant_count = 0;
    rules->variant_mask[rules->variant_count++] = 0;
    if (rules->params.transitions == 0)
        return;
    uint32_t shift = 0;
    for (uint32_t i = rules->window; i-- > 0;) {
        if (rules->pattern[i] == '1')
            rules->variant_mask[rules->variant_count++] = (uint32_t)2 << shift;
        shift += rules->pattern[i] == '1' ? 2 : rules->pattern[i] == 'T' ? 1 : 0;
    }
}

/* Section 6: the gate keeps a total t when KegAlign's comparison (float)t >= (float)K holds. (float) is monotonic, so there
 * is a least such t at or below K; up to 2^24 it is K itself, and nowhere more than one rounding step below. LASTZ compares
 * integers. */
static int32_t least_kept_total(const hspz_engine_params *params)
{
    int32_t least = params->hspthresh;
    if (params->dedup == HSPZ_DEDUP_LASTZ)
        return least;
    while (least > 1 && (float)(least - 1) >= (float)params->hspthresh)
        least--;
    return least;
}

static hspz_status out_of_range(hspz_error *error, const char *field, long long value, const char *range)
{
    return hspz__oracle_fail(error, HSPZ_E_ARGUMENT, "%s = %lld is out of range: %s", field, value, range);
}

static hspz_status check_fields(const hspz_engine_params *p, hspz_error *error)
{
    if (p->device != 0 && p->device != HSPZ_DEVICE_AUTO)
        return hspz__oracle_fail(error, HSPZ_E_NO_DEVICE,
                                 "device %u does not exist: the oracle has device 0 only", p->device);
    if (p->transitions > 1)
        return out_of_range(error, "transitions", p->transitions, "0 or 1");
    if (p->step < 1 || p->step > INT32_MAX)
        return out_of_range(error, "step", p->step, "1..2147483647");
    if (p->xdrop < 1)
        return out_of_range(error, "xdrop", p->xdrop, "1..2147483647");
    if (p->hspthresh < 1)
        return out_of_range(error, "hspthresh", p->hspthresh, "1..2147483647");
    if (p->entropy > 1)
        return out_of_range(error, "entropy", p->entropy, "0 or 1");
    if (p->ambiguous > HSPZ_AMBIGUOUS_IUPAC)
        return out_of_range(error, "ambiguous", p->ambiguous, "0 (none), 1 (n) or 2 (iupac)");
    if (p->ambiguous_reward < 0)
        return out_of_range(error, "ambiguous_reward", p->ambiguous_reward, "0..2147483647");
    if (p->ambiguous_penalty < 0)
        return out_of_range(error, "ambiguous_penalty", p->ambiguous_penalty, "0..2147483647");
    if (p->dedup >= HSPZ_DEDUP_COUNT)
        return out_of_range(error, "dedup", p->dedup,
                            "0 (chunk), 1 (interval), 2 (maximal), 3 (lastz) or 4 (none)");
    if (p->query_slots < 1 || p->query_slots > 16)
        return out_of_range(error, "query_slots", p->query_slots, "1..16");
    if (p->max_hits > UINT32_MAX)
        return out_of_range(error, "max_hits", (long long)p->max_hits, "1..4294967295, or 0 for device");
    return HSPZ_OK;
}

/* KegAlign's MAX_HITS: 4,194,304 a GiB of device memory; here the memory of the machine. */
static uint64_t max_hits_of_device(void)
{
    uint64_t hits = hspz__oracle_memory_total() / 256;
    return hits < 1 ? 1 : hits > UINT32_MAX ? UINT32_MAX : hits;
}

hspz_status hspz__oracle_rules_init(hspz__oracle_rules *rules, const hspz_engine_params *params,
                                    hspz_error *error)
{
    memset(rules, 0, sizeof *rules);
    rules->params = default_params;
    size_t size = params->struct_size < sizeof *params ? params->struct_size : sizeof *params;
    memcpy(&rules->params, params, size);
    rules->params.struct_size = sizeof rules->params;

    hspz_status status = check_fields(&rules->params, error);
    if (status != HSPZ_OK)
        return status;
    status = read_pattern(rules, rules->params.seed_pattern, error);
    if (status != HSPZ_OK)
        return status;
    rules->params.seed_pattern = rules->pattern;
    if (rules->params.max_hits == HSPZ_MAX_HITS_DEVICE)
        rules->params.max_hits = max_hits_of_device();
    list_variants(rules);
    rules->keep_total = least_kept_total(&rules->params);
    hspz__oracle_scores(rules);
    return HSPZ_OK;
}
