/* dedup.c -- lists of found segments and their radix sort; see dedup.h.
 *
 * Idea: each order is a key of three 64-bit words. A stable radix sort from the least significant byte skips the bytes in which all keys
 * agree, which are most of them: labels are few, positions need three or four bytes.
 */
#include "dedup.h"

#include <string.h>

typedef struct row {
    uint64_t key[3]; /* most significant first */
    uint32_t from;
} row;

hspz_status hspz__found_reserve(hspz__found_list *list, hspz__host *host, uint64_t more)
{
    if (list->capacity - list->count >= more)
        return HSPZ_OK;
    uint64_t capacity = list->capacity < 256 ? 256 : 2 * list->capacity;
    if (capacity < list->count + more)
        capacity = list->count + more;
    hspz__found *items = hspz__alloc(host, capacity, sizeof *items);
    if (items == NULL)
        return HSPZ_E_MEMORY;
    if (list->count > 0)
        memcpy(items, list->items, list->count * sizeof *items);
    hspz__free(host, list->items);
    list->items = items;
    list->capacity = capacity;
    return HSPZ_OK;
}

void hspz__found_free(hspz__found_list *list, hspz__host *host)
{
    hspz__free(host, list->items);
    memset(list, 0, sizeof *list);
}

static void make_key(const hspz__found *found, hspz__order order, uint64_t key[3])
{
    const hspz_hsp *h = &found->hsp;
    key[0] = found->label;
    key[1] = 0;
    key[2] = 0;
    switch (order) {
    case HSPZ__ORDER_LABEL:
        break;
    case HSPZ__ORDER_DIAGONAL:
        key[1] = (uint64_t)(h->target_start - h->query_start) << 32 | h->target_start;
        key[2] = h->extent;
        break;
    case HSPZ__ORDER_QUERY:
        key[1] = (uint64_t)h->query_start << 32 | h->target_start;
        key[2] = h->extent;
        break;
    case HSPZ__ORDER_OUTERMOST: /* the true diagonal has 33 bits */
        key[0] = (UINT64_C(1) << 32) + h->target_start - h->query_start;
        key[1] = (uint64_t)h->target_start << 32 | ~h->extent;
        break;
    }
}

static bool before(const row *a, const row *b)
{
    for (uint32_t k = 0; k < 3; k++)
        if (a->key[k] != b->key[k])
            return a->key[k] < b->key[k];
    return false;
}

static void insertion_sort(row *rows, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++) {
        const row r = rows[i];
        uint64_t j = i;
        for (; j > 0 && before(&r, &rows[j - 1]); j--)
            rows[j] = rows[j - 1];
        rows[j] = r;
    }
}

/* Returns the array that holds the result, one of the two. */
static row *radix_sort(row *rows, row *spare, uint64_t n)
{
    uint64_t differ[3] = {0, 0, 0};
    for (uint64_t i = 1; i < n; i++)
        for (uint32_t k = 0; k < 3; k++)
            differ[k] |= rows[i].key[k] ^ rows[0].key[k];
    for (uint32_t k = 3; k-- > 0;)
        for (uint32_t shift = 0; shift < 64; shift += 8) {
            if ((differ[k] >> shift & 0xff) == 0)
                continue;
            uint64_t place[256] = {0};
            for (uint64_t i = 0; i < n; i++)
                place[rows[i].key[k] >> shift & 0xff]++;
            uint64_t sum = 0;
            for (uint32_t d = 0; d < 256; d++) {
                const uint64_t count = place[d];
                place[d] = sum;
                sum += count;
            }
            for (uint64_t i = 0; i < n; i++)
                spare[place[rows[i].key[k] >> shift & 0xff]++] = rows[i];
            row *swap = rows;
            rows = spare;
            spare = swap;
        }
    return rows;
}

hspz_status hspz__found_sort(hspz__found_list *list, hspz__host *host, hspz__order order)
{
    const uint64_t n = list->count;
    if (n < 2)
        return HSPZ_OK;
    if (n > UINT32_MAX)
        return HSPZ_E_MEMORY;
    row *rows = hspz__alloc(host, 2 * n, sizeof *rows);
    hspz__found *sorted = hspz__alloc(host, n, sizeof *sorted);
    if (rows == NULL || sorted == NULL) {
        hspz__free(host, rows);
        hspz__free(host, sorted);
        return HSPZ_E_MEMORY;
    }
    for (uint64_t i = 0; i < n; i++) {
        make_key(&list->items[i], order, rows[i].key);
        rows[i].from = (uint32_t)i;
    }
    row *result = rows;
    if (n <= 32)
        insertion_sort(rows, n);
    else
        result = radix_sort(rows, rows + n, n);
    for (uint64_t i = 0; i < n; i++)
        sorted[i] = list->items[result[i].from];
    hspz__free(host, rows);
    hspz__free(host, list->items);
    list->items = sorted;
    list->capacity = n;
    return HSPZ_OK;
}
