/* scores.c -- LASTZ score files, and the matrix in force; see scores.h.
 *
 * The file: first settings, `name = value` one a line, then the matrix. '#' starts a comment anywhere. The matrix has a
 * line of column labels (query) and four rows (target), each with its label in front; in BLASTZ files no row has a label
 * and the rows are in the order of the columns. A label is one character or two hexadecimal digits. All of this was tried
 * with lastz 1.04.22, and so was the following:
 *   - bad_score may carry labels (X:-1000, X:X:-1000); whichever they are, N, X and lower case get the score. A, C, G, T
 *     are refused as labels.
 *   - labels are upper case: `a` is no base; `ball` is refused for DNA.
 * LASTZ lets later lines win over earlier ones with the same name, and cuts fractions; both are refused here, since
 * neither can be meant. Columns or rows beyond A, C, G, T are LASTZ's quantum alphabet.
 */
#include "scores.h"

#include "option_table.h"
#include "sizes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SCORE_FILE_MOST ((size_t)1 << 20) /* bytes */
#define LINE_MOST 4096
#define TOKENS_MOST 8

typedef struct score_file {
    hspz__scores *scores;
    hspz_failure *failure;
    const char *name;
    unsigned line;
    unsigned columns; /* labels read: 0 or 4 */
    int column_base[4];
    unsigned rows;
    int labelled;         /* -1: no row yet */
    unsigned row_line[4]; /* line that gave the row of a base */
    unsigned setting_line[32];
} score_file;

/* What LASTZ knows; only the first two concern HSPs here. */
static const char *const settings[] = {"bad_score",
                                       "fill_score",
                                       "gap_open_penalty",
                                       "gap_extend_penalty",
                                       "gap_open",
                                       "gap_extend",
                                       "O",
                                       "E",
                                       "K",
                                       "L",
                                       "X",
                                       "Y",
                                       "Z",
                                       "T",
                                       "step",
                                       "seed",
                                       "x_drop",
                                       "y_drop",
                                       "hsp_threshold",
                                       "gapped_threshold"};
#define SETTINGS (sizeof settings / sizeof *settings)
_Static_assert(SETTINGS <= 32, "score_file.setting_line has a place for every setting");

#define REFUSE(file, ...) hspz_failed((file)->failure, HSPZ_EXIT_USAGE, __VA_ARGS__)

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    const char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The character that a label means, or -1. */
static int label_of(const char *text)
{
    if (strlen(text) == 1 && (unsigned char)*text > ' ' && (unsigned char)*text < 0x7f)
        return (unsigned char)*text;
    if (strlen(text) == 2 && hex_digit(text[0]) >= 0 && hex_digit(text[1]) >= 0)
        return 16 * hex_digit(text[0]) + hex_digit(text[1]);
    return -1;
}

static int base_of(int label)
{
    const char *const bases = "ACGT";
    const char *place = label > 0 ? strchr(bases, label) : NULL;
    return place != NULL ? (int)(place - bases) : -1;
}

static int parse_score(const score_file *file, const char *what, const char *text, int32_t *score)
{
    int64_t value = 0;
    switch (hspz__number_parse(text, false, HSPZ__SCORE_LEAST, HSPZ__SCORE_MOST, &value)) {
    case HSPZ__NUMBER_OK:
        *score = (int32_t)value;
        return HSPZ_EXIT_OK;
    case HSPZ__NUMBER_RANGE:
        return REFUSE(file, "%s, line %u: %s '%.60s' is out of range; allowed: %d..%d", file->name,
                      file->line, what, text, HSPZ__SCORE_LEAST, HSPZ__SCORE_MOST);
    case HSPZ__NUMBER_EMPTY:
    case HSPZ__NUMBER_GARBAGE:
    default:
        return REFUSE(file, "%s, line %u: %s '%.60s' is not a whole number; allowed: %d..%d", file->name,
                      file->line, what, text, HSPZ__SCORE_LEAST, HSPZ__SCORE_MOST);
    }
}

/* SCORE, ROW:SCORE or ROW:COLUMN:SCORE. */
static int take_bad_score(score_file *file, char *value)
{
    char *part = value;
    for (int labels = 0; labels < 2; labels++) {
        char *colon = strchr(part, ':');
        if (colon == NULL)
            break;
        *colon = '\0';
        const int label = label_of(part);
        if (label < 0)
            return REFUSE(file,
                          "%s, line %u: bad_score has the label '%.60s'; a label is one character or two "
                          "hexadecimal digits",
                          file->name, file->line, part);
        if (base_of(label) >= 0)
            return REFUSE(file, "%s, line %u: bad_score has the label %c, which is a base of the matrix",
                          file->name, file->line, label);
        part = colon + 1;
    }
    return parse_score(file, "bad_score", part, &file->scores->bad_score);
}

static char *trimmed(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t' || text[length - 1] == '\r'))
        text[--length] = '\0';
    return text;
}

static int take_setting(score_file *file, char *line, char *equals)
{
    *equals = '\0';
    const char *name = trimmed(line);
    char *value = trimmed(equals + 1);
    if (file->columns > 0)
        return REFUSE(file, "%s, line %u: setting '%.60s' follows the matrix; settings come first",
                      file->name, file->line, name);
    size_t which = 0;
    while (which < SETTINGS && strcmp(settings[which], name) != 0)
        which++;
    if (strcmp(name, "ball") == 0)
        return REFUSE(file, "%s, line %u: 'ball' is for a quantum alphabet, which hspz does not search",
                      file->name, file->line);
    if (which == SETTINGS) {
        const char *near = hspz__nearest(name, settings, SETTINGS);
        return REFUSE(file, "%s, line %u: unknown setting '%.60s'%s%s%s", file->name, file->line, name,
                      near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                      near != NULL ? "'?" : "");
    }
    if (file->setting_line[which] != 0)
        return REFUSE(file, "%s, line %u: '%s' is already set in line %u", file->name, file->line, name,
                      file->setting_line[which]);
    file->setting_line[which] = file->line;
    if (which == 0)
        return take_bad_score(file, value);
    if (which == 1)
        return parse_score(file, "fill_score", value, &file->scores->fill_score);
    if (*value == '\0')
        return REFUSE(file, "%s, line %u: '%s' has no value", file->name, file->line, name);
    return HSPZ_EXIT_OK; /* LASTZ's own affair */
}

static int take_columns(score_file *file, char *const tokens[], unsigned count)
{
    unsigned seen = 0;
    for (unsigned i = 0; i < count; i++) {
        const int label = label_of(tokens[i]);
        if (label < 0)
            return REFUSE(file, "%s, line %u: '%.60s' is no column label; expected the labels A C G T",
                          file->name, file->line, tokens[i]);
        const int base = base_of(label);
        if (base < 0)
            return REFUSE(
                file,
                "%s, line %u: column '%.60s' makes this a quantum alphabet; hspz takes the bases A, C, G, T "
                "(upper case)",
                file->name, file->line, tokens[i]);
        if (seen >> base & 1u)
            return REFUSE(file, "%s, line %u: column %c is there twice", file->name, file->line,
                          "ACGT"[base]);
        seen |= 1u << base;
        file->column_base[i] = base;
    }
    if (count != 4)
        return REFUSE(file, "%s, line %u: the matrix has %u columns, not the four A, C, G, T", file->name,
                      file->line, count);
    file->columns = count;
    return HSPZ_EXIT_OK;
}

static int take_row(score_file *file, char *const tokens[], unsigned count)
{
    if (file->labelled < 0 && (count == 4 || count == 5))
        file->labelled = count == 5;
    const unsigned expected = 4 + (file->labelled == 1);
    if (file->rows == 4)
        return REFUSE(file, "%s, line %u: a fifth row; the matrix has four", file->name, file->line);
    if (count != expected)
        return REFUSE(file, "%s, line %u: a row of %u fields, expected %s", file->name, file->line, count,
                      expected == 5 ? "a label and four scores" : "four scores");
    int base = file->column_base[file->rows];
    if (file->labelled == 1)
        base = base_of(label_of(tokens[0]));
    if (base < 0)
        return REFUSE(file, "%s, line %u: row '%.60s' is none of the bases A, C, G, T (upper case)",
                      file->name, file->line, tokens[0]);
    const unsigned earlier = file->row_line[base];
    if (earlier != 0)
        return REFUSE(file, "%s, line %u: row %c is already in line %u", file->name, file->line, "ACGT"[base],
                      earlier);
    int rc = HSPZ_EXIT_OK;
    for (unsigned i = 0; rc == HSPZ_EXIT_OK && i < 4; i++)
        rc = parse_score(file, "score", tokens[i + (file->labelled == 1)],
                         &file->scores->matrix[4 * base + file->column_base[i]]);
    if (rc != HSPZ_EXIT_OK)
        return rc;
    file->row_line[base] = file->line;
    file->rows++;
    return HSPZ_EXIT_OK;
}

static int take_line(score_file *file, char *line)
{
    char *comment = strchr(line, '#');
    if (comment != NULL)
        *comment = '\0';
    line = trimmed(line);
    char *equals = strchr(line, '=');
    if (equals != NULL)
        return take_setting(file, line, equals);
    char *tokens[TOKENS_MOST], *rest = line, *token;
    unsigned count = 0;
    while ((token = strtok_r(rest, " \t", &rest)) != NULL) {
        if (count == TOKENS_MOST)
            return REFUSE(file, "%s, line %u: more than %d fields; the matrix has four columns", file->name,
                          file->line, TOKENS_MOST);
        tokens[count++] = token;
    }
    if (count == 0)
        return HSPZ_EXIT_OK;
    return file->columns == 0 ? take_columns(file, tokens, count) : take_row(file, tokens, count);
}

void hspz__scores_default(hspz__scores *scores)
{
    static const hspz__scores hoxd70 = {
        .matrix = {91, -114, -31, -123, -114, 100, -125, -31, -31, -125, 100, -114, -123, -31, -114, 91},
        .bad_score = -1000,
        .fill_score = -100};
    *scores = hoxd70;
}

int hspz__scores_parse(hspz__scores *scores, const char *name, const char *text, size_t length,
                       hspz_failure *failure)
{
    hspz__scores_default(scores);
    score_file file = {.scores = scores, .failure = failure, .name = name, .labelled = -1};
    for (size_t at = 0; at < length;) {
        char line[LINE_MOST];
        const char *newline = memchr(text + at, '\n', length - at);
        const size_t size = newline != NULL ? (size_t)(newline - text) - at : length - at;
        file.line++;
        if (size >= sizeof line)
            return REFUSE(&file, "%s, line %u: a line of %zu bytes, more than the %d that are allowed", name,
                          file.line, size, LINE_MOST - 1);
        memcpy(line, text + at, size);
        line[size] = '\0';
        if (memchr(line, '\0', size) != NULL)
            return REFUSE(&file, "%s, line %u: a NUL byte; a score file is plain text", name, file.line);
        const int rc = take_line(&file, line);
        if (rc != HSPZ_EXIT_OK)
            return rc;
        at += size + 1;
    }
    if (file.columns == 0)
        return REFUSE(
            &file, "%s: no matrix in this score file; expected a line of column labels and four rows", name);
    if (file.rows < 4)
        return REFUSE(&file, "%s, line %u: the matrix ends after %u rows of four", name, file.line,
                      file.rows);
    return HSPZ_EXIT_OK;
}

static int read_open(hspz__scores *scores, const char *path, FILE *stream, char *text, hspz_failure *failure)
{
    const size_t length = fread(text, 1, SCORE_FILE_MOST + 1, stream);
    if (ferror(stream))
        return hspz_failed(failure, HSPZ_EXIT_USAGE, "%s: cannot read this score file: %s", path,
                           strerror(errno));
    if (length > SCORE_FILE_MOST)
        return hspz_failed(failure, HSPZ_EXIT_USAGE, "%s: a score file of more than %zu bytes is not read",
                           path, SCORE_FILE_MOST);
    return hspz__scores_parse(scores, path, text, length, failure);
}

int hspz__scores_read(hspz__scores *scores, const char *path, hspz_failure *failure)
{
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        return hspz_failed(failure, HSPZ_EXIT_USAGE, "%s: cannot open this score file: %s", path,
                           strerror(errno));
    char *text = malloc(SCORE_FILE_MOST + 1);
    const int rc = text == NULL ? hspz_failed_memory(failure, "a score file", SCORE_FILE_MOST + 1)
                                : read_open(scores, path, stream, text, failure);
    free(text);
    (void)fclose(stream); /* was only read */
    return rc;
}

/* Row and column of a class against the classes 0..last. */
static void fill_class(int64_t scores[][HSPZ__SCORE_CLASSES], int class, int last, int64_t score)
{
    for (int other = 0; other <= last; other++) {
        scores[class][other] = score;
        scores[other][class] = score;
    }
}

void hspz__scores_effective(const hspz_options *options,
                            int64_t scores[HSPZ__SCORE_CLASSES][HSPZ__SCORE_CLASSES])
{
    enum { T = 3, LOWER, N, IUPAC, SEPARATOR, LETTER_X };
    const int64_t bad = options->bad_score, fill = options->fill_score, penalty = -options->ambiguous_penalty;
    for (int target = 0; target <= T; target++)
        for (int query = 0; query <= T; query++)
            scores[target][query] = options->scores[4 * target + query];
    fill_class(scores, LOWER, LOWER, bad);
    fill_class(scores, N, LOWER, options->ambiguous == HSPZ_AMBIGUOUS_NONE ? bad : penalty);
    scores[N][N] = options->ambiguous == HSPZ_AMBIGUOUS_NONE ? bad : options->ambiguous_reward;
    if (options->ambiguous == HSPZ_AMBIGUOUS_IUPAC) {
        fill_class(scores, IUPAC, N, penalty);
        scores[IUPAC][IUPAC] = options->ambiguous_reward;
    } else {
        fill_class(scores, IUPAC, N, bad);
        fill_class(scores, IUPAC, T, fill);
        scores[IUPAC][IUPAC] = fill;
    }
    fill_class(scores, LETTER_X, LETTER_X, bad);
    for (int other = 0; other < HSPZ__SCORE_CLASSES; other++)
        scores[SEPARATOR][other] = scores[other][SEPARATOR] = -10 * options->xdrop;
}
