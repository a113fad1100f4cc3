/* fuzz_segments.c -- any bytes as a segments file, read and drawn as hspz dotplot does. */
#include "dotplot.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hspz_failure failure;
    hspz_dotplot *plot = hspz_dotplot_new();
    FILE *in = size != 0 ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
    if (in != NULL && plot != NULL) {
        char *bytes = NULL;
        size_t length = 0;
        FILE *out = open_memstream(&bytes, &length);
        /* whatever was read before the first bad line is drawn as well */
        int code = hspz_segments_read(in, "fuzz", hspz_dotplot_add, plot, &failure);
        if (out != NULL && hspz_dotplot_svg(plot, "fuzz", out, &failure) != 0 && code == 0)
            abort();
        if (out != NULL)
            fclose(out);
        free(bytes);
    }
    if (in != NULL)
        fclose(in);
    hspz_dotplot_free(plot);
    return 0;
}
