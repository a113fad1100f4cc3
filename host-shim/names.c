/* names.c -- which record names LASTZ would misread (genome.h).
 *
 * Measured with lastz 1.04.22, a two-record target with [nameparse=darkspace][multiple] and a segments file:
 *   - '#' begins a comment anywhere in a line of a segments file ("bad field", or the segment vanishes);
 *   - a name that ends in .fa, .fasta, .2bit, .nib or .hsx loses that ending (once) in LASTZ's own parsing of the
 *     sequence file, so that the segment's name is not found ("extra segments in file"); capitals keep it, other endings
 *     (.fna, .gz, .seq, .qdna) are kept, and a name that is nothing but the ending is kept;
 *   - a line of more than 1023 characters is cut ("too few fields"): two names and 58 characters of numbers and tabs
 *     must fit;
 *   - everything else printable is taken: | : / \ [ ] { } ( ) ' " , ; = @ $ % > * + - and bytes from 128 on.
 */
#include "genome.h"

#include <string.h>

#define LINE_MAX_LASTZ 1023
#define LINE_REST 58 /* 4 positions and a score of at most 10 digits, 7 tabs, a strand */
#define NAME_MAX_LASTZ ((LINE_MAX_LASTZ - LINE_REST) / 2 - 2)
_Static_assert(NAME_MAX_LASTZ == 480, "the sentence below names the number");

static bool ends_with(const char *name, size_t size, const char *ending)
{
    size_t length = strlen(ending);
    return size > length && strcmp(name + size - length, ending) == 0;
}

const char *hspz_name_problem(const char *name)
{
    static const struct {
        const char *ending;
        const char *sentence;
    } endings[] = {
        {".fa", "ends in '.fa', which LASTZ strips from names"},
        {".fasta", "ends in '.fasta', which LASTZ strips from names"},
        {".2bit", "ends in '.2bit', which LASTZ strips from names"},
        {".nib", "ends in '.nib', which LASTZ strips from names"},
        {".hsx", "ends in '.hsx', which LASTZ strips from names"},
    };
    size_t size = strlen(name);
    if (size == 0)
        return "is empty";
    if (size > NAME_MAX_LASTZ)
        return "is longer than 480 characters, so that a line of two such names exceeds LASTZ's limit of "
               "1023";
    for (const char *at = name; *at != '\0'; at++) {
        if (*at == '#')
            return "contains '#', which begins a comment in a segments file";
        if (*at == ' ' || (*at >= '\t' && *at <= '\r'))
            return "contains a blank, which separates fields";
        if ((unsigned char)*at < 32 || *at == 127)
            return "contains a control character";
    }
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (ends_with(name, size, endings[i].ending))
            return endings[i].sentence;
    return NULL;
}
