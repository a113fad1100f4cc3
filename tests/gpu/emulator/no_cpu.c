/* no_cpu.c -- fills the CPU backend's place in the emulated plugin, which holds the CUDA backend alone. */
#include "backend.h"

static uint32_t device_count(void)
{
    return 0;
}

const hspz__backend hspz__backend_cpu = {
    .name = "cpu", .kind = HSPZ_DEVICE_CPU, .device_count = device_count};

/* No companion systems either. */
#include "engine.h"

const void *hspz__get_extension(const char *id)
{
    (void)id;
    return NULL;
}
