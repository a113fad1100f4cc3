/* entropy.c -- SPEC section 6, last paragraph, and its variant in section 7 (lastz): acceptance and final score.
 *
 * Idea: a barely passing segment (K <= total <= 3K) whose matches are of few kinds of bases is worth less. The entropy of
 * the matching bases, at most 1, scales the total. Doubles throughout; the build forbids contraction, so that a fused
 * multiply-add happens where fma() stands and nowhere else.
 */
#include "oracle.h"

#include <limits.h>
#include <math.h>

#define LEAST_MATCHES 20u

/* Columns of the closed segment where both symbols are the same one of A, C, G, T. */
static void count_matches(const hspz__oracle_sequence *target, const hspz__oracle_sequence *query,
                          const hspz__oracle_segment *segment, uint64_t count[4])
{
    const uint8_t *t_codes = target->codes + segment->target_start;
    const uint8_t *q_codes = query->codes + segment->query_start;
    for (uint64_t i = 0; i <= segment->extent; i++)
        if (t_codes[i] == q_codes[i] && t_codes[i] <= ORACLE_T)
            count[t_codes[i]]++;
}

/* Section 6: KegAlign's arithmetic on the GPU. */
static double entropy_keg(const uint64_t count[4], double columns)
{
    double sum = 0.0;
    for (int base = 0; base < 4; base++) {
        if (count[base] == 0)
            continue;
        double p = (double)count[base] / columns;
        sum = fma(p, log(p), sum);
    }
    return -sum / (double)logf(4.0f);
}

/* Section 7: LASTZ's arithmetic, no fused operation. */
static double entropy_lastz(const uint64_t count[4], double columns)
{
    double term[4];
    for (int base = 0; base < 4; base++) {
        double p = (double)count[base] / columns;
        term[base] = count[base] == 0 ? 0.0 : p * log(p);
    }
    return -(term[0] + term[1] + term[2] + term[3]) / log(4.0);
}

static double entropy_of(const hspz__oracle_rules *rules, const hspz__oracle_sequence *target,
                         const hspz__oracle_sequence *query, const hspz__oracle_segment *segment)
{
    int64_t threshold = rules->params.hspthresh;
    if (rules->params.entropy == 0 || segment->total < threshold || segment->total > 3 * threshold)
        return 1.0;
    uint64_t count[4] = {0, 0, 0, 0};
    count_matches(target, query, segment, count);
    if (count[0] + count[1] + count[2] + count[3] < LEAST_MATCHES)
        return 1.0;
    double columns = (double)segment->extent + 1.0;
    return rules->params.dedup == HSPZ_DEDUP_LASTZ ? entropy_lastz(count, columns)
                                                   : entropy_keg(count, columns);
}

/* (int)value, without overflow: (float)total rounds up to 2^31 near the end of the range. */
static int32_t to_int(double value)
{
    return value >= (double)INT32_MAX ? INT32_MAX : (int32_t)value;
}

bool hspz__oracle_accept(const hspz__oracle_rules *rules, const hspz__oracle_sequence *target,
                         const hspz__oracle_sequence *query, const hspz__oracle_segment *segment,
                         int32_t *score)
{
    double entropy = entropy_of(rules, target, query, segment);
    *score = to_int((double)segment->total * entropy);
    int32_t judged =
        rules->params.dedup == HSPZ_DEDUP_LASTZ ? *score : to_int((double)(float)segment->total * entropy);
    return judged >= rules->params.hspthresh;
}
