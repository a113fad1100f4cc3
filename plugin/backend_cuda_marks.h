/* backend_cuda_marks.h -- what the two files of level (a) under `lastz` share; see backend_cuda_marks.c. */
#ifndef HSPZ__BACKEND_CUDA_MARKS_H
#define HSPZ__BACKEND_CUDA_MARKS_H

#include "../kernels/cuda/near.h"
#include "backend_cuda_unit.h"

/* A call at work. */
typedef struct hspz__marks_run {
    hspz__cuda_call *call;
    uint64_t batch_size, batch_hits; /* of batches longer than a unit: their hits so far */
    uint64_t most;                   /* windows of a unit */
    uint32_t target_bits;
    int near;              /* only hits that matter become records */
    hspz__cuda_near table; /* then: its tables, and how well the marks are known */
    uint64_t silent;       /* windows before this one are done again for their marks alone */
} hspz__marks_run;

/* Outcome of a try at a unit. SMALLER: fewer windows; AGAIN: with the larger capacities that now stand in the unit and *capacity;
 * LOST: a mark that matters is not known, all hits have to become records, from the call's begin on. */
enum { HSPZ__MARKS_DONE, HSPZ__MARKS_SMALLER, HSPZ__MARKS_AGAIN, HSPZ__MARKS_LOST };

/* backend_cuda_marks.c: records in the order of the walk; *in becomes the array that holds the result. */
hspz_status hspz__marks_sort(hspz__marks_run *run, hspz__cuda_unit *u, uint64_t count, int *in);

/* backend_cuda_near.c */

/* Decides whether the call works with tables, and takes them behind the marks; `windows`: of the first unit at most. */
hspz_status hspz__near_begin(hspz__marks_run *run, uint64_t windows);
/* Counted units: sorted records of the hits that matter in u->records[*in], *count of them. `last`: no unit follows. */
hspz_status hspz__near_gather(hspz__marks_run *run, hspz__cuda_unit *u, int last, uint64_t *capacity,
                              uint64_t *count, int *in, int *outcome);
/* After the unit's walk: how well the marks are known now. */
void hspz__near_end(hspz__marks_run *run);
/* Room for records to begin with. */
uint64_t hspz__near_records(const hspz__cuda_unit *u);

#endif
