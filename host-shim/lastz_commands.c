/* lastz_commands.c -- see lastz_commands.h */
#include "lastz_commands.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define COPY_LINE 100          /* bases a line of the copies */
#define COPY_BUFFER (1u << 20) /* bytes gathered before a write */

/* Inputs ----------------------------------------------------------------------------------------- */

bool hspz__lastz_path_is_safe(const char *path)
{
    size_t size = strlen(path);
    return size != 0 && path[size - 1] != '-' && strpbrk(path, "[]{},\n") == NULL &&
           strstr(path, "::") == NULL && strstr(path, ".2bit/") == NULL && strstr(path, ".hsx/") == NULL;
}

const char *hspz__lastz_input_problem(const hspz_genome *genome, const char *prefix, bool mapped,
                                      int64_t ambiguous)
{
    struct stat status;
    if (strcmp(genome->packing, "plain") != 0)
        return "is compressed";
    if (strcmp(genome->format, "FASTA") != 0 && strcmp(genome->format, "2bit version 0") != 0)
        return "is 2bit of version 1";
    if (genome->rna)
        return "has U for T";
    if (genome->composition.iupac != 0 && ambiguous != HSPZ_AMBIGUOUS_IUPAC)
        return "has IUPAC codes, which LASTZ takes with --ambiguous=iupac only";
    if (prefix[0] != '\0')
        return "has names without the prefix";
    if (mapped)
        return "has names LASTZ would misread";
    if (stat(genome->path, &status) != 0 || !S_ISREG(status.st_mode))
        return "is no ordinary file";
    if (!hspz__lastz_path_is_safe(genome->path))
        return "has a path that LASTZ would misread";
    return NULL;
}

/* Copies ----------------------------------------------------------------------------------------- */

static bool is_plain_base(uint8_t base)
{
    return strchr("ACGTNX", toupper(base)) != NULL;
}

static int flush(hspz__text *text, int file, const char *name, hspz_failure *failure)
{
    if (text->failed)
        return hspz_failed_memory(failure, name, COPY_BUFFER);
    int code = hspz__write_all(file, text->data, text->length, name, failure);
    text->length = 0;
    return code;
}

static int copy_record(const uint8_t *bases, uint64_t length, bool plain_bases, hspz__text *text, int file,
                       const char *name, hspz_failure *failure)
{
    int code = 0;
    for (uint64_t at = 0; at < length && code == 0; at += COPY_LINE) {
        size_t n = length - at < COPY_LINE ? (size_t)(length - at) : COPY_LINE;
        char *line = hspz__text_room(text, n + 1);
        if (line != NULL) {
            memcpy(line, bases + at, n);
            for (size_t i = 0; plain_bases && i < n; i++)
                if (!is_plain_base((uint8_t)line[i]))
                    line[i] = 'N';
            line[n] = '\n';
            text->length += n + 1;
        }
        if (text->length >= COPY_BUFFER || text->failed)
            code = flush(text, file, name, failure);
    }
    return code;
}

int hspz__lastz_write_copy(const hspz_genome *genome, const char *const *names, bool plain_bases, int file,
                           const char *name, hspz_failure *failure)
{
    hspz__text text = {0};
    int code = 0;
    for (size_t i = 0; i < genome->record_count && code == 0; i++) {
        const hspz_record *record = &genome->records[i];
        hspz__text_string(&text, ">");
        hspz__text_string(&text, names[i]);
        hspz__text_string(&text, "\n");
        code = copy_record(genome->bases + record->offset, record->length, plain_bases, &text, file, name,
                           failure);
    }
    if (code == 0)
        code = flush(&text, file, name, failure);
    hspz__text_free(&text);
    return code;
}

/* Commands --------------------------------------------------------------------------------------- */

void hspz__shell_word(hspz__text *text, const char *word)
{
    static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./=:,+@%";
    if (word[0] != '\0' && strspn(word, safe) == strlen(word)) {
        hspz__text_string(text, word);
        return;
    }
    hspz__text_string(text, "'");
    for (; *word != '\0'; word++)
        if (*word == '\'')
            hspz__text_string(text, "'\\''");
        else
            hspz__text_bytes(text, word, 1);
    hspz__text_string(text, "'");
}

/* Appends " WORD", the word put together from a format. */
static void add_word(hspz__text *text, const char *prefix, const char *directory, const char *name,
                     const char *suffix)
{
    hspz__text word = {0};
    hspz__text_string(&word, prefix);
    if (directory[0] != '\0') {
        hspz__text_string(&word, directory);
        hspz__text_string(&word, "/");
    }
    hspz__text_string(&word, name);
    hspz__text_string(&word, suffix);
    hspz__text_bytes(&word, "", 1);
    hspz__text_string(text, " ");
    if (word.failed)
        text->failed = true;
    else
        hspz__shell_word(text, word.data);
    hspz__text_free(&word);
}

static void add_sequence(hspz__text *text, const char *path, const char *actions, const char *directory,
                         const char *subset)
{
    hspz__text word = {0};
    hspz__text_format(&word, "%s%s", path, actions);
    if (subset != NULL)
        hspz__text_format(&word, "[subset=%s%s%s]", directory, directory[0] ? "/" : "", subset);
    hspz__text_bytes(&word, "", 1);
    hspz__text_string(text, " ");
    if (word.failed)
        text->failed = true;
    else
        hspz__shell_word(text, word.data);
    hspz__text_free(&word);
}

static void add_ambiguous(hspz__text *text, const hspz_options *o)
{
    if (o->ambiguous == HSPZ_AMBIGUOUS_NONE)
        return;
    hspz__text_format(text, " --ambiguous=%s", o->ambiguous == HSPZ_AMBIGUOUS_N ? "n" : "iupac");
    if (o->ambiguous_reward != 0 || o->ambiguous_penalty != 0)
        hspz__text_format(text, ",%lld,%lld", (long long)o->ambiguous_reward,
                          (long long)o->ambiguous_penalty);
}

/* The name of the gapped output: that of the segments with the format's leading word, "maf" of "maf-". */
static void add_output(hspz__text *text, const char *directory, const char *segments, const char *format)
{
    char stem[512], suffix[32];
    size_t size = strlen(segments) - strlen(".segments");
    snprintf(stem, sizeof stem, "%.*s", (int)size, segments);
    snprintf(suffix, sizeof suffix, ".%.*s",
             (int)strspn(format, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"), format);
    add_word(text, "--output=", directory, stem, suffix);
}

void hspz__lastz_command(const hspz__lastz *lastz, const char *directory, const char *segments,
                         const char *target_subset, const char *query_subset, const char *strand,
                         hspz__text *text)
{
    const hspz_options *o = lastz->options;
    hspz__text_string(text, "lastz");
    add_sequence(text, lastz->target_path, "[nameparse=darkspace][multiple]", directory, target_subset);
    add_sequence(text, lastz->query_path, "[nameparse=darkspace]", directory, query_subset);
    add_word(text, "--format=", "", o->format, "");
    hspz__text_format(text, " --ydrop=%lld --gappedthresh=%lld --strand=%s", (long long)o->ydrop,
                      (long long)o->gappedthresh, strand);
    add_ambiguous(text, o);
    if (o->scoring[0] != '\0')
        add_word(text, "--scores=", "", o->scoring, "");
    if (o->trivial == 0)
        hspz__text_string(text, " --notrivial");
    add_word(text, "--segments=", directory, segments, "");
    add_output(text, directory, segments, o->format);
    hspz__text_string(text, "\n");
}
