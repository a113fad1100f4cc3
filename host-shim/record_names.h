/* record_names.h -- the names of records as they are written for LASTZ.
 *
 * Idea: LASTZ matches the names in a segments file with what its own name parser made of the sequence file, and a
 * mismatch anchors alignments in the wrong record or ends the run halfway. So a name it would misread is never written: the
 * run is refused with the record's name, or, when the user allows it (--map-names), such records are called
 * hspz_target_N and hspz_query_N (N: 1-based record number), and a table lists both names.
 */
#ifndef HSPZ_HOST_RECORD_NAMES_H
#define HSPZ_HOST_RECORD_NAMES_H

#include "inputs.h"
#include "text.h"

typedef struct hspz__names {
    const char **target; /* one a record */
    const char **query;
    char **owned; /* the invented ones */
    size_t owned_count;
    bool target_mapped; /* some name differs from the genome's */
    bool query_mapped;
} hspz__names;

/* Fills *names for the inputs; `map` allows new names. Release with hspz__names_free, before the inputs. 0, HSPZ_EXIT_DATA
 * with the record, or HSPZ_EXIT_MEMORY. */
int hspz__names_make(const hspz_inputs *inputs, bool map, hspz__names *names, hspz_failure *failure);
void hspz__names_free(hspz__names *names);

/* The table: "role <tab> written name <tab> name in the file", a line a mapped record. */
void hspz__names_table(const hspz_inputs *inputs, const hspz__names *names, hspz__text *text);

/* Why LASTZ would misread a name: hspz_name_problem and what subset= adds. NULL when it is safe. */
const char *hspz__name_problem(const char *name);

#endif
