/* words_pairs.c -- see words_pairs.h. */
#include "words_pairs.h"

static uint32_t pairs_of_run(const hspz__pair_source *s, uint64_t begin, uint64_t end, uint64_t *out)
{
    uint32_t count = 0;
    for (uint64_t base = begin & ~UINT64_C(63); base < end; base += 64) {
        uint64_t valid = hspz__valid_windows(s->sequence, s->with->keys->pattern_length, base);
        if (base < begin)
            valid &= ~UINT64_C(0) << (begin - base);
        if (end - base < 64)
            valid &= (UINT64_C(1) << (end - base)) - 1;
        const uint8_t *packed = s->sequence->packed + (base + HSPZ__PACKED_MARGIN) / 4;
        count += s->with->kernels->keys(&s->with->keys->rule, packed, base, valid, out + count);
    }
    return count;
}

static uint32_t pairs_of_text(const hspz__pair_source *s, uint64_t begin, uint64_t end, uint64_t *out)
{
    if (s->step == 1)
        return pairs_of_run(s, s->first + begin, s->first + end, out);
    uint32_t count = 0;
    for (uint64_t i = begin; i < end; i++) {
        const uint64_t at = s->first + i * s->step;
        if (hspz__valid_windows(s->sequence, s->with->keys->pattern_length, at & ~UINT64_C(63)) >> (at & 63) &
            1)
            out[count++] = (uint64_t)hspz__key_at(s->with->keys, s->sequence, at) << 32 | at;
    }
    return count;
}

static uint32_t pairs_of_host(const hspz__pair_source *s, uint64_t begin, uint64_t end, uint64_t *out)
{
    uint32_t count = 0;
    for (uint64_t i = begin; i < end; i++)
        out[count++] =
            (uint64_t)hspz__key_of_word(s->with->keys, s->host_words[i]) << 32 | s->target->positions[i];
    return count;
}

uint32_t hspz__pairs_make(const hspz__pair_source *s, uint64_t begin, uint64_t end, uint64_t *out)
{
    return s->target != NULL ? pairs_of_host(s, begin, end, out) : pairs_of_text(s, begin, end, out);
}
