/* engine_sequences.c -- target and query slots: checked, then given to the backend */
#include "engine.h"
#include "engine_state.h"

#include <string.h>

static hspz_status check_block(const char *name, const void *bases, uint64_t length, hspz_error *error)
{
    if (bases == NULL && length > 0)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "the %s has a length but no bases", name);
    if (length > UINT32_MAX - 1)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "the %s has %llu bases; a block holds at most 4294967294",
                          name, (unsigned long long)length);
    return HSPZ_OK;
}

static hspz_status check_index(const hspz_engine *engine, const hspz_target *t, hspz_error *error)
{
    if (t->index_table == NULL && t->positions != NULL)
        return hspz__fail(error, HSPZ_E_ARGUMENT,
                          "the target comes with positions but without an index table");
    if (t->index_table == NULL)
        return HSPZ_OK;
    const uint64_t words = UINT64_C(1) << engine->plan.word_bits;
    if (t->index_entries != words)
        return hspz__fail(error, HSPZ_E_ARGUMENT,
                          "the index table has %llu entries; this seed has %llu words",
                          (unsigned long long)t->index_entries, (unsigned long long)words);
    if (t->positions == NULL && t->position_count > 0)
        return hspz__fail(error, HSPZ_E_ARGUMENT,
                          "the target comes with an index table but without positions");
    uint32_t begin = 0;
    for (uint64_t word = 0; word < words; word++) {
        const uint32_t end = t->index_table[word];
        if (end < begin || end > t->position_count)
            return hspz__fail(error, HSPZ_E_ARGUMENT,
                              "the index table descends or passes %llu positions at word %llu",
                              (unsigned long long)t->position_count, (unsigned long long)word);
        for (uint32_t i = begin; i < end; i++) {
            if ((uint64_t)t->positions[i] + engine->plan.pattern_length > t->length)
                return hspz__fail(error, HSPZ_E_ARGUMENT,
                                  "indexed position %u is no window start of a target of %llu bases",
                                  t->positions[i], (unsigned long long)t->length);
            if (i > begin && t->positions[i] <= t->positions[i - 1])
                return hspz__fail(error, HSPZ_E_ARGUMENT, "indexed position %u does not ascend in its bucket",
                                  t->positions[i]);
        }
        begin = end;
    }
    if (begin != t->position_count)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "the index table ends at %u, but there are %llu positions",
                          begin, (unsigned long long)t->position_count);
    return HSPZ_OK;
}

hspz_status hspz__set_target(hspz_engine *engine, const hspz_target *target, hspz_error *error)
{
    if (engine == NULL)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "set_target needs an engine");
    hspz__engine_call c;
    hspz__engine_call_begin(&c);
    hspz_target t = {.struct_size = sizeof t};
    hspz_status status = HSPZ_OK;
    engine->target_length = HSPZ__UNSET;
    engine->backend->clear_target(engine->state);
    if (target == NULL || !HSPZ_HAS_FIELD(hspz_target, target, length))
        status = hspz__fail(&c.error, HSPZ_E_ARGUMENT, "set_target needs a target with its size set");
    if (status == HSPZ_OK) {
        memcpy(&t, target, target->struct_size < sizeof t ? target->struct_size : sizeof t);
        status = check_block("target", t.bases, t.length, &c.error);
    }
    if (status == HSPZ_OK)
        status = check_index(engine, &t, &c.error);
    if (status == HSPZ_OK)
        status = engine->backend->set_target(engine->state, &t, &c.statistics, &c.error);
    if (status == HSPZ_OK)
        engine->target_length = t.length;
    return hspz__engine_call_finish(engine, &c, status, error);
}

hspz_status hspz__clear_target(hspz_engine *engine, hspz_error *error)
{
    if (engine == NULL)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "clear_target needs an engine");
    engine->target_length = HSPZ__UNSET;
    engine->backend->clear_target(engine->state);
    return HSPZ_OK;
}

hspz_status hspz__check_slot(const hspz_engine *engine, uint32_t slot, hspz_error *error)
{
    if (slot < engine->plan.query_slots)
        return HSPZ_OK;
    return hspz__fail(error, HSPZ_E_ARGUMENT, "query slot %u does not exist: this engine has %u", slot,
                      engine->plan.query_slots);
}

hspz_status hspz__set_query(hspz_engine *engine, uint32_t slot, const hspz_query *query, hspz_error *error)
{
    if (engine == NULL)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "set_query needs an engine");
    hspz__engine_call c;
    hspz__engine_call_begin(&c);
    hspz_status status = hspz__check_slot(engine, slot, &c.error);
    if (status != HSPZ_OK)
        return hspz__engine_call_finish(engine, &c, status, error);
    engine->query_length[slot] = HSPZ__UNSET;
    engine->backend->clear_query(engine->state, slot);
    if (query == NULL || !HSPZ_HAS_FIELD(hspz_query, query, length))
        status = hspz__fail(&c.error, HSPZ_E_ARGUMENT, "set_query needs a query with its size set");
    if (status == HSPZ_OK)
        status = check_block("query", query->bases, query->length, &c.error);
    if (status == HSPZ_OK)
        status = engine->backend->set_query(engine->state, slot, query, &c.statistics, &c.error);
    if (status == HSPZ_OK)
        engine->query_length[slot] = query->length;
    return hspz__engine_call_finish(engine, &c, status, error);
}

hspz_status hspz__clear_query(hspz_engine *engine, uint32_t slot, hspz_error *error)
{
    if (engine == NULL)
        return hspz__fail(error, HSPZ_E_ARGUMENT, "clear_query needs an engine");
    hspz__engine_call c;
    hspz__engine_call_begin(&c);
    hspz_status status = hspz__check_slot(engine, slot, &c.error);
    if (status != HSPZ_OK)
        return hspz__engine_call_finish(engine, &c, status, error);
    engine->query_length[slot] = HSPZ__UNSET;
    engine->backend->clear_query(engine->state, slot);
    return HSPZ_OK;
}
