/* soft_sw.c -- a host that takes a soft local alignment score and its gradient from "hspz.soft_sw/1".
 *
 * Needs abi/ alone:  gcc -std=c11 -Iabi -o soft_sw soft_sw.c -ldl        Run:  ./soft_sw PLUGIN.so
 */
#include "hspz_soft_sw.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    const hspz_plugin *plugin = library != NULL ? dlsym(library, HSPZ_PLUGIN_SYMBOL) : NULL;
    const hspz_soft_sw *soft = plugin != NULL ? plugin->get_extension(HSPZ_SOFT_SW_ID) : NULL;
    if (soft == NULL)
        return fprintf(stderr, "usage: soft_sw PLUGIN.so (with %s)\n", HSPZ_SOFT_SW_ID), 2;

    /* GATTA against GTTA: 1 for equal letters, -1 for others. One gap is worth it. */
    static const char rows[] = "GATTA", columns[] = "GTTA";
    float similarity[5][4], gradient[5][4], score, one = 1;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 4; j++)
            similarity[i][j] = rows[i] == columns[j] ? 1.0f : -1.0f;
    hspz_soft_sw_request request = {.struct_size = sizeof request,
                                    .device = HSPZ_DEVICE_CPU,
                                    .batch = 1,
                                    .rows = 5,
                                    .columns = 4,
                                    .gap = -0.5,
                                    .temperature = 0.1,
                                    .similarity = similarity[0],
                                    .scores = &score,
                                    .score_gradient = &one,
                                    .gradient = gradient[0]};
    hspz_error error = {.struct_size = sizeof error};
    request.scratch_size = soft->backward_scratch_size(&request);
    request.scratch = aligned_alloc(16, (request.scratch_size + 31) / 16 * 16);
    if (request.scratch == NULL || soft->backward(&request, &error) != HSPZ_OK)
        return fprintf(stderr, "soft_sw: %s\n", error.text), 1;
    printf("score %.3f; how much each pair of letters counts:\n", score);
    for (int i = 0; i < 5; i++)
        printf("%c  %.2f %.2f %.2f %.2f\n", rows[i], gradient[i][0], gradient[i][1], gradient[i][2],
               gradient[i][3]);
    free(request.scratch);
    return 0;
}
