/* genome.c -- see genome.h and build.h */
#include "genome.h"
#include "build.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST_BASES ((uint64_t)1 << 16)
#define FIRST_RECORDS 16u
#define LARGE_PAGE ((uint64_t)1 << 21)
#define LARGE_BUFFER (LARGE_PAGE / 4) /* from here on large pages pay */

/* The buffers --------------------------------------------------------------------------------------------- */

/* First touches of a gigabyte cost more than reading it, page by page; large pages take that cost away. Advice only. */
static void prefer_large_pages(void *memory, uint64_t size)
{
    uintptr_t page = (uintptr_t)4096, begin = ((uintptr_t)memory + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)memory + (uintptr_t)size) & ~(page - 1);
    if (size >= LARGE_BUFFER && end > begin)
        (void)madvise((void *)begin, (size_t)(end - begin), MADV_HUGEPAGE);
}

/* A buffer of at least `size` bytes, by whole large pages when it is large. */
static uint8_t *new_buffer(uint64_t size)
{
    if (size < LARGE_BUFFER)
        return malloc((size_t)size);
    uint64_t whole = (size + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
    uint8_t *buffer = aligned_alloc((size_t)LARGE_PAGE, (size_t)whole);
    if (buffer != NULL) /* the last page only when much of it is used */
        prefer_large_pages(buffer, whole - size < LARGE_PAGE - LARGE_BUFFER ? whole : whole - LARGE_PAGE);
    return buffer;
}

/* Room for `count` more bytes and the NUL. Growing by half moves pages, not bytes, where the C library can remap. */
static int reserve(hspz__build *build, uint64_t count)
{
    hspz_genome *genome = build->genome;
    uint64_t needed = genome->length + count + 1, wanted;
    if (needed <= build->base_capacity)
        return 0;
    wanted = build->base_capacity + build->base_capacity / 2;
    if (wanted < needed)
        wanted = needed < FIRST_BASES ? FIRST_BASES : needed;
    uint8_t *grown = wanted <= SIZE_MAX ? realloc(genome->bases, (size_t)wanted) : NULL;
    if (grown == NULL)
        return hspz_failed_memory(build->failure, "the bases of a genome", wanted);
    prefer_large_pages(grown, wanted);
    genome->bases = grown;
    build->base_capacity = wanted;
    return 0;
}

static int reserve_record(hspz__build *build)
{
    hspz_genome *genome = build->genome;
    size_t wanted = build->record_capacity == 0 ? FIRST_RECORDS : 2 * build->record_capacity;
    if (genome->record_count < build->record_capacity)
        return 0;
    hspz_record *grown =
        wanted <= SIZE_MAX / sizeof *grown ? realloc(genome->records, wanted * sizeof *grown) : NULL;
    if (grown == NULL)
        return hspz_failed_memory(build->failure, "the record list of a genome",
                                  (unsigned long long)wanted * sizeof *grown);
    genome->records = grown;
    build->record_capacity = wanted;
    return 0;
}

/* Tallies are added to the totals before a field can overflow. */
static void flush_tally(hspz__build *build)
{
    hspz__composition_add(&build->genome->composition, build->tally, build->tally_count);
    build->tally = 0;
    build->tally_count = 0;
}

/* Records ------------------------------------------------------------------------------------------------- */

static bool is_space(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Header and name in one allocation: "header\0prefix+word\0". */
static int name_record(hspz__build *build, hspz_record *record, const char *header, size_t size)
{
    const char *prefix = build->options->name_prefix != NULL ? build->options->name_prefix : "";
    size_t prefix_size = strlen(prefix), word = 0;
    while (word < size && !is_space(header[word]))
        word++;
    record->header = malloc(size + 1 + prefix_size + word + 1);
    if (record->header == NULL)
        return hspz_failed_memory(build->failure, "a record name", size + prefix_size + word + 2);
    memcpy(record->header, header, size);
    record->header[size] = '\0';
    record->name = record->header + size + 1;
    memcpy(record->name, prefix, prefix_size);
    memcpy(record->name + prefix_size, header, word);
    record->name[prefix_size + word] = '\0';
    return 0;
}

/* A control character in the first word would break every file that the name is written to. */
static int check_header(const hspz__build *build, const char *header, size_t size, uint64_t line)
{
    size_t at = 0;
    if (size == 0 || is_space(header[0]))
        return hspz_failed(build->failure, HSPZ_EXIT_DATA, "%s: %s %llu: a record without a name",
                           build->label, build->unit, (unsigned long long)line);
    if (memchr(header, '\0', size) != NULL)
        return hspz_failed(build->failure, HSPZ_EXIT_DATA,
                           "%s: %s %llu: the name or description holds a zero byte", build->label,
                           build->unit, (unsigned long long)line);
    for (; at < size && !is_space(header[at]); at++) {
        uint8_t byte = (uint8_t)header[at];
        if (byte < 32 || byte == 127)
            return hspz_failed(build->failure, HSPZ_EXIT_DATA,
                               "%s: %s %llu: the name holds byte 0x%02x, expected printable characters",
                               build->label, build->unit, (unsigned long long)line, byte);
    }
    return 0;
}

int hspz__build_record(hspz__build *build, const char *header, size_t size, uint64_t line)
{
    hspz_genome *genome = build->genome;
    hspz_record record = {.line = line};
    int code = check_header(build, header, size, line);
    if (code == 0)
        code = reserve_record(build);
    if (code == 0)
        code = reserve(build, 1);
    if (code == 0)
        code = name_record(build, &record, header, size);
    if (code != 0)
        return code;
    if (genome->record_count > 0)
        genome->bases[genome->length++] = HSPZ_SEPARATOR;
    record.offset = genome->length;
    genome->records[genome->record_count++] = record;
    return 0;
}

int hspz__build_room(hspz__build *build, uint64_t count, uint8_t **bases)
{
    const hspz_record *record = &build->genome->records[build->genome->record_count - 1];
    if (count > HSPZ_RECORD_MAX - record->length)
        return hspz_failed(build->failure, HSPZ_EXIT_DATA,
                           "%s: record %.200s (%s %llu) has more than %u bases, the most that is supported",
                           build->label, record->name, build->unit, (unsigned long long)record->line,
                           HSPZ_RECORD_MAX);
    int code = reserve(build, count);
    *bases = code == 0 ? build->genome->bases + build->genome->length : NULL;
    return code;
}

void hspz__build_bases(hspz__build *build, uint64_t count, hspz__tally tally)
{
    hspz_genome *genome = build->genome;
    if (build->options->unmask && count > 0) {
        uint8_t *bases = genome->bases + genome->length;
        genome->unmasked += hspz__raise(bases, (size_t)count);
        /* What was soft-masked is a capital now; the other kinds are the same in either case. */
        tally &= ~(hspz__tally)HSPZ__TALLY_MAX;
    }
    if (build->tally_count + count > HSPZ__TALLY_MAX)
        flush_tally(build);
    build->tally += tally;
    build->tally_count += count;
    genome->length += count;
    genome->records[genome->record_count - 1].length += count;
}

const char *hspz__build_name(const hspz__build *build)
{
    return build->genome->records[build->genome->record_count - 1].name;
}

/* Judging the whole --------------------------------------------------------------------------------------- */

static uint64_t hash_name(const char *name)
{
    uint64_t hash = 14695981039346656037ull; /* FNV-1a */
    for (; *name != '\0'; name++)
        hash = (hash ^ (uint8_t)*name) * 1099511628211ull;
    return hash ^ hash >> 32;
}

/* LASTZ anchors a segment in the first record of its name, so names must differ. */
static int check_names(const hspz__build *build)
{
    const hspz_genome *genome = build->genome;
    size_t slots = 16;
    int code = 0;
    while (slots < 2 * genome->record_count)
        slots *= 2;
    size_t *table = calloc(slots, sizeof *table); /* record number + 1 */
    if (table == NULL)
        return hspz_failed_memory(build->failure, "the table of names",
                                  (unsigned long long)slots * sizeof *table);
    for (size_t record = 0; record < genome->record_count && code == 0; record++) {
        const char *name = genome->records[record].name;
        size_t slot = hash_name(name) & (slots - 1);
        while (table[slot] != 0 && strcmp(genome->records[table[slot] - 1].name, name) != 0)
            slot = (slot + 1) & (slots - 1);
        if (table[slot] != 0)
            code = hspz_failed(
                build->failure, HSPZ_EXIT_DATA,
                "%s: the name '%.200s' is used twice, at %s %llu and at %s %llu; names must differ, since "
                "alignments refer to records by name",
                build->label, name, build->unit, (unsigned long long)genome->records[table[slot] - 1].line,
                build->unit, (unsigned long long)genome->records[record].line);
        table[slot] = record + 1;
    }
    free(table);
    return code;
}

/* Gives back what is not used when it is much, ends the text, and judges what only the whole shows. */
static int finish(hspz__build *build)
{
    hspz_genome *genome = build->genome;
    int code = reserve(build, 0);
    if (code != 0)
        return code;
    flush_tally(build);
    genome->bases[genome->length] = '\0';
    if (genome->composition.bases == 0)
        return hspz_failed(build->failure, HSPZ_EXIT_DATA,
                           "%s: holds %zu record%s but not a single base, expected sequences", build->label,
                           genome->record_count, genome->record_count == 1 ? "" : "s");
    if (genome->length + 1 < build->base_capacity - build->base_capacity / 8) {
        uint8_t *trimmed = realloc(genome->bases, (size_t)genome->length + 1);
        if (trimmed != NULL)
            genome->bases = trimmed;
    }
    return check_names(build);
}

/* Formats that are often mistaken for ours, by their first bytes. */
static int check_other_formats(const hspz__build *build, const uint8_t *bytes, size_t size)
{
    static const struct {
        const char *magic;
        size_t size;
        const char *what;
    } others[] = {
        {"BZh", 3, "bzip2 data"},
        {"\xfd"
         "7zXZ",
         5, "xz data"},
        {"\x28\xb5\x2f\xfd", 4, "zstd data"},
        {"PK\x03\x04", 4, "a zip archive"},
        {"BAM\x01", 4, "a BAM file"},
        {"CRAM", 4, "a CRAM file"},
        {"@", 1, "FASTQ or SAM text"},
        {"##maf", 5, "a MAF alignment"},
        {"LOCUS", 5, "a GenBank file"},
        {"#", 1, "a table or annotation"},
        {"\x3a\x3d\xe9\x6b", 4, "a nib file"},
        {"\x6b\xe9\x3d\x3a", 4, "a nib file"},
        {"\xff\xfe", 2, "UTF-16 text"},
        {"\xfe\xff", 2, "UTF-16 text"},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (size >= others[i].size && memcmp(bytes, others[i].magic, others[i].size) == 0)
            return hspz_failed(build->failure, HSPZ_EXIT_DATA,
                               "%s: looks like %s, expected FASTA, 2bit, or gzip of either", build->label,
                               others[i].what);
    return 0;
}

static int read_stream(hspz__build *build, hspz__stream *stream)
{
    const uint8_t *bytes = NULL;
    size_t size = 0;
    int code = hspz__stream_peek(stream, &bytes, &size, build->failure);
    if (code == 0)
        code = check_other_formats(build, bytes, size);
    if (code != 0)
        return code;
    if (size == 0)
        return hspz_failed(build->failure, HSPZ_EXIT_DATA,
                           "%s: is empty when decompressed, expected FASTA or 2bit", build->label);
    if (hspz__is_twobit(bytes, size))
        return hspz__read_twobit(build, stream);
    build->genome->format = "FASTA";
    /* A file has more bytes than bases; pages that stay untouched cost nothing until they are given back. */
    uint64_t hint = hspz__stream_size_hint(stream);
    if (hint > 0 && hint < SIZE_MAX / 2 && (build->genome->bases = new_buffer(hint + 1)) != NULL)
        build->base_capacity = hint + 1;
    return hspz__read_fasta(build, stream);
}

static int load(hspz__stream *stream, const hspz_genome_options *options, hspz_genome *genome,
                hspz_failure *failure)
{
    static const hspz_genome_options defaults = {0};
    hspz__build build = {.genome = genome,
                         .options = options != NULL ? options : &defaults,
                         .failure = failure,
                         .label = hspz__stream_label(stream),
                         .unit = "line"};
    int code = 0;
    memset(genome, 0, sizeof *genome);
    genome->path = strdup(build.label);
    if (genome->path == NULL)
        code = hspz_failed_memory(failure, "a file name", strlen(build.label) + 1);
    if (code == 0)
        code = read_stream(&build, stream);
    if (code == 0)
        code = finish(&build);
    genome->packing = hspz__stream_packing(stream);
    genome->file_bytes = hspz__stream_bytes_read(stream);
    if (code != 0)
        hspz_genome_free(genome);
    return code;
}

int hspz_genome_load(const char *path, const hspz_genome_options *options, hspz_genome *genome,
                     hspz_failure *failure)
{
    hspz__stream *stream = NULL;
    memset(genome, 0, sizeof *genome);
    int code = hspz__stream_open(path, options != NULL ? options->stop : NULL, &stream, failure);
    if (code == 0)
        code = load(stream, options, genome, failure);
    hspz__stream_close(stream);
    return code;
}

int hspz_genome_load_memory(const void *bytes, size_t size, const char *label,
                            const hspz_genome_options *options, hspz_genome *genome, hspz_failure *failure)
{
    hspz__stream *stream = NULL;
    memset(genome, 0, sizeof *genome);
    int code = hspz__stream_open_memory(bytes, size, label, &stream, failure);
    if (code == 0)
        code = load(stream, options, genome, failure);
    hspz__stream_close(stream);
    return code;
}

void hspz_genome_free(hspz_genome *genome)
{
    if (genome == NULL)
        return;
    for (size_t record = 0; record < genome->record_count; record++)
        free(genome->records[record].header);
    free(genome->records);
    free(genome->bases);
    free(genome->path);
    memset(genome, 0, sizeof *genome);
}

/* Capital by capital from the end of each window: a bad base lets the next window begin behind it. */
bool hspz_can_seed(const uint8_t *bases, uint64_t length, uint32_t width)
{
    uint64_t begin = 0;
    while (width > 0 && width <= length && begin <= length - width) {
        uint64_t at = begin + width;
        while (at > begin &&
               (bases[at - 1] == 'A' || bases[at - 1] == 'C' || bases[at - 1] == 'G' || bases[at - 1] == 'T'))
            at--;
        if (at == begin)
            return true;
        begin = at;
    }
    return false;
}
