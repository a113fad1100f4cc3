/* soft_sw.cu -- soft Smith-Waterman on a CUDA device: constants of a call, scratch, choice of kernels.
 *
 * Idea: problems of at most 32 x 32 go to the small kernels, larger ones to the wave over many blocks; what leaves the range of their
 * floats is flagged, one byte a problem, and a last launch of the large kernel does the flagged ones, without asking the
 * host. Gaps out of range go to the large kernel at once.
 */
#include "soft_sw.cuh"

#include <cmath>

hspz_status hspz__cuda_status(cudaError_t code, const char *what, hspz_error *error);

static const double log2_e = 1.4426950408889634074;

static uint64_t flag_bytes(uint64_t batch)
{
    return (batch + 127) / 128 * 128;
}

static bool is_small(const hspz__soft_sw_work *work)
{
    return work->rows <= HSPZ__SOFT_SMALL && work->columns <= HSPZ__SOFT_SMALL;
}

/* True when e^(g/T) is as good as its plain float: not lost below, not near overflow. */
static bool plain_gap(double exponent)
{
    return (exponent > -100 && exponent < 60) || exponent < -250;
}

static hspz__soft_constants constants_of(const hspz__soft_sw_work *work)
{
    hspz__soft_constants c = {};
    const double per_bit = log2_e / work->temperature, exponent = work->gap * per_bit;
    const double most_bits = HSPZ__SOFT_BITS_MAX / ((double)work->rows + (double)work->columns + 2);
    c.per_bit_high = (float)per_bit;
    c.per_bit_low = (float)(per_bit - (double)c.per_bit_high);
    c.gap = work->gap / work->temperature;
    c.temperature = work->temperature;
    c.inverse_temperature = 1 / work->temperature;
    c.gap_plain = exponent < -250 ? 0.0f : (float)std::exp2(std::fmin(exponent, 100.0));
    if (std::fabs(exponent) < most_bits) {
        const double whole = std::rint(exponent / 32);
        c.gap_e = (int32_t)whole;
        c.gap_m = (float)(std::exp2(exponent - 32 * whole) / 2);
        c.scaled_limit = (float)std::fmin(most_bits / per_bit, (double)FLT_MAX);
    }
    return c;
}

static hspz__soft_kernel kernel_of(const hspz__soft_sw_work *work)
{
    hspz__soft_kernel k = {};
    k.constants = constants_of(work);
    k.batch = work->batch;
    k.rows = work->rows;
    k.columns = work->columns;
    k.similarity = work->similarity;
    k.scores = work->scores;
    k.cells = work->cells;
    k.score_gradient = work->score_gradient;
    k.gradient = work->gradient;
    return k;
}

static uint64_t scratch(const hspz__soft_sw_work *work, int backward)
{
    if (work->rows > 0xffffff00u || work->columns > 0xffffff00u)
        return UINT64_MAX;
    if ((double)work->rows * work->columns * 24 > 1e18 || work->batch > 1ull << 48)
        return UINT64_MAX;
    const uint64_t large = hspz__soft_large_area(work->batch, work->rows, work->columns, backward != 0);
    const uint64_t wave =
        is_small(work) ? 0 : hspz__soft_wave_area(work->batch, work->rows, work->columns, backward != 0);
    return flag_bytes(work->batch) + (wave > large ? wave : large);
}

static hspz_status run(const hspz__soft_sw_work *work, hspz_error *error)
{
    const hspz__soft_kernel k = kernel_of(work);
    cudaStream_t stream = (cudaStream_t)work->stream;
    unsigned char *flags = (unsigned char *)work->scratch, *area = flags + flag_bytes(work->batch);
    const double gap_bits = work->gap * log2_e / work->temperature;
    cudaError_t code = cudaSuccess;
    if (is_small(work) && plain_gap(gap_bits)) {
        code = hspz__soft_small(&k, flags, area, stream);
        if (code == cudaSuccess && work->batch > HSPZ__SOFT_FEW)
            code = hspz__soft_large(&k, flags, area, stream);
    } else if (!is_small(work) && hspz__soft_wave_serves(work->rows, work->columns, gap_bits)) {
        code = hspz__soft_wave(&k, flags, area, stream);
        if (code == cudaSuccess)
            code = hspz__soft_large(&k, flags, area, stream);
    } else {
        code = hspz__soft_large(&k, NULL, area, stream);
    }
    return hspz__cuda_status(code, "soft Smith-Waterman", error);
}

static hspz_status clear(const hspz__soft_sw_work *work, hspz_error *error)
{
    cudaStream_t stream = (cudaStream_t)work->stream;
    cudaError_t code = cudaSuccess;
    if (work->scores != NULL)
        code = cudaMemsetAsync(work->scores, 0, work->batch * sizeof *work->scores, stream);
    if (code == cudaSuccess && work->cells != NULL) /* HSPZ_SOFT_SW_NO_CELL is all ones */
        code = cudaMemsetAsync(work->cells, 0xff, work->batch * sizeof *work->cells, stream);
    return hspz__cuda_status(code, "soft Smith-Waterman", error);
}

extern "C" const hspz__soft_sw_device hspz__soft_sw_cuda = {scratch, run, clear};
