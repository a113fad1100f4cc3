/* kernels_filter.c -- the filter's promise: what it rejects has an exact total below the threshold. */
#include "kernels_random.h"

#include <criterion/criterion.h>
#include <string.h>

#define LENGTH 128 /* bases of a context */
#define ANCHOR (4 * (int)HSPZ__CONTEXT_LEFT)

/* The exact scan of SPEC section 6 on two sequences of bases, endless in the sense that the ends are x-drop ends. */
static int64_t exact_side(const scoring *s, const uint8_t *target, const uint8_t *query, int from, int to,
                          int step)
{
    int64_t sum = 0, best = 0;
    for (int i = from; i != to; i += step) {
        sum += s->score[target[i]][query[i]];
        if (sum > best)
            best = sum;
        else if (best - sum > s->xdrop)
            break;
    }
    return best;
}

static void pack(const uint8_t *bases, uint8_t context[HSPZ__CONTEXT])
{
    memset(context, 0, HSPZ__CONTEXT);
    for (int i = 0; i < LENGTH - 2; i++)
        context[i / 4] |= (uint8_t)(bases[i] << 2 * (i % 4));
}

Test(kernels, rejection_is_proof)
{
    random_source r = {.state = 8};
    uint64_t rejected = 0, rejected_by_default = 0, tried = 0;
    for (int round = 0; round < 60000; round++) {
        const scoring s = scoring_make(round % 2 == 0 ? NULL : &r);
        hspz__filter f;
        hspz__filter_init(&f, s.score, s.xdrop, s.keep);
        uint8_t target[LENGTH], query[LENGTH], t[1][HSPZ__CONTEXT], q[1][HSPZ__CONTEXT];
        const uint64_t divergence = random_below(&r, 100);
        for (int i = 0; i < LENGTH; i++) {
            target[i] = (uint8_t)random_below(&r, 4);
            query[i] = random_below(&r, 100) < divergence ? (uint8_t)random_below(&r, 4) : target[i];
        }
        pack(target, t[0]);
        pack(query, q[0]);
        const uint32_t zero[HSPZ__LANES + 1] = {0};
        static hspz__rows rows;
        uint64_t likely;
        if (hspz__cpu_choose(1)->filter(&f, (const uint8_t(*)[HSPZ__CONTEXT])t,
                                        (const uint8_t(*)[HSPZ__CONTEXT])q, zero, zero, 1, &rows,
                                        &likely) != 0)
            continue;
        /* Rejection says that both sides end within the scanned bases, so the exact scan of the same bases is the scan. */
        const int64_t total = exact_side(&s, target, query, ANCHOR, LENGTH - 2, 1) +
                              exact_side(&s, target, query, ANCHOR - 1, -1, -1);
        cr_assert_lt(total, s.keep, "round %d: total %lld, keep %d, xdrop %d", round, (long long)total,
                     s.keep, s.xdrop);
        rejected++;
        rejected_by_default += round % 2 == 0;
    }
    for (int round = 0; round < 2000;
         round++) { /* unrelated sequence, the defaults: this is what the filter is for */
        const scoring s = scoring_make(NULL);
        hspz__filter f;
        hspz__filter_init(&f, s.score, s.xdrop, s.keep);
        uint8_t contexts[2][HSPZ__CONTEXT];
        random_fill(&r, contexts, sizeof contexts);
        contexts[0][HSPZ__CONTEXT - 1] &= 0x0f;
        contexts[1][HSPZ__CONTEXT - 1] &= 0x0f;
        const uint32_t zero[HSPZ__LANES + 1] = {0}, one[HSPZ__LANES + 1] = {1};
        static hspz__rows rows;
        uint64_t likely;
        tried += hspz__cpu_choose(1)->filter(&f, (const uint8_t(*)[HSPZ__CONTEXT])contexts,
                                             (const uint8_t(*)[HSPZ__CONTEXT])contexts, zero, one, 1, &rows,
                                             &likely) == 0;
    }
    cr_assert_gt(rejected, 1000);
    cr_assert_gt(rejected_by_default, 300);
    cr_assert_gt(tried, 1900, "only %llu of 2000 unrelated contexts are rejected", (unsigned long long)tried);
}
