/* fuzz_twobit.c -- any bytes behind a valid 2bit signature and version: every number in the file is hostile.
 *
 * The first byte chooses byte order and version, the rest follows the version. A file of n bytes must not yield more than
 * 4 n bases, whatever it claims.
 */
#include "genome.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t little[4] = {0x43, 0x27, 0x41, 0x1a}, big[4] = {0x1a, 0x41, 0x27, 0x43};
    hspz_genome genome;
    hspz_failure failure = {0};
    if (size < 1)
        return 0;
    uint8_t *file = calloc(1, size + 8);
    if (file == NULL)
        return 0;
    bool swap = data[0] & 1;
    memcpy(file, swap ? big : little, 4);
    file[swap ? 7 : 4] = data[0] >> 1 & 1;
    memcpy(file + 8, data + 1, size - 1);
    int code = hspz_genome_load_memory(file, size + 7, "fuzz", NULL, &genome, &failure);
    if (code != 0 && (failure.text[0] == '\0' || strchr(failure.text, '\n') != NULL || genome.bases != NULL))
        abort();
    if (code == 0) {
        if (genome.composition.bases > 4 * (uint64_t)(size + 7))
            abort();
        for (uint64_t at = 0; at < genome.length; at++)
            if (strchr("ACGTNacgtn&", genome.bases[at]) == NULL || genome.bases[at] == '\0')
                abort();
    }
    hspz_genome_free(&genome);
    free(file);
    return 0;
}
