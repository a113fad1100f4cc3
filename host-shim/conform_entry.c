/* conform_entry.c -- rules about the library and the calls that need no engine (conform.h). */
#include "conform.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Exported symbols --------------------------------------------------------------------------------- */

static bool within(uint64_t offset, uint64_t size, uint64_t whole)
{
    return offset <= whole && size <= whole - offset;
}

/* Counts defined symbols of the dynamic table that others could bind to, other than the entry object. */
static int count_exports(const unsigned char *file, uint64_t size, char *example, size_t room)
{
    const Elf64_Ehdr *head = (const void *)file;
    int others = 0;
    if (size < sizeof *head || head->e_shentsize != sizeof(Elf64_Shdr) ||
        !within(head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr), size))
        return -1;
    const Elf64_Shdr *sections = (const void *)(file + head->e_shoff);
    for (unsigned i = 0; i < head->e_shnum; i++) {
        const Elf64_Shdr *s = &sections[i];
        if (s->sh_type != SHT_DYNSYM || s->sh_link >= head->e_shnum ||
            !within(s->sh_offset, s->sh_size, size))
            continue;
        const Elf64_Shdr *strings = &sections[s->sh_link];
        if (!within(strings->sh_offset, strings->sh_size, size) || strings->sh_size == 0)
            return -1;
        const char *text = (const char *)(file + strings->sh_offset);
        for (uint64_t n = 0; n < s->sh_size / sizeof(Elf64_Sym); n++) {
            const Elf64_Sym *symbol = (const Elf64_Sym *)(const void *)(file + s->sh_offset) + n;
            unsigned bind = ELF64_ST_BIND(symbol->st_info);
            if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS ||
                symbol->st_name >= strings->sh_size ||
                (bind != STB_GLOBAL && bind != STB_WEAK && bind != STB_GNU_UNIQUE) ||
                strcmp(text + symbol->st_name, HSPZ_PLUGIN_SYMBOL) == 0 ||
                strncmp(text + symbol->st_name, "__odr_asan.", 11) ==
                    0) /* an address-sanitized build's own mark */
                continue;
            if (others++ == 0)
                snprintf(example, room, "%.100s", text + symbol->st_name);
        }
    }
    return others;
}

static void check_symbols(hspz__checks *c)
{
    char example[128] = "";
    int others = -1;
    struct stat status;
    int file = open(c->library->path, O_RDONLY | O_CLOEXEC);
    if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            others = count_exports(bytes, (uint64_t)status.st_size, example, sizeof example);
            munmap(bytes, (size_t)status.st_size);
        }
    }
    if (file >= 0)
        close(file);
    if (others < 0)
        hspz__check_skipped(c, "the library exports one symbol only", "its dynamic symbols cannot be read");
    else
        hspz__check(c, others == 0, "the library exports one symbol only", "%d others, one is %s", others,
                    example);
}

/* Texts and versions ------------------------------------------------------------------------------- */

static void check_negotiate(hspz__checks *c)
{
    const hspz_plugin *p = &c->library->table;
    hspz_error error = {.struct_size = sizeof error};
    uint32_t agreed = 77;
    hspz_status status = p->negotiate(0, 1000000, &agreed, &error);
    hspz__check(c, status == HSPZ_OK && agreed == p->abi_minor, "a newer host gets the plugin's minor",
                "status %d, minor %u", status, agreed);
    agreed = 77;
    status = p->negotiate(1000000, 1000001, &agreed, &error);
    hspz__check(c, status == HSPZ_E_VERSION, "a host that needs a later minor is answered HSPZ_E_VERSION",
                "status %d", status);
    hspz__check(c, status < 0 && error.status == status && error.text[0] != '\0',
                "the error says which status and why", "status %d, text \"%.200s\"", error.status,
                error.text);
    hspz__check(c, p->negotiate(1000000, 1000001, &agreed, NULL) == HSPZ_E_VERSION, "a NULL error is allowed",
                "%s", "");
    hspz__check(c, p->negotiate(0, 0, NULL, &error) == HSPZ_E_ARGUMENT,
                "negotiate without a place for its answer", "expected HSPZ_E_ARGUMENT");
}

static void check_texts(hspz__checks *c)
{
    static const hspz_status all[] = {
#define NUMBER(name, number, cls, text) number,
        HSPZ_STATUS_TABLE(NUMBER)
#undef NUMBER
    };
    const hspz_plugin *p = &c->library->table;
    hspz_status silent = 1;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const char *text = p->status_text(all[i]);
        if (text == NULL || text[0] == '\0')
            silent = all[i];
    }
    hspz__check(c, silent == 1, "every status has a sentence", "status %d has none", silent);
    hspz__check(c, p->status_text(-9999) != NULL, "an unknown status has a sentence too", "%s", "NULL");
    hspz__check(c, p->name[0] != '\0' && p->version[0] != '\0', "name and version are not empty", "%s", "");
    hspz__check(c, p->get_extension == NULL || p->get_extension("hspz.no_such_extension/1") == NULL,
                "an unknown extension is NULL", "%s", "");
}

/* Devices ------------------------------------------------------------------------------------------ */

static void check_devices(hspz__checks *c)
{
    const hspz_plugin *p = &c->library->table;
    hspz_error error = {.struct_size = sizeof error};
    hspz_device_info info = {.struct_size = sizeof info};
    uint32_t count = 0;
    hspz_status status = p->device_count(&count, &error);
    hspz__check(c, status == HSPZ_OK && count >= 1, "there is a device list", "status %d, %u rows", status,
                count);
    hspz__check(c, p->device_count(NULL, &error) == HSPZ_E_ARGUMENT, "device_count(NULL) is refused", "%s",
                "");
    hspz__check(c, p->device_info(count, &info, &error) < 0, "a row behind the last is refused", "%s", "");
    hspz__check(c, p->device_info(0, NULL, &error) < 0, "device_info(0, NULL) is refused", "%s", "");
    bool sane = true;
    for (uint32_t i = 0; i < count; i++) {
        info = (hspz_device_info){.struct_size = sizeof info};
        status = p->device_info(i, &info, &error);
        sane = sane && status == HSPZ_OK && (info.score != 0) == (info.status == HSPZ_OK) &&
               (info.score != 0 || info.detail[0] != '\0') && info.struct_size == sizeof info;
    }
    hspz__check(c, sane, "each row is usable, or says why not", "status %d", status);
    unsigned char small[sizeof info];
    uint32_t size = 24;
    memset(small, 0x5a, sizeof small);
    memcpy(small, &size, sizeof size);
    status = p->device_info(0, (hspz_device_info *)(void *)small, &error);
    hspz__check(c, status == HSPZ_OK && small[size] == 0x5a && small[sizeof small - 1] == 0x5a,
                "a shorter device_info is filled as far as it goes", "status %d, byte behind it 0x%02x",
                status, small[size]);
}

void hspz__conform_entry(hspz__checks *c)
{
    check_symbols(c);
    check_negotiate(c);
    check_texts(c);
    check_devices(c);
}
