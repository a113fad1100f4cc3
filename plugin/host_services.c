/* host_services.c -- the host's services with the gaps filled in; see host_services.h.
 *
 * Idea: memory comes from the host when it offers both functions, else from the C library, and each block carries its size
 * in a header of one cache line so that what an engine holds can be counted without asking the allocator.
 */
#include "host_services.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define HEADER 64u /* keeps the 64-byte alignment promised to callers */
#define HUGE_PAGE (UINT64_C(1) << 21)
#define LARGE (HUGE_PAGE / 4) /* from here on whole huge pages: one first touch instead of a hundred */

/* Large arrays are touched all over: huge pages save most of their page faults and address misses. A hint only. */
static void hint_huge(void *block, uint64_t bytes)
{
#ifdef MADV_HUGEPAGE
    (void)madvise(block, bytes, MADV_HUGEPAGE);
#else
    (void)block;
    (void)bytes;
#endif
}

void hspz__host_init(hspz__host *host, const hspz_host_services *services)
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

static void count_bytes(hspz__host *host, uint64_t bytes)
{
    uint64_t now = atomic_fetch_add(&host->bytes_now, bytes) + bytes;
    uint64_t peak = atomic_load(&host->bytes_peak);
    while (now > peak && !atomic_compare_exchange_weak(&host->bytes_peak, &peak, now))
        ;
}

void *hspz__alloc(hspz__host *host, uint64_t count, uint64_t size)
{
    if (size != 0 && count > (SIZE_MAX - 2 * HEADER) / size)
        return NULL;
    uint64_t bytes = (count * size + 2 * HEADER - 1) & ~(uint64_t)(HEADER - 1);
    const uint64_t alignment = bytes >= LARGE ? HUGE_PAGE : HEADER;
    uint64_t hinted = bytes & ~(HUGE_PAGE - 1); /* the rest of the last page only when it is much */
    unsigned char *block = NULL;
    if (host->services.alloc != NULL) {
        block = host->services.alloc(host->services.ctx, bytes, alignment);
    } else if (bytes <= SIZE_MAX - alignment) {
        block = aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1));
        hinted += bytes - hinted >= LARGE ? HUGE_PAGE : 0;
    }
    if (block == NULL)
        return NULL;
    if (hinted > 0 && (uintptr_t)block % HUGE_PAGE == 0)
        hint_huge(block, hinted);
    memcpy(block, &bytes, sizeof bytes);
    count_bytes(host, bytes);
    return block + HEADER;
}

void hspz__free(hspz__host *host, void *memory)
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

void hspz__log(const hspz__host *host, uint32_t level, const char *format, ...)
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

bool hspz__cancelled(const hspz__host *host, uint64_t done, uint64_t total)
{
    return host->services.progress != NULL && host->services.progress(host->services.ctx, done, total) != 0;
}

const char *hspz__knob_text(const hspz__host *host, const char *key, const char *fallback)
{
    const char *value =
        host->services.config_get != NULL ? host->services.config_get(host->services.ctx, key) : NULL;
    return value != NULL ? value : fallback;
}

hspz_status hspz__knob_integer(const hspz__host *host, const char *key, int64_t least, int64_t most,
                               int64_t fallback, int64_t *value, hspz_error *error)
{
    const char *text = hspz__knob_text(host, key, NULL);
    *value = fallback;
    if (text == NULL)
        return HSPZ_OK;
    char *end = NULL;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || number < least || number > most)
        return hspz__fail(error, HSPZ_E_CONFIG, "%s = \"%.60s\" is not a whole number in %lld..%lld", key,
                          text, (long long)least, (long long)most);
    *value = number;
    return HSPZ_OK;
}

hspz_status hspz__knob_choice(const hspz__host *host, const char *key, const char *const *names,
                              uint32_t fallback, uint32_t *value, hspz_error *error)
{
    const char *text = hspz__knob_text(host, key, NULL);
    *value = fallback;
    if (text == NULL)
        return HSPZ_OK;
    char list[256] = "";
    for (uint32_t i = 0; names[i] != NULL; i++) {
        if (strcmp(text, names[i]) == 0) {
            *value = i;
            return HSPZ_OK;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", names[i]);
    }
    return hspz__fail(error, HSPZ_E_CONFIG, "%s = \"%.60s\" is none of %s", key, text, list);
}

hspz_status hspz__fail_as(hspz_error *error, const hspz_error *from)
{
    if (error == NULL || error->struct_size < sizeof(uint32_t))
        return from->status;
    const uint32_t size = error->struct_size < sizeof *from ? error->struct_size : (uint32_t)sizeof *from;
    memcpy(error, from, size);
    error->struct_size = size;
    if (size > offsetof(hspz_error, text)) /* a shorter struct ends inside the text */
        ((char *)error)[size - 1] = '\0';
    return from->status;
}

hspz_status hspz__fail(hspz_error *error, hspz_status status, const char *format, ...)
{
    hspz_error full = {.status = status};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(full.text, sizeof full.text, format, arguments);
    va_end(arguments);
    return hspz__fail_as(error, &full);
}

double hspz__seconds(void)
{
    struct timespec t;
    if (clock_gettime(CLOCK_MONOTONIC, &t) != 0)
        return 0.0;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
