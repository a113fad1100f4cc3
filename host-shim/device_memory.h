/* device_memory.h -- memory of a CUDA device for a host that is not linked with CUDA.
 *
 * Idea: the driver is loaded when it is needed (libcuda.so.1) and its few functions are looked up by name, so that the command
 * runs where there is no driver. Buffers live in the device's primary context, which is the one that a plugin's CUDA
 * runtime uses, too. One thread at a time.
 */
#ifndef HSPZ_HOST_DEVICE_MEMORY_H
#define HSPZ_HOST_DEVICE_MEMORY_H

#include "failure.h"

#include <stddef.h>
#include <stdint.h>

typedef struct hspz__device_memory hspz__device_memory;

/* Opens device number `ordinal` and makes its primary context current in this thread. 0, HSPZ_EXIT_PLUGIN or
 * HSPZ_EXIT_MEMORY with *memory NULL. */
int hspz__device_memory_open(uint32_t ordinal, hspz__device_memory **memory, hspz_failure *failure);
/* Gives the context back. Buffers must have been freed. Accepts NULL. */
void hspz__device_memory_close(hspz__device_memory *memory);

int hspz__device_alloc(hspz__device_memory *memory, uint64_t bytes, void **buffer, hspz_failure *failure);
void hspz__device_free(hspz__device_memory *memory, void *buffer); /* accepts NULL */
/* Both wait for the copy, and for all work enqueued on the default stream before. */
int hspz__device_upload(hspz__device_memory *memory, void *to, const void *from, uint64_t bytes,
                        hspz_failure *failure);
int hspz__device_download(hspz__device_memory *memory, void *to, const void *from, uint64_t bytes,
                          hspz_failure *failure);

#endif
