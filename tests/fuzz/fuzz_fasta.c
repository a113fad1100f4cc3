/* fuzz_fasta.c -- any bytes as an input file: FASTA, gzip, or what merely looks like it.
 *
 * Either the file is refused with one sentence, or the genome that comes out is consistent: offsets follow from lengths,
 * every byte is a nucleotide letter or a separator at its place, the totals add up, and blocks of any size lead back
 * to the records.
 */
#include "hspz_abi.h"
#include "layout.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            abort();                                                                                         \
    } while (0)

static void check_genome(const hspz_genome *genome, bool unmask)
{
    uint64_t offset = 0, bases = 0;
    for (size_t i = 0; i < genome->record_count; i++) {
        const hspz_record *record = &genome->records[i];
        MUST(record->offset == offset && record->name[0] != '\0');
        for (uint64_t at = 0; at < record->length; at++) {
            char base = (char)genome->bases[offset + at];
            MUST(base != '\0' &&
                 strchr(unmask ? "ACGTNRYSWKMBDHVX" : "ACGTNRYSWKMBDHVXacgtnryswkmbdhvx", base));
        }
        MUST(genome->bases[offset + record->length] == (i + 1 < genome->record_count ? HSPZ_SEPARATOR : 0));
        offset += record->length + 1;
        bases += record->length;
    }
    const hspz_composition *is = &genome->composition;
    MUST(genome->length == offset - 1 && bases == is->bases && bases > 0);
    MUST(is->upper + is->masked + is->n + is->iupac + is->x == bases);
}

static void check_layout(const hspz_genome *genome, uint64_t block_size)
{
    hspz_layout layout;
    uint64_t total = 0;
    MUST(hspz_layout_make(genome, block_size, &layout, NULL) == 0);
    for (size_t i = 0; i < layout.block_count; i++) {
        const hspz_block *block = &layout.blocks[i];
        hspz_place place;
        for (uint64_t at = 0; at < block->length; at += 1 + at / 8) {
            bool base = block->bases[at] != HSPZ_SEPARATOR;
            MUST(hspz_layout_locate(&layout, block, HSPZ_STRAND_PLUS, at, &place) == base);
            MUST(!base || genome->bases[place.record->offset + place.position] == block->bases[at]);
        }
        total += block->length + 1;
    }
    MUST(total == genome->length + 1);
    hspz_layout_free(&layout);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hspz_genome_options options = {.unmask = size % 2 == 1, .name_prefix = size % 3 == 0 ? "p." : NULL};
    hspz_genome genome;
    hspz_failure failure = {0};
    int code = hspz_genome_load_memory(data, size, "fuzz", &options, &genome, &failure);
    if (code != 0) {
        MUST(failure.text[0] != '\0' && strchr(failure.text, '\n') == NULL && genome.bases == NULL);
        return 0;
    }
    check_genome(&genome, options.unmask);
    check_layout(&genome, 1 + size % 50);
    hspz_genome_free(&genome);
    return 0;
}
