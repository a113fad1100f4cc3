/* engine_host.h -- engines of a plugin, as a host needs them: devices chosen, services offered, results collected.
 *
 * Idea: an hspz_engine_host is one engine with the services it was created with: messages go to the log, tuning knobs
 * come from the options, and the progress callback both publishes how far the running call is and asks the
 * engine to stop when the run was cancelled. One run has one engine, or one for each device under `cuda:all`.
 */
#ifndef HSPZ_ENGINE_HOST_H
#define HSPZ_ENGINE_HOST_H

#include "loader.h"
#include "log.h"
#include "options.h"

#include <signal.h>
#include <stdatomic.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A growing array of HSPs, the target of hspz_hsps_sink. Zero it to start, free it with hspz_hsps_free. */
typedef struct hspz_hsps {
    hspz_hsp *items;
    uint64_t count;
    uint64_t capacity;
} hspz_hsps;

void hspz_hsps_free(hspz_hsps *hsps);
/* A sink that appends to `hsps`; refuses (HSPZ_E_SINK) when memory is short. */
hspz_sink hspz_hsps_sink(hspz_hsps *hsps);

typedef struct hspz_engine_host {
    const hspz_library *library;       /* borrowed */
    const hspz_options *options;       /* borrowed, for knobs */
    hspz_log *log;                     /* borrowed, may be NULL */
    const volatile sig_atomic_t *stop; /* borrowed; non-zero cancels; may be NULL */
    atomic_int abandoned;              /* set by the scheduler when another engine failed */
    _Atomic uint64_t call_done;        /* of call_total: how far the running call is */
    _Atomic uint64_t call_total;
    hspz_host_services services;
    hspz_engine *engine;
    hspz_engine_info info;
    hspz_device_info device; /* of the list row the engine runs on */
} hspz_engine_host;

/* All rows of the plugin's device list, malloc'ed. 0, HSPZ_EXIT_PLUGIN or HSPZ_EXIT_MEMORY. [any] */
int hspz_devices_list(const hspz_library *library, hspz_device_info **devices, uint32_t *count,
                      hspz_failure *failure) __attribute__((warn_unused_result));

/* "cpu", "cuda:1": a row's name on the command line. */
void hspz_device_label(const hspz_device_info *device, char *text, size_t size);

/* Creates the engines that options->device asks for into *engines (malloc'ed, *count of them), with `slots` query slots
 * each. An explicit request that cannot be met is an error; a fallback of `auto` is told in a warning. [any] */
int hspz_engines_create(hspz_library *library, const hspz_options *options, uint32_t slots, hspz_log *log,
                        const volatile sig_atomic_t *stop, hspz_engine_host **engines, uint32_t *count,
                        hspz_failure *failure) __attribute__((warn_unused_result));
/* Destroys them; accepts NULL. */
void hspz_engines_destroy(hspz_engine_host *engines, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif
