/* lastz.c -- SPEC section 7, dedup `lastz`: the mark rule.
 *
 * Idea: LASTZ remembers, for each of 65536 hashed diagonals, how far along the query it has looked, and skips a hit that starts before that
 * mark: nearly all hits of one HSP are skipped at a glance. The hash lets distant diagonals share a mark, so some HSPs are lost;
 * reproducing LASTZ means losing the same ones. Marks belong to one query record and strand: LASTZ searches record by
 * record, hspz's block holds many with '&' between, so the table is cleared whenever a hit lies in another record than
 * the hit before. Block positions serve as well as record positions: within a record they differ by a constant, which
 * renames the slots and shifts all marks alike.
 */
#include "oracle.h"

#include <string.h>

hspz_status hspz__oracle_marks_init(hspz__oracle_call *call)
{
    if (call->rules->params.dedup != HSPZ_DEDUP_LASTZ)
        return HSPZ_OK;
    call->marks.mark = hspz__oracle_alloc(call->host, ORACLE_MARKS, sizeof *call->marks.mark);
    if (call->marks.mark == NULL)
        return hspz__oracle_fail(call->error, HSPZ_E_MEMORY, "no memory for %u marks", ORACLE_MARKS);
    return HSPZ_OK;
}

void hspz__oracle_marks_free(hspz__oracle_call *call)
{
    hspz__oracle_free(call->host, call->marks.mark);
    call->marks.mark = NULL;
}

/* Makes the marks those of the record that holds query position `at`. */
static void enter_record(hspz__oracle_call *call, uint64_t at)
{
    hspz__oracle_marks *marks = &call->marks;
    if (at >= marks->record_begin && at < marks->record_end)
        return;
    const uint8_t *codes = call->query->codes;
    marks->record_begin = at;
    while (marks->record_begin > 0 && codes[marks->record_begin - 1] != ORACLE_SEPARATOR)
        marks->record_begin--;
    marks->record_end = at;
    while (marks->record_end < call->query->length && codes[marks->record_end] != ORACLE_SEPARATOR)
        marks->record_end++;
    marks->record_end++; /* a window that ends in the separator counts to the record before it */
    memset(marks->mark, 0, ORACLE_MARKS * sizeof *marks->mark);
}

bool hspz__oracle_marks_extend(hspz__oracle_call *call, uint64_t r, uint64_t q, hspz__oracle_segment *segment)
{
    enter_record(call, q > 0 ? q - 1 : 0);
    uint32_t *mark = &call->marks.mark[(uint32_t)(r - q) % ORACLE_MARKS];
    if ((int64_t)*mark > (int64_t)q - (int64_t)call->rules->window)
        return false;
    hspz__oracle_side left = hspz__oracle_left(call->rules, call->target, call->query, r, q, *mark);
    hspz__oracle_side right = hspz__oracle_right(call->rules, call->target, call->query, r, q);
    uint64_t reached = q + right.read;
    if (reached > *mark)
        *mark = (uint32_t)reached;
    *segment = hspz__oracle_join(r, q, &left, &right);
    return true;
}
