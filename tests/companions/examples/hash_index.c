/* hash_index.c -- a host that maps sparse ids to rows with "hspz.hash_index/1": build, look up, join.
 *
 * Needs abi/ alone:  gcc -std=c11 -Iabi -o hash_index hash_index.c -ldl        Run:  ./hash_index PLUGIN.so
 */
#include "hspz_hash_index.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    const hspz_plugin *plugin = library != NULL ? dlsym(library, HSPZ_PLUGIN_SYMBOL) : NULL;
    const hspz_hash_index *hash = plugin != NULL ? plugin->get_extension(HSPZ_HASH_INDEX_ID) : NULL;
    if (hash == NULL)
        return fprintf(stderr, "usage: hash_index PLUGIN.so (with %s)\n", HSPZ_HASH_INDEX_ID), 2;

    /* Feature ids in two chunks; row numbers run on across chunks. Id 17 comes twice: row 0 wins. */
    static const uint32_t part1[] = {17, 8042, 3900000000u}, part2[] = {5, 17};
    const hspz_u32_view chunks[] = {{part1, 3}, {part2, 2}};
    uint32_t keys[16], values[16], built[HSPZ_HASH_BUILD_STATISTICS] = {0};
    hspz_hash_table table = {
        .struct_size = sizeof table, .capacity = 16, .slot_stride = 1, .keys = keys, .values = values};
    hspz_hash_build build = {.struct_size = sizeof build,
                             .device = HSPZ_DEVICE_CPU,
                             .table = &table,
                             .keys = {chunks, 2},
                             .statistics = built};
    hspz_error error = {.struct_size = sizeof error};
    build.scratch_size = hash->build_scratch_size(&build);
    build.scratch = malloc(build.scratch_size + 4);
    if (build.scratch == NULL || hash->build(&build, &error) != HSPZ_OK)
        return fprintf(stderr, "build: %s\n", error.text), 1;
    printf("unique %u, duplicate %u, overflow %u\n", built[HSPZ_HASH_UNIQUE], built[HSPZ_HASH_DUPLICATE],
           built[HSPZ_HASH_OVERFLOW]);

    /* Which of these ids are known, and in which row? A join answers with pairs. */
    static const uint32_t selected[] = {3900000000u, 6, 17};
    const hspz_u32_view wanted[] = {{selected, 3}};
    uint32_t left[3] = {0}, right[3] = {0}, pairs = 0, asked[HSPZ_HASH_QUERY_STATISTICS];
    hspz_hash_join join = {.struct_size = sizeof join,
                           .device = HSPZ_DEVICE_CPU,
                           .table = &table,
                           .keys = {wanted, 1},
                           .left_rows = left,
                           .right_rows = right,
                           .pair_capacity = 3,
                           .pair_count = &pairs,
                           .statistics = asked};
    join.scratch_size = hash->join_scratch_size(&join);
    join.scratch = malloc(join.scratch_size + 8);
    if (join.scratch == NULL || hash->join(&join, &error) != HSPZ_OK)
        return fprintf(stderr, "join: %s\n", error.text), 1;
    for (uint32_t i = 0; i < pairs; i++)
        printf("id %u is row %u\n", selected[left[i]], right[i]);
    free(build.scratch);
    free(join.scratch);
    return 0;
}
