/* index.c -- SPEC section 3: which target positions are indexed, and how a word finds them.
 *
 * Idea: (word, position) pairs sorted by word are the position table of the specification; the cumulative table over all
 * words is thinned out to groups of words, about as many as there are positions, and a binary search inside the group does
 * the rest. What a lookup answers is the specification's index[word-1]..index[word], and memory follows the target, not
 * 4^weight.
 */
#include "oracle.h"

#include <string.h>

/* The first indexed position. With off = (w+1) mod s it is s - off: position 0 is never indexed at step 1, and the
 * count (len - w + off) / s ends at the last whole window. Under `lastz` (section 7) all p >= 0 with p = -(w+1) mod step are indexed,
 * position 0 included. */
static uint64_t first_position(const hspz__oracle_rules *rules)
{
    uint64_t step = rules->params.step;
    uint64_t first = step - (rules->window + 1) % step;
    return rules->params.dedup == HSPZ_DEDUP_LASTZ ? first % step : first;
}

static uint32_t bits_of(uint64_t number)
{
    uint32_t bits = 0;
    while (number >> bits != 0)
        bits++;
    return bits;
}

/* Stable radix sort by word, 10 bits a pass; positions come in ascending and stay so inside a bucket. */
static hspz_status sort_entries(hspz__oracle_host *host, const hspz__oracle_rules *rules,
                                hspz__oracle_index *index, hspz_error *error)
{
    enum { DIGIT = 10 };
    uint64_t *from = index->entries;
    uint64_t *to = hspz__oracle_alloc(host, index->count, sizeof *to);
    if (to == NULL)
        return hspz__oracle_fail(error, HSPZ_E_MEMORY, "no memory to sort %llu target positions",
                                 (unsigned long long)index->count);
    hspz__oracle_pulse pulse;
    hspz__oracle_pulse_init(&pulse, host, index->count);
    hspz_status status = HSPZ_OK;
    for (uint32_t bit = 32; bit < 32 + rules->word_bits && status == HSPZ_OK; bit += DIGIT) {
        uint64_t start[(1u << DIGIT) + 1] = {0};
        for (uint64_t i = 0; i < index->count; i++)
            start[((from[i] >> bit) & ((1u << DIGIT) - 1)) + 1]++;
        for (uint32_t digit = 0; digit < 1u << DIGIT; digit++)
            start[digit + 1] += start[digit];
        for (uint64_t i = 0; i < index->count && status == HSPZ_OK; i++) {
            to[start[(from[i] >> bit) & ((1u << DIGIT) - 1)]++] = from[i];
            status = hspz__oracle_pulse_beat(&pulse, 4, error);
        }
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    index->entries = from;
    hspz__oracle_free(host, to);
    return status;
}

/* The cumulative table over groups of 2^shift words. */
static hspz_status make_table(hspz__oracle_host *host, const hspz__oracle_rules *rules,
                              hspz__oracle_index *index, hspz_error *error)
{
    uint32_t bits = bits_of(index->count) + 1;
    index->shift = bits < rules->word_bits ? rules->word_bits - bits : 0;
    uint64_t groups = (uint64_t)1 << (rules->word_bits - index->shift);
    index->table = hspz__oracle_alloc(host, groups, sizeof *index->table);
    if (index->table == NULL)
        return hspz__oracle_fail(error, HSPZ_E_MEMORY, "no memory for an index of %llu groups of words",
                                 (unsigned long long)groups);
    uint64_t entry = 0;
    for (uint64_t group = 0; group < groups; group++) {
        while (entry < index->count && index->entries[entry] >> 32 >> index->shift == group)
            entry++;
        index->table[group] = (uint32_t)entry;
    }
    return HSPZ_OK;
}

/* Indexed positions whose window is valid, in ascending order; counts only when `entries` is NULL. */
static hspz_status collect(hspz__oracle_host *host, const hspz__oracle_rules *rules,
                           const hspz__oracle_sequence *target, uint64_t *entries, uint64_t *count,
                           hspz_error *error)
{
    hspz__oracle_pulse pulse;
    hspz__oracle_pulse_init(&pulse, host, target->length);
    uint64_t next = first_position(rules);
    uint64_t run = 0;
    *count = 0;
    for (uint64_t last = 0; last < target->length; last++) {
        run = target->codes[last] <= ORACLE_T ? run + 1 : 0;
        if (last + 1 != next + rules->window)
            continue;
        if (run >= rules->window) {
            if (entries != NULL)
                entries[*count] = (uint64_t)hspz__oracle_word(rules, target->codes, next) << 32 | next;
            ++*count;
        }
        next += rules->params.step;
        pulse.done = last;
        hspz_status status = hspz__oracle_pulse_beat(&pulse, 8, error);
        if (status != HSPZ_OK)
            return status;
    }
    return HSPZ_OK;
}

static hspz_status alloc_entries(hspz__oracle_host *host, hspz__oracle_index *index, uint64_t count,
                                 hspz_error *error)
{
    index->entries = hspz__oracle_alloc(host, count, sizeof *index->entries);
    if (index->entries == NULL)
        return hspz__oracle_fail(error, HSPZ_E_MEMORY, "no memory for an index of %llu target positions",
                                 (unsigned long long)count);
    index->count = count;
    return HSPZ_OK;
}

hspz_status hspz__oracle_index_build(hspz__oracle_host *host, const hspz__oracle_rules *rules,
                                     const hspz__oracle_sequence *target, hspz__oracle_index *index,
                                     hspz_error *error)
{
    memset(index, 0, sizeof *index);
    uint64_t count = 0;
    hspz_status status = collect(host, rules, target, NULL, &count, error);
    if (status == HSPZ_OK)
        status = alloc_entries(host, index, count, error);
    if (status == HSPZ_OK)
        status = collect(host, rules, target, index->entries, &count, error);
    if (status == HSPZ_OK)
        status = sort_entries(host, rules, index, error);
    if (status == HSPZ_OK)
        status = make_table(host, rules, index, error);
    if (status != HSPZ_OK)
        hspz__oracle_index_free(host, index);
    return status;
}

/* The host's tables must be what section 3 says of them. */
static hspz_status check_import(const hspz__oracle_rules *rules, const hspz_target *target, hspz_error *error)
{
    uint64_t words = (uint64_t)1 << rules->word_bits;
    if (target->index_entries != words)
        return hspz__oracle_fail(
            error, HSPZ_E_ARGUMENT, "index_entries = %llu, but a word of %u bits needs %llu",
            (unsigned long long)target->index_entries, rules->word_bits, (unsigned long long)words);
    if (target->index_table[words - 1] != target->position_count)
        return hspz__oracle_fail(error, HSPZ_E_ARGUMENT,
                                 "index_table ends at %u, but there are %llu positions",
                                 target->index_table[words - 1], (unsigned long long)target->position_count);
    for (uint64_t word = 1; word < words; word++)
        if (target->index_table[word] < target->index_table[word - 1])
            return hspz__oracle_fail(error, HSPZ_E_ARGUMENT, "index_table descends at word %llu",
                                     (unsigned long long)word);
    return HSPZ_OK;
}

hspz_status hspz__oracle_index_import(hspz__oracle_host *host, const hspz__oracle_rules *rules,
                                      const hspz_target *target, hspz__oracle_index *index, hspz_error *error)
{
    memset(index, 0, sizeof *index);
    hspz_status status = check_import(rules, target, error);
    if (status == HSPZ_OK)
        status = alloc_entries(host, index, target->position_count, error);
    uint64_t word = 0;
    for (uint64_t i = 0; i < target->position_count && status == HSPZ_OK; i++) {
        while (target->index_table[word] <= i)
            word++;
        uint32_t position = target->positions[i];
        index->entries[i] = word << 32 | position;
        if ((uint64_t)position + rules->window > target->length)
            status = hspz__oracle_fail(error, HSPZ_E_ARGUMENT,
                                       "positions[%llu] = %u is no window start of a target of %llu bases",
                                       (unsigned long long)i, position, (unsigned long long)target->length);
        else if (i > 0 && index->entries[i] <= index->entries[i - 1])
            status =
                hspz__oracle_fail(error, HSPZ_E_ARGUMENT, "positions[%llu] does not ascend in its bucket",
                                  (unsigned long long)i);
    }
    if (status == HSPZ_OK)
        status = make_table(host, rules, index, error);
    if (status != HSPZ_OK)
        hspz__oracle_index_free(host, index);
    return status;
}

void hspz__oracle_index_free(hspz__oracle_host *host, hspz__oracle_index *index)
{
    hspz__oracle_free(host, index->entries);
    hspz__oracle_free(host, index->table);
    memset(index, 0, sizeof *index);
}

/* The first entry of [low, high) that is not below `key`. */
static uint64_t lower_bound(const uint64_t *entries, uint64_t low, uint64_t high, uint64_t key)
{
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (entries[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t hspz__oracle_bucket(const hspz__oracle_index *index, uint32_t word, uint64_t *first)
{
    uint32_t group = word >> index->shift;
    uint64_t low = group == 0 ? 0 : index->table[group - 1];
    uint64_t high = index->table[group];
    low = lower_bound(index->entries, low, high, (uint64_t)word << 32);
    *first = low;
    return lower_bound(index->entries, low, high, ((uint64_t)word + 1) << 32) - low;
}
