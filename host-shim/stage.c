/* stage.c -- see stage.h */
#include "stage.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Above this number of files one sync of the file system is cheaper than one of each file. */
#define SYNC_EACH_MOST 64

/* Names ------------------------------------------------------------------------------------------ */

static bool skip_text(const char **at, const char *text)
{
    size_t size = strlen(text);
    if (strncmp(*at, text, size) != 0)
        return false;
    *at += size;
    return true;
}

static bool skip_number(const char **at)
{
    const char *start = *at;
    while (isdigit((unsigned char)**at))
        ++*at;
    return *at != start;
}

bool hspz__stage_is_ours(const char *name)
{
    const char *at = name;
    if (skip_text(&at, "tmp"))
        return skip_number(&at) && skip_text(&at, ".block") && skip_number(&at) && skip_text(&at, ".r") &&
               skip_number(&at) && (skip_text(&at, ".plus") || skip_text(&at, ".minus")) &&
               strcmp(at, ".segments") == 0;
    if (skip_text(&at, "ref_block") || skip_text(&at, "query_block"))
        return skip_number(&at) && strcmp(at, ".name") == 0;
    return skip_text(&at, "hspz.") && *at != '\0';
}

static int io_failed(hspz_failure *failure, const char *path, const char *what)
{
    return hspz_failed(failure, errno == ENOMEM ? HSPZ_EXIT_MEMORY : HSPZ_EXIT_DATA, "%s %s: %s", path, what,
                       strerror(errno));
}

/* "DIRECTORY/NAME", malloc'ed. */
static char *joined(const char *directory, const char *name)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

/* Checks ----------------------------------------------------------------------------------------- */

int hspz__stage_check_directory(const char *path, bool force, hspz_failure *failure)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return errno == ENOENT ? 0 : io_failed(failure, path, "cannot be used for output");
    if (!S_ISDIR(status.st_mode))
        return hspz_failed(
            failure, HSPZ_EXIT_USAGE,
            "-o %s: a file of that name exists and is no directory; a single file ends in .segments", path);
    DIR *directory = opendir(path);
    if (directory == NULL)
        return io_failed(failure, path, "cannot be read");
    int code = 0;
    for (const struct dirent *entry; code == 0 && (entry = readdir(directory)) != NULL;)
        if (!force && hspz__stage_is_ours(entry->d_name))
            code = hspz_failed(failure, HSPZ_EXIT_USAGE,
                               "-o %s: the directory already holds results (%s); --force replaces them", path,
                               entry->d_name);
    closedir(directory);
    return code;
}

int hspz__stage_check_file(const char *path, bool force, hspz_failure *failure)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return errno == ENOENT ? 0 : io_failed(failure, path, "cannot be used for output");
    if (!S_ISREG(status.st_mode))
        return hspz_failed(failure, HSPZ_EXIT_USAGE, "%s: exists and is no ordinary file", path);
    if (!force)
        return hspz_failed(failure, HSPZ_EXIT_USAGE, "%s: the file exists; --force replaces it", path);
    return 0;
}

/* Opening ---------------------------------------------------------------------------------------- */

static int start(hspz__stage *stage, const char *path, hspz_failure *failure)
{
    memset(stage, 0, sizeof *stage);
    stage->file = -1;
    stage->final = strdup(path);
    if (stage->final == NULL)
        return hspz_failed_memory(failure, "a path", strlen(path));
    for (size_t n = strlen(stage->final); n > 1 && stage->final[n - 1] == '/'; n--)
        stage->final[n - 1] = '\0';
    return 0;
}

/* What mkdir and open would have given: the temporary names come with mode 0700 and 0600. */
static mode_t usual_mode(mode_t mode)
{
    mode_t mask = umask(0);
    umask(mask);
    return mode & ~mask;
}

int hspz__stage_open_directory(const char *path, bool force, hspz__stage *stage, hspz_failure *failure)
{
    struct stat status;
    int code = start(stage, path, failure);
    if (code != 0 || (code = hspz__stage_check_directory(stage->final, force, failure)) != 0)
        goto failed;
    stage->exists = stat(stage->final, &status) == 0;
    if (asprintf(&stage->staging, "%s%s.hspz-XXXXXX", stage->final, stage->exists ? "/" : "") < 0) {
        stage->staging = NULL;
        code = hspz_failed_memory(failure, "a path", strlen(path));
        goto failed;
    }
    if (mkdtemp(stage->staging) == NULL) {
        code = io_failed(failure, stage->final, "cannot be made for output");
        free(stage->staging);
        stage->staging = NULL;
        goto failed;
    }
    return 0;
failed:
    hspz__stage_abandon(stage);
    return code;
}

int hspz__stage_open_file(const char *path, bool force, hspz__stage *stage, hspz_failure *failure)
{
    int code = start(stage, path, failure);
    stage->single = true;
    if (code != 0 || (code = hspz__stage_check_file(path, force, failure)) != 0)
        goto failed;
    if (asprintf(&stage->staging, "%s.hspz-XXXXXX", stage->final) < 0) {
        stage->staging = NULL;
        code = hspz_failed_memory(failure, "a path", strlen(path));
        goto failed;
    }
    stage->file = mkostemp(stage->staging, O_CLOEXEC);
    if (stage->file < 0) {
        code = io_failed(failure, stage->final, "cannot be made for output");
        free(stage->staging);
        stage->staging = NULL;
        goto failed;
    }
    return 0;
failed:
    hspz__stage_abandon(stage);
    return code;
}

/* Writing ---------------------------------------------------------------------------------------- */

static int remember(hspz__stage *stage, const char *name, hspz_failure *failure)
{
    if (stage->count == stage->capacity) {
        size_t capacity = 2 * stage->capacity + 16;
        char **grown = realloc(stage->names, capacity * sizeof *grown);
        if (grown == NULL)
            return hspz_failed_memory(failure, "the list of files", capacity * sizeof *grown);
        stage->names = grown;
        stage->capacity = capacity;
    }
    stage->names[stage->count] = strdup(name);
    if (stage->names[stage->count] == NULL)
        return hspz_failed_memory(failure, "a file name", strlen(name));
    stage->count++;
    return 0;
}

int hspz__stage_begin_file(hspz__stage *stage, const char *name, int *file, hspz_failure *failure)
{
    *file = -1;
    int code = remember(stage, name, failure);
    if (code != 0)
        return code;
    char *path = joined(stage->staging, name);
    if (path == NULL)
        return hspz_failed_memory(failure, "a path", strlen(name));
    *file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (*file < 0)
        code = io_failed(failure, path, "cannot be made");
    free(path);
    return code;
}

int hspz__stage_end_file(hspz__stage *stage, const char *name, int file, hspz_failure *failure)
{
    bool bad = stage->count <= SYNC_EACH_MOST && fsync(file) != 0;
    int kept = errno;
    if (close(file) != 0 && !bad) {
        bad = true;
        kept = errno;
    }
    errno = kept;
    return bad ? io_failed(failure, name, "cannot be written") : 0;
}

int hspz__stage_add(hspz__stage *stage, const char *name, const char *bytes, size_t size,
                    hspz_failure *failure)
{
    int file;
    int code = hspz__stage_begin_file(stage, name, &file, failure);
    if (code != 0)
        return code;
    code = hspz__write_all(file, bytes, size, name, failure);
    if (code != 0) {
        close(file);
        return code;
    }
    return hspz__stage_end_file(stage, name, file, failure);
}

/* Publishing ------------------------------------------------------------------------------------- */

/* Syncs what a directory holds; names first need their own directory on disk. */
static int sync_directory(const char *path, bool whole_file_system, hspz_failure *failure)
{
    int file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
        return io_failed(failure, path, "cannot be synced");
    int bad = whole_file_system ? syncfs(file) : fsync(file);
    int kept = errno;
    close(file);
    errno = kept;
    /* some file systems have no sync of a directory; that is no loss of data */
    return bad != 0 && errno != EINVAL && errno != EROFS ? io_failed(failure, path, "cannot be synced") : 0;
}

static int sync_parent(const char *path, hspz_failure *failure)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return sync_directory(".", false, failure);
    char *parent = strndup(path, slash == path ? 1 : (size_t)(slash - path));
    if (parent == NULL)
        return hspz_failed_memory(failure, "a path", strlen(path));
    int code = sync_directory(parent, false, failure);
    free(parent);
    return code;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int move_each(hspz__stage *stage, hspz_failure *failure)
{
    int code = 0;
    for (size_t i = 0; i < stage->count && code == 0; i++) {
        char *from = joined(stage->staging, stage->names[i]), *to = joined(stage->final, stage->names[i]);
        if (from == NULL || to == NULL)
            code = hspz_failed_memory(failure, "a path", strlen(stage->final));
        else if (rename(from, to) != 0)
            code = io_failed(failure, to, "cannot be replaced");
        free(from);
        free(to);
    }
    return code;
}

/* Files of an earlier run that this one has not written would look like results of it. */
static int remove_stale(hspz__stage *stage, hspz_failure *failure)
{
    int code = 0;
    DIR *directory = opendir(stage->final);
    if (directory == NULL)
        return io_failed(failure, stage->final, "cannot be read");
    qsort(stage->names, stage->count, sizeof *stage->names, by_text);
    for (const struct dirent *entry; code == 0 && (entry = readdir(directory)) != NULL;) {
        const char *name = entry->d_name;
        if (!hspz__stage_is_ours(name) || (stage->count && bsearch(&name, stage->names, stage->count,
                                                                   sizeof *stage->names, by_text) != NULL))
            continue;
        if (unlinkat(dirfd(directory), name, 0) != 0)
            code = io_failed(failure, name, "of an earlier run cannot be removed");
    }
    closedir(directory);
    return code;
}

static int publish_directory(hspz__stage *stage, hspz_failure *failure)
{
    int code = sync_directory(stage->staging, stage->count > SYNC_EACH_MOST, failure);
    if (code != 0)
        return code;
    if (!stage->exists) {
        if (chmod(stage->staging, usual_mode(0777)) != 0 || rename(stage->staging, stage->final) != 0)
            return io_failed(failure, stage->final, "cannot be made");
        free(stage->staging);
        stage->staging = NULL;
        return sync_parent(stage->final, failure);
    }
    if ((code = move_each(stage, failure)) != 0 || (code = remove_stale(stage, failure)) != 0)
        return code;
    return sync_directory(stage->final, false, failure);
}

static int publish_file(hspz__stage *stage, hspz_failure *failure)
{
    int file = stage->file;
    stage->file = -1;
    bool bad = fchmod(file, usual_mode(0666)) != 0 || fsync(file) != 0;
    int kept = errno;
    if (close(file) != 0 && !bad) {
        bad = true;
        kept = errno;
    }
    errno = kept;
    if (bad)
        return io_failed(failure, stage->final, "cannot be written");
    if (rename(stage->staging, stage->final) != 0)
        return io_failed(failure, stage->final, "cannot be made");
    free(stage->staging);
    stage->staging = NULL;
    return sync_parent(stage->final, failure);
}

int hspz__stage_publish(hspz__stage *stage, hspz_failure *failure)
{
    int code = stage->single ? publish_file(stage, failure) : publish_directory(stage, failure);
    hspz__stage_abandon(stage);
    return code;
}

void hspz__stage_abandon(hspz__stage *stage)
{
    bool directory = !stage->single && stage->staging != NULL;
    if (stage->single && stage->file >= 0)
        close(stage->file);
    for (size_t i = 0; i < stage->count; i++) {
        char *path = directory ? joined(stage->staging, stage->names[i]) : NULL;
        if (path != NULL)
            unlink(path); /* those that were published are gone from here */
        free(path);
        free(stage->names[i]);
    }
    if (directory)
        rmdir(stage->staging); /* empty by now */
    else if (stage->staging != NULL)
        unlink(stage->staging);
    free(stage->staging);
    free(stage->names);
    free(stage->final);
    memset(stage, 0, sizeof *stage);
}
