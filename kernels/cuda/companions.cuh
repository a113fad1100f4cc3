/* companions.cuh -- launches of the companion systems: how many blocks fill a device, and kernels that start early.
 *
 * Idea: counters must be cleared before a kernel adds to them, but a kernel of its own for a few words costs as long as a small query.
 * From sm_90 on the second kernel may start while the first still runs (programmatic dependent launch) and waits for it
 * only where it touches what the first wrote.
 */
#ifndef HSPZ__COMPANIONS_CUH
#define HSPZ__COMPANIONS_CUH

#include "device.cuh"

/* `each` blocks per multiprocessor of the current device. */
static inline unsigned hspz__resident_blocks(unsigned each)
{
#ifdef HSPZ_EMULATE
    return each;
#else
    int device = 0, count = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess || count < 1)
        count = 128; /* the launch will say what is wrong */
    return (unsigned)count * each;
#endif
}

/* Device side: what the kernel before has written may be touched from here on. */
__device__ __forceinline__ void hspz__wait_for_previous()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Device side: the kernel behind, if it was launched early, may start. */
__device__ __forceinline__ void hspz__let_next_start()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

#ifdef HSPZ_EMULATE
#define HSPZ__LAUNCH_EARLY HSPZ__LAUNCH
#else
/* True when `kernel` was compiled with its wait and the launch is none of a capture, whose graph orders its nodes plainly. */
template <typename Kernel> static inline bool hspz__may_start_early(Kernel kernel, cudaStream_t stream)
{
#if CUDART_VERSION >= 12000
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusActive;
    cudaFuncAttributes attributes = {};
    return cudaStreamIsCapturing(stream, &capture) == cudaSuccess && capture == cudaStreamCaptureStatusNone &&
           cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess && attributes.ptxVersion >= 90;
#else
    return false;
#endif
}

template <typename... Parameters, typename... Arguments>
static inline cudaError_t hspz__launch_early(void (*kernel)(Parameters...), unsigned grid, unsigned block,
                                             size_t shared, cudaStream_t stream, Arguments... arguments)
{
    if (!hspz__may_start_early(kernel, stream))
        return HSPZ__LAUNCH(kernel, grid, block, shared, stream, arguments...);
#if CUDART_VERSION >= 12000
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(grid);
    config.blockDim = dim3(block);
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = 1;
    const cudaError_t code = cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
    if (code != cudaErrorNotSupported)
        return code;
    (void)cudaGetLastError();
    return HSPZ__LAUNCH(kernel, grid, block, shared, stream, arguments...);
#endif
}

/* As HSPZ__LAUNCH, for a kernel that calls hspz__wait_for_previous() and follows one that calls hspz__let_next_start(). */
#define HSPZ__LAUNCH_EARLY(kernel, grid, block, shared, stream, ...)                                         \
    hspz__launch_early((kernel), (grid), (block), (shared), (stream), __VA_ARGS__)
#endif

#endif
