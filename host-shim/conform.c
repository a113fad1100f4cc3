/* conform.c -- see conform.h */
#include "conform.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
    hspz__text_format(&checks->report, "%s %u - %s", ok ? "ok" : "not ok",
                      checks->passed + checks->failed + checks->skipped, rule);
    if (!ok && seen[0] != '\0')
        hspz__text_format(&checks->report, ": %s", seen);
    hspz__text_string(&checks->report, "\n");
    return ok;
}

void hspz__check_skipped(hspz__checks *checks, const char *rule, const char *why)
{
    checks->skipped++;
    hspz__text_format(&checks->report, "ok %u - %s # SKIP %s\n",
                      checks->passed + checks->failed + checks->skipped, rule, why);
}

hspz_engine_params hspz__conform_params(void)
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
