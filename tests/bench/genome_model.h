/* genome_model.h -- a pair of genomes that descend from one, for benchmarks and tests.
 *
 * Idea: what makes HSP search slow or fast is not length but what the words of two genomes have in common: composition
 * (isochores, rare CG), families of mobile elements of all ages, tandem repeats, the share that is soft-masked, and
 * how far homologous sequence has diverged. The model makes an ancestor of these, lets two lineages substitute (two
 * transitions a transversion), insert, delete and gain elements at rates that vary along the genome, and cuts the
 * second lineage into segments of which some are inverted or moved. The defaults were chosen by counting: with seed
 * 12of19 and transitions, 2 x 20 Mb have 263 million hits on the plus strand, of which 1.9 % reach a score of 3000, and
 * 2 x 100 Mb have 6.8 thousand million and 0.5 %; that is 1.7 times the hits of random sequence, as mammals have (human
 * x gorilla chromosome 22: 1.85 times). The same parameters give the same bytes wherever log() and log1p() agree.
 */
#ifndef HSPZ_BENCH_GENOME_MODEL_H
#define HSPZ_BENCH_GENOME_MODEL_H

#include <stdint.h>

typedef struct genome_model {
    uint64_t size;     /* bases of each genome, at least 1000 */
    uint64_t seed;     /* of the random numbers */
    double divergence; /* substitutions and indels a base between the two, neutral regions: 0..1 */
    double repeats;    /* share of the ancestor that is copies of elements or tandem repeats: 0..0.9 */
    double masked;     /* share of the copies that is soft-masked: 0..1 */
    double inverted;   /* share of the segments inverted: 0..1 */
    double moved;      /* share of the segments moved elsewhere: 0..1 */
    uint64_t segment;  /* mean length of a segment in bases, at least 100 */
    uint64_t families; /* number of element families, at least 1 */
    uint64_t
        n_runs; /* runs of N in each genome, of 50 to 50,000 bases (at most a hundredth of the genome each) */
    uint64_t iupac; /* other ambiguity codes strewn into each genome */
} genome_model;

/* The defaults for a genome of `size` bases. */
genome_model genome_model_defaults(uint64_t size);

/* The two genomes, `size` letters each, for the caller to free; 0, or -1 when memory is short (both NULL then). */
int genome_model_make(const genome_model *model, uint8_t **target, uint8_t **query);

#endif
