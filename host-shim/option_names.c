/* option_names.c -- finding a row by what the user called it, and guessing what was meant.
 *
 * Idea: users of KegAlign write --wga_chunk_size, users of LASTZ --no-things with '-'; '-', '_' and '.' are one
 * character here. A name that is unknown is answered with the nearest known one, by the edit distance with
 * transpositions, when it is near enough not to be a joke.
 */
#include "option_table.h"

#include <string.h>

#define NAME_LONG 48 /* longer names are not compared: they are no misspelling of ours */

static char plain(char c)
{
    return (char)(c == '_' || c == '.' ? '-' : c);
}

bool hspz__names_equal(const char *a, size_t length, const char *b)
{
    if (b == NULL || strlen(b) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (plain(a[i]) != plain(b[i]))
            return false;
    return true;
}

const hspz__option *hspz__option_find(const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < hspz__options_count; i++) {
        const hspz__option *option = &hspz__options_table[i];
        if (hspz__names_equal(name, length, option->name) || hspz__names_equal(name, length, option->key) ||
            hspz__names_equal(name, length, option->other_name) ||
            hspz__names_equal(name, length, option->environment))
            return option;
    }
    return NULL;
}

const hspz__option *hspz__option_by_key(const char *key)
{
    for (size_t i = 0; i < hspz__options_count; i++)
        if (hspz__names_equal(key, strlen(key), hspz__options_table[i].key))
            return &hspz__options_table[i];
    return NULL;
}

const hspz__option *hspz__option_by_environment(const char *name, size_t length)
{
    for (size_t i = 0; i < hspz__options_count; i++) {
        const hspz__option *option = &hspz__options_table[i];
        const char *const names[2] = {option->environment, option->other_environment};
        for (size_t k = 0; k < 2; k++)
            if (names[k] != NULL && strlen(names[k]) == length && memcmp(names[k], name, length) == 0)
                return option;
    }
    return NULL;
}

size_t hspz__option_index(const hspz__option *option)
{
    return (size_t)(option - hspz__options_table);
}

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* For guesses, MAX_HITS and max-hits are alike too. */
static bool alike(char a, char b)
{
    const char x = plain(a), y = plain(b);
    return x == y || ((x | 0x20) == (y | 0x20) && (x | 0x20) >= 'a' && (x | 0x20) <= 'z');
}

/* Insertions, deletions, substitutions and swaps of neighbours that turn a into b; both shorter than NAME_LONG. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][NAME_LONG + 1];
    const size_t rows_needed = strlen(a), columns = strlen(b);
    size_t *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= columns; j++)
        last[j] = j;
    for (size_t i = 1; i <= rows_needed; i++) {
        now[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            const bool same = alike(a[i - 1], b[j - 1]);
            now[j] = least_of(least_of(now[j - 1], last[j]) + 1, last[j - 1] + !same);
            if (i > 1 && j > 1 && alike(a[i - 1], b[j - 2]) && alike(a[i - 2], b[j - 1]))
                now[j] = least_of(now[j], before[j - 2] + 1);
        }
        size_t *const spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[columns];
}

const char *hspz__nearest(const char *name, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t best = 1 + (strlen(name) < 4 ? 1 : strlen(name) < 9 ? 2 : strlen(name) / 3);
    if (strlen(name) >= NAME_LONG)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (names[i] == NULL || strlen(names[i]) >= NAME_LONG)
            continue;
        const size_t distance = edit_distance(name, names[i]);
        if (distance < best) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}
