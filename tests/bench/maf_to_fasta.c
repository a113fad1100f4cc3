/* maf_to_fasta.c -- one species of a MAF alignment as FASTA: maf_to_fasta SPECIES <in.maf >out.fa
 *
 * Idea: benchmarks want real genomes, and an alignment that a package ships holds two of them, cut into blocks. Each line
 * "s SPECIES.SEQUENCE start size strand sourceSize text" is degapped, turned to the plus strand, and put at its place in
 * its sequence; blocks of a sequence are written in order of position. What two blocks share is written once; where
 * bases are missing between blocks, SEAM letters N keep the ends apart. Letter case (soft-masking) is kept.
 * Memory: the bases of that species once.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEAM 10
#define WIDTH 60

typedef struct piece {
    uint32_t sequence; /* index in names */
    uint64_t start;    /* plus strand, 0-based */
    uint64_t size;
    uint64_t bases; /* where they lie in the pool */
} piece;

typedef struct pool {
    char **names; /* of sequences, in order of appearance */
    size_t name_count;
    piece *pieces;
    size_t piece_count;
    char *bases;
    uint64_t base_count, base_capacity;
} pool;

static _Noreturn void stop(const char *what, unsigned long long line)
{
    (void)fprintf(stderr, "maf_to_fasta: line %llu: %s\n", line, what);
    exit(1);
}

/* Room for one more element behind `count`, doubling at powers of two. */
static void *grown(void *memory, size_t count, size_t size)
{
    if (count > 0 && (count & (count - 1)) != 0)
        return memory;
    void *larger = count <= SIZE_MAX / 2 / size ? realloc(memory, (count == 0 ? 1 : 2 * count) * size) : NULL;
    if (larger == NULL)
        stop("out of memory", 0);
    return larger;
}

static uint32_t find_name(pool *pool, const char *name)
{
    for (size_t i = pool->name_count; i-- > 0;)
        if (strcmp(pool->names[i], name) == 0)
            return (uint32_t)i;
    pool->names = grown(pool->names, pool->name_count, sizeof *pool->names);
    pool->names[pool->name_count] = strdup(name);
    if (pool->names[pool->name_count] == NULL)
        stop("out of memory", 0);
    return (uint32_t)pool->name_count++;
}

static char complement(char base)
{
    static const char from[] = "ACGTUacgtuRYKMBVDHrykmbvdh", to[] = "TGCAAtgcaaYRMKVBHDyrmkvbhd";
    const char *at = base == '\0' ? NULL : strchr(from, base);
    return at == NULL ? base : to[at - from];
}

static void reserve_bases(pool *pool, uint64_t count)
{
    if (count <= pool->base_capacity - pool->base_count)
        return;
    pool->base_capacity = 2 * (pool->base_count + count);
    pool->bases = realloc(pool->bases, pool->base_capacity);
    if (pool->bases == NULL)
        stop("out of memory", 0);
}

/* Degaps `text` into the pool; minus-strand text is turned around. Returns the number of bases. */
static uint64_t add_bases(pool *pool, const char *text, bool minus)
{
    reserve_bases(pool, strlen(text));
    char *to = pool->bases + pool->base_count;
    uint64_t count = 0;
    for (; *text != '\0'; text++)
        if (*text != '-' && *text != '.')
            to[count++] = *text;
    for (uint64_t i = 0; minus && i < (count + 1) / 2; i++) {
        char low = complement(to[i]), high = complement(to[count - 1 - i]);
        to[i] = high;
        to[count - 1 - i] = low;
    }
    pool->base_count += count;
    return count;
}

static uint64_t number(const char *text, unsigned long long line)
{
    char *end = NULL;
    errno = 0;
    unsigned long long value = text == NULL ? 0 : strtoull(text, &end, 10);
    if (text == NULL || end == text || *end != '\0' || errno != 0)
        stop("a number is missing or wrong in an 's' line", line);
    return value;
}

static void add_line(pool *pool, char *text, const char *species, unsigned long long line)
{
    static const char blanks[] = " \t\r\n";
    char *rest = NULL;
    size_t length = strlen(species);
    (void)strtok_r(text, blanks, &rest); /* the "s" */
    const char *source = strtok_r(NULL, blanks, &rest);
    if (source == NULL || strncmp(source, species, length) != 0 ||
        (source[length] != '.' && source[length] != '\0'))
        return;
    uint64_t start = number(strtok_r(NULL, blanks, &rest), line),
             size = number(strtok_r(NULL, blanks, &rest), line);
    const char *strand = strtok_r(NULL, blanks, &rest);
    uint64_t source_size = number(strtok_r(NULL, blanks, &rest), line);
    const char *bases = strtok_r(NULL, blanks, &rest);
    if (strand == NULL || bases == NULL || start > source_size || size > source_size - start)
        stop("an 's' line is cut short or leaves its sequence", line);
    bool minus = strcmp(strand, "-") == 0;
    piece made = {.sequence = find_name(pool, source), .size = size, .bases = pool->base_count};
    made.start = minus ? source_size - start - size : start;
    if (add_bases(pool, bases, minus) != size)
        stop("the text of an 's' line has another number of bases than it says", line);
    pool->pieces = grown(pool->pieces, pool->piece_count, sizeof *pool->pieces);
    pool->pieces[pool->piece_count++] = made;
}

static int by_place(const void *left, const void *right)
{
    const piece *a = left, *b = right;
    if (a->sequence != b->sequence)
        return a->sequence < b->sequence ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->size > b->size) - (a->size < b->size);
}

static unsigned column;

static void put(char base)
{
    (void)putchar(base); /* ferror is asked at the end */
    if (++column == WIDTH) {
        (void)putchar('\n');
        column = 0;
    }
}

static void write_all(const pool *pool)
{
    uint64_t end = 0;
    for (size_t i = 0; i < pool->piece_count; i++) {
        const piece *at = &pool->pieces[i];
        bool first = i == 0 || at->sequence != at[-1].sequence;
        if (first) {
            if (column > 0)
                (void)putchar('\n');
            (void)printf(">%s\n", pool->names[at->sequence]);
            column = 0;
        }
        for (int n = 0; n < SEAM && !first && at->start > end; n++)
            put('N');
        uint64_t skip = first || at->start >= end ? 0 : end - at->start;
        for (uint64_t base = skip; base < at->size; base++)
            put(pool->bases[at->bases + base]);
        if (first || at->start + at->size > end)
            end = at->start + at->size;
    }
    if (column > 0)
        (void)putchar('\n');
}

int main(int argc, char **argv)
{
    pool pool = {0};
    char *text = NULL;
    size_t capacity = 0;
    unsigned long long line = 0;
    if (argc != 2) {
        (void)fprintf(stderr, "usage: maf_to_fasta SPECIES <in.maf >out.fa\n");
        return 2;
    }
    while (getline(&text, &capacity, stdin) >= 0) {
        line++;
        if (text[0] == 's' && (text[1] == ' ' || text[1] == '\t'))
            add_line(&pool, text, argv[1], line);
    }
    if (ferror(stdin))
        stop("cannot read", line);
    if (pool.piece_count == 0)
        stop("no line of that species", line);
    qsort(pool.pieces, pool.piece_count, sizeof *pool.pieces, by_place);
    write_all(&pool);
    if (fflush(stdout) != 0 || ferror(stdout))
        stop("cannot write", line);
    for (size_t i = 0; i < pool.name_count; i++)
        free(pool.names[i]);
    free(pool.names);
    free(pool.pieces);
    free(pool.bases);
    free(text);
    return 0;
}
