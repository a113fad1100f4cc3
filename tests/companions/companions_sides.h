/* companions_sides.h -- the implementations that the companion tests compare: oracle, CPU with several thread
 * counts, and the CUDA kernels under an emulator.
 *
 * Idea: a contract test is written once and run on each side; a side is a table of functions from a loaded plugin and a
 * thread count. Plugins are taken from $HSPZ_BUILD (build by default); the emulated kernels are linked in.
 */
#ifndef HSPZ_TEST_COMPANIONS_SIDES_H
#define HSPZ_TEST_COMPANIONS_SIDES_H

#include "hspz_hash_index.h"
#include "hspz_soft_sw.h"

#include <criterion/criterion.h>

#define SIDES 5u

typedef struct side {
    const char *name;
    uint32_t device; /* HSPZ_DEVICE_...; emulated device memory is host memory */
    uint32_t threads;
    const hspz_hash_index *hash;
    const hspz_soft_sw *soft;
} side;

/* Side 0 is the oracle. The libraries stay loaded: each test runs in its own process. */
void sides_load(side sides[SIDES]);

/* xorshift; state must not be 0 */
uint64_t next_random(uint64_t *state);
uint64_t random_below(uint64_t *state, uint64_t bound);

/* Memory of `count` elements of `size` bytes filled with 0xa5, freed at the end of the process. */
void *filled(uint64_t count, uint64_t size);

#endif
