/* backend.h -- what a backend gives the engine.
 *
 * Idea: the ABI layer (entry.c, engine.c) validates every argument, keeps statistics and error text, and owns the
 * plan; a backend is a table of functions over its own opaque state and sees only checked input. Two tables
 * exist: hspz__backend_cpu and hspz__backend_cuda (which answers HSPZ_E_NOT_BUILT when built without nvcc).
 */
#ifndef HSPZ__BACKEND_H
#define HSPZ__BACKEND_H

#include "host_services.h"
#include "hspz_abi.h"
#include "plan.h"

/* Results of one call on their way out: in output order, after dedup. */
typedef struct hspz__output {
    const hspz_sink *sink;
    hspz_statistics *statistics; /* the backend adds its counts and seconds */
} hspz__output;

/* Hands `count` final HSPs to the sink and counts them as kept; HSPZ_E_SINK when the host refuses. */
hspz_status hspz__output_hsps(const hspz__output *output, const hspz_hsp *hsps, uint64_t count,
                              hspz_error *error);

typedef struct hspz__backend {
    const char *name; /* "cpu", "cuda" */
    uint32_t kind;    /* HSPZ_DEVICE_... */

    /* [any] Rows this backend adds to the device list; at least one, so that a reason can be told. */
    uint32_t (*device_count)(void);
    void (*device_info)(uint32_t row, hspz_device_info *info);

    /* `plan` and `host` outlive the state. plan->max_hits is resolved. */
    hspz_status (*create)(const hspz__plan *plan, hspz__host *host, uint32_t row, void **state,
                          hspz_error *error);
    void (*destroy)(void *state);
    /* Fills backend, variant, threads, notice. */
    void (*info)(const void *state, hspz_engine_info *info);

    hspz_status (*set_target)(void *state, const hspz_target *target, hspz_statistics *statistics,
                              hspz_error *error);
    void (*clear_target)(void *state);
    hspz_status (*set_query)(void *state, uint32_t slot, const hspz_query *query, hspz_statistics *statistics,
                             hspz_error *error);
    void (*clear_query)(void *state, uint32_t slot);

    hspz_status (*find_hsps)(void *state, const hspz_find_request *request, const hspz__output *output,
                             hspz_error *error);
    hspz_status (*expand_and_extend)(void *state, const hspz_seed_batch *batch, const hspz__output *output,
                                     hspz_error *error);
    hspz_status (*extend_anchors)(void *state, const hspz_anchor_batch *batch, const hspz__output *output,
                                  hspz_error *error);
} hspz__backend;

extern const hspz__backend hspz__backend_cpu;
extern const hspz__backend hspz__backend_cuda;

#endif
