/* loader.h -- finds a plugin, judges it, and opens it.
 *
 * Idea: a plugin is a shared library with one const data object, `hspz_plugin_v1`. Everything that can be known from
 * data is judged before any of its code runs: is it a library of this machine, does it export the object, is the
 * object as large as it says, magic, major version, no mandatory member missing. Then the two sides negotiate a minor
 * version. Whatever cannot be used is refused with one sentence that names the file and, where versions differ, both.
 *
 * Where a plugin is looked for: a name with a '/' is a path. Any other name is searched in the directory of the running
 * executable, then in each absolute directory of $HSPZ_PLUGIN_PATH (':' between them), then in ../lib/hspz from the
 * executable, then in the library directory of the installation (PREFIX/lib/hspz); never in the current directory by
 * itself. No name at all means hspz_plugin.so, and where that is not installed hspz_oracle.so.
 */
#ifndef HSPZ_LOADER_H
#define HSPZ_LOADER_H

#include "failure.h"
#include "hspz_abi.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HSPZ_DEFAULT_PLUGIN "hspz_plugin.so"
#define HSPZ_FALLBACK_PLUGIN "hspz_oracle.so"

typedef struct hspz_library {
    void *handle;      /* dlopen's */
    char *path;        /* absolute; owned */
    hspz_plugin table; /* the plugin's object, members beyond its struct_size NULL */
    uint32_t minor;    /* agreed with negotiate() */
    bool fell_back;    /* the default was missing and the fallback was taken */
    bool
        stays_mapped; /* set by whoever uses a CUDA device: unloading would pull code from under the driver */
} hspz_library;

/* Judges the object at `object`, of which `available` bytes may be read, without calling any code; `path` is for the
 * sentence. Fills `table`. 0 or HSPZ_EXIT_PLUGIN. [any] */
int hspz_plugin_judge(const void *object, size_t available, const char *path, hspz_plugin *table,
                      hspz_failure *failure) __attribute__((warn_unused_result));

/* The absolute path of the plugin called `name` ("" for the default), malloc'ed into *path. `fell_back` (may be NULL)
 * is set when the fallback stands in. 0, HSPZ_EXIT_PLUGIN or HSPZ_EXIT_MEMORY. [any] */
int hspz_plugin_find(const char *name, char **path, bool *fell_back, hspz_failure *failure)
    __attribute__((warn_unused_result));

/* Finds, judges, opens and negotiates. On failure *library is cleared. Close with hspz_library_close. [any] */
int hspz_library_open(const char *name, hspz_library *library, hspz_failure *failure)
    __attribute__((warn_unused_result));

/* Unloads, unless the library must stay mapped. Every engine must have been destroyed. Accepts a cleared struct. */
void hspz_library_close(hspz_library *library);

/* The exit code that fits a plugin's status, and a failure that joins the plugin's own words to `what` was tried. [any] */
int hspz_plugin_failed(const hspz_library *library, hspz_status status, const hspz_error *error,
                       const char *what, hspz_failure *failure);

/* "chunk", "interval", ...: the names of the HSPZ_DEDUP_... policies. */
const char *hspz_dedup_name(uint32_t dedup);

#ifdef __cplusplus
}
#endif

#endif
