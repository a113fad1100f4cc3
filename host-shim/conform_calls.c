/* conform_calls.c -- rules about calls on an engine: states, arguments, sequences at their limits (conform.h). */
#include "conform.h"

#include <string.h>

typedef struct trial {
    hspz__checks *checks;
    const hspz_plugin *plugin;
    hspz_engine *engine;
    hspz_hsps hsps;
    hspz_sink sink;
} trial;

static void expect(trial *t, hspz_status want, hspz_status have, const char *rule)
{
    const char *last = t->plugin->last_error(t->engine);
    hspz__check(t->checks, have == want && (have == HSPZ_OK || (last != NULL && last[0] != '\0')), rule,
                "status %d, expected %d, last_error \"%.200s\"", have, want, last != NULL ? last : "NULL");
}

static hspz_status find(trial *t, hspz_find_request request)
{
    t->hsps.count = 0;
    if (request.struct_size == 0)
        request.struct_size = sizeof request;
    return t->plugin->find_hsps(t->engine, &request, &t->sink, NULL);
}

static hspz_status set_target(trial *t, const char *bases, size_t length)
{
    hspz_target target = {.struct_size = sizeof target, .bases = (const uint8_t *)bases, .length = length};
    return t->plugin->set_target(t->engine, &target, NULL);
}

static hspz_status set_query(trial *t, uint32_t slot, const char *bases, size_t length)
{
    hspz_query query = {.struct_size = sizeof query, .bases = (const uint8_t *)bases, .length = length};
    return t->plugin->set_query(t->engine, slot, &query, NULL);
}

static const hspz_find_request whole = {.batch_size = 1000, .begin = 0, .end = 1000};

static void check_states(trial *t)
{
    static const char text[] = "ACGTTGCAACGTACGTTTGACCAGTAGCATTACGATACCAGT";
    expect(t, HSPZ_E_STATE, find(t, whole), "find_hsps without target and query is answered HSPZ_E_STATE");
    expect(t, HSPZ_OK, set_query(t, 0, text, strlen(text)), "a query may be set before the target");
    expect(t, HSPZ_E_STATE, find(t, whole), "find_hsps without a target is answered HSPZ_E_STATE");
    expect(t, HSPZ_OK, set_target(t, text, strlen(text)), "a target is set");
    expect(t, HSPZ_OK, find(t, whole), "find_hsps passes over window starts that do not exist");
    hspz_find_request other = whole;
    other.slot = 1;
    expect(t, HSPZ_E_STATE, find(t, other), "find_hsps on an empty slot is answered HSPZ_E_STATE");
    expect(t, HSPZ_OK, t->plugin->clear_query(t->engine, 0, NULL), "a query is cleared");
    expect(t, HSPZ_E_STATE, find(t, whole), "a cleared query is no query");
    expect(t, HSPZ_OK, set_query(t, 0, text, strlen(text)), "and can be set again");
    expect(t, HSPZ_OK, t->plugin->clear_target(t->engine, NULL), "a target is cleared");
    expect(t, HSPZ_E_STATE, find(t, whole), "a cleared target is no target");
    expect(t, HSPZ_OK, set_target(t, text, strlen(text)),
           "and can be set again, the query still being there");
    expect(t, HSPZ_OK, find(t, whole), "then find_hsps works");
}

static void check_arguments(trial *t)
{
    hspz_find_request request = whole;
    expect(t, HSPZ_E_ARGUMENT, t->plugin->find_hsps(t->engine, NULL, &t->sink, NULL),
           "find_hsps without a request");
    expect(t, HSPZ_E_ARGUMENT,
           t->plugin->find_hsps(t->engine, &(hspz_find_request){.struct_size = 4}, &t->sink, NULL),
           "find_hsps with a request cut short");
    request.struct_size = sizeof request;
    expect(t, HSPZ_E_ARGUMENT, t->plugin->find_hsps(t->engine, &request, NULL, NULL),
           "find_hsps without a sink");
    request.slot = 2;
    expect(t, HSPZ_E_ARGUMENT, find(t, request), "find_hsps with a slot that is not there");
    request = whole;
    request.strand = 2;
    expect(t, HSPZ_E_ARGUMENT, find(t, request), "find_hsps with strand 2");
    request = whole;
    request.batch_size = 0;
    expect(t, HSPZ_E_ARGUMENT, find(t, request), "find_hsps with batch_size 0");
    request = whole;
    request.begin = 2000;
    expect(t, HSPZ_E_ARGUMENT, find(t, request), "find_hsps with begin behind end");
    expect(t, HSPZ_E_ARGUMENT, set_query(t, 2, "ACGT", 4), "set_query with a slot that is not there");
    expect(t, HSPZ_E_ARGUMENT, t->plugin->clear_query(t->engine, 2, NULL),
           "clear_query with a slot that is not there");
    expect(t, HSPZ_E_ARGUMENT, t->plugin->set_target(t->engine, NULL, NULL), "set_target without a target");
    expect(t, HSPZ_E_ARGUMENT, t->plugin->set_query(t->engine, 0, NULL, NULL), "set_query without a query");
    expect(t, HSPZ_E_ARGUMENT, set_query(t, 0, "ACGT*ACGT", 9), "a '*' in a query");
    expect(t, HSPZ_E_STATE, find(t, whole), "a refused query leaves its slot empty");
    expect(t, HSPZ_OK, set_query(t, 0, "ACGTACGT", 8), "a query shorter than the seed is set");
    expect(t, HSPZ_E_ARGUMENT, set_target(t, "ACGT1ACGT", 9), "a '1' in a target");
    expect(t, HSPZ_E_STATE, find(t, whole), "a refused target leaves none");
    expect(t, HSPZ_E_ARGUMENT, set_target(t, NULL, 9), "a target of NULL bases");
}

static void check_limits(trial *t)
{
    static const char letters[] = "ACGTUNRYSWKMBDHVXacgtunryswkmbdhvx&ACGT";
    expect(t, HSPZ_OK, set_target(t, letters, strlen(letters)),
           "every letter of the alphabet and '&' in a target");
    expect(t, HSPZ_OK, set_query(t, 0, letters, strlen(letters)), "and in a query");
    expect(t, HSPZ_OK, find(t, whole), "and they are searched");
    static const char *const small[] = {"", "A", "ACGTACGTACGTACGTAC", "ACGTACGTACGTACGTACG", "&", "A&C"};
    bool fine = true;
    hspz_status status = HSPZ_OK;
    for (size_t i = 0; i < sizeof small / sizeof small[0] && fine; i++)
        for (size_t j = 0; j < sizeof small / sizeof small[0] && fine; j++)
            for (uint32_t strand = 0; strand < 2 && fine; strand++) {
                hspz_find_request request = whole;
                request.strand = strand;
                status = set_target(t, small[i], strlen(small[i]));
                if (status == HSPZ_OK)
                    status = set_query(t, 0, small[j], strlen(small[j]));
                if (status == HSPZ_OK)
                    status = find(t, request);
                fine = status == HSPZ_OK && t->hsps.count == 0;
            }
    hspz__check(t->checks, fine, "targets and queries of 0 to 19 bases give no HSP and no error",
                "status %d, %llu HSPs", status, (unsigned long long)t->hsps.count);
}

/* Statistics and info take what fits in a shorter struct. */
static void check_short_structs(trial *t)
{
    unsigned char bytes[sizeof(hspz_statistics)];
    uint32_t size = 24;
    memset(bytes, 0x5a, sizeof bytes);
    memcpy(bytes, &size, sizeof size);
    hspz_status status = t->plugin->get_statistics(t->engine, (hspz_statistics *)(void *)bytes, NULL);
    hspz__check(t->checks, status == HSPZ_OK && bytes[size] == 0x5a,
                "shorter statistics are filled as far as they go", "status %d, byte behind them 0x%02x",
                status, bytes[size]);
    memset(bytes, 0x5a, sizeof bytes);
    memcpy(bytes, &size, sizeof size);
    status = t->plugin->engine_info(t->engine, (hspz_engine_info *)(void *)bytes, NULL);
    hspz__check(t->checks, status == HSPZ_OK && bytes[size] == 0x5a,
                "a shorter engine_info is filled as far as it goes", "status %d, byte behind it 0x%02x",
                status, bytes[size]);
    expect(t, HSPZ_E_ARGUMENT, t->plugin->get_statistics(t->engine, NULL, NULL),
           "get_statistics without a struct");
    expect(t, HSPZ_E_ARGUMENT, t->plugin->engine_info(t->engine, NULL, NULL), "engine_info without a struct");
}

void hspz__conform_calls(hspz__checks *c)
{
    hspz_engine_params params = hspz__conform_params(c->library);
    trial t = {.checks = c, .plugin = &c->library->table};
    if (!(c->library->table.capabilities & HSPZ_CAP_FIND)) {
        hspz__check_skipped(c, "calls on an engine", "the plugin offers no find_hsps");
        return;
    }
    hspz_status status = t.plugin->engine_create(&params, NULL, &t.engine, NULL);
    if (!hspz__check(c, status == HSPZ_OK && t.engine != NULL, "an engine without services and error",
                     "status %d", status))
        return;
    t.sink = hspz_hsps_sink(&t.hsps);
    check_states(&t);
    check_arguments(&t);
    check_limits(&t);
    check_short_structs(&t);
    t.plugin->engine_destroy(t.engine);
    hspz_hsps_free(&t.hsps);
}
