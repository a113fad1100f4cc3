/* backend_cpu.c -- the backend that needs nothing but a processor: targets, query slots and the three levels.
 *
 * Knobs: `threads` (default: what the process may use), `backend.cpu_isa` = auto|scalar|avx2|avx512, `seed_index` =
 * auto|direct|hash (see words.h). None changes results.
 */
#include "cpu.h"
#include "marks.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 1024
#define TILE_HITS (INT64_C(1) << 25) /* 256 MiB */

static uint32_t device_count(void)
{
    return 1;
}

static void device_info(uint32_t row, hspz_device_info *info)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    info->kind = HSPZ_DEVICE_CPU;
    info->ordinal = row;
    info->score = 1;
    info->status = HSPZ_OK;
    info->units = hspz__allowed_threads();
    info->memory_total = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
    snprintf(info->name, sizeof info->name, "CPU, %s", hspz__cpu_choose(0)->name);
    snprintf(info->detail, sizeof info->detail, "%u threads allowed to this process", info->units);
}

/* ---- create and destroy */

static void destroy(void *state)
{
    hspz__cpu *cpu = state;
    hspz__host *host = cpu->host;
    hspz__sequence_free(&cpu->target, host);
    hspz__words_free(&cpu->index, host);
    hspz__free(host, cpu->neighbours);
    hspz__scratch_free(&cpu->pairs, host);
    hspz__scratch_free(&cpu->contexts, host);
    hspz__words_free(&cpu->query_words, host);
    for (uint32_t i = 0; cpu->mark_lists != NULL && i < hspz__pool_threads(cpu->pool); i++)
        hspz__mark_lists_free(&cpu->mark_lists[i], host);
    hspz__free(host, cpu->mark_lists);
    for (uint32_t i = 0; cpu->spare != NULL && i < hspz__pool_threads(cpu->pool); i++)
        hspz__scratch_free(&cpu->spare[i], host);
    hspz__free(host, cpu->spare);
    for (uint32_t i = 0; cpu->survivors != NULL && i < hspz__pool_threads(cpu->pool); i++)
        hspz__anchors_free(&cpu->survivors[i], host);
    hspz__free(host, cpu->survivors);
    for (uint32_t slot = 0; slot < 16; slot++)
        for (uint32_t strand = 0; strand < 2; strand++)
            hspz__sequence_free(&cpu->slots[slot].strand[strand], host);
    hspz__pool_destroy(cpu->pool);
    hspz__free(host, cpu);
}

static const char *const form_names[] = {"auto", "direct", "hash", NULL};

static hspz_status read_knobs(hspz__cpu *cpu, hspz_error *error)
{
    int64_t threads = 0;
    int64_t tile_hits = 0;
    uint32_t isa = 0, form = 0;
    hspz_status status =
        hspz__knob_integer(cpu->host, "threads", 1, THREADS_MAX, hspz__allowed_threads(), &threads, error);
    if (status == HSPZ_OK)
        status = hspz__knob_choice(cpu->host, "backend.cpu_isa", hspz__cpu_isa_names, 0, &isa, error);
    if (status == HSPZ_OK)
        status = hspz__knob_choice(cpu->host, "seed_index", form_names, 0, &form, error);
    if (status == HSPZ_OK)
        status =
            hspz__knob_integer(cpu->host, "cpu.tile_hits", 1, INT64_C(1) << 32, TILE_HITS, &tile_hits, error);
    if (status != HSPZ_OK)
        return status;
    cpu->tile_hits = (uint64_t)tile_hits;
    cpu->form = (hspz__words_form)form;
    cpu->kernels = hspz__cpu_choose(isa);
    if (cpu->kernels == NULL)
        return hspz__fail(error, HSPZ_E_CONFIG, "backend.cpu_isa = %s, which this processor does not have",
                          hspz__cpu_isa_names[isa]);
    cpu->pool = hspz__pool_create(cpu->host, (uint32_t)threads);
    if (cpu->pool == NULL)
        return hspz__fail(error, HSPZ_E_MEMORY, "%lld threads cannot be started", (long long)threads);
    cpu->survivors = hspz__alloc(cpu->host, (uint64_t)threads, sizeof *cpu->survivors);
    cpu->mark_lists = hspz__alloc(cpu->host, (uint64_t)threads, sizeof *cpu->mark_lists);
    cpu->spare = hspz__alloc(cpu->host, (uint64_t)threads, sizeof *cpu->spare);
    if (cpu->spare != NULL)
        memset(cpu->spare, 0, (uint64_t)threads * sizeof *cpu->spare);
    if (cpu->survivors != NULL)
        memset(cpu->survivors, 0, (uint64_t)threads * sizeof *cpu->survivors);
    if (cpu->mark_lists != NULL)
        memset(cpu->mark_lists, 0, (uint64_t)threads * sizeof *cpu->mark_lists);
    if (cpu->survivors == NULL || cpu->spare == NULL || cpu->mark_lists == NULL)
        return hspz__fail(error, HSPZ_E_MEMORY, "no memory for %lld threads", (long long)threads);
    return HSPZ_OK;
}

static hspz_status create(const hspz__plan *plan, hspz__host *host, uint32_t row, void **state,
                          hspz_error *error)
{
    (void)row;
    *state = NULL;
    hspz__cpu *cpu = hspz__alloc(host, 1, sizeof *cpu);
    if (cpu == NULL)
        return hspz__fail(error, HSPZ_E_MEMORY, "no memory for an engine");
    memset(cpu, 0, sizeof *cpu);
    cpu->plan = plan;
    cpu->host = host;
    hspz__keys_init(&cpu->keys, plan);
    hspz__symbols_init(&cpu->symbols, plan);
    int32_t score[4][4];
    for (uint32_t t = 0; t < 4; t++)
        memcpy(score[t], plan->score[t], sizeof score[t]);
    hspz__filter_init(&cpu->filter, (const int32_t(*)[4])score, plan->xdrop, plan->keep_total);
    hspz_status status = read_knobs(cpu, error);
    if (status != HSPZ_OK) {
        destroy(cpu);
        return status;
    }
    *state = cpu;
    return HSPZ_OK;
}

static void engine_info(const void *state, hspz_engine_info *info)
{
    const hspz__cpu *cpu = state;
    info->threads = hspz__pool_threads(cpu->pool);
    snprintf(info->backend, sizeof info->backend, "cpu");
    snprintf(info->variant, sizeof info->variant, "%s", cpu->kernels->name);
}

/* ---- sequences */

static void clear_target(void *state)
{
    hspz__cpu *cpu = state;
    hspz__sequence_free(&cpu->target, cpu->host);
    hspz__words_free(&cpu->index, cpu->host);
    hspz__free(cpu->host, cpu->neighbours);
    cpu->neighbours = NULL;
}

static hspz_status set_target(void *state, const hspz_target *target, hspz_statistics *statistics,
                              hspz_error *error)
{
    hspz__cpu *cpu = state;
    const double start = hspz__seconds();
    const hspz__builder builder = hspz__cpu_builder(cpu);
    clear_target(cpu);
    hspz_status status =
        hspz__sequence_encode(&cpu->target, cpu->host, cpu->pool, target->bases, target->length,
                              &cpu->symbols, cpu->kernels, 0, "target", error);
    if (status == HSPZ_OK && target->index_table != NULL) {
        status = hspz__words_import(&cpu->index, &builder, target, cpu->form, error);
    } else if (status == HSPZ_OK) {
        uint64_t first = 0;
        const uint64_t grid = hspz__plan_target_positions(cpu->plan, target->length, &first);
        status = hspz__words_build(&cpu->index, &builder, &cpu->target, first, cpu->plan->step, grid,
                                   cpu->form, error);
    }
    cpu->host_index = target->index_table != NULL;
    if (status != HSPZ_OK)
        clear_target(cpu);
    statistics->target_positions += cpu->index.count;
    statistics->seconds_index += hspz__seconds() - start;
    return status;
}

static void clear_query(void *state, uint32_t number)
{
    hspz__cpu *cpu = state;
    hspz__cpu_slot *slot = &cpu->slots[number];
    hspz__sequence_free(&slot->strand[HSPZ_STRAND_PLUS], cpu->host);
    hspz__sequence_free(&slot->strand[HSPZ_STRAND_MINUS], cpu->host);
    slot->has_minus = false;
}

static hspz_status set_query(void *state, uint32_t number, const hspz_query *query,
                             hspz_statistics *statistics, hspz_error *error)
{
    hspz__cpu *cpu = state;
    const double start = hspz__seconds();
    clear_query(cpu, number);
    hspz_status status =
        hspz__sequence_encode(&cpu->slots[number].strand[HSPZ_STRAND_PLUS], cpu->host, cpu->pool,
                              query->bases, query->length, &cpu->symbols, cpu->kernels, 1, "query", error);
    statistics->seconds_query += hspz__seconds() - start;
    return status;
}

/* ---- the levels */

static hspz_status begin_call(hspz__call *call, hspz__cpu *cpu, uint32_t number, uint32_t strand,
                              uint64_t total, const hspz__output *output, hspz_error *error)
{
    hspz__cpu_slot *slot = &cpu->slots[number];
    call->cpu = cpu;
    call->query = &slot->strand[strand];
    call->output = output;
    call->error = error;
    hspz__pulse_init(&call->pulse, cpu->host, total);
    if (strand == HSPZ_STRAND_PLUS || slot->has_minus)
        return HSPZ_OK;
    const double start = hspz__seconds();
    hspz_status status =
        hspz__sequence_reverse(&slot->strand[HSPZ_STRAND_MINUS], cpu->host, cpu->pool,
                               &slot->strand[HSPZ_STRAND_PLUS], &cpu->symbols, cpu->kernels, 1, error);
    slot->has_minus = status == HSPZ_OK;
    output->statistics->seconds_query += hspz__seconds() - start;
    return status;
}

static hspz_status end_call(const hspz__call *call, hspz_status status)
{
    if (status == HSPZ_E_CANCELLED)
        return hspz__fail(call->error, status, "the host cancelled at %llu of %llu",
                          (unsigned long long)call->pulse.done, (unsigned long long)call->pulse.total);
    return status;
}

static hspz_status find_hsps(void *state, const hspz_find_request *request, const hspz__output *output,
                             hspz_error *error)
{
    hspz__cpu *cpu = state;
    hspz__call call;
    hspz_status status =
        begin_call(&call, cpu, request->slot, request->strand, request->end - request->begin, output, error);
    if (status != HSPZ_OK)
        return status;
    const uint64_t w = cpu->plan->pattern_length;
    const uint64_t windows = call.query->length >= w ? call.query->length - w + 1 : 0;
    const uint64_t end = request->end < windows ? request->end + 1 : windows;
    if (request->begin >= end)
        return HSPZ_OK;
    if (cpu->plan->dedup == HSPZ_DEDUP_LASTZ && !cpu->host_index)
        status = hspz__marks_find(&call, request->begin, end, request->batch_size);
    else if (cpu->plan->dedup == HSPZ_DEDUP_LASTZ)
        status = hspz__marks_find_host(&call, request->begin, end, request->batch_size);
    else if (cpu->host_index)
        status = hspz__stream_find(&call, request->begin, end, request->batch_size);
    else
        status = hspz__join_find(&call, request->begin, end, request->batch_size);
    return end_call(&call, status);
}

static hspz_status expand_and_extend(void *state, const hspz_seed_batch *batch, const hspz__output *output,
                                     hspz_error *error)
{
    hspz__call call;
    hspz_status status = begin_call(&call, state, batch->slot, batch->strand, batch->count, output, error);
    if (status != HSPZ_OK)
        return status;
    return end_call(&call, hspz__stream_seeds(&call, batch->seeds, batch->count));
}

static hspz_status extend_anchors(void *state, const hspz_anchor_batch *batch, const hspz__output *output,
                                  hspz_error *error)
{
    hspz__call call;
    hspz_status status = begin_call(&call, state, batch->slot, batch->strand, batch->count, output, error);
    if (status != HSPZ_OK)
        return status;
    return end_call(&call, hspz__stream_anchors(&call, batch));
}

const hspz__backend hspz__backend_cpu = {
    .name = "cpu",
    .kind = HSPZ_DEVICE_CPU,
    .device_count = device_count,
    .device_info = device_info,
    .create = create,
    .destroy = destroy,
    .info = engine_info,
    .set_target = set_target,
    .clear_target = clear_target,
    .set_query = set_query,
    .clear_query = clear_query,
    .find_hsps = find_hsps,
    .expand_and_extend = expand_and_extend,
    .extend_anchors = extend_anchors,
};
