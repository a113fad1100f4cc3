/* device_memory.c -- the CUDA driver by name; see device_memory.h */
#include "device_memory.h"

#include <dlfcn.h>
#include <stdlib.h>

/* The driver's own types, as its ABI has them. */
typedef int driver_result; /* 0: success */
typedef int driver_device;
typedef void *driver_context;
typedef unsigned long long driver_pointer;

struct hspz__device_memory {
    void *library;
    driver_device device;
    driver_result (*init)(unsigned flags);
    driver_result (*device_get)(driver_device *device, int ordinal);
    driver_result (*retain)(driver_context *context, driver_device device);
    driver_result (*release)(driver_device device);
    driver_result (*set_current)(driver_context context);
    driver_result (*alloc)(driver_pointer *memory, size_t bytes);
    driver_result (*free)(driver_pointer memory);
    driver_result (*upload)(driver_pointer to, const void *from, size_t bytes);
    driver_result (*download)(void *to, driver_pointer from, size_t bytes);
    driver_result (*error_text)(driver_result code, const char **text);
};

static int failed(const hspz__device_memory *m, driver_result code, const char *what, hspz_failure *failure)
{
    const char *text = NULL;
    if (m->error_text == NULL || m->error_text(code, &text) != 0 || text == NULL)
        text = "unknown error";
    return hspz_failed(failure, HSPZ_EXIT_PLUGIN, "CUDA driver: %s failed: %s (%d)", what, text, code);
}

/* Pointers to functions come from dlsym as pointers to data; POSIX says the two convert through their bytes. */
static int find(hspz__device_memory *m, const char *name, void *function, hspz_failure *failure)
{
    void *found = dlsym(m->library, name);
    if (found == NULL)
        return hspz_failed(failure, HSPZ_EXIT_PLUGIN, "the CUDA driver has no function %s; it is too old",
                           name);
    *(void **)function = found;
    return 0;
}

static int find_all(hspz__device_memory *m, hspz_failure *failure)
{
    const struct {
        const char *name;
        void *function;
    } functions[] = {
        {"cuInit", &m->init},
        {"cuDeviceGet", &m->device_get},
        {"cuDevicePrimaryCtxRetain", &m->retain},
        {"cuDevicePrimaryCtxRelease_v2", &m->release},
        {"cuCtxSetCurrent", &m->set_current},
        {"cuMemAlloc_v2", &m->alloc},
        {"cuMemFree_v2", &m->free},
        {"cuMemcpyHtoD_v2", &m->upload},
        {"cuMemcpyDtoH_v2", &m->download},
        {"cuGetErrorString", &m->error_text},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        int code = find(m, functions[i].name, functions[i].function, failure);
        if (code != 0)
            return code;
    }
    return 0;
}

static int start(hspz__device_memory *m, uint32_t ordinal, hspz_failure *failure)
{
    driver_context context = NULL;
    driver_result code = m->init(0);
    if (code == 0)
        code = m->device_get(&m->device, (int)ordinal);
    if (code == 0)
        code = m->retain(&context, m->device);
    if (code != 0)
        return failed(m, code, "starting the device", failure);
    code = m->set_current(context);
    if (code != 0) {
        m->release(m->device);
        return failed(m, code, "making the context current", failure);
    }
    return 0;
}

int hspz__device_memory_open(uint32_t ordinal, hspz__device_memory **memory, hspz_failure *failure)
{
    hspz__device_memory *m = calloc(1, sizeof *m);
    *memory = NULL;
    if (m == NULL)
        return hspz_failed_memory(failure, "the CUDA driver", sizeof *m);
    int code = 0;
    m->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (m->library == NULL)
        code = hspz_failed(failure, HSPZ_EXIT_PLUGIN, "the CUDA driver cannot be loaded: %s", dlerror());
    if (code == 0)
        code = find_all(m, failure);
    if (code == 0)
        code = start(m, ordinal, failure);
    if (code == 0)
        *memory = m;
    else
        free(m); /* the driver stays mapped, as it must once it was touched */
    return code;
}

void hspz__device_memory_close(hspz__device_memory *memory)
{
    if (memory == NULL)
        return;
    memory->release(memory->device);
    free(memory);
}

int hspz__device_alloc(hspz__device_memory *memory, uint64_t bytes, void **buffer, hspz_failure *failure)
{
    driver_pointer at = 0;
    driver_result code = memory->alloc(&at, bytes == 0 ? 1 : (size_t)bytes);
    *buffer = (void *)(uintptr_t)at;
    return code == 0 ? 0 : failed(memory, code, "allocating device memory", failure);
}

void hspz__device_free(hspz__device_memory *memory, void *buffer)
{
    if (buffer != NULL)
        memory->free((driver_pointer)(uintptr_t)buffer);
}

int hspz__device_upload(hspz__device_memory *memory, void *to, const void *from, uint64_t bytes,
                        hspz_failure *failure)
{
    driver_result code = memory->upload((driver_pointer)(uintptr_t)to, from, (size_t)bytes);
    return code == 0 ? 0 : failed(memory, code, "copying to the device", failure);
}

int hspz__device_download(hspz__device_memory *memory, void *to, const void *from, uint64_t bytes,
                          hspz_failure *failure)
{
    driver_result code = memory->download(to, (driver_pointer)(uintptr_t)from, (size_t)bytes);
    return code == 0 ? 0 : failed(memory, code, "copying from the device", failure);
}
