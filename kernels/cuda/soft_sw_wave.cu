/* soft_sw_wave.cu -- the launches of soft_sw_wave.cuh: as many problems at a time as their scratch allows. */
#include "soft_sw_wave.cuh"

#define AREA_MOST (1ull << 30) /* bytes of scratch, unless one problem needs more */
#define SIDES_MOST (1u << 22)  /* rows and columns in sum: exponents stay far from overflow */
#define GAP_LEAST (-15.0)      /* bits: 8 steps down must stay in range of a float */
#define GAP_MOST 0.0 /* above it, E leaps from the 1 at the edge of the matrix, from row to row farther */
#define SEGMENTS_MOST (1ull << 30) /* of a launch: tickets are 32 bits */

/* Bytes of a problem's scratch, in parts. */
struct problem_bytes {
    uint64_t border, seen, diagonals, exponents;
};

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + 127) / 128 * 128;
}

static hspz__wave shape_of(uint64_t rows, uint64_t columns)
{
    hspz__wave w = {};
    w.strips = (uint32_t)((rows + WAVE_STRIP - 1) / WAVE_STRIP);
    w.segments = (w.strips + WAVE_WARPS - 1) / WAVE_WARPS;
    w.steps = (uint32_t)((columns + 31 + WAVE_STEPS - 1) / WAVE_STEPS * WAVE_STEPS);
    return w;
}

static problem_bytes bytes_of(const hspz__wave &w, uint64_t columns, bool backward)
{
    problem_bytes b = {};
    b.border = (uint64_t)(w.segments - 1) * columns * 8;
    b.seen = w.segments * sizeof(wave_seen);
    if (backward) {
        b.diagonals = (uint64_t)w.strips * w.steps * WAVE_STRIP * 4;
        b.exponents = (uint64_t)w.strips * (w.steps / WAVE_STEPS) * 32 * 4;
    }
    return b;
}

static uint64_t problems_at_a_time(const hspz__wave &w, const problem_bytes &b, uint64_t batch)
{
    uint64_t most = AREA_MOST / (2 * b.border + b.seen + b.diagonals + b.exponents);
    if (most > SEGMENTS_MOST / w.segments)
        most = SEGMENTS_MOST / w.segments;
    if (most > batch)
        most = batch;
    return most < 1 ? 1 : most;
}

/* Divides the area among `problems`; answers its size, *clear the part that must be 0. */
static uint64_t divide(hspz__wave *w, const problem_bytes &b, uint64_t problems, bool backward,
                       uintptr_t area, uint64_t *clear)
{
    uint64_t at = 0;
    w->tickets = (uint32_t *)(area + at);
    at += 128;
    w->finished = (uint32_t *)(area + at);
    at += rounded(problems * 4);
    for (int direction = 0; direction <= (int)backward; direction++) {
        w->borders[direction] = (unsigned long long *)(area + at);
        at += rounded(problems * b.border);
    }
    *clear = at;
    w->seen = (wave_seen *)(area + at);
    at += rounded(problems * b.seen);
    w->best = (wave_best *)(area + at);
    at += rounded(problems * sizeof(wave_best));
    w->diagonals = (float *)(area + at);
    at += rounded(problems * b.diagonals);
    w->exponents = (int32_t *)(area + at);
    at += rounded(problems * b.exponents);
    return at;
}

bool hspz__soft_wave_serves(uint64_t rows, uint64_t columns, double gap_bits)
{
    return rows + columns <= SIDES_MOST && gap_bits >= GAP_LEAST && gap_bits <= GAP_MOST;
}

uint64_t hspz__soft_wave_area(uint64_t batch, uint64_t rows, uint64_t columns, bool backward)
{
    if (rows + columns > SIDES_MOST)
        return 0;
    hspz__wave w = shape_of(rows, columns);
    const problem_bytes b = bytes_of(w, columns, backward);
    uint64_t clear;
    return divide(&w, b, problems_at_a_time(w, b, batch), backward, 0, &clear);
}

/* The part of the work that begins with problem `first`. */
static hspz__soft_kernel part_of(const hspz__soft_kernel &k, uint64_t first, uint64_t problems)
{
    hspz__soft_kernel part = k;
    const uint64_t cells = first * k.rows * k.columns;
    part.batch = k.batch - first < problems ? k.batch - first : problems;
    part.similarity += cells;
    part.scores = k.scores != NULL ? k.scores + first : NULL;
    part.cells = k.cells != NULL ? k.cells + first : NULL;
    part.score_gradient = k.gradient != NULL ? k.score_gradient + first : NULL;
    part.gradient = k.gradient != NULL ? k.gradient + cells : NULL;
    return part;
}

cudaError_t hspz__soft_wave(const hspz__soft_kernel *k, unsigned char *flags, void *area, cudaStream_t stream)
{
    const bool backward = k->gradient != NULL;
    hspz__wave w = shape_of(k->rows, k->columns);
    const problem_bytes b = bytes_of(w, k->columns, backward);
    const uint64_t problems = problems_at_a_time(w, b, k->batch);
    uint64_t clear;
    divide(&w, b, problems, backward, (uintptr_t)area, &clear);
    cudaError_t code = cudaSuccess;
    for (uint64_t first = 0; code == cudaSuccess && first < k->batch; first += problems) {
        const hspz__soft_kernel part = part_of(*k, first, problems);
        w.flags = flags + first;
        code = cudaMemsetAsync(area, 0, clear, stream);
        if (code == cudaSuccess)
            code = hspz__wave_forward(&part, &w, stream);
        if (code == cudaSuccess && backward)
            code = hspz__wave_backward(&part, &w, stream);
    }
    return code;
}
