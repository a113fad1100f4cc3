/* kernels_random.h -- random input for the kernel tests. */
#ifndef KERNELS_RANDOM_H
#define KERNELS_RANDOM_H

#include "kernels.h"

#include <stddef.h>

typedef struct random_source {
    uint64_t state;
} random_source;

uint64_t random_next(random_source *r);
uint64_t random_below(random_source *r, uint64_t n);
void random_fill(random_source *r, void *to, size_t bytes);

/* The kernels this processor runs, the scalar ones left out; returns their number, at most 2. */
uint32_t kernels_to_test(const hspz__cpu_kernels *list[2]);

/* HOXD70 and the default x-drop and threshold, or random numbers when `r` is given. */
typedef struct scoring {
    int32_t score[4][4], xdrop, keep;
} scoring;
scoring scoring_make(random_source *r);

#endif
