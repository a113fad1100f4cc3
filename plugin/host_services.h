/* host_services.h -- the host's services with the gaps filled in.
 *
 * Idea: a host may leave any service out. hspz__host is a private copy with every gap filled (malloc, no
 * log, no progress, no configuration), counted allocation, and checked readers for tuning knobs, so that no other
 * file asks whether a pointer is NULL. All functions are [any].
 */
#ifndef HSPZ__HOST_SERVICES_H
#define HSPZ__HOST_SERVICES_H

#include "hspz_abi.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef struct hspz__host {
    hspz_host_services services;
    _Atomic uint64_t bytes_now; /* host memory held through hspz__alloc */
    _Atomic uint64_t bytes_peak;
} hspz__host;

void hspz__host_init(hspz__host *host, const hspz_host_services *services);

/* `count` elements of `size` bytes, 64-byte aligned, not cleared; NULL when the product overflows or memory is short.
 * hspz__free accepts NULL. Release with the same host. */
void *hspz__alloc(hspz__host *host, uint64_t count, uint64_t size);
void hspz__free(hspz__host *host, void *memory);

void hspz__log(const hspz__host *host, uint32_t level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* True when the host wants the call to stop. */
bool hspz__cancelled(const hspz__host *host, uint64_t done, uint64_t total);

/* Value of a knob as text, or `fallback`. */
const char *hspz__knob_text(const hspz__host *host, const char *key, const char *fallback);
/* Value of an integer knob within [least, most]; HSPZ_E_CONFIG with key, value and range otherwise. */
hspz_status hspz__knob_integer(const hspz__host *host, const char *key, int64_t least, int64_t most,
                               int64_t fallback, int64_t *value, hspz_error *error);
/* Index of the knob's value in the NULL-terminated list `names`; HSPZ_E_CONFIG otherwise. */
hspz_status hspz__knob_choice(const hspz__host *host, const char *key, const char *const *names,
                              uint32_t fallback, uint32_t *value, hspz_error *error);

/* Fills `error` (NULL allowed) and returns `status`: `return hspz__fail(error, HSPZ_E_..., "...")`. */
hspz_status hspz__fail(hspz_error *error, hspz_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with what `from` says, device code included; a host's shorter struct is filled as far as it goes. */
hspz_status hspz__fail_as(hspz_error *error, const hspz_error *from);

/* Seconds of a monotonic clock. [any] */
double hspz__seconds(void);

#endif
