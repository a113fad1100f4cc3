/* backend_cuda_filter.c -- numbers of the upper-bound filter (kernels/cuda/filter.h) and of the seed word, from the plan.
 *
 * Idea: u[c], the largest score among pairs of bases whose codes differ by XOR c, is scaled down until a block of 7 fits its
 * table entry (best prefix 10 bits, sum 12 bits signed). Scores are rounded up and x-drop down: the scaled scan
 * stops no earlier than the real one and its total is no smaller. What lies far below is raised to the smallest value that
 * fits, which is on the safe side too.
 */
#include "backend_cuda.h"

#include <string.h>

#define MOST_SCORE 146 /* 7 x 146 = 1022 fits 10 bits */

void hspz__cuda_word_init(hspz__cuda_word *word, const hspz__plan *plan)
{
    memset(word, 0, sizeof *word);
    word->window = plan->pattern_length;
    word->bits = plan->word_bits;
    word->care_count = plan->care_count;
    word->variant_count = plan->variant_count;
    memcpy(word->care_offset, plan->care_offset, sizeof word->care_offset);
    memcpy(word->care_bits, plan->care_bits, sizeof word->care_bits);
    memcpy(word->care_shift, plan->care_shift, sizeof word->care_shift);
    memcpy(word->variant_mask, plan->variant_mask, sizeof word->variant_mask);
}

/* Largest score of the base pairs that differ by XOR c. */
static void class_maxima(const hspz__plan *plan, int64_t most[4])
{
    for (int c = 0; c < 4; c++) {
        most[c] = INT64_MIN;
        for (int t = 0; t < 4; t++)
            if (plan->score[t][t ^ c] > most[c])
                most[c] = plan->score[t][t ^ c];
    }
}

static int64_t divide_up(int64_t value, int shift)
{
    const int64_t divisor = (int64_t)1 << shift;
    return value >= 0 ? (value + divisor - 1) / divisor : -(-value / divisor);
}

static int scale(const int64_t most[4], int32_t u[4])
{
    int shift = 0;
    for (int c = 0; c < 4; c++)
        while (divide_up(most[c], shift) > MOST_SCORE)
            shift++;
    for (int c = 0; c < 4; c++) {
        const int64_t scaled = divide_up(most[c], shift);
        u[c] = scaled < -MOST_SCORE ? -MOST_SCORE : (int32_t)scaled;
    }
    return shift;
}

/* Entry x: the 7 XOR values of a block, the first in the lowest bits. */
static uint32_t table_entry(uint32_t x, const int32_t u[4])
{
    int32_t sum = 0, best = 0, worst = 0;
    for (uint32_t k = 0; k < HSPZ__FILTER_BLOCK; k++) {
        sum += u[x >> (2 * k) & 3];
        best = sum > best ? sum : best;
        worst = sum < worst ? sum : worst;
    }
    return (uint32_t)sum << 20 | (uint32_t)best << 10 | (uint32_t)-worst;
}

/* Classes that meet some symbol with more than the smallest u promises. */
static uint32_t odd_classes(const hspz__plan *plan, int64_t smallest)
{
    uint32_t odd = 0;
    for (int symbol = HSPZ__LOWER; symbol < HSPZ__CLASSES; symbol++)
        for (int other = 0; other < HSPZ__CLASSES; other++)
            if (plan->score[symbol][other] > smallest || plan->score[other][symbol] > smallest)
                odd |= 1u << symbol;
    return odd;
}

/* The window's care bases in variant v: their sum and the most a prefix of them can have. */
static void window_numbers(hspz__cuda_filter *filter, const hspz__plan *plan, const int32_t u[4],
                           uint32_t spare, uint32_t beyond)
{
    const int32_t top = u[0] > u[1] ? u[0] : u[1], other = u[2] > u[3] ? u[2] : u[3];
    const int32_t most = top > other ? top : other;
    const int32_t either = u[0] > u[2] ? u[0] : u[2]; /* a T position: the same base or its transition */
    for (uint32_t v = 0; v < plan->variant_count; v++) {
        int32_t sum = 0, best = 0;
        for (uint32_t i = 0; i < plan->care_count; i++) {
            const bool transition = v > 0 && plan->variant_mask[v] == UINT32_C(2) << plan->care_shift[i];
            const int32_t score = plan->care_bits[i] == 1 ? either : transition ? u[2] : u[0];
            sum += score;
            best += score > 0 ? score : 0;
        }
        /* Don't-care bases that have no place in the fields score what is possible; unused places look like matches. */
        sum += (int32_t)beyond * most - (int32_t)spare * u[0];
        best += (int32_t)beyond * (most > 0 ? most : 0);
        filter->window_sum[v] = sum;
        filter->window_best[v] = best;
    }
}

void hspz__cuda_filter_init(hspz__cuda_filter *filter, const hspz__plan *plan, uint32_t *table)
{
    int64_t most[4];
    int32_t u[4];
    memset(filter, 0, sizeof *filter);
    class_maxima(plan, most);
    const int shift = scale(most, u);
    for (uint32_t x = 0; x < HSPZ__FILTER_ENTRIES; x++)
        table[x] = table_entry(x, u);

    uint32_t all = 0;
    for (uint32_t i = plan->pattern_length; i-- > 0;) {
        if (plan->pattern[i] != '0')
            continue;
        if (filter->dont_care < 14)
            filter->dont_care_offset[filter->dont_care++] = (uint8_t)i;
        all++;
    }
    const uint32_t places = filter->dont_care > 7 ? 14 : 7;
    window_numbers(filter, plan, u, places - filter->dont_care, all - filter->dont_care);

    int32_t smallest = u[0];
    for (int c = 1; c < 4; c++)
        smallest = u[c] < smallest ? u[c] : smallest;
    filter->odd_classes = odd_classes(plan, (int64_t)smallest * ((int64_t)1 << shift));
    const int64_t headroom = (int64_t)plan->xdrop >> shift, keep = divide_up(plan->keep_total, shift);
    filter->headroom = headroom < 1 << 24 ? (int32_t)headroom : 1 << 24;
    filter->keep = keep < 1 << 28 ? (int32_t)keep : 1 << 28;
    /* A scan over random bases must fall, and fall within a few hundred bases. */
    const int32_t drift = u[0] + u[1] + u[2] + u[3];
    filter->useful = drift < 0 && (int64_t)filter->headroom * 4 < (int64_t)-drift * 200;
}

int hspz__cuda_can_join(const hspz__cuda *cuda)
{
    const uint32_t gate = cuda->knobs.gate;
    return (gate == HSPZ__GATE_AUTO || gate == HSPZ__GATE_JOIN) && cuda->filter.useful &&
           hspz__cuda_join_warps(cuda) > 0;
}

int hspz__cuda_can_screen(const hspz__cuda *cuda)
{
    return cuda->knobs.gate != HSPZ__GATE_WARP && cuda->filter.useful &&
           cuda->properties.sharedMemPerBlockOptin >= HSPZ__FILTER_ENTRIES * sizeof(uint32_t);
}
