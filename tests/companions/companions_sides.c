/* companions_sides.c -- loads both plugins and finds their companion systems. */
#include "companions_sides.h"
#include "companions.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void load(side *s, const char *file)
{
    char path[4096];
    const char *build = getenv("HSPZ_BUILD");
    snprintf(path, sizeof path, "%s/%s", build != NULL ? build : "build", file);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    cr_assert_not_null(library, "%s: %s", path, dlerror());
    const hspz_plugin *plugin = dlsym(library, HSPZ_PLUGIN_SYMBOL);
    cr_assert_not_null(plugin);
    s->hash = plugin->get_extension(HSPZ_HASH_INDEX_ID);
    s->soft = plugin->get_extension(HSPZ_SOFT_SW_ID);
    cr_assert_not_null(s->hash, "%s has no hash index", path);
    cr_assert_not_null(s->soft, "%s has no soft Smith-Waterman", path);
    cr_assert_geq(s->hash->struct_size, sizeof *s->hash);
    cr_assert_geq(s->soft->struct_size, sizeof *s->soft);
}

void sides_load(side sides[SIDES])
{
    static const char *const names[SIDES] = {"oracle", "cpu, 1 thread", "cpu, 3 threads", "cpu, 8 threads",
                                             "cuda, emulated"};
    static const uint32_t threads[SIDES] = {0, 1, 3, 8, 0};
    for (uint32_t i = 0; i < SIDES; i++) {
        if (i + 1 < SIDES)
            load(&sides[i], i == 0 ? "hspz_oracle.so" : "hspz_plugin.so");
        sides[i].name = names[i];
        sides[i].threads = threads[i];
        sides[i].device = HSPZ_DEVICE_CPU;
    }
    sides[SIDES - 1].hash = &hspz__hash_index;
    sides[SIDES - 1].soft = &hspz__soft_sw;
    sides[SIDES - 1].device = HSPZ_DEVICE_CUDA;
}

uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

uint64_t random_below(uint64_t *state, uint64_t bound)
{
    return (next_random(state) >> 16) % bound;
}

void *filled(uint64_t count, uint64_t size)
{
    size_t bytes = (size_t)(count * size + 64);
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    cr_assert_not_null(memory);
    memset(memory, 0xa5, bytes);
    return memory;
}
