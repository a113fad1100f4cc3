/* cuda_runtime.h -- stands in for the toolkit's under the emulator. */
#ifndef HSPZ_EMULATE_RUNTIME_H
#define HSPZ_EMULATE_RUNTIME_H
#include "cuda_runtime_api.h"
#endif
