/* sizes.c -- see sizes.h */
#include "sizes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct suffix {
    const char *text;
    int64_t factor;
} suffix;

static const suffix suffixes_known[] = {
    {"G", 1000000000}, {"M", 1000000},  {"K", 1000},     {"g", 1000000000}, {"m", 1000000},
    {"k", 1000},       {"Gi", 1 << 30}, {"Mi", 1 << 20}, {"Ki", 1 << 10},
};

static bool factor_of(const char *text, bool suffixes, int64_t *factor)
{
    *factor = 1;
    if (*text == '\0')
        return true;
    if (!suffixes)
        return false;
    for (size_t i = 0; i < sizeof suffixes_known / sizeof *suffixes_known; i++) {
        if (strcmp(text, suffixes_known[i].text) == 0) {
            *factor = suffixes_known[i].factor;
            return true;
        }
    }
    return false;
}

hspz__number hspz__number_parse(const char *text, bool suffixes, int64_t least, int64_t most, int64_t *value)
{
    if (*text == '\0')
        return HSPZ__NUMBER_EMPTY;
    const bool negative = *text == '-';
    const char *p = text + (*text == '-' || *text == '+');
    if (*p < '0' || *p > '9')
        return HSPZ__NUMBER_GARBAGE;

    /* Gathered as a negative number, because INT64_MIN has no positive twin. */
    int64_t sum = 0;
    bool wrapped = false;
    for (; *p >= '0' && *p <= '9'; p++)
        wrapped = wrapped || __builtin_mul_overflow(sum, (int64_t)10, &sum) ||
                  __builtin_sub_overflow(sum, (int64_t)(*p - '0'), &sum);
    int64_t factor;
    if (!factor_of(p, suffixes, &factor))
        return HSPZ__NUMBER_GARBAGE;
    wrapped = wrapped || __builtin_mul_overflow(sum, factor, &sum);
    if (!wrapped && !negative)
        wrapped = __builtin_sub_overflow((int64_t)0, sum, &sum);
    if (wrapped || sum < least || sum > most)
        return HSPZ__NUMBER_RANGE;
    *value = sum;
    return HSPZ__NUMBER_OK;
}

void hspz__number_format(int64_t value, bool suffixes, char text[32])
{
    static const suffix printed[] = {{"G", 1000000000}, {"Gi", 1 << 30}, {"M", 1000000},
                                     {"Mi", 1 << 20},   {"K", 1000},     {"Ki", 1 << 10}};
    for (size_t i = 0; suffixes && value != 0 && i < sizeof printed / sizeof *printed; i++) {
        if (value % printed[i].factor == 0) {
            snprintf(text, 32, "%" PRId64 "%s", value / printed[i].factor, printed[i].text);
            return;
        }
    }
    snprintf(text, 32, "%" PRId64, value);
}
