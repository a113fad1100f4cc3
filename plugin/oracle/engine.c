/* engine.c -- the engine object of the reference plugin: arguments, targets, query slots, statistics, error text.
 *
 * Idea: everything that a host hands in is judged here, once, so that the stages see checked input only. The ABI lets set_query of one
 * slot run beside a call that works on another slot; what both touch is the text of the last error (under a lock) and the
 * memory counters (atomic). All else belongs to the slot or to the calling level.
 */
#include "oracle.h"

#include <string.h>

#define LONGEST_BLOCK 0xfffffffeull /* 2^32 - 2 */

hspz_status hspz__oracle_finish(hspz_engine *engine, hspz_error *caller, const hspz_error *own,
                                hspz_status status)
{
    if (status != HSPZ_OK) {
        pthread_mutex_lock(&engine->lock);
        memcpy(engine->last_error, own->text, sizeof engine->last_error);
        pthread_mutex_unlock(&engine->lock);
    }
    return hspz__oracle_report(caller, own, status);
}

hspz_status hspz__oracle_no_engine(hspz_error *caller)
{
    hspz_error own = {.struct_size = sizeof own};
    return hspz__oracle_report(caller, &own, hspz__oracle_fail(&own, HSPZ_E_ARGUMENT, "the engine is NULL"));
}

hspz_status hspz__oracle_engine_create(const hspz_engine_params *params, const hspz_host_services *services,
                                       hspz_engine **out, hspz_error *error)
{
    hspz_error own = {.struct_size = sizeof own};
    if (out != NULL)
        *out = NULL;
    if (out == NULL || params == NULL || params->struct_size < sizeof params->struct_size)
        return hspz__oracle_report(
            error, &own,
            hspz__oracle_fail(&own, HSPZ_E_ARGUMENT, "engine_create needs params with struct_size, and out"));
    hspz__oracle_rules rules;
    hspz_status status = hspz__oracle_rules_init(&rules, params, &own);
    if (status != HSPZ_OK)
        return hspz__oracle_report(error, &own, status);

    hspz__oracle_host host;
    hspz__oracle_host_init(&host, services);
    hspz_engine *engine = hspz__oracle_alloc(&host, 1, sizeof *engine);
    if (engine == NULL)
        return hspz__oracle_report(error, &own,
                                   hspz__oracle_fail(&own, HSPZ_E_MEMORY, "no memory for an engine"));
    memset(engine, 0, sizeof *engine);
    engine->rules = rules;
    engine->rules.params.seed_pattern = engine->rules.pattern;
    hspz__oracle_host_init(&engine->host, services);
    engine->statistics.struct_size = sizeof engine->statistics;
    if (pthread_mutex_init(&engine->lock, NULL) != 0) {
        hspz__oracle_free(&host, engine);
        return hspz__oracle_report(error, &own,
                                   hspz__oracle_fail(&own, HSPZ_E_MEMORY, "no memory for a lock"));
    }
    *out = engine;
    return HSPZ_OK;
}

void hspz__oracle_engine_destroy(hspz_engine *engine)
{
    if (engine == NULL)
        return;
    hspz__oracle_clear_target(engine, NULL);
    for (uint32_t slot = 0; slot < engine->rules.params.query_slots; slot++)
        hspz__oracle_clear_query(engine, slot, NULL);
    pthread_mutex_destroy(&engine->lock);
    hspz__oracle_host host;
    hspz__oracle_host_init(&host, &engine->host.services);
    hspz__oracle_free(&host, engine);
}

hspz_status hspz__oracle_engine_info(hspz_engine *engine, hspz_engine_info *info, hspz_error *error)
{
    if (engine == NULL)
        return hspz__oracle_no_engine(error);
    hspz_engine_info own_info = {.struct_size = sizeof own_info,
                                 .device = 0,
                                 .threads = 1,
                                 .max_hits = engine->rules.params.max_hits,
                                 .backend = "oracle",
                                 .variant = "sequential C"};
    hspz_error own = {.struct_size = sizeof own};
    hspz_status status = hspz__oracle_give(info, &own_info, sizeof own_info, "info", &own);
    return hspz__oracle_finish(engine, error, &own, status);
}

/* Targets ------------------------------------------------------------------------------------------ */

static hspz_status check_block(const char *name, const uint8_t *bases, uint64_t length, hspz_error *error)
{
    if (bases == NULL && length > 0)
        return hspz__oracle_fail(error, HSPZ_E_ARGUMENT, "the %s's bases are NULL", name);
    if (length > LONGEST_BLOCK)
        return hspz__oracle_fail(error, HSPZ_E_ARGUMENT,
                                 "a %s of %llu bases is too long; at most %llu fit a block", name,
                                 (unsigned long long)length, LONGEST_BLOCK);
    return HSPZ_OK;
}

static void drop_target(hspz_engine *engine)
{
    hspz__oracle_sequence_free(&engine->host, &engine->target);
    hspz__oracle_index_free(&engine->host, &engine->index);
    engine->target_set = false;
}

/* The caller's struct with absent fields empty, checked. */
static hspz_status read_target(const hspz_target *from, hspz_target *target, hspz_error *error)
{
    memset(target, 0, sizeof *target);
    if (from == NULL || !HSPZ_HAS_FIELD(hspz_target, from, length))
        return hspz__oracle_fail(error, HSPZ_E_ARGUMENT, "set_target needs a target with bases and length");
    memcpy(target, from, from->struct_size < sizeof *target ? from->struct_size : sizeof *target);
    if ((target->index_table == NULL) != (target->positions == NULL))
        return hspz__oracle_fail(error, HSPZ_E_ARGUMENT,
                                 "index_table and positions go together: both or neither");
    return check_block("target", target->bases, target->length, error);
}

static hspz_status set_target(hspz_engine *engine, const hspz_target *from, hspz_error *error)
{
    hspz_target target;
    hspz_status status = read_target(from, &target, error);
    if (status == HSPZ_OK)
        status =
            hspz__oracle_encode(&engine->host, "target", target.bases, target.length, &engine->target, error);
    if (status != HSPZ_OK)
        return status;
    if (target.index_table != NULL)
        return hspz__oracle_index_import(&engine->host, &engine->rules, &target, &engine->index, error);
    return hspz__oracle_index_build(&engine->host, &engine->rules, &engine->target, &engine->index, error);
}

hspz_status hspz__oracle_set_target(hspz_engine *engine, const hspz_target *target, hspz_error *error)
{
    if (engine == NULL)
        return hspz__oracle_no_engine(error);
    double start = hspz__oracle_seconds();
    hspz_error own = {.struct_size = sizeof own};
    drop_target(engine);
    hspz_status status = set_target(engine, target, &own);
    if (status == HSPZ_OK) {
        engine->target_set = true;
        engine->statistics.target_positions += engine->index.count;
        hspz__oracle_log(&engine->host, HSPZ_LOG_DEBUG,
                         "oracle: target of %llu bases, %llu positions indexed",
                         (unsigned long long)engine->target.length, (unsigned long long)engine->index.count);
    } else {
        drop_target(engine);
    }
    double spent = hspz__oracle_seconds() - start;
    engine->statistics.seconds_index += spent;
    engine->statistics.seconds_total += spent;
    return hspz__oracle_finish(engine, error, &own, status);
}

hspz_status hspz__oracle_clear_target(hspz_engine *engine, hspz_error *error)
{
    if (engine == NULL)
        return hspz__oracle_no_engine(error);
    drop_target(engine);
    return HSPZ_OK;
}

/* Query slots -------------------------------------------------------------------------------------- */

static void drop_query(hspz_engine *engine, hspz__oracle_slot *slot)
{
    hspz__oracle_sequence_free(&engine->host, &slot->strand[HSPZ_STRAND_PLUS]);
    hspz__oracle_sequence_free(&engine->host, &slot->strand[HSPZ_STRAND_MINUS]);
    slot->set = false;
}

hspz_status hspz__oracle_check_slot(const hspz_engine *engine, uint32_t slot, hspz_error *error)
{
    if (slot < engine->rules.params.query_slots)
        return HSPZ_OK;
    return hspz__oracle_fail(error, HSPZ_E_ARGUMENT, "query slot %u does not exist; the engine has %u", slot,
                             engine->rules.params.query_slots);
}

static hspz_status set_query(hspz_engine *engine, hspz__oracle_slot *slot, const hspz_query *query,
                             hspz_error *error)
{
    if (query == NULL || query->struct_size < sizeof *query)
        return hspz__oracle_fail(error, HSPZ_E_ARGUMENT, "set_query needs a query with bases and length");
    hspz_status status = check_block("query", query->bases, query->length, error);
    if (status == HSPZ_OK)
        status = hspz__oracle_encode(&engine->host, "query", query->bases, query->length,
                                     &slot->strand[HSPZ_STRAND_PLUS], error);
    if (status == HSPZ_OK)
        status = hspz__oracle_reverse_complement(&engine->host, &slot->strand[HSPZ_STRAND_PLUS],
                                                 &slot->strand[HSPZ_STRAND_MINUS], error);
    return status;
}

hspz_status hspz__oracle_set_query(hspz_engine *engine, uint32_t number, const hspz_query *query,
                                   hspz_error *error)
{
    if (engine == NULL)
        return hspz__oracle_no_engine(error);
    double start = hspz__oracle_seconds();
    hspz_error own = {.struct_size = sizeof own};
    hspz_status status = hspz__oracle_check_slot(engine, number, &own);
    if (status != HSPZ_OK)
        return hspz__oracle_finish(engine, error, &own, status);
    hspz__oracle_slot *slot = &engine->slots[number];
    drop_query(engine, slot);
    status = set_query(engine, slot, query, &own);
    if (status == HSPZ_OK)
        slot->set = true;
    else
        drop_query(engine, slot);
    slot->seconds += hspz__oracle_seconds() - start;
    return hspz__oracle_finish(engine, error, &own, status);
}

hspz_status hspz__oracle_clear_query(hspz_engine *engine, uint32_t number, hspz_error *error)
{
    if (engine == NULL)
        return hspz__oracle_no_engine(error);
    hspz_error own = {.struct_size = sizeof own};
    hspz_status status = hspz__oracle_check_slot(engine, number, &own);
    if (status == HSPZ_OK)
        drop_query(engine, &engine->slots[number]);
    return hspz__oracle_finish(engine, error, &own, status);
}

/* Statistics --------------------------------------------------------------------------------------- */

hspz_status hspz__oracle_get_statistics(hspz_engine *engine, hspz_statistics *statistics, hspz_error *error)
{
    if (engine == NULL)
        return hspz__oracle_no_engine(error);
    hspz_statistics now = engine->statistics;
    for (uint32_t slot = 0; slot < engine->rules.params.query_slots; slot++) {
        now.seconds_query += engine->slots[slot].seconds;
        now.seconds_total += engine->slots[slot].seconds;
    }
    now.host_memory_peak = atomic_load(&engine->host.bytes_peak);
    hspz_error own = {.struct_size = sizeof own};
    hspz_status status = hspz__oracle_give(statistics, &now, sizeof now, "statistics", &own);
    return hspz__oracle_finish(engine, error, &own, status);
}

hspz_status hspz__oracle_reset_statistics(hspz_engine *engine, hspz_error *error)
{
    if (engine == NULL)
        return hspz__oracle_no_engine(error);
    memset(&engine->statistics, 0, sizeof engine->statistics);
    engine->statistics.struct_size = sizeof engine->statistics;
    for (uint32_t slot = 0; slot < engine->rules.params.query_slots; slot++)
        engine->slots[slot].seconds = 0.0;
    atomic_store(&engine->host.bytes_peak, atomic_load(&engine->host.bytes_now));
    return HSPZ_OK;
}

const char *hspz__oracle_last_error(hspz_engine *engine)
{
    return engine == NULL ? "" : engine->last_error;
}
