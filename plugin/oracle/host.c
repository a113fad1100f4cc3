/* host.c -- the host's services with the gaps filled in.
 *
 * Idea: a host may leave any service out. Memory then comes from malloc, log lines go nowhere and nothing is ever
 * cancelled. Each block of memory carries its size in front, so that the bytes held can be counted (statistics,
 * host_memory_peak). The counters are atomic because set_query may run beside find_hsps (the [slot] rule of the ABI).
 */
#include "oracle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HEADER 16u /* keeps the alignment that the host promised */

void hspz__oracle_host_init(hspz__oracle_host *host, const hspz_host_services *services)
{
    memset(&host->services, 0, sizeof host->services);
    if (services != NULL) {
        size_t size = services->struct_size < sizeof *services ? services->struct_size : sizeof *services;
        memcpy(&host->services, services, size);
    }
    if (host->services.alloc == NULL || host->services.free == NULL) {
        host->services.alloc = NULL;
        host->services.free = NULL;
    }
    atomic_init(&host->bytes_now, 0);
    atomic_init(&host->bytes_peak, 0);
}

static void count_bytes(hspz__oracle_host *host, uint64_t bytes)
{
    uint64_t now = atomic_fetch_add(&host->bytes_now, bytes) + bytes;
    uint64_t peak = atomic_load(&host->bytes_peak);
    while (now > peak && !atomic_compare_exchange_weak(&host->bytes_peak, &peak, now))
        ;
}

void *hspz__oracle_alloc(hspz__oracle_host *host, uint64_t count, uint64_t size)
{
    if (size != 0 && count > (SIZE_MAX - HEADER) / size)
        return NULL;
    uint64_t bytes = count * size + HEADER;
    unsigned char *block = host->services.alloc != NULL
                               ? host->services.alloc(host->services.ctx, bytes, HEADER)
                               : malloc((size_t)bytes);
    if (block == NULL)
        return NULL;
    memcpy(block, &bytes, sizeof bytes);
    count_bytes(host, bytes);
    return block + HEADER;
}

void hspz__oracle_free(hspz__oracle_host *host, void *memory)
{
    if (memory == NULL)
        return;
    unsigned char *block = (unsigned char *)memory - HEADER;
    uint64_t bytes;
    memcpy(&bytes, block, sizeof bytes);
    atomic_fetch_sub(&host->bytes_now, bytes);
    if (host->services.free != NULL)
        host->services.free(host->services.ctx, block);
    else
        free(block);
}

void hspz__oracle_log(const hspz__oracle_host *host, uint32_t level, const char *format, ...)
{
    if (host->services.log == NULL)
        return;
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    host->services.log(host->services.ctx, level, line);
}

hspz_status hspz__oracle_fail(hspz_error *error, hspz_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    error->status = status;
    error->device_code = 0;
    return status;
}

double hspz__oracle_seconds(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        return 0.0;
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void hspz__oracle_pulse_init(hspz__oracle_pulse *pulse, const hspz__oracle_host *host, uint64_t total)
{
    pulse->host = host;
    pulse->done = 0;
    pulse->total = total;
    pulse->work = 0;
    pulse->last = hspz__oracle_seconds();
}

hspz_status hspz__oracle_pulse_tell(hspz__oracle_pulse *pulse, hspz_error *error)
{
    const double interval = 0.1;
    pulse->work = 0;
    double now = hspz__oracle_seconds();
    if (pulse->host->services.progress == NULL || now - pulse->last < interval)
        return HSPZ_OK;
    pulse->last = now;
    if (pulse->host->services.progress(pulse->host->services.ctx, pulse->done, pulse->total) == 0)
        return HSPZ_OK;
    return hspz__oracle_fail(error, HSPZ_E_CANCELLED, "the host cancelled after %llu of %llu units",
                             (unsigned long long)pulse->done, (unsigned long long)pulse->total);
}
