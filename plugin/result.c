/* result.c -- found segments through dedup to the host's sink; see cpu.h. */
#include "cpu.h"

#include <string.h>

#define GIVEN_AT_ONCE 1024u

void hspz__result_init(hspz__result *result, hspz__call *call)
{
    memset(result, 0, sizeof *result);
    result->call = call;
}

hspz_status hspz__result_give(hspz__result *result)
{
    hspz_hsp records[GIVEN_AT_ONCE];
    hspz_status status = HSPZ_OK;
    for (uint64_t i = 0; i < result->found.count && status == HSPZ_OK;) {
        uint32_t n = 0;
        for (; n < GIVEN_AT_ONCE && i < result->found.count; n++, i++)
            records[n] = result->found.items[i].hsp;
        status = hspz__output_hsps(result->call->output, records, n, result->call->error);
    }
    result->found.count = 0;
    return status;
}

/* Raw order of level (a): query position, variant, target position descending; each is told by the anchor in the label. */
static hspz_status sort_raw(hspz__result *result)
{
    const hspz__call *call = result->call;
    hspz__found_list *list = &result->found;
    for (uint64_t i = 0; i < list->count; i++) {
        const uint32_t r = (uint32_t)(list->items[i].label >> 32);
        list->items[i].label = UINT32_MAX - r;
    }
    hspz_status status = hspz__found_sort(list, call->cpu->host, HSPZ__ORDER_LABEL);
    for (uint64_t i = 0; i < list->count && status == HSPZ_OK; i++) {
        const hspz_hsp *h = &list->items[i].hsp;
        const uint32_t r = UINT32_MAX - (uint32_t)list->items[i].label;
        const uint32_t q = r - (h->target_start - h->query_start);
        list->items[i].label = (uint64_t)q * HSPZ__VARIANTS_MAX + hspz__variant_of(call, r, q);
    }
    return status == HSPZ_OK ? hspz__found_sort(list, call->cpu->host, HSPZ__ORDER_LABEL) : status;
}

static hspz_status dedup(hspz__result *result)
{
    hspz__host *host = result->call->cpu->host;
    hspz__found_list *list = &result->found;
    hspz_status status = HSPZ_OK;
    switch (result->call->cpu->plan->dedup) {
    case HSPZ_DEDUP_CHUNK:
        return hspz__dedup_chunk(list, host);
    case HSPZ_DEDUP_INTERVAL:
        status = hspz__dedup_chunk(list, host);
        return status == HSPZ_OK ? hspz__dedup_interval(list, host, &result->seen) : status;
    case HSPZ_DEDUP_MAXIMAL:
        return hspz__dedup_maximal(list, host);
    default: /* none */
        return sort_raw(result);
    }
}

static hspz_status timed_dedup(hspz__result *result)
{
    const double start = hspz__seconds();
    const uint64_t count = result->found.count;
    hspz_status status = dedup(result);
    if (status == HSPZ_E_MEMORY)
        hspz__fail(result->call->error, status, "no memory to sort %llu segments", (unsigned long long)count);
    result->call->output->statistics->seconds_dedup += hspz__seconds() - start;
    return status;
}

hspz_status hspz__result_raw(hspz__result *result)
{
    const double start = hspz__seconds();
    hspz_status status = sort_raw(result);
    if (status == HSPZ_E_MEMORY)
        hspz__fail(result->call->error, status, "no memory to sort the segments");
    result->call->output->statistics->seconds_dedup += hspz__seconds() - start;
    return status == HSPZ_OK ? hspz__result_give(result) : status;
}

hspz_status hspz__result_scope_end(hspz__result *result)
{
    hspz_status status = HSPZ_OK;
    if (result->call->cpu->plan->dedup == HSPZ_DEDUP_MAXIMAL) {
        if (result->found.count < 2 * result->thinned + 65536)
            return HSPZ_OK;
        status = timed_dedup(result);
        result->thinned = result->found.count;
        return status;
    }
    status = timed_dedup(result);
    return status == HSPZ_OK ? hspz__result_give(result) : status;
}

hspz_status hspz__result_end(hspz__result *result, hspz_status status)
{
    if (status == HSPZ_OK && result->call->cpu->plan->dedup == HSPZ_DEDUP_MAXIMAL) {
        status = timed_dedup(result);
        if (status == HSPZ_OK)
            status = hspz__result_give(result);
    }
    hspz__found_free(&result->found, result->call->cpu->host);
    hspz__seen_free(&result->seen, result->call->cpu->host);
    return status;
}
