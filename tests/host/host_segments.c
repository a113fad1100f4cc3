/* host_segments.c -- the reader of segments files, and what the lastz commands are made of. */
#include "lastz_commands.h"
#include "segments_reader.h"
#include "stage.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

typedef struct seen {
    int count;
    hspz_segment last;
    char target[64];
} seen;

static int see(void *ctx, const hspz_segment *segment, hspz_failure *failure)
{
    seen *s = ctx;
    s->count++;
    s->last = *segment;
    snprintf(s->target, sizeof s->target, "%s", segment->target);
    return segment->score == 13 ? hspz_failed(failure, 77, "unlucky") : 0;
}

static int read_text(const char *text, seen *s, hspz_failure *failure)
{
    FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    cr_assert_not_null(in);
    memset(s, 0, sizeof *s);
    int code = hspz_segments_read(in, "x.segments", see, s, failure);
    fclose(in);
    return code;
}

Test(host_segments, reads_lines)
{
    seen s;
    hspz_failure failure;
    cr_expect_eq(
        read_text("# head\nt1\t5\t9\tq1\t1\t5\t+\t4000\n\n  t2 1 1 q 2 2 -\r\nt3 1 2 q 3 4 - -7 # tail", &s,
                  &failure),
        0);
    cr_expect_eq(s.count, 3);
    cr_expect_str_eq(s.target, "t3");
    cr_expect(s.last.query_start == 3 && s.last.query_end == 4 && s.last.strand == '-' && s.last.score == -7);
}

Test(host_segments, refuses_with_file_and_line)
{
    static const char *const bad[] = {
        "t 1 2 q 1 2\n",                        /* too few fields */
        "t 1 2 q 1 2 + 5 6\n",                  /* too many */
        "t 0 2 q 1 2 + 5\n",                    /* starts count from 1 */
        "t 2 1 q 1 2 + 5\n",                    /* an end before its start */
        "t 1 2x q 1 2 + 5\n",                   /* trailing garbage */
        "t -1 2 q 1 2 + 5\n",                   /* a sign */
        "t 1 99999999999999999999 q 1 2 + 5\n", /* too many digits */
        "t 1 2 q 1 2 ++ 5\n",                   /* no strand */
        "t 1 2 q 1 2 + 5.5\n",                  /* no whole score */
    };
    seen s;
    hspz_failure failure;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[128];
        snprintf(text, sizeof text, "t 1 2 q 1 2 + 5\n%s", bad[i]);
        cr_expect_eq(read_text(text, &s, &failure), HSPZ_EXIT_DATA, "%s", bad[i]);
        cr_expect_not_null(strstr(failure.text, "x.segments: line 2: "), "%s", failure.text);
        cr_expect_eq(s.count, 1);
    }
    cr_expect_eq(read_text("t 1 2 q 1 2 + 13\nt 1 2 q 1 2 + 5\n", &s, &failure), 77,
                 "the visitor may end it");
}

static const char *word(const char *text)
{
    static char out[256];
    hspz__text t = {0};
    hspz__shell_word(&t, text);
    snprintf(out, sizeof out, "%.*s", (int)t.length, t.data);
    hspz__text_free(&t);
    return out;
}

Test(host_segments, shell_words)
{
    cr_expect_str_eq(word("plain-1.fa"), "plain-1.fa");
    cr_expect_str_eq(word(""), "''");
    cr_expect_str_eq(word("a b"), "'a b'");
    cr_expect_str_eq(word("T[multiple]"), "'T[multiple]'");
    cr_expect_str_eq(word("it's"), "'it'\\''s'");
    cr_expect_str_eq(word("$HOME`ls`\""), "'$HOME`ls`\"'");
}

Test(host_segments, paths_lastz_can_take)
{
    static const char *const good[] = {"t.fa", "/a/b.fa.gz", "a b#c=d;e:f", "d-/t.fa", "."};
    static const char *const bad[] = {"",    "a,b",     "a[b",   "a{b",        "a}b",
                                      "a]b", "n::t.fa", "t.fa-", "x.2bit/chr1"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        cr_expect(hspz__lastz_path_is_safe(good[i]), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_expect_not(hspz__lastz_path_is_safe(bad[i]), "%s", bad[i]);
}

Test(host_segments, which_files_are_ours)
{
    static const char *const ours[] = {"tmp1.block0.r0.plus.segments",
                                       "tmp12.block3.r500000123.minus.segments",
                                       "ref_block0.name",
                                       "query_block12.name",
                                       "hspz.target.fa",
                                       "hspz.names.tsv"};
    static const char *const foreign[] = {"tmp1.block0.r0.plus.maf",
                                          "tmp.block0.r0.plus.segments",
                                          "tmp1.block0.r0.segments",
                                          "ref_block.name",
                                          "ref_block0.names",
                                          "x.segments",
                                          "hspz.",
                                          "hspz",
                                          "notes.txt",
                                          "tmp1.block0.r0.plus.segments.bak",
                                          ".hspz-123456"};
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        cr_expect(hspz__stage_is_ours(ours[i]), "%s", ours[i]);
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        cr_expect_not(hspz__stage_is_ours(foreign[i]), "%s", foreign[i]);
}
