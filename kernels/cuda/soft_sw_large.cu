/* soft_sw_large.cu -- the launches of soft_sw_pipeline.cuh: all problems of a call, or those that were flagged. */
#include "soft_sw_pipeline.cuh"

#define MOST_BLOCKS HSPZ__SOFT_FEW
#define AREA_MOST (1ull << 30) /* bytes of shares that backward asks for, unless one problem needs more */

/* Each block owns a range of problems; of these it takes the flagged ones, or all. */
template <bool BACKWARD>
static __global__ void __launch_bounds__(HSPZ__SOFT_WARPS * 32)
    solve_problems(const hspz__soft_kernel k, const unsigned char *flags, unsigned char *area,
                   uint64_t area_bytes)
{
    __shared__ unsigned long long done[HSPZ__SOFT_WARPS];
    __shared__ seen shared_seen[HSPZ__SOFT_WARPS];
    const pipeline p = make_pipeline(k, area, blockIdx.x, area_bytes, done);
    const uint64_t each = (k.batch + gridDim.x - 1) / gridDim.x;
    const uint64_t begin = blockIdx.x * each, end = min(begin + each, k.batch);
    for (uint64_t first = begin; first < end; first += blockDim.x) {
        const uint64_t mine = first + threadIdx.x;
        if (flags != NULL && __syncthreads_or(mine < end && flags[mine] != 0) == 0)
            continue; /* the usual case: nothing is left to do here */
        for (uint64_t problem = first; problem < min(first + blockDim.x, end); problem++)
            if (flags == NULL || flags[problem] != 0)
                solve<BACKWARD>(k, p, problem, shared_seen,
                                flags == NULL || flags[problem] != HSPZ__SOFT_GRADIENT);
    }
}

static unsigned blocks_of(uint64_t batch, uint64_t rows, uint64_t columns, bool backward)
{
    uint64_t blocks = AREA_MOST / block_bytes(rows, columns, backward);
    if (blocks > MOST_BLOCKS)
        blocks = MOST_BLOCKS;
    if (blocks > batch)
        blocks = batch;
    return blocks < 1 ? 1 : (unsigned)blocks;
}

uint64_t hspz__soft_large_area(uint64_t batch, uint64_t rows, uint64_t columns, bool backward)
{
    return blocks_of(batch, rows, columns, backward) * block_bytes(rows, columns, backward);
}

cudaError_t hspz__soft_large(const hspz__soft_kernel *k, const unsigned char *flags, void *area,
                             cudaStream_t stream)
{
    const bool backward = k->gradient != NULL;
    const unsigned blocks = blocks_of(k->batch, k->rows, k->columns, backward),
                   threads = warps_of(k->rows) * 32;
    const uint64_t bytes = block_bytes(k->rows, k->columns, backward);
    unsigned char *bytes_area = (unsigned char *)area;
    if (backward)
        return HSPZ__LAUNCH(solve_problems<true>, blocks, threads, 0, stream, *k, flags, bytes_area, bytes);
    return HSPZ__LAUNCH(solve_problems<false>, blocks, threads, 0, stream, *k, flags, bytes_area, bytes);
}
