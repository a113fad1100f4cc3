/* ab.c -- random cases through two plugins, which must agree record by record and count by count.
 *
 *   ab ORACLE.so PLUGIN.so [--cases N] [--seed S] [--size BASES] [--device cuda|cpu|any]
 *      [--bits MOST] [--dedup N] [--tight 1] [--chains 1] [--pattern P] [--index auto|direct|hash]
 *
 * Idea: one 64-bit seed makes a whole case (cases.h) and the knobs that must not change results. A failing case is told by its seed:
 * --seed S --cases 1 repeats it. --tight 1 leaves so little room that nearly everything comes in pieces.
 * --chains 1: cases in which the mark rule decides (chains.h), worked off by the way for very many hits.
 * --pattern P: that seed, without an index of the host's. Needs nothing but the C library, so that it builds on a bare machine with a GPU.
 */
#include "chains.h"
#include "sides.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void make_knobs(side *s)
{
    s->knob_count = 0;
    if (one_in(3))
        set_knob(s, "gate", one_in(3) ? "thread" : "warp");
    if (one_in(2))
        set_knob(s, "seed_index", one_in(4) ? "direct" : "hash");
    if (one_in(2))
        set_knob(s, "HSPZ_REF_BUCKETS", one_in(2) ? "1" : "0");
    if (one_in(4))
        set_number(s, "HSPZ_REF_BUCKET_SHIFT", 16 + below(16));
    if (one_in(2))
        set_knob(s, "HSPZ_CHUNK_WALK", one_in(2) ? "full" : "sparse");
    if (one_in(4))
        set_knob(s, "cuda.extend", "warp");
    if (one_in(3))
        set_number(s, "expand.density", 1 + below(40));
    if (one_in(3))
        set_number(s, "cuda.piece_hits", 100 + below(5000));
    if (one_in(3))
        set_number(s, "cuda.unit_windows", 1 + below(3000));
    if (one_in(3))
        set_number(s, "cuda.slice_positions", 1 + below(3000));
    if (one_in(4))
        set_number(s, "cuda.candidates", 50000 + below(50000));
    if (one_in(2)) { /* `lastz`: only hits that matter are looked at */
        set_number(s, "cuda.near_hits", 0);
        set_number(s, "cuda.near_tail", 512 + below(600));
    }
}

/* Hardly any room: buffers that hold a few hundred hits, or a few MiB for the whole engine. */
static void make_tight(side *s, uint32_t dedup)
{
    s->knob_count = 0;
    if (one_in(2))
        set_knob(s, "gate", one_in(3) ? "thread" : "warp");
    if (one_in(2))
        set_knob(s, "seed_index", "hash");
    if (one_in(3))
        set_knob(s, "HSPZ_REF_BUCKETS", "1");
    if (one_in(3))
        set_knob(s, "HSPZ_CHUNK_WALK", "full");
    if (one_in(3))
        set_number(s, "cuda.slice_positions", 1 + below(3000));
    if (one_in(2)) { /* the mark rule needs some 20 MiB for itself */
        const uint64_t least = dedup == HSPZ_DEDUP_LASTZ ? 24 : 3;
        set_number(s, "device.memory_limit", (least << 20) + below((uint64_t)3 << 20));
        return;
    }
    set_number(s, "cuda.piece_hits", 20 + below(200));
    set_number(s, "cuda.candidates", 1 + below(400));
    if (one_in(2))
        set_number(s, "cuda.unit_windows", 1 + below(3000));
}

/* The mark rule by the few hits that matter, whose number is small here. */
static void make_near(side *s)
{
    s->knob_count = 0;
    set_number(s, "cuda.near_hits", 0);
    set_number(s, "cuda.near_tail", one_in(2) ? 1 : below(1500)); /* 512 at least */
    if (!one_in(4))
        set_number(s, "cuda.unit_windows", 900 + below(2000));
    if (one_in(3))
        set_knob(s, "seed_index", "hash");
    if (one_in(4))
        set_knob(s, "cuda.extend", "warp");
}

static void describe(const job *j, const side *s)
{
    const hspz_engine_params *p = &j->params;
    printf("#   level %u strand %u target %" PRIu64 " query %" PRIu64
           " pattern %s transitions %u step %u xdrop %d K %d entropy %u "
           "ambiguous %u/%d/%d bad %d fill %d dedup %u max_hits %" PRIu64 " [%" PRIu64 ",%" PRIu64
           "] by %" PRIu64 " batch %u "
           "index %d\n#  ",
           j->level, j->strand, j->target.length, j->query.length, p->seed_pattern, p->transitions, p->step,
           p->xdrop, p->hspthresh, p->entropy, p->ambiguous, p->ambiguous_reward, p->ambiguous_penalty,
           p->bad_score, p->fill_score, p->dedup, p->max_hits, j->begin, j->end, j->interval, j->batch_size,
           j->index_table != NULL);
    for (uint32_t i = 0; i < s->knob_count; i++)
        printf(" %s=%s", s->knobs[i].key, s->knobs[i].value);
    printf("\n");
}

/* ---- main */

int main(int argc, char **argv)
{
    uint64_t cases = 100, first = 1, size = 4000;
    uint32_t max_bits = 24, dedup = HSPZ_DEDUP_COUNT, tight = 0, chains = 0;
    const char *kind = "any", *pattern = NULL, *index = NULL;
    if (argc < 3) {
        fprintf(stderr,
                "usage: ab ORACLE.so PLUGIN.so [--cases N] [--seed S] [--size BASES] [--device cuda|cpu|any] "
                "[--bits MOST] [--dedup N: only it, at level (a)] [--tight 1] [--chains 1] "
                "[--pattern P] [--index auto|direct|hash]\n");
        return 2;
    }
    for (int i = 3; i + 1 < argc; i += 2) {
        const uint64_t value = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--cases") == 0)
            cases = value;
        else if (strcmp(argv[i], "--seed") == 0)
            first = value;
        else if (strcmp(argv[i], "--size") == 0)
            size = value;
        else if (strcmp(argv[i], "--bits") == 0)
            max_bits = (uint32_t)value;
        else if (strcmp(argv[i], "--dedup") == 0)
            dedup = (uint32_t)value;
        else if (strcmp(argv[i], "--tight") == 0)
            tight = (uint32_t)value;
        else if (strcmp(argv[i], "--chains") == 0)
            chains = (uint32_t)value;
        else if (strcmp(argv[i], "--pattern") == 0)
            pattern = argv[i + 1];
        else if (strcmp(argv[i], "--index") == 0)
            index = argv[i + 1];
        else if (strcmp(argv[i], "--device") == 0)
            kind = argv[i + 1];
    }
    side a = {.plugin = load(argv[1]), .device = HSPZ_DEVICE_AUTO};
    side b = {.plugin = load(argv[2])};
    b.device = find_device(b.plugin, kind);
    uint64_t failed = 0, hsps = 0, hits = 0, errors = 0;
    for (uint64_t seed = first; seed < first + cases; seed++) {
        job j;
        if (chains)
            make_chains(&j, seed, size);
        else
            make_job(&j, seed, size, max_bits, pattern);
        if (dedup < HSPZ_DEDUP_COUNT) {
            j.params.dedup = dedup;
            j.level = 0;
        }
        if (tight && one_in(2))
            j.params.max_hits = HSPZ_MAX_HITS_DEFAULT;
        if (chains)
            make_near(&b);
        else if (tight)
            make_tight(&b, j.params.dedup);
        else
            make_knobs(&b);
        if (index != NULL)
            set_knob(&b, "seed_index", index);
        run_side(&a, &j);
        run_side(&b, &j);
        if (differ(&a, &b, seed)) {
            failed++;
            describe(&j, &b);
        }
        hsps += a.count;
        hits += a.statistics.hits;
        errors += a.status != HSPZ_OK;
        free_job(&j);
    }
    printf("# %" PRIu64 " cases, %" PRIu64 " hits, %" PRIu64 " HSPs, %" PRIu64 " refused, %" PRIu64
           " differ\n",
           cases, hits, hsps, errors, failed);
    printf("%s 1 - %" PRIu64 " random cases agree\n1..1\n", failed == 0 ? "ok" : "not ok", cases);
    free(a.hsps);
    free(b.hsps);
    return failed == 0 ? 0 : 1;
}
