/* tally.c -- see tally.h */
#include "tally.h"

#include <stdlib.h>
#include <string.h>

bool hspz__tally_init(hspz_tally *tally, size_t target_blocks)
{
    memset(tally, 0, sizeof *tally);
    tally->sum.struct_size = sizeof tally->sum;
    tally->target_positions = calloc(target_blocks ? target_blocks : 1, sizeof *tally->target_positions);
    tally->target_blocks = target_blocks;
    return tally->target_positions != NULL;
}

void hspz__tally_free(hspz_tally *tally)
{
    free(tally->target_positions);
    memset(tally, 0, sizeof *tally);
}

void hspz__tally_target(hspz_tally *tally, size_t block, uint64_t positions)
{
    if (block < tally->target_blocks)
        tally->target_positions[block] = positions;
}

void hspz__tally_engine(hspz_tally *tally, const hspz_statistics *engine)
{
    hspz_statistics *sum = &tally->sum;
#define ADD_COUNT(member) sum->member += engine->member;
#define ADD_SECONDS(member) sum->seconds_##member += engine->seconds_##member;
    HSPZ_STATISTICS_COUNTS(ADD_COUNT)
    HSPZ_STATISTICS_SECONDS(ADD_SECONDS)
#undef ADD_COUNT
#undef ADD_SECONDS
    sum->host_memory_peak += engine->host_memory_peak;
    sum->device_memory_peak += engine->device_memory_peak;
}

hspz_statistics hspz__tally_sum(const hspz_tally *tally)
{
    hspz_statistics sum = tally->sum;
    sum.target_positions = 0;
    for (size_t i = 0; i < tally->target_blocks; i++)
        sum.target_positions += tally->target_positions[i];
    return sum;
}
