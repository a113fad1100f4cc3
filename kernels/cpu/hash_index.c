/* hash_index.c -- the hash index on CPU threads.
 *
 * Idea: rows are cut into tiles, tiles are handed to threads in any order. A row claims a slot by compare-and-swap on
 * the key and then lowers the slot's source row with an atomic minimum; when all rows are in, one pass over
 * the slots turns source rows into values. So the map does not depend on who came first. A slot never becomes
 * empty again, hence two rows of one key walk the same slots and meet. Tiles prefetch their slots a few rows ahead,
 * because each first probe is a cache miss.
 * A join keeps the order of its rows by a chain: a tile looks its rows up into a local list, then waits for the place
 * that the tile before it has published. Tiles start in ascending order, so the awaited one is always running.
 */
#include "../../plugin/companions.h"

#include <sched.h>
#include <stddef.h>
#include <string.h>

#define TILE_ROWS 4096u
#define AHEAD 12u /* rows between prefetch and use */
#define NO_ROW 0xffffffffu

static void add_to(uint32_t *counter, uint32_t amount)
{
    if (amount != 0)
        __atomic_fetch_add(counter, amount, __ATOMIC_RELAXED);
}

static void raise_to(uint32_t *counter, uint32_t value)
{
    uint32_t now = __atomic_load_n(counter, __ATOMIC_RELAXED);
    while (now < value &&
           !__atomic_compare_exchange_n(counter, &now, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

static void lower_to(uint32_t *word, uint32_t value)
{
    uint32_t now = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (value < now &&
           !__atomic_compare_exchange_n(word, &now, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void prefetch_slot(const hspz__slots *t, uint32_t key)
{
    __builtin_prefetch(&t->keys[(size_t)hspz_hash_slot(key, t->capacity) * t->stride]);
}

/* Slots ------------------------------------------------------------------------------------------------ */

static uint64_t slot_tiles(const hspz__slots *t)
{
    return (t->capacity + (uint64_t)TILE_ROWS - 1) / TILE_ROWS;
}

static void clear_slots(void *context, uint32_t worker, uint64_t tile)
{
    const hspz__build_work *work = context;
    const hspz__slots *t = &work->slots;
    uint64_t end = least(t->capacity, (tile + 1) * TILE_ROWS);
    (void)worker;
    for (uint64_t i = tile * TILE_ROWS; i < end; i++) {
        t->keys[i * t->stride] = HSPZ_HASH_EMPTY_KEY;
        work->source_rows[i] = NO_ROW;
    }
}

/* Number of the span that holds source row `row`. */
static uint64_t span_of(const hspz__build_work *work, uint64_t row)
{
    uint64_t low = 0, high = work->span_count - 1;
    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;
        if (work->spans[middle].first_row <= row)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static void finish_slots(void *context, uint32_t worker, uint64_t tile)
{
    const hspz__build_work *work = context;
    const hspz__slots *t = &work->slots;
    uint64_t end = least(t->capacity, (tile + 1) * TILE_ROWS);
    (void)worker;
    for (uint64_t i = tile * TILE_ROWS; i < end; i++) {
        uint32_t row = work->source_rows[i];
        if (row == NO_ROW)
            continue;
        const hspz__build_span *span = &work->spans[span_of(work, row)];
        uint32_t place = row - span->first_row;
        t->values[i * t->stride] = span->values != NULL ? span->values[place] : span->first_value + place;
    }
}

/* Build ------------------------------------------------------------------------------------------------ */

/* Puts one valid key into the table; answers the statistic that the row counts for. */
static uint32_t insert_row(const hspz__build_work *work, uint32_t key, uint32_t row, uint32_t *probes)
{
    const hspz__slots *t = &work->slots;
    uint32_t slot = hspz_hash_slot(key, t->capacity);
    for (uint32_t i = 1; i <= t->max_probe; i++) {
        uint32_t *at = &t->keys[(size_t)slot * t->stride];
        uint32_t there = __atomic_load_n(at, __ATOMIC_RELAXED);
        uint32_t kind = HSPZ_HASH_DUPLICATE;
        if (there == HSPZ_HASH_EMPTY_KEY &&
            __atomic_compare_exchange_n(at, &there, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            kind = HSPZ_HASH_UNIQUE;
            there = key;
        }
        if (there == key) {
            lower_to(&work->source_rows[slot], row);
            *probes = i;
            return kind;
        }
        slot = (slot + 1) & (t->capacity - 1);
    }
    *probes = t->max_probe;
    return HSPZ_HASH_OVERFLOW;
}

static void insert_piece(const hspz__build_work *work, const hspz__build_span *span, uint64_t begin,
                         uint64_t end, uint32_t *counts)
{
    for (uint64_t i = begin; i < end; i++) {
        uint32_t key = span->keys[i], probes = 0, kind = HSPZ_HASH_INVALID;
        if (i + AHEAD < end)
            prefetch_slot(&work->slots, span->keys[i + AHEAD]);
        if (key != HSPZ_HASH_EMPTY_KEY && (span->valid == NULL || span->valid[i] != 0))
            kind = insert_row(work, key, span->first_row + (uint32_t)i, &probes);
        counts[kind]++;
        counts[HSPZ_HASH_BUILD_PROBES] += probes;
        if (probes > counts[HSPZ_HASH_BUILD_LONGEST])
            counts[HSPZ_HASH_BUILD_LONGEST] = probes;
    }
}

static void insert_tile(void *context, uint32_t worker, uint64_t tile)
{
    const hspz__build_work *work = context;
    uint32_t counts[HSPZ_HASH_BUILD_STATISTICS] = {0};
    uint64_t row = tile * TILE_ROWS, end = least(work->rows, row + TILE_ROWS);
    (void)worker;
    for (uint64_t s = span_of(work, row); row < end; s++) {
        const hspz__build_span *span = &work->spans[s];
        uint64_t begin = row - span->first_row, stop = least(span->count, end - span->first_row);
        insert_piece(work, span, begin, stop, counts);
        row += stop - begin;
    }
    for (uint32_t i = 0; i < HSPZ_HASH_BUILD_LONGEST; i++)
        add_to(&work->statistics[i], counts[i]);
    raise_to(&work->statistics[HSPZ_HASH_BUILD_LONGEST], counts[HSPZ_HASH_BUILD_LONGEST]);
}

static hspz_status build(const hspz__build_work *work, hspz_error *error)
{
    hspz__build_work w = *work;
    (void)error;
    memset(w.statistics, 0, HSPZ_HASH_BUILD_STATISTICS * sizeof *w.statistics);
    hspz__companion_parallel(w.threads, slot_tiles(&w.slots), clear_slots, &w);
    if (w.span_count == 0)
        return HSPZ_OK;
    hspz__companion_parallel(w.threads, (w.rows + TILE_ROWS - 1) / TILE_ROWS, insert_tile, &w);
    hspz__companion_parallel(w.threads, slot_tiles(&w.slots), finish_slots, &w);
    return HSPZ_OK;
}

static uint64_t build_scratch(uint32_t capacity, uint64_t most_spans)
{
    (void)most_spans;
    return (uint64_t)capacity * sizeof(uint32_t);
}

/* Query ------------------------------------------------------------------------------------------------ */

/* True and the value when the table holds `key`. Counts the row. */
static int look_up(const hspz__slots *t, uint32_t key, int valid, uint32_t *value, uint32_t *probes,
                   uint32_t *counts)
{
    uint32_t slot = hspz_hash_slot(key, t->capacity), probed = 0;
    int found = 0;
    *value = HSPZ_HASH_NO_VALUE;
    if (valid && key != HSPZ_HASH_EMPTY_KEY) {
        while (probed < t->max_probe) {
            size_t at = (size_t)slot * t->stride;
            probed++;
            if (t->keys[at] == key) {
                *value = t->values[at];
                found = 1;
            }
            if (found || t->keys[at] == HSPZ_HASH_EMPTY_KEY)
                break;
            slot = (slot + 1) & (t->capacity - 1);
        }
    }
    counts[found ? HSPZ_HASH_FOUND : HSPZ_HASH_MISSING]++;
    counts[HSPZ_HASH_QUERY_PROBES] += probed;
    if (probed > counts[HSPZ_HASH_QUERY_LONGEST])
        counts[HSPZ_HASH_QUERY_LONGEST] = probed;
    *probes = probed;
    return found;
}

static void publish(uint32_t *statistics, const uint32_t *counts)
{
    for (uint32_t i = 0; i < HSPZ_HASH_QUERY_LONGEST; i++)
        add_to(&statistics[i], counts[i]);
    raise_to(&statistics[HSPZ_HASH_QUERY_LONGEST], counts[HSPZ_HASH_QUERY_LONGEST]);
}

typedef struct query_pass {
    const hspz__query_work *work;
    const hspz__query_span *span;
} query_pass;

static void query_tile(void *context, uint32_t worker, uint64_t tile)
{
    const query_pass *pass = context;
    const hspz__query_span *span = pass->span;
    const hspz__slots *t = &pass->work->slots;
    uint32_t counts[HSPZ_HASH_QUERY_STATISTICS] = {0};
    uint64_t end = least(span->count, (tile + 1) * TILE_ROWS);
    (void)worker;
    for (uint64_t i = tile * TILE_ROWS; i < end; i++) {
        uint32_t value = 0, probes = 0;
        if (i + AHEAD < end)
            prefetch_slot(t, span->keys[i + AHEAD]);
        int found = look_up(t, span->keys[i], 1, &value, &probes, counts);
        if (span->values != NULL)
            span->values[i] = value;
        if (span->found != NULL)
            span->found[i] = (uint32_t)found;
        if (span->probes != NULL)
            span->probes[i] = probes;
    }
    publish(pass->work->statistics, counts);
}

static hspz_status query(const hspz__query_work *work, hspz_error *error)
{
    (void)error;
    memset(work->statistics, 0, HSPZ_HASH_QUERY_STATISTICS * sizeof *work->statistics);
    for (uint64_t i = 0; i < work->span_count; i++) {
        query_pass pass = {work, &work->spans[i]};
        hspz__companion_parallel(work->threads, (pass.span->count + (uint64_t)TILE_ROWS - 1) / TILE_ROWS,
                                 query_tile, &pass);
    }
    return HSPZ_OK;
}

/* Join ------------------------------------------------------------------------------------------------- */

/* One span of a join. `done` tiles have published; `pairs` is the count of their pairs. */
typedef struct join_pass {
    const hspz__join_work *work;
    const hspz__join_span *span;
    uint64_t done;
    uint64_t pairs;
} join_pass;

/* Waits for its turn, takes the place for `count` pairs and passes the turn on. */
static uint64_t take_place(join_pass *pass, uint64_t tile, uint32_t count)
{
    while (__atomic_load_n(&pass->done, __ATOMIC_ACQUIRE) != tile)
        sched_yield();
    uint64_t place = pass->pairs;
    pass->pairs += count;
    __atomic_store_n(&pass->done, tile + 1, __ATOMIC_RELEASE);
    return place;
}

static void join_tile(void *context, uint32_t worker, uint64_t tile)
{
    join_pass *pass = context;
    const hspz__join_span *span = pass->span;
    const hspz__slots *t = &pass->work->slots;
    const hspz__join_group *group = &pass->work->groups[span->group];
    uint32_t counts[HSPZ_HASH_QUERY_STATISTICS] = {0};
    uint32_t left[TILE_ROWS], right[TILE_ROWS], pairs = 0;
    uint64_t end = least(span->count, (tile + 1) * TILE_ROWS);
    (void)worker;
    for (uint64_t i = tile * TILE_ROWS; i < end; i++) {
        uint32_t probes = 0;
        if (i + AHEAD < end)
            prefetch_slot(t, span->keys[i + AHEAD]);
        left[pairs] = span->first_left + (uint32_t)i;
        pairs += (uint32_t)look_up(t, span->keys[i], span->valid == NULL || span->valid[i] != 0,
                                   &right[pairs], &probes, counts);
    }
    uint64_t place = take_place(pass, tile, pairs);
    uint64_t room = place < group->pair_capacity ? group->pair_capacity - place : 0;
    size_t bytes = (size_t)least(room, pairs) * sizeof *left;
    if (bytes > 0) {
        memcpy(group->left_rows + place, left, bytes);
        memcpy(group->right_rows + place, right, bytes);
    }
    publish(group->statistics, counts);
}

static hspz_status join(const hspz__join_work *work, hspz_error *error)
{
    join_pass pass = {.work = work};
    (void)error;
    for (uint64_t g = 0, s = 0; g < work->group_count; g++) {
        const hspz__join_group *group = &work->groups[g];
        memset(group->statistics, 0, HSPZ_HASH_QUERY_STATISTICS * sizeof *group->statistics);
        pass.pairs = 0;
        for (; s < work->span_count && work->spans[s].group == g; s++) {
            pass.span = &work->spans[s];
            pass.done = 0;
            hspz__companion_parallel(work->threads, (pass.span->count + (uint64_t)TILE_ROWS - 1) / TILE_ROWS,
                                     join_tile, &pass);
        }
        *group->pair_count = (uint32_t)pass.pairs;
    }
    return HSPZ_OK;
}

static uint64_t join_scratch(uint64_t tiles)
{
    (void)tiles;
    return 0;
}

const hspz__hash_device hspz__hash_cpu = {
    .join_tile = TILE_ROWS,
    .build_scratch = build_scratch,
    .join_scratch = join_scratch,
    .build = build,
    .query = query,
    .join = join,
};
