/* conform.c -- see conform.h */
#include "conform.h"

#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* One line of the report: "ok 7 - RULE", what was seen behind ": ". */
static void put_line(hspz__checks *checks, const char *verdict, const char *rule, const char *before,
                     const char *seen)
{
    char line[2048];
    hspz_failure failure;
    int size = snprintf(line, sizeof line, "%s %u - %s%s%s\n", verdict,
                        checks->passed + checks->failed + checks->skipped, rule,
                        seen[0] != '\0' ? before : "", seen);
    if (size < 0 || (size_t)size >= sizeof line ||
        hspz__write_all(checks->out, line, (size_t)size, "stdout", &failure) != 0)
        checks->out_failed = true;
}

bool hspz__check(hspz__checks *checks, bool ok, const char *rule, const char *format, ...)
{
    char seen[1024];
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(seen, sizeof seen, format, arguments) < 0)
        seen[0] = '\0';
    va_end(arguments);
    if (ok)
        checks->passed++;
    else
        checks->failed++;
    put_line(checks, ok ? "ok" : "not ok", rule, ": ", ok ? "" : seen);
    return ok;
}

void hspz__check_skipped(hspz__checks *checks, const char *rule, const char *why)
{
    checks->skipped++;
    put_line(checks, "ok", rule, " # SKIP ", why);
}

hspz_engine_params hspz__conform_params(const hspz_library *library)
{
    static const int32_t hoxd70[16] = {91,  -114, -31, -123, -114, 100, -125, -31,
                                       -31, -125, 100, -114, -123, -31, -114, 91};
    hspz_engine_params params = {.struct_size = sizeof params,
                                 .device = HSPZ_DEVICE_AUTO,
                                 .seed_pattern = "1110100110010101111",
                                 .transitions = 1,
                                 .step = 1,
                                 .xdrop = 910,
                                 .hspthresh = 3000,
                                 .entropy = 1,
                                 .ambiguous = HSPZ_AMBIGUOUS_NONE,
                                 .bad_score = -1000,
                                 .fill_score = -100,
                                 .dedup = HSPZ_DEDUP_CHUNK,
                                 .query_slots = 2,
                                 .max_hits = HSPZ_MAX_HITS_DEFAULT};
    memcpy(params.scores, hoxd70, sizeof hoxd70);
    while (params.dedup + 1 < HSPZ_DEDUP_COUNT &&
           !(library->table.capabilities & HSPZ_CAP_DEDUP(params.dedup)))
        params.dedup++;
    return params;
}

hspz_engine *hspz__conform_engine(const hspz_library *library, const hspz_engine_params *params,
                                  const hspz_host_services *services, const hspz__pair *pair,
                                  const char **what, hspz_error *error)
{
    const hspz_plugin *p = &library->table;
    hspz_target target = {.struct_size = sizeof target, .bases = pair->target, .length = pair->target_length};
    hspz_query query = {.struct_size = sizeof query, .bases = pair->query, .length = pair->query_length};
    hspz_engine *engine = NULL;
    *error = (hspz_error){.struct_size = sizeof *error};
    *what = "engine_create";
    hspz_status status = p->engine_create(params, services, &engine, error);
    if (status == HSPZ_OK) {
        *what = "set_target";
        status = p->set_target(engine, &target, error);
    }
    if (status == HSPZ_OK) {
        *what = "set_query";
        status = p->set_query(engine, 0, &query, error);
    }
    if (status == HSPZ_OK)
        return engine;
    p->engine_destroy(engine);
    return NULL;
}
