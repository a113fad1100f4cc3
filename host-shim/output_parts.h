/* output_parts.h -- what the three files of the output share (output.h). */
#ifndef HSPZ__HOST_OUTPUT_PARTS_H
#define HSPZ__HOST_OUTPUT_PARTS_H

#include "lastz_commands.h"
#include "output.h"
#include "segments.h"
#include "stage.h"

enum { HSPZ__OUTPUT_DIRECTORY, HSPZ__OUTPUT_FILE, HSPZ__OUTPUT_STDOUT };

/* The HSPs of one call, held for a stream. */
typedef struct hspz__held {
    hspz_call call;
    hspz_hsps hsps;
    hspz__placer placer;
    uint64_t at; /* next HSP to be written */
} hspz__held;

struct hspz_output {
    const hspz_options *options;
    const hspz_inputs *inputs;
    const hspz_library *library;
    hspz_log *log;
    int kind;
    hspz__names names;
    hspz__stage stage;
    int file; /* of a stream */
    hspz__text text;
    hspz__text commands; /* directory: the lastz commands, in order; held until the files are there */
    hspz__held *held;    /* stream: calls in order of arrival */
    size_t held_count;
    size_t held_capacity;
    uint64_t hsps;
    uint64_t files;
};

int hspz__directory_take(hspz_output *o, const hspz_call *call, hspz_hsps *hsps, hspz_failure *failure);
int hspz__directory_publish(hspz_output *o, hspz_failure *failure);

int hspz__merge_open(hspz_output *o, hspz_failure *failure);
int hspz__merge_take(hspz_output *o, const hspz_call *call, hspz_hsps *hsps, hspz_failure *failure);
int hspz__merge_publish(hspz_output *o, hspz_failure *failure);
void hspz__merge_free(hspz_output *o);

#endif
