/* layout.c -- see layout.h */
#include "layout.h"

#include "hspz_abi.h"

#include <stdlib.h>
#include <string.h>

/* Takes records from `first` on until the block is closed or the file ends. */
static int take_block(const hspz_genome *genome, size_t first, uint64_t block_size, hspz_block *block,
                      hspz_failure *failure)
{
    size_t record = first;
    uint64_t length = 0;
    for (; record < genome->record_count; record++) {
        uint64_t separator = record > first;
        length += genome->records[record].length + separator;
        if (length > HSPZ_BLOCK_MAX)
            return hspz_failed(failure, HSPZ_EXIT_DATA,
                               "%s: the block that begins with record %.200s reaches %llu bases with record "
                               "%.200s, the most "
                               "is %u; use a smaller block size or split the record",
                               genome->path, genome->records[first].name, (unsigned long long)length,
                               genome->records[record].name, HSPZ_BLOCK_MAX);
        if (length > block_size) {
            record++;
            break;
        }
    }
    block->bases = genome->bases + genome->records[first].offset;
    block->length = length;
    block->first_record = first;
    block->record_count = record - first;
    return 0;
}

int hspz_layout_make(const hspz_genome *genome, uint64_t block_size, hspz_layout *layout,
                     hspz_failure *failure)
{
    size_t capacity = 0, record = 0;
    uint64_t offset = 0;
    int code = 0;
    memset(layout, 0, sizeof *layout);
    layout->genome = genome;
    while (code == 0 && record < genome->record_count) {
        if (layout->block_count == capacity) {
            size_t wanted = capacity == 0 ? 8 : 2 * capacity;
            hspz_block *grown =
                wanted <= SIZE_MAX / sizeof *grown ? realloc(layout->blocks, wanted * sizeof *grown) : NULL;
            if (grown == NULL) {
                code = hspz_failed_memory(failure, "the list of blocks",
                                          (unsigned long long)wanted * sizeof *grown);
                break;
            }
            layout->blocks = grown;
            capacity = wanted;
        }
        hspz_block *block = &layout->blocks[layout->block_count];
        code = take_block(genome, record, block_size, block, failure);
        if (code != 0)
            break;
        block->offset = offset;
        offset += block->length;
        record += block->record_count;
        layout->block_count++;
    }
    if (code != 0)
        hspz_layout_free(layout);
    return code;
}

void hspz_layout_free(hspz_layout *layout)
{
    if (layout == NULL)
        return;
    free(layout->blocks);
    memset(layout, 0, sizeof *layout);
}

/* Last record of the block that starts at or before the plus position. */
static size_t find_record(const hspz_genome *genome, const hspz_block *block, uint64_t position)
{
    uint64_t base = genome->records[block->first_record].offset;
    size_t low = block->first_record, high = block->first_record + block->record_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (genome->records[middle].offset - base <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

bool hspz_layout_locate(const hspz_layout *layout, const hspz_block *block, uint32_t strand,
                        uint64_t position, hspz_place *place)
{
    const hspz_genome *genome = layout->genome;
    if (position >= block->length)
        return false;
    uint64_t plus = strand == HSPZ_STRAND_MINUS ? block->length - 1 - position : position;
    size_t index = find_record(genome, block, plus);
    const hspz_record *record = &genome->records[index];
    uint64_t within = plus - (record->offset - genome->records[block->first_record].offset);
    if (within >= record->length)
        return false;
    place->record = record;
    place->record_index = index;
    place->position = strand == HSPZ_STRAND_MINUS ? record->length - 1 - within : within;
    return true;
}

uint64_t hspz_block_record_start(const hspz_layout *layout, const hspz_block *block, size_t record,
                                 uint32_t strand)
{
    const hspz_record *records = layout->genome->records;
    uint64_t start = records[record].offset - records[block->first_record].offset;
    return strand == HSPZ_STRAND_MINUS ? block->length - start - records[record].length : start;
}

uint64_t hspz_interval_count(uint64_t length, uint32_t width, uint64_t interval_size)
{
    if (length < width || interval_size == 0)
        return 0;
    uint64_t last = length - width; /* the last window start */
    return last == 0 ? 1 : (last - 1) / interval_size + 1;
}

hspz_interval hspz_interval_at(uint64_t length, uint32_t width, uint64_t interval_size, uint64_t k,
                               uint32_t strand)
{
    uint64_t last = length - width, begin = k * interval_size;
    uint64_t end = interval_size < last - begin ? begin + interval_size : last;
    if (strand == HSPZ_STRAND_MINUS)
        return (hspz_interval){.begin = last - end, .end = last - begin};
    return (hspz_interval){.begin = begin, .end = end};
}
