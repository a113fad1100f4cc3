/* stats.c -- see stats.h */
#include "stats.h"

#include "stage.h"
#include "tally.h"
#include "text.h"
#include "version.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* JSON strings; bytes from 128 on pass through when they are UTF-8, else they become '?'. */
static size_t utf8_length(const unsigned char *s)
{
    size_t n = s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;
    if (s[0] >= 0xf5)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

static void add_quoted(hspz__text *text, const char *string)
{
    hspz__text_string(text, "\"");
    for (const unsigned char *s = (const unsigned char *)string; *s != '\0'; s++) {
        size_t n = utf8_length(s);
        if (*s == '"' || *s == '\\')
            hspz__text_format(text, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f)
            hspz__text_format(text, "\\u%04x", *s);
        else if (*s < 0x80)
            hspz__text_bytes(text, (const char *)s, 1);
        else if (n == 0)
            hspz__text_string(text, "?");
        else {
            hspz__text_bytes(text, (const char *)s, n);
            s += n - 1;
        }
    }
    hspz__text_string(text, "\"");
}

static void add_pair(hspz__text *text, const char *indent, const char *key, const char *value,
                     const char *end)
{
    hspz__text_format(text, "%s\"%s\": ", indent, key);
    add_quoted(text, value);
    hspz__text_string(text, end);
}

static void add_count(hspz__text *text, const char *indent, const char *key, uint64_t value, const char *end)
{
    hspz__text_format(text, "%s\"%s\": %llu%s", indent, key, (unsigned long long)value, end);
}

static void add_command(hspz__text *text, const hspz_context *context)
{
    hspz__text_string(text, "  \"command\": [");
    for (int i = 0; i < context->argc; i++) {
        if (i != 0)
            hspz__text_string(text, ", ");
        add_quoted(text, context->argv[i]);
    }
    hspz__text_string(text, "],\n");
}

static void add_engines(hspz__text *text, const hspz_session *session)
{
    hspz__text_string(text, "  \"engines\": [\n");
    for (uint32_t i = 0; i < session->engine_count; i++) {
        const hspz_engine_host *e = &session->engines[i];
        char label[32];
        hspz_device_label(&e->device, label, sizeof label);
        hspz__text_string(text, "    {");
        add_pair(text, "", "device", label, ", ");
        add_pair(text, "", "device_name", e->device.name, ", ");
        add_pair(text, "", "backend", e->info.backend, ", ");
        add_pair(text, "", "variant", e->info.variant, ", ");
        add_count(text, "", "threads", e->info.threads, ", ");
        add_count(text, "", "max_hits", e->info.max_hits, i + 1 < session->engine_count ? "},\n" : "}\n");
    }
    hspz__text_string(text, "  ],\n");
}

static void add_input(hspz__text *text, const char *role, const hspz_input *input)
{
    const hspz_genome *g = &input->genome;
    const hspz_composition *c = &g->composition;
    hspz__text_format(text, "  \"%s\": {\n", role);
    add_pair(text, "    ", "path", g->path, ",\n");
    add_pair(text, "    ", "format", g->format, ",\n");
    add_pair(text, "    ", "packing", g->packing, ",\n");
    add_count(text, "    ", "records", g->record_count, ",\n");
    add_count(text, "    ", "blocks", input->layout.block_count, ",\n");
    add_count(text, "    ", "bases", c->bases, ",\n");
    add_count(text, "    ", "upper", c->upper, ",\n");
    add_count(text, "    ", "masked", c->masked, ",\n");
    add_count(text, "    ", "n", c->n, ",\n");
    add_count(text, "    ", "iupac", c->iupac, ",\n");
    add_count(text, "    ", "x", c->x, ",\n");
    hspz__text_format(text, "    \"seconds\": %.6f\n  },\n", input->seconds);
}

static void add_totals(hspz__text *text, const hspz_stats *stats)
{
    const hspz_statistics *s = &stats->totals->statistics;
    hspz__text_string(text, "  \"counts\": {\n");
    add_count(text, "    ", "calls", stats->calls->count, ",\n");
#define COUNT(member) add_count(text, "    ", #member, s->member, ",\n");
    HSPZ_STATISTICS_COUNTS(COUNT)
#undef COUNT
    add_count(text, "    ", "hsps", stats->hsps, ",\n");
    add_count(text, "    ", "files", stats->files, "\n  },\n  \"seconds\": {\n");
#define SECONDS(member) hspz__text_format(text, "    \"" #member "\": %.6f,\n", s->seconds_##member);
    HSPZ_STATISTICS_SECONDS(SECONDS)
#undef SECONDS
    hspz__text_format(text, "    \"load\": %.6f,\n    \"search\": %.6f,\n    \"output\": %.6f,\n",
                      stats->seconds_load, stats->totals->seconds, stats->totals->seconds_consumer);
    hspz__text_format(text, "    \"cpu\": %.6f,\n    \"wall\": %.6f\n  },\n  \"memory\": {\n", stats->cpu,
                      stats->wall);
    add_count(text, "    ", "engines_host_peak", s->host_memory_peak, ",\n");
    add_count(text, "    ", "engines_device_peak", s->device_memory_peak, ",\n");
    add_count(text, "    ", "process_peak", stats->peak_memory, "\n  }\n");
}

static void make_json(const hspz_stats *stats, hspz__text *text)
{
    const hspz_library *library = &stats->session->library;
    hspz__text_string(text, "{\n");
    add_pair(text, "  ", "version", HSPZ_VERSION, ",\n");
    add_command(text, stats->context);
    hspz__text_string(text, "  \"plugin\": {\n");
    add_pair(text, "    ", "path", library->path, ",\n");
    add_pair(text, "    ", "name", library->table.name, ",\n");
    add_pair(text, "    ", "version", library->table.version, ",\n");
    add_pair(text, "    ", "build", library->table.build, ",\n");
    hspz__text_format(text, "    \"abi\": \"%u.%u\"\n  },\n", library->table.abi_major, library->minor);
    add_pair(text, "  ", "dedup", hspz_dedup_name((uint32_t)stats->context->options->dedup), ",\n");
    add_engines(text, stats->session);
    add_input(text, "target", &stats->inputs->target);
    add_input(text, "query", &stats->inputs->query);
    add_totals(text, stats);
    hspz__text_string(text, "}\n");
}

int hspz_stats_check(const hspz_options *options, hspz_failure *failure)
{
    const char *path = options->stats, *slash = strrchr(path, '/');
    if (path[0] == '\0' || strcmp(path, "-") == 0)
        return 0;
    int code = hspz__stage_check_file(path, true, failure);
    if (code != 0)
        return code;
    char *parent = slash == NULL ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
    if (parent == NULL)
        return hspz_failed_memory(failure, "a path", strlen(path));
    /* the output directory may be still to come */
    size_t same = strlen(parent);
    while (same > 1 && parent[same - 1] == '/')
        parent[--same] = '\0';
    bool output = strncmp(parent, options->output, same) == 0 &&
                  strspn(options->output + same, "/") == strlen(options->output + same);
    if (access(parent, W_OK | X_OK) != 0 && !(output && errno == ENOENT))
        code =
            hspz_failed(failure, HSPZ_EXIT_DATA, "--stats %s: cannot be written: %s", path, strerror(errno));
    free(parent);
    return code;
}

int hspz_stats_write(const hspz_stats *stats, const char *path, hspz_failure *failure)
{
    hspz__text text = {0};
    make_json(stats, &text);
    int code = 0;
    if (text.failed) {
        code = hspz_failed_memory(failure, "the statistics", text.length);
    } else if (strcmp(path, "-") == 0) {
        code = hspz__write_all(STDOUT_FILENO, text.data, text.length, "stdout", failure);
    } else {
        hspz__stage stage;
        code = hspz__stage_open_file(path, true, &stage, failure);
        if (code == 0 && (code = hspz__write_all(stage.file, text.data, text.length, path, failure)) == 0)
            code = hspz__stage_publish(&stage, failure);
        else
            hspz__stage_abandon(&stage);
    }
    hspz__text_free(&text);
    return code;
}
