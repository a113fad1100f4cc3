/* conform_create.c -- rules about engine_create: parameters, refusals, services (conform.h). */
#include "conform.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Refusals ---------------------------------------------------------------------------------------- */

static void refuse(hspz__checks *c, const hspz_engine_params *params, const char *rule)
{
    const hspz_plugin *p = &c->library->table;
    hspz_engine *engine = (hspz_engine *)(void *)c; /* anything but NULL */
    hspz_error error = {.struct_size = sizeof error};
    hspz_status status = p->engine_create(params, NULL, &engine, &error);
    hspz__check(c, status < 0 && engine == NULL && error.status == status && error.text[0] != '\0', rule,
                "status %d, engine %s, text \"%.200s\"", status, engine == NULL ? "NULL" : "not NULL",
                error.text);
    if (status == HSPZ_OK)
        p->engine_destroy(engine);
}

static void check_refusals(hspz__checks *c)
{
    hspz_engine_params good = hspz__conform_params(c->library), bad;
#define REFUSED(field, value, rule)                                                                          \
    bad = good;                                                                                              \
    bad.field = (value);                                                                                     \
    refuse(c, &bad, rule)
    refuse(c, NULL, "no parameters are refused, *out is NULL");
    REFUSED(struct_size, 0, "parameters without struct_size are refused");
    REFUSED(seed_pattern, NULL, "no seed pattern is refused");
    REFUSED(seed_pattern, "", "an empty seed pattern is refused");
    REFUSED(seed_pattern, "111", "seed 111 (6 bits) is refused");
    REFUSED(seed_pattern, "1111111111111111111111111111111111111111", "a seed of forty 1s is refused");
    REFUSED(seed_pattern, "1111111111111111", "a seed of 32 bits is refused");
    REFUSED(seed_pattern, "1110x1111", "a seed with another letter is refused");
    REFUSED(transitions, 2, "transitions = 2 is refused");
    REFUSED(step, 0, "step = 0 is refused");
    REFUSED(xdrop, 0, "xdrop = 0 is refused");
    REFUSED(hspthresh, 0, "hspthresh = 0 is refused");
    REFUSED(entropy, 2, "entropy = 2 is refused");
    REFUSED(ambiguous, 3, "ambiguous = 3 is refused");
    REFUSED(ambiguous_reward, -1, "a negative ambiguous_reward is refused");
    REFUSED(dedup, HSPZ_DEDUP_COUNT, "an unknown dedup policy is refused");
    REFUSED(query_slots, 0, "query_slots = 0 is refused");
    REFUSED(query_slots, 17, "query_slots = 17 is refused");
    REFUSED(max_hits, 1ull << 32, "max_hits = 2^32 is refused");
    REFUSED(device, 100000, "a device that is not in the list is refused");
#undef REFUSED
    hspz_status status = c->library->table.engine_create(&good, NULL, NULL, NULL);
    hspz__check(c, status == HSPZ_E_ARGUMENT, "engine_create without a place for its answer is refused",
                "status %d", status);
    for (uint32_t mode = 0; mode < HSPZ_DEDUP_COUNT; mode++)
        if (!(c->library->table.capabilities & HSPZ_CAP_DEDUP(mode))) {
            bad = good;
            bad.dedup = mode;
            refuse(c, &bad, "a dedup policy that the capabilities leave out is refused");
        }
}

/* A later minor may append to the parameters: an older plugin takes what it knows. */
static void check_longer(hspz__checks *c)
{
    struct {
        hspz_engine_params params;
        uint64_t more[4];
    } longer = {.params = hspz__conform_params(c->library), .more = {1, 2, 3, 4}};
    longer.params.struct_size = sizeof longer;
    hspz_engine *engine = NULL;
    hspz_status status = c->library->table.engine_create(&longer.params, NULL, &engine, NULL);
    hspz__check(c, status == HSPZ_OK && engine != NULL, "longer parameters of a later minor are accepted",
                "status %d", status);
    c->library->table.engine_destroy(engine);
}

/* An error shorter than ours must not be written behind its end. */
static void check_short_error(hspz__checks *c)
{
    union {
        hspz_error error;
        unsigned char bytes[sizeof(hspz_error)];
    } small;
    hspz_engine *engine = NULL;
    memset(&small, 0x5a, sizeof small);
    small.error.struct_size = 32;
    hspz_status status = c->library->table.engine_create(NULL, NULL, &engine, &small.error);
    hspz__check(c, status < 0 && small.bytes[32] == 0x5a && small.bytes[sizeof small - 1] == 0x5a,
                "a shorter hspz_error is filled as far as it goes", "byte behind it 0x%02x", small.bytes[32]);
}

/* Services ---------------------------------------------------------------------------------------- */

typedef struct purse {
    atomic_llong blocks; /* given out and not yet given back */
    atomic_llong given;
    atomic_int refuse; /* answer NULL from now on */
} purse;

static void *purse_alloc(void *ctx, uint64_t size, uint64_t alignment)
{
    purse *p = ctx;
    void *memory = NULL;
    if (atomic_load(&p->refuse) ||
        posix_memalign(&memory, alignment < 16 ? 16 : alignment, size ? size : 1) != 0)
        return NULL;
    atomic_fetch_add(&p->blocks, 1);
    atomic_fetch_add(&p->given, 1);
    return memory;
}

static void purse_free(void *ctx, void *memory)
{
    purse *p = ctx;
    if (memory != NULL)
        atomic_fetch_sub(&p->blocks, 1);
    free(memory);
}

static void check_services(hspz__checks *c)
{
    hspz__pair pair;
    purse purse = {0};
    hspz_host_services services = {
        .struct_size = sizeof services, .ctx = &purse, .alloc = purse_alloc, .free = purse_free};
    hspz_engine_params params = hspz__conform_params(c->library);
    const char *what;
    hspz_error error;
    if (!hspz__pair_make(&pair)) {
        hspz__check_skipped(c, "memory comes from the host", "out of memory");
        return;
    }
    hspz_engine *engine = hspz__conform_engine(c->library, &params, &services, &pair, &what, &error);
    hspz__check(c, engine != NULL, "an engine works with a host's allocator and nothing else", "%s: %.200s",
                what, error.text);
    c->library->table.engine_destroy(engine);
    hspz__check(c, atomic_load(&purse.blocks) == 0, "all memory goes back to the host",
                "%lld of %lld blocks kept", (long long)atomic_load(&purse.blocks),
                (long long)atomic_load(&purse.given));
    if (atomic_load(&purse.given) == 0) {
        hspz__check_skipped(c, "a host without memory is answered HSPZ_E_MEMORY",
                            "the plugin did not use the allocator");
    } else {
        engine = NULL;
        atomic_store(&purse.refuse, 1);
        hspz_status status = HSPZ_OK;
        engine = hspz__conform_engine(c->library, &params, &services, &pair, &what, &error);
        status = error.status;
        hspz__check(c, engine == NULL && status == HSPZ_E_MEMORY,
                    "a host without memory is answered HSPZ_E_MEMORY", "%s: status %d", what, status);
        c->library->table.engine_destroy(engine);
    }
    hspz__pair_free(&pair);
}

void hspz__conform_create(hspz__checks *c)
{
    c->library->table.engine_destroy(NULL);
    hspz__check(c, true, "engine_destroy(NULL) does nothing", "%s", "");
    check_refusals(c);
    check_longer(c);
    check_short_error(c);
    check_services(c);
}
