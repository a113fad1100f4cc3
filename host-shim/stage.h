/* stage.h -- results appear whole or not at all.
 *
 * Idea: files are written into a staging directory beside (or, when the final directory exists, inside) the place they
 * are for, and synced; publishing is renames only. A directory that did not exist appears by one rename. In one that exists,
 * each file is replaced by one rename, then files of an earlier run that the new one lacks are removed; files that are
 * not ours are never touched. A single file goes to a temporary name in its directory and is renamed.
 */
#ifndef HSPZ_HOST_STAGE_H
#define HSPZ_HOST_STAGE_H

#include "failure.h"
#include "text.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct hspz__stage {
    char *final;   /* the path the user gave, without trailing slashes */
    char *staging; /* directory or temporary file; NULL when nothing is to be taken away */
    bool exists;   /* the final directory was there */
    bool single;   /* a file, not a directory */
    int file;      /* single file: its open descriptor, else -1 */
    char **names;  /* directory: names written so far, in order */
    size_t count;
    size_t capacity;
} hspz__stage;

/* True for names that hspz gives to result files: tmp<n>.block<q>.r<o>.<strand>.segments, ref_block<k>.name,
 * query_block<k>.name and hspz.* */
bool hspz__stage_is_ours(const char *name);

/* What can be refused before any work: `path` is no directory, or holds results of ours and `force` is false. */
int hspz__stage_check_directory(const char *path, bool force, hspz_failure *failure);
/* The same for a single file. */
int hspz__stage_check_file(const char *path, bool force, hspz_failure *failure);

/* Starts; *stage is to be published or abandoned. */
int hspz__stage_open_directory(const char *path, bool force, hspz__stage *stage, hspz_failure *failure);
int hspz__stage_open_file(const char *path, bool force, hspz__stage *stage, hspz_failure *failure);

/* Adds a file to a staging directory: whole, or opened for writing (*file, to be closed by hspz__stage_end_file). */
int hspz__stage_add(hspz__stage *stage, const char *name, const char *bytes, size_t size,
                    hspz_failure *failure);
int hspz__stage_begin_file(hspz__stage *stage, const char *name, int *file, hspz_failure *failure);
int hspz__stage_end_file(hspz__stage *stage, const char *name, int file, hspz_failure *failure);

/* Makes everything visible under its final name. On failure what was not yet visible is taken away. */
int hspz__stage_publish(hspz__stage *stage, hspz_failure *failure);
/* Takes everything away that is not published, and releases the struct. Fine on a cleared or published one. */
void hspz__stage_abandon(hspz__stage *stage);

#endif
