/* fuzz_scores.c -- any bytes as a LASTZ score file.
 *
 * Either the text is refused with one sentence, or all scores are within their limits and the file, written out in the
 * plainest form, gives the same scores.
 */
#include "scores.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            abort();                                                                                         \
    } while (0)

static void check_score(int32_t score)
{
    MUST(score >= HSPZ__SCORE_LEAST && score <= HSPZ__SCORE_MOST);
}

static void check_again(const hspz__scores *scores)
{
    char text[512];
    hspz__scores again;
    const int32_t *m = scores->matrix;
    const int length = snprintf(text, sizeof text,
                                "bad_score = X:%d\nfill_score = %d\n A C G T\nA %d %d %d %d\nC %d %d %d %d\n"
                                "G %d %d %d %d\nT %d %d %d %d\n",
                                scores->bad_score, scores->fill_score, m[0], m[1], m[2], m[3], m[4], m[5],
                                m[6], m[7], m[8], m[9], m[10], m[11], m[12], m[13], m[14], m[15]);
    MUST(length > 0 && (size_t)length < sizeof text);
    MUST(hspz__scores_parse(&again, "again", text, (size_t)length, NULL) == HSPZ_EXIT_OK);
    MUST(memcmp(&again, scores, sizeof again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hspz__scores scores;
    hspz_failure failure = {0};
    const int rc = hspz__scores_parse(&scores, "fuzz.q", (const char *)data, size, &failure);
    if (rc != HSPZ_EXIT_OK) {
        MUST(rc == HSPZ_EXIT_USAGE && strncmp(failure.text, "fuzz.q", 6) == 0);
        return 0;
    }
    check_score(scores.bad_score);
    check_score(scores.fill_score);
    for (int i = 0; i < 16; i++)
        check_score(scores.matrix[i]);
    check_again(&scores);
    return 0;
}
