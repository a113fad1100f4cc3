/* engine_state.h -- what an engine holds, and the gate that every call on it passes.
 *
 * Idea: hspz__engine_call_begin sets up a private error and private statistics, the backend works on those, and hspz__engine_call_finish adds
 * the statistics, keeps the error text under a lock and hands the error to the host. Backends therefore never see
 * unchecked input or a short struct, and set_query may run beside a find on another slot.
 */
#ifndef HSPZ__ENGINE_STATE_H
#define HSPZ__ENGINE_STATE_H

#include "backend.h"

#include <pthread.h>

#define HSPZ__SLOTS_MAX 16u
#define HSPZ__UNSET UINT64_MAX

struct hspz_engine {
    hspz__host host;
    hspz__plan plan;
    const hspz__backend *backend;
    void *state;
    uint32_t device;
    char notice[256];
    uint64_t target_length; /* HSPZ__UNSET while no target is set */
    uint64_t query_length[HSPZ__SLOTS_MAX];
    pthread_mutex_t lock; /* over the two below */
    hspz_statistics statistics;
    char error_text[HSPZ_ERROR_TEXT];
};

typedef struct hspz__engine_call {
    double start; /* seconds */
    hspz_error error;
    hspz_statistics statistics;
} hspz__engine_call;

void hspz__engine_call_begin(hspz__engine_call *c);
/* Ends the call with `status`, which is returned; `error` is the host's and may be NULL or short. */
hspz_status hspz__engine_call_finish(hspz_engine *engine, hspz__engine_call *c, hspz_status status,
                                     hspz_error *error);

/* HSPZ_E_ARGUMENT unless `slot` is one of the engine's. */
hspz_status hspz__check_slot(const hspz_engine *engine, uint32_t slot, hspz_error *error);

/* Copies a struct that starts with struct_size to the host's, as far as the host's reaches. */
void hspz__give(void *to, const void *from, uint32_t size);

/* ---- device_list.c: the rows of all backends, one after the other */

extern const char *const hspz__backend_names[]; /* "auto", then the backends; NULL-terminated */

/* The backend of row `index` and its own number of that row; NULL when there is no such row. */
const hspz__backend *hspz__device_row(uint32_t index, uint32_t *row);
void hspz__device_describe(const hspz__backend *backend, uint32_t row, hspz_device_info *info);
/* The device of the highest score among the backends that `choice` (an index of hspz__backend_names) allows; where none is
 * usable, one that says why. */
uint32_t hspz__device_best(uint32_t choice, hspz_device_info *best);

#endif
