/* loader.c -- see loader.h */
#include "loader.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef HSPZ_LIBDIR
#define HSPZ_LIBDIR "/usr/local/lib/hspz"
#endif

/* Members that must not be NULL, with their names for the sentence. */
#define MANDATORY(X)                                                                                         \
    X(name)                                                                                                  \
    X(version)                                                                                               \
    X(build)                                                                                                 \
    X(negotiate)                                                                                             \
    X(status_text)                                                                                           \
    X(device_count)                                                                                          \
    X(device_info)                                                                                           \
    X(engine_create)                                                                                         \
    X(engine_destroy)                                                                                        \
    X(engine_info)                                                                                           \
    X(set_target)                                                                                            \
    X(clear_target)                                                                                          \
    X(set_query)                                                                                             \
    X(clear_query)                                                                                           \
    X(get_statistics)                                                                                        \
    X(reset_statistics)                                                                                      \
    X(last_error)

/* ABI 1.0 ends with get_extension; later minors only append. */
#define SIZE_OF_1_0 (offsetof(hspz_plugin, get_extension) + sizeof(((hspz_plugin *)NULL)->get_extension))

static const char *missing_member(const hspz_plugin *table)
{
#define CHECK(member)                                                                                        \
    if (table->member == NULL)                                                                               \
        return #member;
    MANDATORY(CHECK)
#undef CHECK
    /* a level is mandatory where the capabilities claim it */
    if ((table->capabilities & HSPZ_CAP_FIND) && table->find_hsps == NULL)
        return "find_hsps";
    if ((table->capabilities & HSPZ_CAP_EXPAND) && table->expand_and_extend == NULL)
        return "expand_and_extend";
    if ((table->capabilities & HSPZ_CAP_ANCHORS) && table->extend_anchors == NULL)
        return "extend_anchors";
    return NULL;
}

int hspz_plugin_judge(const void *object, size_t available, const char *path, hspz_plugin *table,
                      hspz_failure *failure)
{
    struct {
        uint32_t magic, struct_size, major, minor;
    } head;
    memset(table, 0, sizeof *table);
    if (available < sizeof head)
        return hspz_failed(failure, HSPZ_EXIT_PLUGIN,
                           "%s: %s has %zu bytes, too few for a plugin's head of %zu", path,
                           HSPZ_PLUGIN_SYMBOL, available, sizeof head);
    memcpy(&head, object, sizeof head);
    if (head.magic != HSPZ_MAGIC)
        return hspz_failed(failure, HSPZ_EXIT_PLUGIN,
                           "%s: %s starts with 0x%08x instead of 0x%08x, it is no hspz plugin", path,
                           HSPZ_PLUGIN_SYMBOL, head.magic, HSPZ_MAGIC);
    if (head.major != HSPZ_ABI_MAJOR)
        return hspz_failed(
            failure, HSPZ_EXIT_PLUGIN,
            "%s: the plugin was built for ABI %u.%u and this host for ABI %u.%u; the majors must be equal",
            path, head.major, head.minor, HSPZ_ABI_MAJOR, HSPZ_ABI_MINOR);
    if (head.struct_size < SIZE_OF_1_0 || head.struct_size > available)
        return hspz_failed(
            failure, HSPZ_EXIT_PLUGIN,
            "%s: the plugin's table says %u bytes, but ABI %u.%u needs at least %zu and the object has %zu "
            "(this host: ABI %u.%u)",
            path, head.struct_size, head.major, head.minor, SIZE_OF_1_0, available, HSPZ_ABI_MAJOR,
            HSPZ_ABI_MINOR);
    size_t known = head.struct_size < sizeof *table ? head.struct_size : sizeof *table;
    memcpy(table, object, known);
    const char *missing = missing_member(table);
    if (missing != NULL) {
        memset(table, 0, sizeof *table);
        return hspz_failed(failure, HSPZ_EXIT_PLUGIN,
                           "%s: the plugin leaves out \"%s\", which ABI %u.%u demands (plugin: ABI %u.%u)",
                           path, missing, HSPZ_ABI_MAJOR, HSPZ_ABI_MINOR, head.major, head.minor);
    }
    return 0;
}

/* Search ----------------------------------------------------------------------------------------- */

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* "DIRECTORY/NAME" if it is a file; the directory is `length` bytes at `directory`. */
static char *candidate(const char *directory, size_t length, const char *name)
{
    char *path = NULL;
    if (length == 0 || length > PATH_MAX || directory[0] != '/')
        return NULL;
    if (asprintf(&path, "%.*s/%s", (int)length, directory, name) < 0)
        return NULL;
    if (is_file(path))
        return path;
    free(path);
    return NULL;
}

/* Looks in `below` (such as "/../lib/hspz", "" for itself) of the running executable's directory. */
static char *near_executable(const char *below, const char *name)
{
    char directory[PATH_MAX + 32];
    ssize_t length = readlink("/proc/self/exe", directory, PATH_MAX);
    const char *started = (const char *)getauxval(AT_EXECFN);
    if (length < 0 && started != NULL && realpath(started, directory) != NULL) /* no /proc: a bare chroot */
        length = (ssize_t)strlen(directory);
    const char *slash = length > 0 && length < PATH_MAX ? memrchr(directory, '/', (size_t)length) : NULL;
    if (slash == NULL)
        return NULL;
    size_t size = (size_t)(slash - directory);
    memcpy(directory + size, below, strlen(below) + 1);
    return candidate(directory, strlen(directory), name);
}

static char *search(const char *name)
{
    char *path = near_executable("", name);
    const char *list = getenv("HSPZ_PLUGIN_PATH");
    for (const char *at = list; path == NULL && at != NULL && *at != '\0';) {
        size_t part = strcspn(at, ":");
        path = candidate(at, part, name);
        at += part + (at[part] == ':');
    }
    if (path == NULL)
        path = near_executable("/../lib/hspz", name); /* an installation that was moved */
    return path != NULL ? path : candidate(HSPZ_LIBDIR, strlen(HSPZ_LIBDIR), name);
}

int hspz_plugin_find(const char *name, char **path, bool *fell_back, hspz_failure *failure)
{
    *path = NULL;
    if (fell_back != NULL)
        *fell_back = false;
    if (strchr(name, '/') != NULL) {
        *path = realpath(name, NULL);
        if (*path == NULL)
            return hspz_failed(failure, errno == ENOMEM ? HSPZ_EXIT_MEMORY : HSPZ_EXIT_PLUGIN,
                               "%s: the plugin cannot be opened: %s", name, strerror(errno));
        return 0;
    }
    *path = search(name[0] != '\0' ? name : HSPZ_DEFAULT_PLUGIN);
    if (*path == NULL && name[0] == '\0') {
        *path = search(HSPZ_FALLBACK_PLUGIN);
        if (*path != NULL && fell_back != NULL)
            *fell_back = true;
    }
    if (*path != NULL)
        return 0;
    return hspz_failed(failure, HSPZ_EXIT_PLUGIN,
                       "plugin %s is neither beside the executable, nor in $HSPZ_PLUGIN_PATH, nor in "
                       "../lib/hspz, nor in %s; "
                       "a file elsewhere is named with its directory: --plugin ./%s",
                       name[0] != '\0' ? name : HSPZ_DEFAULT_PLUGIN, HSPZ_LIBDIR,
                       name[0] != '\0' ? name : HSPZ_DEFAULT_PLUGIN);
}

/* Opening ---------------------------------------------------------------------------------------- */

/* dlopen's own words for a text file are obscure, and a file cut short may crash it: look at the head first. */
static int look_at_file(const char *path, hspz_failure *failure)
{
    Elf64_Ehdr head;
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 || fstat(file, &status) != 0) {
        int code = hspz_failed(failure, HSPZ_EXIT_PLUGIN, "%s: the plugin cannot be opened: %s", path,
                               strerror(errno));
        if (file >= 0)
            close(file);
        return code;
    }
    ssize_t got = S_ISREG(status.st_mode) ? pread(file, &head, sizeof head, 0) : 0;
    close(file);
    if (!S_ISREG(status.st_mode))
        return hspz_failed(failure, HSPZ_EXIT_PLUGIN, "%s is not a file, a plugin is a shared library", path);
    if (got < (ssize_t)sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return hspz_failed(failure, HSPZ_EXIT_PLUGIN, "%s is not a shared library, and a plugin must be one",
                           path);
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_type != ET_DYN)
        return hspz_failed(failure, HSPZ_EXIT_PLUGIN,
                           "%s is not a 64-bit shared library, and a plugin must be one", path);
    return 0;
}

/* Bytes that the symbol's table entry grants to the object: a struct_size beyond them is a lie. */
static size_t object_size(const void *object)
{
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    if (dladdr1(object, &info, (void **)&symbol, RTLD_DL_SYMENT) == 0 || symbol == NULL)
        return 0;
    return ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT ? symbol->st_size : 0;
}

static int negotiate(hspz_library *library, hspz_failure *failure)
{
    hspz_error error = {.struct_size = sizeof error};
    uint32_t agreed = UINT32_MAX;
    const hspz_plugin *plugin = &library->table;
    hspz_status status = plugin->negotiate(0, HSPZ_ABI_MINOR, &agreed, &error);
    error.text[sizeof error.text - 1] = '\0';
    if (status != HSPZ_OK || agreed > HSPZ_ABI_MINOR)
        return hspz_failed(failure, HSPZ_EXIT_PLUGIN,
                           "%s: plugin (ABI %u.%u) and host (ABI %u.0 to %u.%u) share no ABI version%s%s",
                           library->path, plugin->abi_major, plugin->abi_minor, HSPZ_ABI_MAJOR,
                           HSPZ_ABI_MAJOR, HSPZ_ABI_MINOR, error.text[0] ? ": " : "", error.text);
    library->minor = agreed;
    return 0;
}

/* A library without our symbol may still be a plugin of another major, whose symbol says so. */
static int refuse_without_symbol(const hspz_library *library, hspz_failure *failure)
{
    for (unsigned major = 0; major < 100; major++) {
        char symbol[32];
        snprintf(symbol, sizeof symbol, "hspz_plugin_v%u", major);
        if (dlsym(library->handle, symbol) != NULL)
            return hspz_failed(
                failure, HSPZ_EXIT_PLUGIN,
                "%s: the plugin was built for ABI major %u and this host for ABI %u.%u; the majors "
                "must be equal",
                library->path, major, HSPZ_ABI_MAJOR, HSPZ_ABI_MINOR);
    }
    return hspz_failed(failure, HSPZ_EXIT_PLUGIN, "%s is a library but no hspz plugin: it exports no %s",
                       library->path, HSPZ_PLUGIN_SYMBOL);
}

int hspz_library_open(const char *name, hspz_library *library, hspz_failure *failure)
{
    int code;
    memset(library, 0, sizeof *library);
    if ((code = hspz_plugin_find(name, &library->path, &library->fell_back, failure)) != 0 ||
        (code = look_at_file(library->path, failure)) != 0)
        goto failed;
    library->handle = dlopen(library->path, RTLD_NOW | RTLD_LOCAL);
    if (library->handle == NULL) {
        const char *text = dlerror();
        code = hspz_failed(failure, HSPZ_EXIT_PLUGIN, "%s cannot be loaded: %s", library->path,
                           text ? text : "no reason given");
        goto failed;
    }
    const void *object = dlsym(library->handle, HSPZ_PLUGIN_SYMBOL);
    if (object == NULL) {
        code = refuse_without_symbol(library, failure);
        goto failed;
    }
    if ((code = hspz_plugin_judge(object, object_size(object), library->path, &library->table, failure)) !=
            0 ||
        (code = negotiate(library, failure)) != 0)
        goto failed;
    return 0;
failed:
    hspz_library_close(library);
    return code;
}

void hspz_library_close(hspz_library *library)
{
    if (library->handle != NULL && !library->stays_mapped)
        dlclose(library->handle);
    free(library->path);
    memset(library, 0, sizeof *library);
}

/* Failures of calls ------------------------------------------------------------------------------ */

static int exit_code_of(hspz_status status)
{
    switch (status) {
    case HSPZ_E_ARGUMENT:
    case HSPZ_E_CONFIG:
        return HSPZ_EXIT_USAGE;
    case HSPZ_E_TOO_MANY_HITS:
        return HSPZ_EXIT_DATA;
    case HSPZ_E_MEMORY:
    case HSPZ_E_DEVICE_MEMORY:
        return HSPZ_EXIT_MEMORY;
    default:
        return HSPZ_EXIT_PLUGIN;
    }
}

/* What a user can do about it, where the status alone tells. */
static const char *advice_for(hspz_status status)
{
    switch (status) {
    case HSPZ_E_TOO_MANY_HITS:
        return "; a smaller --wga-chunk-size makes smaller batches";
    case HSPZ_E_DEVICE_MEMORY:
        return "; a smaller --seq-block-size or --device cpu needs less device memory";
    case HSPZ_E_NOT_BUILT:
    case HSPZ_E_NO_DRIVER:
    case HSPZ_E_NO_DEVICE:
    case HSPZ_E_ARCHITECTURE:
        return "; --device cpu works without it";
    default:
        return "";
    }
}

int hspz_plugin_failed(const hspz_library *library, hspz_status status, const hspz_error *error,
                       const char *what, hspz_failure *failure)
{
    const char *sentence = library->table.status_text(status);
    char text[HSPZ_ERROR_TEXT] = "";
    if (error != NULL)
        snprintf(text, sizeof text, "%.*s", (int)sizeof error->text - 1, error->text);
    const char *said = text[0] != '\0' ? text : sentence != NULL ? sentence : "unknown status";
    const char *advice = strstr(said, "--") != NULL ? "" : advice_for(status);
    return hspz_failed(failure, exit_code_of(status), "%s: %s: %s%s", library->path, what, said, advice);
}

const char *hspz_dedup_name(uint32_t dedup)
{
    static const char *const names[HSPZ_DEDUP_COUNT] = {"chunk", "interval", "maximal", "lastz", "none"};
    return dedup < HSPZ_DEDUP_COUNT ? names[dedup] : "unknown";
}
