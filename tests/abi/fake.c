/* fake.c -- plugins that are wrong on purpose. Each is the template of abi/examples with one thing changed: in its entry object,
 * at compile time (-DFAKE_...); in what its calls do, at run time:
 *
 *   FAKE_FAIL=create:-7    that call (devices, create, info, target, query, find, statistics) answers that status
 *   FAKE_FIND=crossing     find_hsps gives an HSP that runs out of its record; backwards: two records in the wrong order
 *   FAKE_LOG=1             find_hsps logs from a thread of its own
 *   FAKE_DELAY=1           find_hsps takes longer for some intervals, so that engines finish out of order
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define hspz_plugin_v1 template_plugin
#include "../../abi/examples/plugin.c" /* NOLINT(bugprone-suspicious-include): that is the point */
#undef hspz_plugin_v1

#if !defined(FAKE_MAJOR_VALUE)
#define FAKE_MAJOR_VALUE HSPZ_ABI_MAJOR
#endif

static hspz_status told_to_fail(const char *call, hspz_error *error)
{
    const char *text = getenv("FAKE_FAIL");
    size_t size = strlen(call);
    if (text == NULL || strncmp(text, call, size) != 0 || text[size] != ':')
        return HSPZ_OK;
    return fail(NULL, error, (hspz_status)strtol(text + size + 1, NULL, 10), "told to fail at %s", call);
}

#define MAY_FAIL(call)                                                                                       \
    do {                                                                                                     \
        hspz_status told = told_to_fail(call, error);                                                        \
        if (told != HSPZ_OK)                                                                                 \
            return told;                                                                                     \
    } while (0)

/* Devices: a CPU, three that call themselves CUDA, and one that cannot be used. */
static hspz_status fake_device_count(uint32_t *count, hspz_error *error)
{
    if (count == NULL)
        return device_count(count, error);
    MAY_FAIL("devices");
    *count = 5;
    return HSPZ_OK;
}

static hspz_status fake_device_info(uint32_t index, hspz_device_info *info, hspz_error *error)
{
    hspz_device_info own = {.kind = index == 0 ? HSPZ_DEVICE_CPU : HSPZ_DEVICE_CUDA,
                            .ordinal = index ? index - 1 : 0,
                            .score = 10 * index + 1,
                            .units = 1,
                            .memory_total = 1 << 20,
                            .name = "fake"};
    if (index == 4) {
        own.score = 0;
        own.status = HSPZ_E_ARCHITECTURE;
        strcpy(own.detail, "the fake has no code for this one");
    }
    return index < 5 && give(info, &own, sizeof own)
               ? HSPZ_OK
               : fail(NULL, error, HSPZ_E_NO_DEVICE, "no device %u", index);
}

static hspz_status fake_engine_create(const hspz_engine_params *params, const hspz_host_services *services,
                                      hspz_engine **out, hspz_error *error)
{
    hspz_engine_params own;
    if (out == NULL || !take(&own, sizeof own, params))
        return engine_create(params, services, out, error);
    *out = NULL;
    MAY_FAIL("create");
    own.device = 0;
    own.dedup =
        HSPZ_DEDUP_NONE; /* what the fake finds is of no interest, but it must not refuse the default */
    hspz_status status = engine_create(&own, services, out, error);
    if (status == HSPZ_OK && *out != NULL)
        (*out)->params.device = params->device == HSPZ_DEVICE_AUTO ? 0 : params->device;
    return status;
}

static hspz_status fake_engine_info(hspz_engine *e, hspz_engine_info *info, hspz_error *error)
{
    MAY_FAIL("info");
    hspz_status status = engine_info(e, info, error);
    if (status != HSPZ_OK || info->struct_size < sizeof *info)
        return status;
    info->device = e->params.device;
    if (getenv("FAKE_NOTICE") != NULL)
        snprintf(info->notice, sizeof info->notice, "%s", getenv("FAKE_NOTICE"));
    return status;
}

static hspz_status fake_set_target(hspz_engine *e, const hspz_target *target, hspz_error *error)
{
    MAY_FAIL("target");
    return set_target(e, target, error);
}

static hspz_status fake_set_query(hspz_engine *e, uint32_t slot, const hspz_query *query, hspz_error *error)
{
    MAY_FAIL("query");
    return set_query(e, slot, query, error);
}

static void *log_from_thread(void *argument)
{
    const hspz_engine *e = argument;
    e->services.log(e->services.ctx, HSPZ_LOG_INFO, "a word from a worker\tthread");
    return NULL;
}

/* HSPs that no plugin may give, in a query that starts with two records of equal length. */
static hspz_status give_nonsense(const hspz_engine *e, const char *kind, const hspz_find_request *f,
                                 const hspz_sink *sink)
{
    if (e->query[f->slot][0] == NULL)
        return HSPZ_E_STATE;
    const uint8_t *separator = memchr(e->query[f->slot][0], SEPARATOR, e->query_length[f->slot]);
    uint32_t second = separator != NULL ? (uint32_t)(separator - e->query[f->slot][0]) + 1 : 0;
    hspz_hsp crossing = {.target_start = 0, .query_start = second - 5, .extent = 20, .score = 5000};
    hspz_hsp backwards[2] = {{.query_start = second, .extent = 1, .score = 5000},
                             {.query_start = 0, .extent = 1, .score = 5000}};
    if (strcmp(kind, "crossing") == 0)
        return sink->hsps(sink->ctx, &crossing, 1, sizeof crossing) ? HSPZ_E_SINK : HSPZ_OK;
    return sink->hsps(sink->ctx, backwards, 2, sizeof backwards[0]) ? HSPZ_E_SINK : HSPZ_OK;
}

static hspz_status fake_find_hsps(hspz_engine *e, const hspz_find_request *request, const hspz_sink *sink,
                                  hspz_error *error)
{
    MAY_FAIL("find");
    pthread_t thread;
    if (getenv("FAKE_LOG") != NULL && pthread_create(&thread, NULL, log_from_thread, e) == 0)
        pthread_join(thread, NULL);
    if (getenv("FAKE_DELAY") != NULL)
        usleep((useconds_t)(request->begin * 7919u % 30000u));
    if (getenv("FAKE_FIND") != NULL)
        return give_nonsense(e, getenv("FAKE_FIND"), request, sink);
    return find_hsps(e, request, sink, error);
}

static hspz_status fake_get_statistics(hspz_engine *e, hspz_statistics *statistics, hspz_error *error)
{
    MAY_FAIL("statistics");
    return get_statistics(e, statistics, error);
}

#ifdef FAKE_NEGOTIATE
static hspz_status fake_negotiate(uint32_t least, uint32_t most, uint32_t *agreed, hspz_error *error)
{
    (void)agreed;
    return fail(NULL, error, HSPZ_E_VERSION, "the fake wants minor 5, not %u to %u", least, most);
}
#else
#define fake_negotiate negotiate
#endif

#ifdef FAKE_COLLIDE
/* Names of the host's own: RTLD_LOCAL and hidden visibility keep each side with its own. */
HSPZ_EXPORT int hspz_failed(void *failure, int exit_code, const char *format, ...);
HSPZ_EXPORT int hspz_failed(void *failure, int exit_code, const char *format, ...)
{
    (void)failure;
    (void)format;
    abort();
    return exit_code;
}
HSPZ_EXPORT void hspz_log_say(void *log, uint32_t level, const char *format, ...);
HSPZ_EXPORT void hspz_log_say(void *log, uint32_t level, const char *format, ...)
{
    (void)log;
    (void)level;
    (void)format;
    abort();
}
#endif

/* The entry object, one member longer than ours for the plugin of a later minor. */
typedef struct fake_entry {
    hspz_plugin plugin;
#ifdef FAKE_NEWER
    const void *later_member;
#endif
} fake_entry;

#ifdef FAKE_V2
#define FAKE_SYMBOL hspz_plugin_v2
#else
#define FAKE_SYMBOL hspz_plugin_v1
#endif

#ifndef FAKE_NOSYMBOL
extern HSPZ_EXPORT const fake_entry FAKE_SYMBOL;
HSPZ_EXPORT const fake_entry FAKE_SYMBOL = {.plugin = {
#ifdef FAKE_MAGIC
                                                .magic = 0x12345678u,
#else
                                                .magic = HSPZ_MAGIC,
#endif
#if defined FAKE_SHORT
                                                .struct_size = 64,
#elif defined FAKE_LONG
                                                .struct_size = sizeof(fake_entry) + 4096,
#else
                                                .struct_size = sizeof(fake_entry),
#endif
                                                .abi_major = FAKE_MAJOR_VALUE,
#ifdef FAKE_NEWER
                                                .abi_minor = HSPZ_ABI_MINOR + 9,
#else
                                                .abi_minor = HSPZ_ABI_MINOR,
#endif
                                                .name = "hspz fake",
                                                .version = "0.0",
                                                .build = "on purpose",
                                                .capabilities = HSPZ_CAP_FIND | HSPZ_CAP_CUDA |
                                                                HSPZ_CAP_DEDUP(HSPZ_DEDUP_CHUNK) |
                                                                HSPZ_CAP_DEDUP(HSPZ_DEDUP_NONE),
                                                .negotiate = fake_negotiate,
                                                .status_text = status_text,
                                                .device_count = fake_device_count,
                                                .device_info = fake_device_info,
                                                .engine_create = fake_engine_create,
                                                .engine_destroy = engine_destroy,
                                                .engine_info = fake_engine_info,
                                                .set_target = fake_set_target,
                                                .clear_target = clear_target,
#ifndef FAKE_NULL
                                                .set_query = fake_set_query,
#endif
                                                .clear_query = clear_query,
#ifndef FAKE_NOFIND
                                                .find_hsps = fake_find_hsps,
#endif
                                                .get_statistics = fake_get_statistics,
                                                .reset_statistics = reset_statistics,
                                                .last_error = last_error,
                                            }};
#endif
