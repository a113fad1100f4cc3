/* chains.h -- cases in which the mark rule of LASTZ decides what survives: chains of rejected hits that end at an HSP. */
#ifndef HSPZ_TESTS_GPU_CHAINS_H
#define HSPZ_TESTS_GPU_CHAINS_H

#include "cases.h"

/* The case of a seed: level (a), dedup `lastz`, a query of up to `size` bases. Freed with free_job. */
void make_chains(job *j, uint64_t seed, uint64_t size);

#endif
