/* command_info.c -- hspz info: what a plugin is, and which devices it can use. */
#include "command.h"
#include "version.h"

#include <stdio.h>
#include <stdlib.h>

static void print_capabilities(const hspz_library *library)
{
    static const struct {
        uint64_t bit;
        const char *text;
    } names[] = {
        {HSPZ_CAP_FIND, "find_hsps"},         {HSPZ_CAP_EXPAND, "expand_and_extend"},
        {HSPZ_CAP_ANCHORS, "extend_anchors"}, {HSPZ_CAP_HOST_INDEX, "host index"},
        {HSPZ_CAP_THREADS, "threads"},        {HSPZ_CAP_CUDA, "CUDA"},
    };
    uint64_t capabilities = library->table.capabilities;
    const char *before = "";
    printf("capabilities  ");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (capabilities & names[i].bit) {
            printf("%s%s", before, names[i].text);
            before = ", ";
        }
    printf("\ndedup         ");
    before = "";
    for (uint32_t mode = 0; mode < HSPZ_DEDUP_COUNT; mode++)
        if (capabilities & HSPZ_CAP_DEDUP(mode)) {
            printf("%s%s", before, hspz_dedup_name(mode));
            before = ", ";
        }
    printf("\n");
}

static void print_extensions(const hspz_library *library)
{
    static const char *const known[] = {"hspz.hash_index/1", "hspz.soft_sw/1"};
    const char *before = "";
    printf("extensions    ");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (library->table.get_extension != NULL && library->table.get_extension(known[i]) != NULL) {
            printf("%s%s", before, known[i]);
            before = ", ";
        }
    printf("%s\n", before[0] == '\0' ? "none" : "");
}

static void print_device(const hspz_library *library, const hspz_device_info *device)
{
    char label[32];
    hspz_device_label(device, label, sizeof label);
    printf("device        %s: %s, ", label, device->name[0] ? device->name : "unnamed");
    if (device->score == 0) {
        printf("cannot run here: %s\n",
               device->detail[0] ? device->detail : library->table.status_text(device->status));
        return;
    }
    printf("usable, score %u", device->score);
    if (device->kind == HSPZ_DEVICE_CUDA)
        printf(", compute %u.%u, %u multiprocessors, %.1f GiB", device->compute_major, device->compute_minor,
               device->units, (double)device->memory_total / 1073741824.0);
    else
        printf(", %u threads, %.1f GiB of main memory", device->units,
               (double)device->memory_total / 1073741824.0);
    printf("%s%s\n", device->detail[0] ? "; " : "", device->detail);
}

int hspz_command_info(const hspz_context *context)
{
    hspz_library library;
    hspz_device_info *devices = NULL;
    uint32_t count = 0;
    int code = hspz_library_open(context->options->plugin, &library, context->failure);
    if (code != 0)
        return code;
    if (library.fell_back)
        hspz_log_say(context->log, HSPZ_LOG_WARN, "%s is not installed, this is the reference plugin",
                     HSPZ_DEFAULT_PLUGIN);
    if ((code = hspz_devices_list(&library, &devices, &count, context->failure)) == 0) {
        printf("host          hspz %s, ABI %u.%u\n", HSPZ_VERSION, HSPZ_ABI_MAJOR, HSPZ_ABI_MINOR);
        printf("plugin        %s %s\n", library.table.name, library.table.version);
        printf("file          %s\n", library.path);
        printf("ABI           %u.%u, agreed on %u.%u\n", library.table.abi_major, library.table.abi_minor,
               HSPZ_ABI_MAJOR, library.minor);
        printf("build         %s\n", library.table.build);
        print_capabilities(&library);
        print_extensions(&library);
        for (uint32_t i = 0; i < count; i++)
            print_device(&library, &devices[i]);
        code = hspz_finish_stdout(context);
    }
    free(devices);
    hspz_library_close(&library);
    return code;
}
