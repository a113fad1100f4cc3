/* options_scores.c -- LASTZ score files as lastz 1.04.22 takes them, refusals with their line, and the scores in force. */
#include "options_load.h"
#include "scores.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#define MATRIX                                                                                               \
    "     A C G T\nA 1 -2 -3 -4\nC -5 6 -7 -8\nG -9 -10 11 -12\nT -13 -14 -15 16\n" /* no two cells alike */

static const int32_t expected[16] = {1, -2, -3, -4, -5, 6, -7, -8, -9, -10, 11, -12, -13, -14, -15, 16};

static int parse(hspz__scores *scores, const char *text, hspz_failure *failure)
{
    memset(failure, 0, sizeof *failure);
    return hspz__scores_parse(scores, "file.q", text, strlen(text), failure);
}

Test(options_scores, forms_of_the_matrix)
{
    static const char *const texts[] = {
        MATRIX,
        "A C G T\n1 -2 -3 -4\n-5 6 -7 -8\n-9 -10 11 -12\n-13 -14 -15 16\n",
        "T G C A\nA -4 -3 -2 1\nC -8 -7 6 -5\nG -12 11 -10 -9\nT 16 -15 -14 -13",
        "T G C A\n16 -15 -14 -13\n-12 11 -10 -9\n-8 -7 6 -5\n-4 -3 -2 1\n",
        "A C G T\nT -13 -14 -15 16\nC -5 6 -7 -8\nA +1 -2 -3 -4\nG -9 -10 11 -12\n",
        "41 43 47 54\n41 1 -2 -3 -4\n43 -5 6 -7 -8\n47 -9 -10 11 -12\n54 -13 -14 -15 16\n",
        "# x\n\n  A\tC G T # x\r\nA 1 -2 -3 -4# x\r\n\nC -5 6 -7 -8\r\nG -9 -10 11 -12\nT -13 -14 -15 16\n#",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        hspz__scores scores;
        hspz_failure failure;
        cr_assert(parse(&scores, texts[i], &failure) == HSPZ_EXIT_OK, "text %zu: %s", i, failure.text);
        cr_expect(memcmp(scores.matrix, expected, sizeof expected) == 0, "text %zu", i);
        cr_expect(scores.bad_score == -1000 && scores.fill_score == -100);
    }
}

Test(options_scores, settings)
{
    static const struct {
        const char *text;
        int32_t bad, fill;
    } rows[] = {
        {"bad_score = -5\n" MATRIX, -5, -100},
        {"bad_score=-5\nfill_score=-6\n" MATRIX, -5, -6},
        {"bad_score = X:-5 # x\n" MATRIX, -5, -100},
        {"bad_score = X:X:-5\n" MATRIX, -5, -100},
        {"bad_score = 58:N:-5\n" MATRIX, -5, -100},
        {"bad_score = 00:-5\nfill_score = 0\n" MATRIX, -5, 0},
        {"bad_score = 7\n" MATRIX, 7, -100},
        {"gap_open_penalty = 400\ngap_extend_penalty = 30\nO = 4\nE = "
         "3\ngap_open=1\ngap_extend=1\nK=1\nL=1\n" MATRIX,
         -1000, -100},
        {"x_drop=100\ny_drop=100\nhsp_threshold=4000\ngapped_threshold=5000\nstep=3\nseed=12of19,"
         "transition\n" MATRIX,
         -1000, -100},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        hspz__scores scores;
        hspz_failure failure;
        cr_assert(parse(&scores, rows[i].text, &failure) == HSPZ_EXIT_OK, "text %zu: %s", i, failure.text);
        cr_expect(scores.bad_score == rows[i].bad && scores.fill_score == rows[i].fill, "text %zu", i);
        cr_expect(memcmp(scores.matrix, expected, sizeof expected) == 0, "text %zu", i);
    }
}

Test(options_scores, refusals_name_the_line)
{
    static const struct {
        const char *text;
        const char *says[2];
    } rows[] = {
        {"", {"file.q: no matrix in this score file"}},
        {"# only\n", {"no matrix"}},
        {"bad_score = -5\n", {"no matrix"}},
        {"A C G T\nA 1 2 3 4\n", {"line 2: the matrix ends after 1 rows of four"}},
        {"A C G\n", {"line 1: the matrix has 3 columns"}},
        {"A C G T N\n", {"line 1: column 'N' makes this a quantum alphabet", "A, C, G, T"}},
        {"a c g t\n", {"line 1: column 'a'", "upper case"}},
        {"01 02 03 04\n", {"column '01' makes this a quantum alphabet"}},
        {"A C G G\n", {"line 1: column G is there twice"}},
        {"ACGT\n", {"'ACGT' is no column label"}},
        {"A C G T\nA 1 2 3 4\nA 1 2 3 4\n", {"line 3: row A is already in line 2"}},
        {"A C G T\nN 1 2 3 4\n", {"line 2: row 'N' is none of the bases"}},
        {MATRIX "A 1 2 3 4\n", {"line 6: a fifth row"}},
        {"A C G T\nA 1 2 3\nC 1 2 3\n", {"line 2: score 'A' is not a whole number"}},
        {"A C G T\nA 1 2 3 4 5\n", {"line 2: a row of 6 fields, expected"}},
        {"A C G T\nA 1 2\n", {"line 2: a row of 3 fields"}},
        {"A C G T\nA 1 2 3 4\n1 2 3 4\n", {"line 3: a row of 4 fields, expected a label and four scores"}},
        {"A C G T\n1 2 3 4\nC 1 2 3 4\n", {"line 3: a row of 5 fields, expected four scores"}},
        {"A C G T\nA 1 2 3 4 5 6 7 8 9\n", {"line 2: more than 8 fields"}},
        {"A C G T\nA 1.5 2 3 4\n", {"line 2: score '1.5' is not a whole number", "-1000000000..1000000"}},
        {"A C G T\nA 9e1 2 3 4\n", {"'9e1' is not a whole number"}},
        {"A C G T\nA 1/2 2 3 4\n", {"'1/2' is not a whole number"}},
        {"A C G T\nA 99999999999 2 3 4\n", {"'99999999999' is out of range", "-1000000000..1000000"}},
        {"A C G T\nA -2147483648 2 3 4\n", {"out of range"}},
        {MATRIX "bad_score = -5\n", {"line 6: setting 'bad_score' follows the matrix"}},
        {"bad_score = -5\nbad_score = -6\n" MATRIX, {"line 2: 'bad_score' is already set in line 1"}},
        {"bad_score = A:-5\n" MATRIX, {"label A, which is a base"}},
        {"bad_score = X:41:-5\n" MATRIX, {"label A, which is a base"}},
        {"bad_score = XYZ:-5\n" MATRIX, {"label 'XYZ'"}},
        {"bad_score = :-5\n" MATRIX, {"label ''"}},
        {"bad_score = X : -5\n" MATRIX, {"label 'X '"}},
        {"bad_score = X:X:X:-5\n" MATRIX, {"'X:-5' is not a whole number"}},
        {"bad_score = X:\n" MATRIX, {"'' is not a whole number"}},
        {"bad_score = -5x\n" MATRIX, {"'-5x' is not a whole number"}},
        {"fill_score = -1.5\n" MATRIX, {"line 1: fill_score '-1.5'"}},
        {"fill_score =\n" MATRIX, {"fill_score ''"}},
        {"bad_scroe = -5\n" MATRIX, {"line 1: unknown setting 'bad_scroe', did you mean 'bad_score'?"}},
        {"BAD_SCORE = -5\n" MATRIX, {"unknown setting 'BAD_SCORE'"}},
        {"= -5\n" MATRIX, {"unknown setting ''"}},
        {"ball = 75%\n" MATRIX, {"'ball' is for a quantum alphabet"}},
        {"x_drop =\n" MATRIX, {"'x_drop' has no value"}},
        {"\xef\xbb\xbf" MATRIX, {"line 1"}},
        {"bad_score: -5\n" MATRIX, {"line 1: 'bad_score:' is no column label"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        hspz__scores scores;
        hspz_failure failure;
        const int rc = parse(&scores, rows[i].text, &failure);
        cr_expect(rc == HSPZ_EXIT_USAGE, "'%s' answers %d", rows[i].text, rc);
        for (size_t k = 0; k < 2 && rows[i].says[k] != NULL; k++)
            cr_expect(strstr(failure.text, rows[i].says[k]) != NULL, "'%s' says '%s', not '%s'", rows[i].text,
                      failure.text, rows[i].says[k]);
    }
    static const char nul[] = "A C G T\nA 1 2 \0 3 4\n";
    char longer[6000];
    hspz__scores scores;
    hspz_failure failure;
    cr_expect(hspz__scores_parse(&scores, "f", nul, sizeof nul - 1, &failure) == HSPZ_EXIT_USAGE);
    cr_expect(strstr(failure.text, "line 2: a NUL byte") != NULL);
    memset(longer, ' ', sizeof longer);
    cr_expect(hspz__scores_parse(&scores, "f", longer, sizeof longer, &failure) == HSPZ_EXIT_USAGE);
    cr_expect(strstr(failure.text, "line 1: a line of 6000 bytes") != NULL);
}

static void effective(const char *line, int64_t scores[HSPZ__SCORE_CLASSES][HSPZ__SCORE_CLASSES])
{
    hspz_options options;
    load_or_fail(&options, line, NULL);
    hspz__scores_effective(&options, scores);
}

/* SPEC section 2, rule by rule. A C G T are 0..3, lower case 4, N 5, IUPAC 6, separator 7, X 8. */
Test(options_scores, scores_in_force)
{
    int64_t s[HSPZ__SCORE_CLASSES][HSPZ__SCORE_CLASSES];
    effective("config|--xdrop|700", s);
    cr_expect(s[0][0] == 91 && s[1][1] == 100 && s[0][2] == -31 && s[1][3] == -31 && s[0][1] == -114);
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 9; k++)
            cr_expect(s[i][k] == s[k][i], "HOXD70 and all rules are symmetric");
    for (int i = 0; i < 9; i++) {
        cr_expect(s[7][i] == -7000, "a separator is -10 x xdrop");
        if (i != 7)
            cr_expect(s[8][i] == -1000 && s[4][i] == -1000 && s[5][i] == -1000);
        if (i < 4)
            cr_expect(s[6][i] == -100);
    }
    cr_expect(s[6][6] == -100);

    effective("config|--ambiguous|n,10,20", s);
    cr_expect(s[5][0] == -20 && s[5][4] == -20 && s[5][5] == 10 && s[6][0] == -100 && s[6][5] == -1000);
    effective("config|--ambiguous|n", s);
    cr_expect(s[5][0] == 0 && s[5][4] == 0 && s[5][5] == 0 && s[4][4] == -1000 && s[8][5] == -1000);
    effective("config|--ambiguous|iupac,10,20", s);
    cr_expect(s[6][0] == -20 && s[6][4] == -20 && s[6][5] == -20 && s[6][6] == 10 && s[5][5] == 10);
    cr_expect(s[8][6] == -1000 && s[8][8] == -1000);
}

Test(options_scores, a_score_file_in_the_options)
{
    hspz_options options;
    hspz_engine_params params;
    hspz_failure failure;
    char line[256];
    static const char text[] = "bad_score = -50\nfill_score = -7\n" MATRIX;
    snprintf(line, sizeof line, "align|a|b|-o|x|--scoring|%s", write_file("good.q", text, sizeof text - 1));
    load_or_fail(&options, line, NULL);
    hspz_options_engine_params(&options, &params);
    cr_expect(memcmp(params.scores, expected, sizeof expected) == 0);
    cr_expect(params.bad_score == -50 && params.fill_score == -7);
    char *printed_text = printed(hspz_options_print_matrix, &options);
    cr_expect(strstr(printed_text,
                     "A             1       -2       -3       -4      -50      -50       -7    -9100      "
                     "-50\n") != NULL,
              "%s", printed_text);
    free(printed_text);

    const char *path = write_file("bad.q", "A C G T\nA 1 2\n", 14);
    snprintf(line, sizeof line, "align|a|b|-o|x|--scores|%s", path);
    cr_expect(load_line(&options, line, NULL, &failure) == HSPZ_EXIT_USAGE);
    cr_expect(strstr(failure.text, path) != NULL && strstr(failure.text, "line 2") != NULL, "%s",
              failure.text);
}
