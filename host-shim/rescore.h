/* rescore.h -- soft local scores of windows around segments.
 *
 * Idea: an HSP's own score knows nothing of gaps. A window of `window` bases of target and of query around the segment's middle
 * goes, as a matrix of substitution scores, to the plugin's soft Smith-Waterman (abi/hspz_soft_sw.h), whose score is
 * smooth in all paths, gapped ones too: a rank for what deserves gapped extension. Windows end at their records' ends.
 */
#ifndef HSPZ_HOST_RESCORE_H
#define HSPZ_HOST_RESCORE_H

#include "inputs.h"
#include "loader.h"

typedef struct hspz__rescored {
    uint32_t target; /* record numbers */
    uint32_t query;
    uint64_t target_start, target_end; /* as in the file: 1-based, inclusive */
    uint64_t query_start, query_end;
    int64_t score;
    uint64_t order; /* place in the file */
    float soft;     /* the soft score, in the units of the matrix */
    char strand;
} hspz__rescored;

typedef struct hspz__rescored_list {
    hspz__rescored *items;
    uint64_t count;
    uint64_t capacity;
} hspz__rescored_list;

/* Reads the segments file `path` ("-": stdin); names are looked up in the inputs. Coordinates beyond a record are refused. */
int hspz__rescored_read(const char *path, const hspz_inputs *inputs, hspz__rescored_list *list,
                        hspz_failure *failure);
void hspz__rescored_free(hspz__rescored_list *list);

/* Fills `soft` of all segments on the device that `options` ask for; *device is the name of what was used. */
int hspz__rescore(const hspz_library *library, const hspz_options *options, const hspz_inputs *inputs,
                  hspz__rescored_list *list, char *device, size_t device_size, hspz_log *log,
                  hspz_failure *failure);

#endif
