/* seeds.c -- SPEC sections 3 and 4: seed words of query windows.
 *
 * Idea: a window is valid only if every base across the pattern is an upper-case A, C, G or T, the don't-care positions
 * included; a running count of such bases tells. A valid window gives its exact word and then one word for each
 * transition, in the order that rules.c laid down.
 */
#include "oracle.h"

uint32_t hspz__oracle_word(const hspz__oracle_rules *rules, const uint8_t *codes, uint64_t position)
{
    uint32_t word = 0;
    for (uint32_t i = 0; i < rules->window; i++) {
        uint8_t base = codes[position + i];
        if (rules->pattern[i] == '1')
            word = word << 2 | base;
        else if (rules->pattern[i] == 'T') /* one bit: purine (A0, G2) or pyrimidine (C1, T3) */
            word = word << 1 | (base & 1u);
    }
    return word;
}

uint64_t hspz__oracle_seeds(const hspz__oracle_rules *rules, const hspz__oracle_sequence *query,
                            uint64_t begin, uint64_t end, uint64_t *seeds, uint64_t *windows)
{
    uint64_t count = 0;
    uint64_t run = 0; /* upper-case bases that end at the last one looked at */
    for (uint64_t last = begin; last < end + rules->window - 1; last++) {
        run = query->codes[last] <= ORACLE_T ? run + 1 : 0;
        if (run < rules->window)
            continue;
        uint64_t position = last + 1 - rules->window;
        uint64_t word = hspz__oracle_word(rules, query->codes, position);
        for (uint32_t v = 0; v < rules->variant_count; v++)
            seeds[count++] = (word ^ rules->variant_mask[v]) << 32 | position;
        ++*windows;
    }
    return count;
}
