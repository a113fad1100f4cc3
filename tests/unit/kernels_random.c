/* kernels_random.c -- see kernels_random.h. */
#include "kernels_random.h"

#include <string.h>

uint64_t random_next(random_source *r)
{
    uint64_t x = r->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

uint64_t random_below(random_source *r, uint64_t n)
{
    return random_next(r) % n;
}

void random_fill(random_source *r, void *to, size_t bytes)
{
    unsigned char *at = to;
    for (size_t i = 0; i < bytes; i++)
        at[i] = (unsigned char)random_next(r);
}

uint32_t kernels_to_test(const hspz__cpu_kernels *list[2])
{
    uint32_t n = 0;
    for (uint32_t isa = 2; hspz__cpu_isa_names[isa] != NULL; isa++)
        if (hspz__cpu_choose(isa) != NULL)
            list[n++] = hspz__cpu_choose(isa);
    return n;
}

scoring scoring_make(random_source *r)
{
    static const int32_t hoxd70[4][4] = {
        {91, -114, -31, -123}, {-114, 100, -125, -31}, {-31, -125, 100, -114}, {-123, -31, -114, 91}};
    scoring s = {.xdrop = 910, .keep = 3000};
    memcpy(s.score, hoxd70, sizeof s.score);
    if (r == NULL)
        return s;
    for (int t = 0; t < 4; t++)
        for (int q = 0; q < 4; q++)
            s.score[t][q] = (int32_t)random_below(r, 150) - (t == q ? 20 : 140);
    s.xdrop = 1 + (int32_t)random_below(r, 3000);
    s.keep = 1 + (int32_t)random_below(r, 5000);
    return s;
}
