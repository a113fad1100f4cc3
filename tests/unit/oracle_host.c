/* oracle_host.c -- SPEC section 9: what a plugin does with the host's services: memory, progress, cancel, and the sink. */
#include "oracle_bench.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct host_record {
    uint64_t live; /* allocations not freed */
    uint64_t made;
    uint64_t fail_at; /* the allocation of this number fails; 0: none */
    uint64_t calls;   /* of progress */
    uint64_t cancel_at;
    uint64_t last_done;
    uint64_t last_total;
    double longest; /* between two calls of progress */
    double last;
} host_record;

static void *host_alloc(void *ctx, uint64_t size, uint64_t alignment)
{
    host_record *r = ctx;
    if (++r->made == r->fail_at)
        return NULL;
    void *memory = aligned_alloc((size_t)alignment, (size_t)((size + alignment - 1) / alignment * alignment));
    r->live += memory != NULL;
    return memory;
}

static void host_free(void *ctx, void *memory)
{
    ((host_record *)ctx)->live--;
    free(memory);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int32_t host_progress(void *ctx, uint64_t done, uint64_t total)
{
    host_record *r = ctx;
    double t = now();
    if (r->calls++ > 0 && t - r->last > r->longest)
        r->longest = t - r->last;
    r->last = t;
    r->last_done = done;
    r->last_total = total;
    return r->cancel_at > 0 && r->calls >= r->cancel_at;
}

static hspz_host_services services_of(host_record *record)
{
    return (hspz_host_services){.struct_size = sizeof(hspz_host_services),
                                .ctx = record,
                                .alloc = host_alloc,
                                .free = host_free,
                                .progress = host_progress};
}

Test(oracle_host, memory_comes_from_the_host_and_goes_back)
{
    host_record record = {0};
    bench b = new_bench();
    b.services = services_of(&record);
    for (uint32_t dedup = 0; dedup < HSPZ_DEDUP_COUNT; dedup++) {
        b.params.dedup = dedup;
        given(&b, "&ACCAGGACCA&TTGTTGACCA", "ACCAGGA&TTGTTG");
        find(&b, HSPZ_STRAND_PLUS, 0, 10, 3);
        cr_expect(b.count > 0);
    }
    cr_expect(record.live > 0);
    cr_expect(statistics(&b).host_memory_peak > 0);
    end_bench(&b);
    cr_expect_eq(record.live, 0);
}

/* Every single allocation fails once: always HSPZ_E_MEMORY, nothing leaks, the engine stays usable. */
Test(oracle_host, every_allocation_may_fail)
{
    for (uint32_t dedup = 0; dedup < HSPZ_DEDUP_COUNT; dedup++) {
        bool failed = true;
        for (uint64_t at = 1; failed; at++) {
            cr_assert(at < 200);
            host_record record = {.fail_at = at};
            bench b = new_bench();
            b.services = services_of(&record);
            b.params.dedup = dedup;
            hspz_target target = {
                .struct_size = sizeof target, .bases = (const uint8_t *)"&ACCAGGACCA", .length = 11};
            hspz_query query = {
                .struct_size = sizeof query, .bases = (const uint8_t *)"ACCAGGA", .length = 7};
            hspz_status status = b.plugin->engine_create(&b.params, &b.services, &b.engine, &b.error);
            if (status == HSPZ_OK)
                status = b.plugin->set_target(b.engine, &target, &b.error);
            if (status == HSPZ_OK)
                status = b.plugin->set_query(b.engine, 0, &query, &b.error);
            if (status == HSPZ_OK)
                status = try_find(&b, HSPZ_STRAND_PLUS, 0, 3, 100);
            failed = status != HSPZ_OK;
            cr_expect(status == HSPZ_OK || status == HSPZ_E_MEMORY, "allocation %u: status %d", (unsigned)at,
                      status);
            if (failed && b.engine != NULL) {
                cr_expect_eq(b.plugin->set_target(b.engine, &target, &b.error), HSPZ_OK);
                cr_expect_eq(b.plugin->set_query(b.engine, 0, &query, &b.error), HSPZ_OK);
                find(&b, HSPZ_STRAND_PLUS, 0, 3, 100);
                cr_expect(b.count > 0);
            }
            end_bench(&b);
            cr_expect_eq(record.live, 0, "allocation %u leaks", (unsigned)at);
        }
    }
}

/* Work for a second or more: one repeated base, whose hits all extend over everything. */
#define LONG 2000
static void given_long_work(bench *b)
{
    static char text[LONG + 1];
    memset(text, 'A', LONG);
    given(b, text, text);
}

Test(oracle_host, progress_is_told_twice_a_second)
{
    host_record record = {0};
    bench b = new_bench();
    b.services = services_of(&record);
    b.params.dedup = HSPZ_DEDUP_MAXIMAL;
    given_long_work(&b);
    record.calls = 0;
    double start = now();
    cr_assert_eq(try_find(&b, HSPZ_STRAND_PLUS, 0, LONG - 4, 100), HSPZ_OK);
    double spent = now() - start;
    cr_expect(record.calls >= (uint64_t)(2 * spent), "%u calls in %.1f s", (unsigned)record.calls, spent);
    cr_expect(record.longest <= 0.5, "%.2f s of silence", record.longest);
    if (record.calls > 0) {
        cr_expect_eq(record.last_total, LONG - 3, "window starts of the call");
        cr_expect(record.last_done < record.last_total);
    }
    end_bench(&b);
}

Test(oracle_host, cancel)
{
    host_record record = {.cancel_at = 1};
    bench b = new_bench();
    b.services = services_of(&record);
    given_long_work(&b);
    double start = now();
    cr_expect_eq(try_find(&b, HSPZ_STRAND_PLUS, 0, LONG - 4, 100), HSPZ_E_CANCELLED);
    cr_expect(now() - start < 2.0);
    cr_expect(b.error.text[0] != '\0');
    record.cancel_at = 0;
    cr_expect_eq(try_find(&b, HSPZ_STRAND_PLUS, 0, 3, 100), HSPZ_OK, "the engine is usable after a cancel");
    end_bench(&b);
    cr_expect_eq(record.live, 0);
}

Test(oracle_host, sink_refusal)
{
    bench b = new_bench();
    b.params.max_hits = 2;
    hspz_anchor anchors[10];
    for (uint32_t i = 0; i < 10; i++)
        anchors[i] = (hspz_anchor){4, 4};
    given(&b, "AAAA", "AAAA");
    b.refuse_from = 3;
    cr_expect_eq(try_extend(&b, HSPZ_STRAND_PLUS, anchors, 10), HSPZ_E_SINK);
    cr_expect_eq(b.count, 2, "chunks of one hit went out before");
    cr_expect(strstr(b.error.text, "sink") != NULL, "%s", b.error.text);
    b.refuse_from = 0;
    cr_expect_eq(try_extend(&b, HSPZ_STRAND_PLUS, anchors, 10), HSPZ_OK);
    cr_expect_eq(b.count, 10);
    end_bench(&b);
}
