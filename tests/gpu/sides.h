/* sides.h -- a plugin that works a case off, and the comparison of two of them. */
#ifndef HSPZ_TESTS_GPU_SIDES_H
#define HSPZ_TESTS_GPU_SIDES_H

#include "cases.h"

typedef struct knob {
    const char *key;
    char value[24];
} knob;

/* One plugin with its settings, and what came of the last case. */
typedef struct side {
    const hspz_plugin *plugin;
    const char *name;
    hspz_hsp *hsps;
    uint64_t count, capacity;
    hspz_statistics statistics;
    hspz_status status;
    char text[HSPZ_ERROR_TEXT];
    knob knobs[16];
    uint32_t knob_count;
    uint32_t device;
} side;

/* Ends the program when there is no plugin. */
const hspz_plugin *load(const char *path);
/* The first usable device of a kind (cuda, cpu, any), or HSPZ_DEVICE_AUTO; says so and ends the program when there is none. */
uint32_t find_device(const hspz_plugin *plugin, const char *kind);

/* The last value of a key counts. */
void set_knob(side *s, const char *key, const char *value);
void set_number(side *s, const char *key, uint64_t value);

/* An engine for the case, or NULL with s->status and s->text. The side must outlive it. */
hspz_engine *make_engine(side *s, const job *j);
/* Target, query and calls of the case on an engine: results, status and statistics in *s. */
void work(side *s, hspz_engine *engine, const job *j);
/* All of it. */
void run_side(side *s, const job *j);
/* Results, status and counts agree: 0; else says where not. */
int differ(const side *a, const side *b, uint64_t seed);

#endif
