/* dotplot.h -- draws segments as an SVG dot plot: target to the right, query upwards, plus in blue, minus in red.
 *
 * A segments file knows no record lengths, so a record is as long as the largest end seen of it; minus segments, which count
 * in the reverse complement, are turned round with that length. Records stand side by side in the order in which
 * they first appear. Segments that fall on the same half pixels are drawn once, so a plot of millions stays small.
 */
#ifndef HSPZ_HOST_DOTPLOT_H
#define HSPZ_HOST_DOTPLOT_H

#include "segments_reader.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hspz_dotplot hspz_dotplot;

/* An empty plot; NULL when memory is short. Release with hspz_dotplot_free, which accepts NULL. */
hspz_dotplot *hspz_dotplot_new(void);
void hspz_dotplot_free(hspz_dotplot *plot);

/* A hspz_segment_visitor; ctx is the plot. */
int hspz_dotplot_add(void *plot, const hspz_segment *segment, hspz_failure *failure);

uint64_t hspz_dotplot_segments(const hspz_dotplot *plot);

/* Writes the picture; `title` is printed above it. Write errors show in ferror(out). 0 or HSPZ_EXIT_MEMORY. */
int hspz_dotplot_svg(hspz_dotplot *plot, const char *title, FILE *out, hspz_failure *failure)
    __attribute__((warn_unused_result));

#ifdef __cplusplus
}
#endif

#endif
