/* host.c -- the smallest host: loads any hspz plugin and prints the HSPs of two sequences given as arguments. It needs
 * hspz_abi.h and libdl:  cc -I.. host.c -ldl -o host && ./host /path/to/hspz_plugin.so TARGET QUERY
 * A line of output is target start, query start (both 0-based), bases, score and strand. */
#include "hspz_abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int32_t print(void *strand, const hspz_hsp *h, uint64_t count, uint32_t stride)
{
    for (; count-- > 0; h = (const hspz_hsp *)(const void *)((const char *)h + stride))
        printf("%u\t%u\t%u\t%d\t%s\n", h->target_start, h->query_start, h->extent + 1, h->score,
               (char *)strand);
    return ferror(stdout);
}

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "host: %s: %s\n", what, why);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return fail("usage", "host PLUGIN.so TARGET QUERY");
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    const hspz_plugin *plugin = library ? dlsym(library, HSPZ_PLUGIN_SYMBOL) : NULL;
    if (plugin == NULL || plugin->magic != HSPZ_MAGIC || plugin->abi_major != HSPZ_ABI_MAJOR)
        return fail(argv[1], library ? "no hspz plugin of this major version" : dlerror());
    hspz_error error = {.struct_size = sizeof error};
    uint32_t minor;
    if (plugin->negotiate(0, HSPZ_ABI_MINOR, &minor, &error) != HSPZ_OK)
        return fail(argv[1], error.text);

    hspz_engine_params params = {.struct_size = sizeof params, .device = HSPZ_DEVICE_AUTO, .query_slots = 1};
    params.seed_pattern = "1110100110010101111";
    params.transitions = params.step = params.entropy = 1;
    params.xdrop = 910, params.hspthresh = 3000, params.bad_score = -1000, params.fill_score = -100;
    params.max_hits = HSPZ_MAX_HITS_DEFAULT;
    const int32_t hoxd70[16] = {91,  -114, -31, -123, -114, 100, -125, -31,
                                -31, -125, 100, -114, -123, -31, -114, 91};
    memcpy(params.scores, hoxd70, sizeof hoxd70);

    hspz_target target = {sizeof target, 0, (uint8_t *)argv[2], strlen(argv[2]), NULL, 0, NULL, 0};
    hspz_query query = {sizeof query, 0, (uint8_t *)argv[3], strlen(argv[3])};
    hspz_engine *engine = NULL;
    hspz_status status = plugin->engine_create(&params, NULL, &engine, &error);
    if (status == HSPZ_OK)
        status = plugin->set_target(engine, &target, &error);
    if (status == HSPZ_OK)
        status = plugin->set_query(engine, 0, &query, &error);
    for (uint32_t strand = HSPZ_STRAND_PLUS; strand <= HSPZ_STRAND_MINUS && status == HSPZ_OK; strand++) {
        hspz_find_request request = {sizeof request, 0, strand, 250000, 0, query.length};
        hspz_sink sink = {sizeof sink, 0, strand ? "-" : "+", print};
        status = plugin->find_hsps(engine, &request, &sink, &error);
    }
    plugin->engine_destroy(engine);
    if (status == HSPZ_OK && fflush(stdout) == 0)
        return 0;
    return fail(argv[1], status == HSPZ_OK ? "stdout cannot be written" : error.text);
}
