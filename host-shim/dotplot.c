/* dotplot.c -- see dotplot.h */
#include "dotplot.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PIXELS 1000.0 /* of the longer side */
#define MARGIN 60.0
#define LABEL_PIXELS 24.0 /* a record narrower than this has no label */

/* One axis: names in order of appearance, found through an open-addressed table of their numbers. */
typedef struct axis {
    char **names;
    uint64_t *lengths;
    uint64_t *starts; /* set when drawing */
    size_t count, capacity;
    size_t *slots; /* number + 1, 0 for an empty slot */
    size_t slot_count;
    uint64_t total;
} axis;

typedef struct dot {
    uint32_t target, query;
    uint64_t target_start, query_start, target_end, query_end; /* 0-based, end exclusive */
    char strand;
} dot;

struct hspz_dotplot {
    axis target, query;
    dot *dots;
    size_t count, capacity;
};

hspz_dotplot *hspz_dotplot_new(void)
{
    return calloc(1, sizeof(hspz_dotplot));
}

static void free_axis(axis *a)
{
    for (size_t i = 0; i < a->count; i++)
        free(a->names[i]);
    free(a->names);
    free(a->lengths);
    free(a->starts);
    free(a->slots);
}

void hspz_dotplot_free(hspz_dotplot *plot)
{
    if (plot == NULL)
        return;
    free_axis(&plot->target);
    free_axis(&plot->query);
    free(plot->dots);
    free(plot);
}

uint64_t hspz_dotplot_segments(const hspz_dotplot *plot)
{
    return plot->count;
}

/* Records ----------------------------------------------------------------------------------------- */

static uint64_t hash_text(const char *text)
{
    uint64_t h = 14695981039346656037u;
    for (; *text != '\0'; text++)
        h = (h ^ (unsigned char)*text) * 1099511628211u;
    return h ^ (h >> 29);
}

static size_t slot_of(const axis *a, const char *name)
{
    size_t at = (size_t)hash_text(name) & (a->slot_count - 1);
    while (a->slots[at] != 0 && strcmp(a->names[a->slots[at] - 1], name) != 0)
        at = (at + 1) & (a->slot_count - 1);
    return at;
}

/* Room for one more record in the lists and, at most half full, in the table. */
static bool grow_axis(axis *a)
{
    if (a->count < a->capacity)
        return true;
    size_t capacity = a->capacity ? 2 * a->capacity : 64;
    char **names = realloc(a->names, capacity * sizeof *names);
    if (names != NULL)
        a->names = names;
    uint64_t *lengths = realloc(a->lengths, capacity * sizeof *lengths);
    if (lengths != NULL)
        a->lengths = lengths;
    size_t *slots = calloc(4 * capacity, sizeof *slots);
    if (names == NULL || lengths == NULL || slots == NULL) {
        free(slots);
        return false;
    }
    free(a->slots);
    a->slots = slots;
    a->slot_count = 4 * capacity;
    a->capacity = capacity;
    for (size_t i = 0; i < a->count; i++)
        a->slots[slot_of(a, a->names[i])] = i + 1;
    return true;
}

/* Number of the record called `name`, which reaches at least to `end`; SIZE_MAX when memory is short. */
static size_t record_of(axis *a, const char *name, uint64_t end)
{
    if (!grow_axis(a))
        return SIZE_MAX;
    size_t slot = slot_of(a, name);
    if (a->slots[slot] == 0) {
        a->names[a->count] = strdup(name);
        if (a->names[a->count] == NULL)
            return SIZE_MAX;
        a->lengths[a->count] = 0;
        a->slots[slot] = ++a->count;
    }
    size_t number = a->slots[slot] - 1;
    if (end > a->lengths[number])
        a->lengths[number] = end;
    return number;
}

int hspz_dotplot_add(void *ctx, const hspz_segment *s, hspz_failure *failure)
{
    hspz_dotplot *plot = ctx;
    size_t target = record_of(&plot->target, s->target, s->target_end);
    size_t query = record_of(&plot->query, s->query, s->query_end);
    if (plot->count == plot->capacity) {
        size_t capacity = plot->capacity ? 2 * plot->capacity : 1024;
        dot *grown = realloc(plot->dots, capacity * sizeof *grown);
        if (grown == NULL)
            return hspz_failed_memory(failure, "the segments", capacity * sizeof *grown);
        plot->dots = grown;
        plot->capacity = capacity;
    }
    if (target >= UINT32_MAX || query >= UINT32_MAX)
        return hspz_failed_memory(failure, "record names", 64);
    plot->dots[plot->count++] = (dot){.target = (uint32_t)target,
                                      .query = (uint32_t)query,
                                      .target_start = s->target_start - 1,
                                      .target_end = s->target_end,
                                      .query_start = s->query_start - 1,
                                      .query_end = s->query_end,
                                      .strand = s->strand};
    return 0;
}

/* Drawing ----------------------------------------------------------------------------------------- */

static bool place_axis(axis *a)
{
    uint64_t *starts = realloc(a->starts, (a->count ? a->count : 1) * sizeof *starts);
    if (starts == NULL)
        return false;
    a->starts = starts;
    a->total = 0;
    for (size_t i = 0; i < a->count; i++) {
        a->starts[i] = a->total;
        a->total = a->lengths[i] > UINT64_MAX / 2 - a->total ? UINT64_MAX / 2 : a->total + a->lengths[i];
    }
    return true;
}

static void put_escaped(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        default:
            fputc((unsigned char)*text < 0x20 ? '?' : *text, out);
        }
}

typedef struct canvas {
    FILE *out;
    double scale, width, height; /* pixels a base, pixels */
} canvas;

static void put_frame(const canvas *c, const hspz_dotplot *plot, const char *title)
{
    fprintf(
        c->out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" "
        "font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"%.1f\" "
        "y=\"%.1f\" "
        "font-size=\"14\">",
        c->width + 2 * MARGIN, c->height + 2 * MARGIN, MARGIN, MARGIN / 2);
    put_escaped(c->out, title);
    fprintf(c->out, " (%zu segments)</text>\n<g stroke=\"#ddd\" stroke-width=\"0.5\">\n", plot->count);
    for (size_t i = 1; i < plot->target.count; i++)
        fprintf(c->out, "<path d=\"M%.2f %.2fv%.2f\"/>\n", MARGIN + c->scale * (double)plot->target.starts[i],
                MARGIN, c->height);
    for (size_t i = 1; i < plot->query.count; i++)
        fprintf(c->out, "<path d=\"M%.2f %.2fh%.2f\"/>\n", MARGIN,
                MARGIN + c->height - c->scale * (double)plot->query.starts[i], c->width);
    fprintf(
        c->out,
        "</g>\n<rect x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" height=\"%.2f\" fill=\"none\" stroke=\"black\"/>\n",
        MARGIN, MARGIN, c->width, c->height);
}

static void put_labels(const canvas *c, const hspz_dotplot *plot)
{
    for (size_t i = 0; i < plot->target.count; i++) {
        double width = c->scale * (double)plot->target.lengths[i];
        if (width < LABEL_PIXELS)
            continue;
        fprintf(c->out, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\">",
                MARGIN + c->scale * (double)plot->target.starts[i] + width / 2, MARGIN + c->height + 16);
        put_escaped(c->out, plot->target.names[i]);
        fputs("</text>\n", c->out);
    }
    for (size_t i = 0; i < plot->query.count; i++) {
        double height = c->scale * (double)plot->query.lengths[i];
        double middle = MARGIN + c->height - c->scale * (double)plot->query.starts[i] - height / 2;
        if (height < LABEL_PIXELS)
            continue;
        fprintf(c->out, "<text transform=\"translate(%.2f %.2f) rotate(-90)\" text-anchor=\"middle\">",
                MARGIN - 8, middle);
        put_escaped(c->out, plot->query.names[i]);
        fputs("</text>\n", c->out);
    }
}

/* Ends of a line in half pixels: what is drawn twice there cannot be told apart. */
typedef struct stroke {
    int32_t x1, y1, x2, y2;
} stroke;

static int compare_strokes(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(stroke));
}

static void put_strokes(const canvas *c, stroke *strokes, size_t count, const char *colour)
{
    qsort(strokes, count, sizeof *strokes, compare_strokes);
    fprintf(c->out, "<g stroke=\"%s\" stroke-linecap=\"round\" fill=\"none\">\n", colour);
    for (size_t i = 0; i < count; i++) {
        const stroke *s = &strokes[i];
        if (i == 0 || compare_strokes(s, s - 1) != 0)
            fprintf(c->out, "<path d=\"M%.1f %.1fL%.1f %.1f\"/>\n", s->x1 / 2.0, s->y1 / 2.0, s->x2 / 2.0,
                    s->y2 / 2.0);
    }
    fputs("</g>\n", c->out);
}

static size_t collect(const canvas *c, const hspz_dotplot *plot, char strand, stroke *strokes)
{
    size_t n = 0;
    for (size_t i = 0; i < plot->count; i++) {
        const dot *d = &plot->dots[i];
        if (d->strand != strand)
            continue;
        uint64_t length = plot->query.lengths[d->query];
        uint64_t from = strand == '+' ? d->query_start : length - d->query_start;
        uint64_t to = strand == '+' ? d->query_end : length - d->query_end;
        double x = (double)plot->target.starts[d->target], y = (double)plot->query.starts[d->query];
        strokes[n++] = (stroke){.x1 = (int32_t)(2 * (MARGIN + c->scale * (x + (double)d->target_start))),
                                .x2 = (int32_t)(2 * (MARGIN + c->scale * (x + (double)d->target_end))),
                                .y1 = (int32_t)(2 * (MARGIN + c->height - c->scale * (y + (double)from))),
                                .y2 = (int32_t)(2 * (MARGIN + c->height - c->scale * (y + (double)to)))};
    }
    return n;
}

int hspz_dotplot_svg(hspz_dotplot *plot, const char *title, FILE *out, hspz_failure *failure)
{
    stroke *strokes = malloc((plot->count ? plot->count : 1) * sizeof *strokes);
    if (strokes == NULL || !place_axis(&plot->target) || !place_axis(&plot->query)) {
        free(strokes);
        return hspz_failed_memory(failure, "the plot", plot->count * sizeof *strokes);
    }
    uint64_t longest = plot->target.total > plot->query.total ? plot->target.total : plot->query.total;
    canvas c = {.out = out, .scale = longest != 0 ? PIXELS / (double)longest : 1.0};
    c.width = longest != 0 ? c.scale * (double)plot->target.total : PIXELS;
    c.height = longest != 0 ? c.scale * (double)plot->query.total : PIXELS;
    put_frame(&c, plot, title);
    put_strokes(&c, strokes, collect(&c, plot, '+', strokes), "#1f5fbf");
    put_strokes(&c, strokes, collect(&c, plot, '-', strokes), "#c0392b");
    put_labels(&c, plot);
    fputs("</svg>\n", out);
    free(strokes);
    return 0;
}
