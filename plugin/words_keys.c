/* words_keys.c -- seed words as keys, the windows that have one, and memory that calls hand on. */
#include "words.h"

#include <string.h>

static uint32_t key_of_word(const hspz__keys *keys, uint32_t word)
{
    uint32_t key = 0;
    for (uint32_t i = 0; i < keys->care_count; i++)
        key |= (word >> keys->word_shift[i] & ((1u << keys->care_bits[i]) - 1)) << keys->key_shift[i];
    return key;
}

void hspz__keys_init(hspz__keys *keys, const hspz__plan *plan)
{
    memset(keys, 0, sizeof *keys);
    hspz__key_rule *rule = &keys->rule;
    keys->pattern_length = plan->pattern_length;
    keys->care_count = plan->care_count;
    rule->narrow = plan->pattern_length <= 29;
    for (uint32_t i = 0; i < plan->care_count; i++) {
        keys->care_bits[i] = plan->care_bits[i];
        keys->word_shift[i] = plan->care_shift[i];
        keys->key_shift[i] = (uint8_t)keys->bits;
        for (uint32_t b = 0; b < plan->care_bits[i]; b++) {
            const uint32_t from = 2u * plan->care_offset[i] + b, to = keys->bits++;
            rule->care_mask |= UINT64_C(1) << from;
            if (rule->runs == 0 || rule->shift[rule->runs - 1] != from - to)
                rule->shift[rule->runs++] = (uint8_t)(from - to);
            rule->mask[rule->runs - 1] |= UINT64_C(1) << to;
        }
    }
    for (uint32_t part = 0; part < 3; part++)
        for (uint32_t bits = 0;
             bits < 1u << HSPZ__WORD_PART && (uint64_t)bits << part * HSPZ__WORD_PART <= UINT32_MAX; bits++)
            keys->of_part[part][bits] = key_of_word(keys, bits << part * HSPZ__WORD_PART);
    keys->variant_count = plan->variant_count;
    for (uint32_t v = 0; v < plan->variant_count; v++)
        keys->variant_mask[v] = hspz__key_of_word(keys, plan->variant_mask[v]);
}

/* Special symbols spoil the windows that start up to w - 1 bases before them: the bitmap is smeared downwards. */
uint64_t hspz__valid_windows(const hspz__sequence *s, uint32_t pattern_length, uint64_t position)
{
    if (position >= s->length)
        return 0;
    unsigned __int128 bad =
        (unsigned __int128)s->special[position / 64 + 1] << 64 | s->special[position / 64];
    if (bad == 0)
        return ~UINT64_C(0);
    uint32_t covered = 1;
    while (2 * covered <= pattern_length) {
        bad |= bad >> covered;
        covered *= 2;
    }
    bad |= bad >> (pattern_length - covered);
    return ~(uint64_t)bad;
}

void *hspz__scratch_get(hspz__scratch *scratch, hspz__host *host, uint64_t count, uint64_t size)
{
    if (size != 0 && count > UINT64_MAX / 2 / size)
        return NULL;
    if (scratch->bytes >= count * size && scratch->memory != NULL)
        return scratch->memory;
    hspz__scratch_free(scratch, host);
    scratch->memory = hspz__alloc(host, count, size);
    scratch->bytes = scratch->memory != NULL ? count * size : 0;
    return scratch->memory;
}

void hspz__scratch_free(hspz__scratch *scratch, hspz__host *host)
{
    hspz__free(host, scratch->memory);
    *scratch = (hspz__scratch){0};
}

void hspz__words_free(hspz__words *words, hspz__host *host)
{
    for (uint32_t i = 0; i < sizeof words->memory / sizeof words->memory[0]; i++)
        hspz__scratch_free(&words->memory[i], host);
    memset(words, 0, sizeof *words);
}
