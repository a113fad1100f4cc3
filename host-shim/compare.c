/* compare.c -- see compare.h */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

/* An HSP with the key it is sorted by, and the farthest target end so far on its diagonal. */
typedef struct entry {
    hspz_hsp hsp;
    uint32_t diagonal; /* target - query, wrapping */
    uint64_t reach;    /* largest target_start + extent among the entries of the diagonal up to this one */
} entry;

const char *hspz_difference_name(int kind)
{
    static const char *const names[HSPZ_DIFFERENCE_COUNT] = {"missing", "extra", "duplicate-only",
                                                             "contained-only", "reordered"};
    return kind >= 0 && kind < HSPZ_DIFFERENCE_COUNT ? names[kind] : "unknown";
}

#define ORDER(x, y)                                                                                          \
    if ((x) != (y))                                                                                          \
    return (x) < (y) ? -1 : 1

static int compare_entries(const void *va, const void *vb)
{
    const entry *a = va, *b = vb;
    ORDER(a->diagonal, b->diagonal);
    ORDER(a->hsp.target_start, b->hsp.target_start);
    ORDER(a->hsp.extent, b->hsp.extent);
    ORDER(a->hsp.score, b->hsp.score);
    return 0;
}

static int by_query(const void *va, const void *vb)
{
    const hspz_difference *a = va, *b = vb;
    ORDER(a->hsp.query_start, b->hsp.query_start);
    ORDER(a->hsp.target_start, b->hsp.target_start);
    ORDER(a->hsp.extent, b->hsp.extent);
    return 0;
}

static entry *sorted(const hspz_hsps *hsps)
{
    entry *list = calloc(hsps->count ? hsps->count : 1, sizeof *list);
    if (list == NULL)
        return NULL;
    for (uint64_t i = 0; i < hsps->count; i++)
        list[i] = (entry){.hsp = hsps->items[i],
                          .diagonal = hsps->items[i].target_start - hsps->items[i].query_start};
    qsort(list, hsps->count, sizeof *list, compare_entries);
    for (uint64_t i = 0; i < hsps->count; i++) {
        list[i].reach = (uint64_t)list[i].hsp.target_start + list[i].hsp.extent;
        if (i != 0 && list[i - 1].diagonal == list[i].diagonal && list[i - 1].reach > list[i].reach)
            list[i].reach = list[i - 1].reach;
    }
    return list;
}

/* Does an entry of `list` on the same diagonal contain `e`? The last one that starts no later knows the reach. */
static bool contained(const entry *e, const entry *list, uint64_t count)
{
    uint64_t low = 0, high = count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        const entry *m = &list[middle];
        if (m->diagonal < e->diagonal ||
            (m->diagonal == e->diagonal && m->hsp.target_start <= e->hsp.target_start))
            low = middle + 1;
        else
            high = middle;
    }
    return low != 0 && list[low - 1].diagonal == e->diagonal &&
           list[low - 1].reach >= (uint64_t)e->hsp.target_start + e->hsp.extent;
}

static void note(hspz_comparison *c, const hspz_difference *difference)
{
    c->counts[difference->kind]++;
    if (c->first_count < c->first_room)
        c->first[c->first_count++] = *difference;
}

/* Length of the run of equal entries at list[at]. */
static uint64_t run_length(const entry *list, uint64_t at, uint64_t count)
{
    uint64_t n = 1;
    while (at + n < count && compare_entries(&list[at], &list[at + n]) == 0)
        n++;
    return n;
}

static void walk(const entry *a, uint64_t na, const entry *b, uint64_t nb, hspz_comparison *c)
{
    for (uint64_t i = 0, j = 0; i < na || j < nb;) {
        int order = i == na ? 1 : j == nb ? -1 : compare_entries(&a[i], &b[j]);
        const entry *e = order <= 0 ? &a[i] : &b[j];
        hspz_difference d = {.in_a = order <= 0, .hsp = e->hsp};
        if (order <= 0)
            d.count_a = run_length(a, i, na);
        if (order >= 0)
            d.count_b = run_length(b, j, nb);
        i += d.count_a;
        j += d.count_b;
        if (d.count_a == d.count_b)
            continue;
        if (order == 0)
            d.kind = HSPZ_DIFFERENCE_DUPLICATE;
        else if (order < 0)
            d.kind = contained(e, b, nb) ? HSPZ_DIFFERENCE_CONTAINED : HSPZ_DIFFERENCE_MISSING;
        else
            d.kind = contained(e, a, na) ? HSPZ_DIFFERENCE_CONTAINED : HSPZ_DIFFERENCE_EXTRA;
        note(c, &d);
    }
}

static uint64_t sum_of(const hspz_comparison *c)
{
    uint64_t sum = 0;
    for (int i = 0; i < HSPZ_DIFFERENCE_COUNT; i++)
        sum += c->counts[i];
    return sum;
}

int hspz_compare_call(const hspz_hsps *a, const hspz_hsps *b, hspz_comparison *comparison, bool *same,
                      hspz_failure *failure)
{
    *same = a->count == b->count &&
            (a->count == 0 || memcmp(a->items, b->items, a->count * sizeof *a->items) == 0);
    if (*same)
        return 0;
    entry *sa = sorted(a), *sb = sorted(b);
    int code = 0;
    if (sa == NULL || sb == NULL) {
        code = hspz_failed_memory(failure, "the comparison", (a->count + b->count) * sizeof *sa);
    } else {
        uint64_t before = sum_of(comparison);
        size_t first = comparison->first_count;
        walk(sa, a->count, sb, b->count, comparison);
        qsort(comparison->first + first, comparison->first_count - first, sizeof *comparison->first,
              by_query);
        for (uint64_t i = 0; sum_of(comparison) == before; i++)
            if (memcmp(&a->items[i], &b->items[i], sizeof *a->items) != 0)
                note(comparison, &(hspz_difference){.kind = HSPZ_DIFFERENCE_REORDERED,
                                                    .in_a = true,
                                                    .hsp = a->items[i],
                                                    .count_a = 1,
                                                    .count_b = 1});
    }
    free(sa);
    free(sb);
    return code;
}
