/* backend_cuda_absent.c -- the CUDA backend of a plugin that was built without nvcc: it says so.
 *
 * Idea: the device list keeps a row for CUDA so that a user who asks for the GPU reads why there is none.
 */
#include "backend.h"

#include <stdio.h>

static const char reason[] =
    "this plugin was built without nvcc; rebuild where the CUDA toolkit is installed";

static uint32_t device_count(void)
{
    return 1;
}

static void device_info(uint32_t row, hspz_device_info *info)
{
    info->kind = HSPZ_DEVICE_CUDA;
    info->ordinal = row;
    info->score = 0;
    info->status = HSPZ_E_NOT_BUILT;
    snprintf(info->name, sizeof info->name, "CUDA");
    snprintf(info->detail, sizeof info->detail, "%s", reason);
}

static hspz_status create(const hspz__plan *plan, hspz__host *host, uint32_t row, void **state,
                          hspz_error *error)
{
    (void)plan;
    (void)host;
    (void)row;
    *state = NULL;
    return hspz__fail(error, HSPZ_E_NOT_BUILT, "%s", reason);
}

/* No state is ever created, so that the other members are never called. */
const hspz__backend hspz__backend_cuda = {
    .name = "cuda",
    .kind = HSPZ_DEVICE_CUDA,
    .device_count = device_count,
    .device_info = device_info,
    .create = create,
};
