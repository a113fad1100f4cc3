/* backend_cuda_near.c -- records of only those hits that matter to the mark rule; see kernels/cuda/near.h.
 *
 * Idea: where a unit has very many hits, writing and sorting a record of each costs several times the filter. So the join runs as for
 * the other modes and leaves the items; two tables are filled from them; a second pass over the hits writes records of those in
 * marked cells; chains that these leave open are followed. What comes out is walked like the records of all hits.
 *
 * A unit hands its marks to the next through its last windows, whose hits all become records: enough of them that hardly ever an
 * item's left scan gets beyond them while no hit of its slot lies among them. When that happens all is done again with all hits.
 *
 * Statistics: hits without a record are not looked at, so `skipped` counts only those with one.
 */
#include "backend_cuda_marks.h"

#include "../kernels/cuda/primitives.h"

#define LEAST_TAIL 512u               /* windows: more than three times the largest reach */
#define TAIL 16384u                   /* windows at a unit's end */
#define LEAST_BITS 13u                /* log2 of the bits of a table */
#define MOST_BITS 28u                 /* 32 MiB: the L2 should hold it */
#define MANY_HITS ((uint64_t)1 << 26) /* of a unit: fewer are sorted in less time than a second pass takes */

#define DO(what, step) HSPZ__TRY(hspz__cuda_check((step), (what), call->error))

hspz_status hspz__near_begin(hspz__marks_run *run, uint64_t windows)
{
    hspz__cuda_call *call = run->call;
    hspz__cuda *cuda = call->cuda;
    const double each = (double)cuda->word.variant_count * cuda->target.index.count /
                        (double)((uint64_t)1 << cuda->word.bits);
    const double many = cuda->knobs.near_hits >= 0 ? (double)cuda->knobs.near_hits : (double)MANY_HITS;
    run->near = each * (double)windows >= many;
    uint32_t bits = LEAST_BITS;
    while (bits < MOST_BITS && (uint64_t)1 << bits < 16 * windows)
        bits++;
    const uint64_t marks = HSPZ__MARK_SLOTS * sizeof(uint32_t), table = (uint64_t)1 << (bits - 3);
    if (2 * table > hspz__cuda_budget(cuda) / 8)
        run->near = 0;
    HSPZ__TRY(
        hspz__cuda_reserve(cuda, &cuda->marks, run->near ? marks + 2 * table : marks, "marks", call->error));
    if (!run->near)
        return HSPZ_OK;
    unsigned char *start = cuda->marks.start;
    run->table = (hspz__cuda_near){.cells = (uint32_t *)(void *)(start + marks),
                                   .items = (uint32_t *)(void *)(start + marks + table),
                                   .shift = 32 - (bits - 5),
                                   .reach = cuda->word.window + HSPZ__NEAR_READ};
    return HSPZ_OK;
}

uint64_t hspz__near_records(const hspz__cuda_unit *u)
{
    const uint64_t most = hspz__cuda_budget(u->call->cuda) / 8 / HSPZ__RECORD_BYTES;
    const uint64_t wanted = (uint64_t)u->count + ((uint64_t)1 << 20);
    return wanted < most ? wanted : most > 0 ? most : 1;
}

/* Items by diagonal and target position, in the array that is returned. */
static hspz_status sort_items(hspz__marks_run *run, hspz__cuda_unit *u, uint64_t items,
                              const uint64_t **sorted)
{
    hspz__cuda_call *call = run->call;
    hspz__cuda_candidates *c = &u->candidates;
    const uint64_t lengths = (uint64_t)call->target.length + call->strand.length;
    const uint32_t low = hspz__cuda_bits(call->target.length),
                   high = lengths > UINT32_MAX ? 32 : hspz__cuda_bits(lengths);
    int in = 0, second = 0;
    DO("sorting candidates", hspz__cuda_sort_u64(c->temp, &c->temp_bytes, c->keys[0], c->keys[1], items, 0,
                                                 (int)low, &second, call->cuda->stream));
    in = second ? 1 : 0;
    DO("sorting candidates", hspz__cuda_sort_u64(c->temp, &c->temp_bytes, c->keys[in], c->keys[1 - in], items,
                                                 32, 32 + (int)high, &second, call->cuda->stream));
    *sorted = c->keys[second ? 1 - in : in];
    return HSPZ_OK;
}

/* The tables of the unit, and what has to be decided. */
static hspz_status mark_cells(hspz__marks_run *run, hspz__cuda_unit *u, uint64_t items, int last)
{
    hspz__cuda_call *call = run->call;
    hspz__cuda *cuda = call->cuda;
    hspz__cuda_near *table = &run->table;
    const uint32_t window = cuda->word.window;
    const uint64_t asked = cuda->knobs.near_tail > 0 ? (uint64_t)cuda->knobs.near_tail : TAIL,
                   tail = asked < LEAST_TAIL ? LEAST_TAIL : asked;
    table->q_begin = u->begin + window;
    table->q_tail = last               ? UINT32_MAX
                    : u->count <= tail ? table->q_begin
                                       : u->begin + u->count - (uint32_t)tail + window;
    const uint64_t words = (uint64_t)1 << (32 - table->shift);
    DO("marking surroundings", cudaMemsetAsync(table->cells, 0, 2 * words * sizeof(uint32_t), cuda->stream));
    if (items == 0)
        return HSPZ_OK;
    const uint64_t *sorted = NULL;
    HSPZ__TRY(sort_items(run, u, items, &sorted));
    DO("marking surroundings",
       hspz__cuda_near_mark(table, sorted, (uint32_t)items, &call->target, &call->strand, &cuda->rules,
                            cuda->marks.start, u->candidates.order, cuda->counters, cuda->stream));
    return HSPZ_OK;
}

/* The second pass over the hits. */
static hspz_status select_hits(hspz__marks_run *run, hspz__cuda_unit *u)
{
    hspz__cuda_call *call = run->call;
    hspz__cuda *cuda = call->cuda;
    hspz__cuda_counters *counters = cuda->counters;
    const unsigned blocks = 8 * (unsigned)cuda->properties.multiProcessorCount;
    const uint32_t capacity = (uint32_t)u->record_capacity;
    u->join.records = u->records[0];
    u->join.word_begin = 0;
    u->join.word_end = 1u << cuda->word.bits;
    DO("selecting hits",
       cudaMemsetAsync(&counters->candidates, 0, sizeof counters->candidates, cuda->stream));
    DO("selecting hits", cudaMemsetAsync(&counters->parts, 0, 2 * sizeof counters->parts, cuda->stream));
    DO("selecting hits", hspz__cuda_near_select(&u->join, &run->table, 0, blocks, capacity, cuda->stream));
    DO("selecting hits", cudaMemsetAsync(&counters->next, 0, sizeof counters->next, cuda->stream));
    DO("selecting hits", hspz__cuda_near_select(&u->join, &run->table, 1, blocks, capacity, cuda->stream));
    return hspz__cuda_read_counters(call);
}

/* What the second pass found, or larger capacities for it. */
static int fits(hspz__cuda_unit *u, const hspz__cuda_counters *found, uint64_t candidates)
{
    hspz__cuda *cuda = u->call->cuda;
    if (found->parts <= u->part_capacity && found->written <= u->record_capacity)
        return HSPZ__MARKS_DONE;
    if (found->parts > u->part_capacity)
        u->part_capacity = found->parts + found->parts / 8;
    const uint64_t wanted = found->written + found->written / 8 + 4096;
    const uint64_t beside = candidates * HSPZ__CANDIDATE_BYTES + (uint64_t)u->count * 64 +
                            u->part_capacity * sizeof(hspz__cuda_part) + ((uint64_t)64 << 20);
    if (found->written <= u->record_capacity)
        return beside < hspz__cuda_budget(cuda) ? HSPZ__MARKS_AGAIN : HSPZ__MARKS_SMALLER;
    if (wanted >= UINT32_MAX || wanted * HSPZ__RECORD_BYTES + beside >= hspz__cuda_budget(cuda))
        return HSPZ__MARKS_SMALLER;
    u->record_capacity = wanted;
    return HSPZ__MARKS_AGAIN;
}

/* Closes the chains of `items` items that the *count sorted records leave open. */
static hspz_status close_chains(hspz__marks_run *run, hspz__cuda_unit *u, uint64_t items, uint64_t candidates,
                                uint64_t *count, int *in, int *outcome)
{
    hspz__cuda_call *call = run->call;
    hspz__cuda *cuda = call->cuda;
    DO("finding slots", hspz__cuda_mark_ends(u->records[*in], (uint32_t)*count, u->slot_ends, cuda->stream));
    u->join.records = u->records[*in];
    DO("following chains",
       hspz__cuda_near_chains(&u->join, &run->table, u->slot_ends, (uint32_t)*count, u->candidates.order,
                              (uint32_t)items, (uint32_t)u->record_capacity, cuda->stream));
    HSPZ__TRY(hspz__cuda_read_counters(call));
    const uint64_t written = cuda->host_counters->written;
    *outcome = fits(u, cuda->host_counters, candidates);
    if (*outcome != HSPZ__MARKS_DONE || written == *count)
        return HSPZ_OK;
    *count = written;
    if (*in != 0) { /* the sort begins with the first array */
        uint64_t *const other = u->records[0];
        u->records[0] = u->records[1];
        u->records[1] = other;
    }
    HSPZ__TRY(hspz__marks_sort(run, u, written, in));
    DO("following chains",
       hspz__cuda_near_repeats(u->records[*in], (uint32_t)written, cuda->counters, cuda->stream));
    return HSPZ_OK;
}

hspz_status hspz__near_gather(hspz__marks_run *run, hspz__cuda_unit *u, int last, uint64_t *capacity,
                              uint64_t *count, int *in, int *outcome)
{
    hspz__cuda_call *call = run->call;
    hspz__cuda *cuda = call->cuda;
    uint64_t parts = 0;
    u->join.records = NULL;
    u->join.keep_long = 1;
    HSPZ__TRY(hspz__unit_join(u, &parts));
    const uint64_t items = cuda->host_counters->candidates;
    if (parts > u->part_capacity || items > *capacity) {
        u->part_capacity = parts > u->part_capacity ? parts + parts / 8 : u->part_capacity;
        *capacity = items > *capacity ? items + items / 16 : *capacity;
        *outcome = *capacity <= hspz__unit_most_capacity(u) ? HSPZ__MARKS_AGAIN : HSPZ__MARKS_SMALLER;
        return HSPZ_OK;
    }
    *outcome = HSPZ__MARKS_DONE;
    *count = 0;
    *in = 0;
    HSPZ__TRY(mark_cells(run, u, items, last));
    if (items == 0 && last)
        return HSPZ_OK;
    HSPZ__TRY(select_hits(run, u));
    if (cuda->host_counters->lost > 0) {
        *outcome = HSPZ__MARKS_LOST;
        return HSPZ_OK;
    }
    if (cuda->host_counters->candidates > *capacity) { /* the walk may list them all */
        *capacity = cuda->host_counters->candidates + cuda->host_counters->candidates / 16;
        *outcome = *capacity <= hspz__unit_most_capacity(u) ? HSPZ__MARKS_AGAIN : HSPZ__MARKS_SMALLER;
        return HSPZ_OK;
    }
    *outcome = fits(u, cuda->host_counters, *capacity);
    *count = cuda->host_counters->written;
    if (*outcome != HSPZ__MARKS_DONE || *count == 0)
        return HSPZ_OK;
    HSPZ__TRY(hspz__marks_sort(run, u, *count, in));
    return close_chains(run, u, items, *capacity, count, in, outcome);
}

void hspz__near_end(hspz__marks_run *run)
{
    hspz__cuda_near *table = &run->table;
    if (table->q_tail != UINT32_MAX && table->q_tail > table->q_begin) /* else all its hits were looked at */
        table->unsure = table->q_tail + 2 * table->reach + HSPZ__NEAR_READ;
}
