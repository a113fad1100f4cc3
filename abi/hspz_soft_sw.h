/* hspz_soft_sw.h -- the extension "hspz.soft_sw/1": a differentiable Smith-Waterman score.
 *
 * Idea: the local alignment recurrence with the maximum replaced by a smooth one, so that the score has a gradient
 * with respect to every similarity. With S[M][N], gap g and temperature T > 0 (SPEC section 10):
 *   H[0][*] = H[*][0] = 0
 *   H[i][j] = T log(1 + e^(match/T) + e^(delete/T) + e^(insert/T))
 *   match = H[i-1][j-1] + S[i-1][j-1],  delete = H[i-1][j] + g,  insert = H[i][j-1] + g
 * The score is the largest H[i][j]: a hard maximum, whose gradient flows through one cell, the first in row-major
 * order among equals. With M = 0 or N = 0 the score is 0.
 *
 * `hspz_plugin.get_extension(HSPZ_SOFT_SW_ID)` returns a `const hspz_soft_sw *`.
 *
 * Accuracy: for any finite S and g and T in [1e-3, 1e3] no intermediate overflows and no NaN arises. Scores are within
 * 1e-5 relative of the recurrence in double precision, gradients within 1e-4 (absolute, for a score gradient
 * of 1). Scores beyond the range of float are returned as the largest float. T from 1e-9 to 1e9 is accepted,
 * without that promise. S that is not finite gives unspecified results, but touches nothing else.
 *
 * Memory and execution are those of hspz_hash_index.h: all buffers are the caller's; with HSPZ_DEVICE_CUDA all
 * of them are device memory, work is only enqueued on `stream` and may be captured and replayed; with
 * HSPZ_DEVICE_CPU the work is done on return. Outputs must not overlap each other, the input or the scratch.
 *
 * Errors: HSPZ_E_ARGUMENT (with a sentence), HSPZ_E_UNSUPPORTED or HSPZ_E_NOT_BUILT for a `device` that this plugin does
 * not serve, HSPZ_E_DEVICE when a launch fails. A refused call writes nothing. All functions are [any].
 */
#ifndef HSPZ_SOFT_SW_H
#define HSPZ_SOFT_SW_H

#include "hspz_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HSPZ_SOFT_SW_ID "hspz.soft_sw/1"

#define HSPZ_SOFT_SW_NO_CELL 0xffffffffffffffffu

/* One call works on `batch` independent problems of one shape. */
typedef struct hspz_soft_sw_request {
    uint32_t struct_size;
    uint32_t device;         /* HSPZ_DEVICE_CPU or HSPZ_DEVICE_CUDA: where the buffers live */
    uint64_t batch;          /* B */
    uint32_t rows;           /* M */
    uint32_t columns;        /* N */
    double gap;              /* g, added per gapped position: usually negative */
    double temperature;      /* T */
    const float *similarity; /* S[B][M][N] */
    float *scores;           /* [B]; may be NULL in backward */
    /* [B] row-major place (i-1)*N + (j-1) of the cell whose H is the score, HSPZ_SOFT_SW_NO_CELL if M or N is 0; NULL:
     * not wanted. */
    uint64_t *cells;
    /* backward only: d(loss)/d(score) [B], and where d(loss)/dS [B][M][N] goes */
    const float *score_gradient;
    float *gradient;
    void *scratch;         /* 16-byte aligned */
    uint64_t scratch_size; /* bytes, at least what forward_/backward_scratch_size says */
    void *stream;
    uint32_t threads; /* CPU worker threads, 0: as many as the process may use */
    uint32_t reserved;
} hspz_soft_sw_request;

/* The extension. The scratch sizes depend on device, batch, rows, columns and threads alone; more scratch than that
 * is not used. They answer 0 for what the call itself would refuse. backward includes a forward pass: it needs
 * nothing kept from a forward call. */
typedef struct hspz_soft_sw {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t (*forward_scratch_size)(const hspz_soft_sw_request *request);
    hspz_status (*forward)(const hspz_soft_sw_request *request, hspz_error *error);
    uint64_t (*backward_scratch_size)(const hspz_soft_sw_request *request);
    hspz_status (*backward)(const hspz_soft_sw_request *request, hspz_error *error);
} hspz_soft_sw;

#if UINTPTR_MAX == UINT64_MAX
HSPZ_ASSERT(sizeof(hspz_soft_sw_request) == 112);
HSPZ_ASSERT(sizeof(hspz_soft_sw) == 40);
#endif

#ifdef __cplusplus
}
#endif

#endif
