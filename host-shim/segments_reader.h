/* segments_reader.h -- reads LASTZ segments files back: dotplot draws them, tests and tools compare them.
 *
 * A line is target name, start, end, query name, start, end, strand and, if there is one, a score, blanks or tabs between;
 * '#' begins a comment; empty lines are passed over. Starts are 1-based, ends inclusive. One line is held at a time.
 */
#ifndef HSPZ_HOST_SEGMENTS_READER_H
#define HSPZ_HOST_SEGMENTS_READER_H

#include "failure.h"

#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hspz_segment {
    const char *target; /* valid during the call */
    const char *query;
    uint64_t target_start, target_end; /* 1-based, inclusive; start <= end */
    uint64_t query_start, query_end;
    char strand;   /* '+' or '-' */
    int64_t score; /* 0 when the line has none */
} hspz_segment;

/* Gets each segment in file order; non-zero (an exit code, failure filled) ends the reading. */
typedef int hspz_segment_visitor(void *ctx, const hspz_segment *segment, hspz_failure *failure);

/* Reads from `in`; `label` is the file's name for messages. 0, HSPZ_EXIT_DATA with file and line, HSPZ_EXIT_MEMORY, or
 * what the visitor answered. [any] */
int hspz_segments_read(FILE *in, const char *label, hspz_segment_visitor *visit, void *ctx,
                       hspz_failure *failure) __attribute__((warn_unused_result));

#ifdef __cplusplus
}
#endif

#endif
