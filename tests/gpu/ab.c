/* ab.c -- random cases through two plugins, which must agree record by record and count by count.
 *
 *   ab ORACLE.so PLUGIN.so [--cases N] [--seed S] [--size BASES] [--device cuda|cpu|any]
 *      [--bits MOST] [--dedup N] [--tight 1] [--pattern P] [--index auto|direct|hash]
 *
 * Idea: one 64-bit seed makes a whole case: sequences (repeats, mutated copies, soft-masking, N, IUPAC, X, tiny records, near-identical
 * stretches), parameters, level (a), (b) or (c), and the knobs that must not change results. A failing case is told by its seed:
 * --seed S --cases 1 repeats it. --tight 1 leaves so little room that nearly everything comes in pieces.
 * --pattern P: that seed, without an index of the host's. Needs nothing but the C library, so that it builds on a bare machine with a GPU.
 */
#include "hspz_abi.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint64_t next_random(void)
{
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = state;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t below(uint64_t n)
{
    return n > 0 ? next_random() % n : 0;
}

static int one_in(uint64_t n)
{
    return below(n) == 0;
}

static void *get_memory(size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);
    if (memory == NULL) {
        fprintf(stderr, "ab: out of memory\n");
        exit(2);
    }
    return memory;
}

/* ---- sequences */

typedef struct text {
    uint8_t *bases;
    uint64_t length;
} text;

static uint8_t random_base(void)
{
    return (uint8_t) "ACGT"[below(4)];
}

static text random_text(uint64_t length)
{
    text t = {get_memory(length), length};
    for (uint64_t i = 0; i < length; i++)
        t.bases[i] = random_base();
    return t;
}

/* Copies stretches of `from` into `to`, mutated at a rate of one in `rate`. */
static void copy_stretches(text *to, const text *from, uint64_t count, uint64_t longest, uint64_t rate)
{
    for (uint64_t k = 0; k < count; k++) {
        const uint64_t least = to->length < from->length ? to->length : from->length;
        uint64_t length = 1 + below(longest);
        length = length < least ? length : least;
        if (length == 0)
            continue;
        const uint64_t a = below(from->length - length + 1), b = below(to->length - length + 1);
        memmove(to->bases + b, from->bases + a, length);
        for (uint64_t i = 0; i < length; i++)
            if (one_in(rate))
                to->bases[b + i] = random_base();
    }
}

static void tandem(text *t, uint64_t count)
{
    for (uint64_t k = 0; k < count && t->length > 8; k++) {
        const uint64_t period = 1 + below(6), length = below(t->length / 8 + 1),
                       at = below(t->length - length + 1);
        for (uint64_t i = period; i < length; i++)
            t->bases[at + i] = t->bases[at + i - period];
    }
}

static void special(text *t, uint64_t count, uint64_t kind)
{
    static const char iupac[] = "RYSWKMBDHVryswkmbdhv";
    for (uint64_t k = 0; k < count && t->length > 0; k++) {
        uint64_t length = 1 + below(kind == 0 ? 200 : 30);
        const uint64_t at = below(t->length);
        length = length < t->length - at ? length : t->length - at;
        for (uint64_t i = at; i < at + length; i++) {
            uint8_t *b = &t->bases[i];
            if (kind == 0 && *b >= 'A' && *b <= 'Z')
                *b = (uint8_t)(*b - 'A' + 'a');
            else if (kind == 1)
                *b = one_in(9) ? 'n' : 'N';
            else if (kind == 2 && one_in(3))
                *b = (uint8_t)iupac[below(sizeof iupac - 1)];
            else if (kind == 3)
                *b = one_in(2) ? 'X' : 'x';
            else if (kind == 4 && *b == 'T')
                *b = 'U';
        }
        if (kind == 5)
            t->bases[at] = '&';
    }
}

static void reverse_stretch(text *t)
{
    const uint64_t length = below(t->length / 3 + 1), at = below(t->length - length + 1);
    for (uint64_t i = 0; i < length / 2; i++) {
        const uint8_t b = t->bases[at + i];
        t->bases[at + i] = t->bases[at + length - 1 - i];
        t->bases[at + length - 1 - i] = b;
    }
    for (uint64_t i = at; i < at + length; i++) {
        const char *const from = "ACGT", *at_letter = strchr(from, t->bases[i]);
        t->bases[i] = (uint8_t) "TGCA"[at_letter != NULL ? at_letter - from : 0];
    }
}

static void make_pair(text *target, text *query, uint64_t size)
{
    *target = random_text(below(size) + (one_in(20) ? 0 : 40));
    *query = random_text(below(size) + (one_in(20) ? 0 : 40));
    if (one_in(3)) {
        copy_stretches(target, target, 1 + below(20), 300, 3 + below(30));
        tandem(target, below(4));
    }
    if (target->length > 0 && query->length > 0) {
        copy_stretches(query, target, 1 + below(12), size, one_in(3) ? 1000000 : 2 + below(60));
        if (one_in(2))
            reverse_stretch(query);
    }
    tandem(query, below(3));
    for (uint64_t kind = 0; kind < 6; kind++) {
        if (one_in(3))
            special(target, below(8), kind);
        if (one_in(3))
            special(query, below(8), kind);
    }
}

/* ---- a plugin at work */

typedef struct knob {
    const char *key;
    char value[24];
} knob;

typedef struct side {
    const hspz_plugin *plugin;
    const char *name;
    hspz_hsp *hsps;
    uint64_t count, capacity;
    hspz_statistics statistics;
    hspz_status status;
    char text[HSPZ_ERROR_TEXT];
    knob knobs[16];
    uint32_t knob_count;
    uint32_t device;
} side;

static const char *config_get(void *ctx, const char *key)
{
    const side *s = ctx;
    for (uint32_t i = s->knob_count; i-- > 0;) /* the last one counts */
        if (strcmp(s->knobs[i].key, key) == 0)
            return s->knobs[i].value;
    return NULL;
}

static int32_t take(void *ctx, const hspz_hsp *records, uint64_t count, uint32_t stride)
{
    side *s = ctx;
    if (s->count + count > s->capacity) {
        s->capacity = 2 * (s->count + count);
        s->hsps = realloc(s->hsps, s->capacity * sizeof *s->hsps);
        if (s->hsps == NULL)
            return 1;
    }
    for (uint64_t i = 0; i < count; i++)
        memcpy(&s->hsps[s->count++], (const unsigned char *)records + i * stride, sizeof *records);
    return 0;
}

/* What is done with an engine. */
typedef struct job {
    hspz_engine_params params;
    text target, query;
    uint32_t level, strand;
    uint64_t begin, end, interval;
    uint32_t batch_size;
    uint64_t *seeds;
    hspz_anchor *anchors;
    uint64_t count;
    uint32_t *index_table, *positions;
    uint64_t position_count, index_entries;
} job;

static hspz_status do_calls(side *s, hspz_engine *engine, const job *j, hspz_error *error)
{
    const hspz_sink sink = {.struct_size = sizeof sink, .ctx = s, .hsps = take};
    if (j->level == 1) {
        const hspz_seed_batch batch = {
            .struct_size = sizeof batch, .strand = j->strand, .seeds = j->seeds, .count = j->count};
        return s->plugin->expand_and_extend(engine, &batch, &sink, error);
    }
    if (j->level == 2) {
        const hspz_anchor_batch batch = {.struct_size = sizeof batch,
                                         .strand = j->strand,
                                         .stride = sizeof(hspz_anchor),
                                         .anchors = j->anchors,
                                         .count = j->count};
        return s->plugin->extend_anchors(engine, &batch, &sink, error);
    }
    hspz_status status = HSPZ_OK;
    for (uint64_t at = j->begin; at < j->end && status == HSPZ_OK; at += j->interval) {
        const uint64_t end = at + j->interval < j->end ? at + j->interval : j->end;
        const hspz_find_request request = {.struct_size = sizeof request,
                                           .strand = j->strand,
                                           .batch_size = j->batch_size,
                                           .begin = at,
                                           .end = end};
        status = s->plugin->find_hsps(engine, &request, &sink, error);
    }
    return status;
}

static void run_side(side *s, const job *j)
{
    hspz_error error = {.struct_size = sizeof error};
    hspz_host_services services = {.struct_size = sizeof services, .ctx = s, .config_get = config_get};
    hspz_engine_params params = j->params;
    hspz_engine *engine = NULL;
    params.device = s->device;
    s->count = 0;
    memset(&s->statistics, 0, sizeof s->statistics);
    s->statistics.struct_size = sizeof s->statistics;
    s->status = s->plugin->engine_create(&params, &services, &engine, &error);
    hspz_target target = {.struct_size = sizeof target, .bases = j->target.bases, .length = j->target.length};
    if (j->index_table != NULL) {
        target.index_table = j->index_table;
        target.index_entries = j->index_entries;
        target.positions = j->positions;
        target.position_count = j->position_count;
    }
    const hspz_query query = {
        .struct_size = sizeof query, .bases = j->query.bases, .length = j->query.length};
    if (s->status == HSPZ_OK)
        s->status = s->plugin->set_target(engine, &target, &error);
    if (s->status == HSPZ_OK)
        s->status = s->plugin->set_query(engine, 0, &query, &error);
    if (s->status == HSPZ_OK)
        s->status = do_calls(s, engine, j, &error);
    if (s->status == HSPZ_OK)
        s->status = s->plugin->get_statistics(engine, &s->statistics, &error);
    memcpy(s->text, error.text, sizeof s->text);
    s->plugin->engine_destroy(engine);
}

/* ---- random cases */

static const char *const patterns[] = {
    "1110100110010101111",     "11110111", "110100110101",  "1T10T1011",     "TTTTTTTTTTTT",
    "10110010110100000001001", "111111",   "1001001001001", "11111110111111"};

static uint32_t word_bits(const char *pattern)
{
    uint32_t bits = 0;
    for (; *pattern != '\0'; pattern++)
        bits += *pattern == '1' ? 2 : *pattern == 'T' ? 1 : 0;
    return bits;
}

/* The word of the window at p, or -1. */
static int64_t word_at(const char *pattern, const uint8_t *bases, uint64_t length, uint64_t p)
{
    const char *const letters = "ACGT";
    int64_t word = 0;
    for (uint64_t i = 0; pattern[i] != '\0'; i++) {
        const char *at = p + i < length && bases[p + i] != '\0'
                             ? strchr(letters, bases[p + i] == 'U' ? 'T' : bases[p + i])
                             : NULL;
        if (at == NULL)
            return -1;
        if (pattern[i] == '1')
            word = word << 2 | (at - letters);
        else if (pattern[i] == 'T')
            word = word << 1 | ((at - letters) & 1);
    }
    return word;
}

static void make_params(hspz_engine_params *p, uint32_t max_bits)
{
    static const int32_t hoxd70[16] = {91,  -114, -31, -123, -114, 100, -125, -31,
                                       -31, -125, 100, -114, -123, -31, -114, 91};
    *p = (hspz_engine_params){.struct_size = sizeof *p, .query_slots = 1};
    do
        p->seed_pattern = patterns[below(sizeof patterns / sizeof *patterns)];
    while (word_bits(p->seed_pattern) > max_bits);
    p->transitions = !one_in(4);
    p->step = one_in(3) ? 1 + (uint32_t)below(7) : 1;
    p->xdrop = one_in(3) ? 1 + (int32_t)below(2000) : 910;
    p->hspthresh = one_in(3) ? 3000 : 500 + (int32_t)below(3000);
    p->entropy = !one_in(4);
    p->ambiguous = one_in(2) ? 0 : (uint32_t)below(3);
    p->ambiguous_reward = (int32_t)below(120);
    p->ambiguous_penalty = (int32_t)below(120);
    p->bad_score = one_in(8) ? -(int32_t)below(300) : -1000;
    p->fill_score = one_in(8) ? -(int32_t)below(300) : -100;
    memcpy(p->scores, hoxd70, sizeof hoxd70);
    if (one_in(6))
        for (int i = 0; i < 16; i++)
            p->scores[i] = i % 5 == 0 ? 1 + (int32_t)below(300) : -(int32_t)below(400);
    if (one_in(12)) { /* large numbers */
        p->xdrop = 1 << 26;
        p->hspthresh = (int32_t)below(1 << 29) + 1;
        for (int i = 0; i < 16; i++)
            p->scores[i] = i % 5 == 0 ? 5000000 + (int32_t)below(3000000) : -(int32_t)below(30000000);
    }
    p->dedup = (uint32_t)below(HSPZ_DEDUP_COUNT);
    p->max_hits = one_in(3) ? HSPZ_MAX_HITS_DEFAULT : 1 + below(one_in(6) ? 30 : 3000);
}

static void make_seeds(job *j)
{
    const uint64_t window = strlen(j->params.seed_pattern);
    const uint32_t bits = word_bits(j->params.seed_pattern);
    const uint64_t starts = j->query.length >= window ? j->query.length - window + 1 : 0;
    j->count = starts > 0 ? below(2 * starts) : 0;
    j->seeds = get_memory(j->count * sizeof *j->seeds);
    const int ordered = one_in(2);
    for (uint64_t i = 0; i < j->count; i++) {
        const uint64_t position = ordered ? i * starts / j->count : below(starts);
        const int64_t word = word_at(j->params.seed_pattern, j->query.bases, j->query.length, position);
        j->seeds[i] =
            (word >= 0 && j->strand == 0 && !one_in(4) ? (uint64_t)word : below((uint64_t)1 << bits)) << 32 |
            position;
    }
}

static void make_anchors(job *j)
{
    const uint64_t reach = j->target.length < j->query.length ? j->target.length : j->query.length;
    j->count = below(3000);
    j->anchors = get_memory(j->count * sizeof *j->anchors);
    uint64_t diagonal = 0;
    for (uint64_t i = 0; i < j->count; i++) {
        hspz_anchor *a = &j->anchors[i];
        if (one_in(30))
            diagonal = below(reach + 1);
        if (one_in(2)) {
            a->target_end = (uint32_t)below(j->target.length + 1);
            a->query_end = (uint32_t)below(j->query.length + 1);
        } else { /* many on one diagonal, duplicates too */
            a->query_end = (uint32_t)below(reach + 1);
            a->target_end = (uint32_t)(a->query_end + diagonal <= j->target.length ? a->query_end + diagonal
                                                                                   : a->query_end);
        }
    }
}

static int compare_positions(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* A host's own index: some of the right positions, some at words that are not theirs. */
static void make_index(job *j)
{
    const uint64_t window = strlen(j->params.seed_pattern);
    const uint32_t bits = word_bits(j->params.seed_pattern);
    const uint64_t starts = j->target.length >= window ? j->target.length - window + 1 : 0,
                   words = (uint64_t)1 << bits;
    uint64_t *pairs = get_memory(2 * starts * sizeof *pairs), count = 0;
    for (uint64_t p = 0; p < starts; p++) {
        const int64_t word = word_at(j->params.seed_pattern, j->target.bases, j->target.length, p);
        if (word >= 0 && !one_in(5))
            pairs[count++] = (uint64_t)word << 32 | p;
        if (one_in(10))
            pairs[count++] = below(words) << 32 | p;
    }
    qsort(pairs, count, sizeof *pairs, compare_positions);
    j->index_entries = words;
    j->index_table = get_memory(words * sizeof *j->index_table);
    j->positions = get_memory(count * sizeof *j->positions);
    uint64_t i = 0;
    for (uint64_t word = 0; word < words; word++) {
        for (; i < count && pairs[i] >> 32 == word; i++)
            if (j->position_count == 0 || i == 0 || pairs[i] != pairs[i - 1])
                j->positions[j->position_count++] = (uint32_t)pairs[i];
        j->index_table[word] = (uint32_t)j->position_count;
    }
    free(pairs);
}

static void make_job(job *j, uint64_t seed, uint64_t size, uint32_t max_bits, const char *pattern)
{
    state = seed;
    memset(j, 0, sizeof *j);
    make_params(&j->params, max_bits);
    if (pattern != NULL)
        j->params.seed_pattern = pattern;
    make_pair(&j->target, &j->query, one_in(4) ? size * 4 : size);
    j->strand = (uint32_t)below(2);
    j->level = one_in(2) ? 0 : (uint32_t)below(3);
    j->begin = one_in(3) ? below(j->query.length + 1) : 0;
    j->end = one_in(4) ? j->begin + below(j->query.length + 1) : j->query.length;
    j->interval = one_in(2) ? j->query.length + 1 : 1 + j->query.length / (1 + below(4));
    j->batch_size = one_in(3) ? 250000 : 1 + (uint32_t)below(one_in(4) ? 5 : 2000);
    if (j->level == 1)
        make_seeds(j);
    if (j->level == 2)
        make_anchors(j);
    if (one_in(5) && pattern == NULL)
        make_index(j);
}

static void free_job(job *j)
{
    free(j->target.bases);
    free(j->query.bases);
    free(j->seeds);
    free(j->anchors);
    free(j->index_table);
    free(j->positions);
}

static void set_knob(side *s, const char *key, const char *value)
{
    knob *k = &s->knobs[s->knob_count++];
    k->key = key;
    snprintf(k->value, sizeof k->value, "%s", value);
}

static void set_number(side *s, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    set_knob(s, key, text);
}

/* Settings that must not show in the result. */
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
    if (dedup != HSPZ_DEDUP_LASTZ && one_in(2)) {
        set_number(s, "device.memory_limit", ((uint64_t)3 << 20) + below((uint64_t)3 << 20));
        return;
    }
    set_number(s, "cuda.piece_hits", 20 + below(200));
    set_number(s, "cuda.candidates", 1 + below(400));
    if (one_in(2))
        set_number(s, "cuda.unit_windows", 1 + below(3000));
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

static int differ(const side *a, const side *b, uint64_t seed)
{
    if (b->status == HSPZ_E_CONFIG) /* a setting that cannot serve this case */
        return 0;
    if (a->status != b->status) {
        printf("# seed %" PRIu64 ": status %d (%s) and %d (%s)\n", seed, a->status, a->text, b->status,
               b->text);
        return 1;
    }
    for (uint64_t i = 0; i < a->count && i < b->count; i++)
        if (memcmp(&a->hsps[i], &b->hsps[i], sizeof *a->hsps) != 0) {
            const hspz_hsp *x = &a->hsps[i], *y = &b->hsps[i];
            printf("# seed %" PRIu64 ": HSP %" PRIu64 " of %" PRIu64 "/%" PRIu64
                   ": (%u %u %u %d) and (%u %u %u %d)\n",
                   seed, i, a->count, b->count, x->target_start, x->query_start, x->extent, x->score,
                   y->target_start, y->query_start, y->extent, y->score);
            return 1;
        }
    if (a->count != b->count) {
        printf("# seed %" PRIu64 ": %" PRIu64 " HSPs and %" PRIu64 "\n", seed, a->count, b->count);
        return 1;
    }
    if (a->status != HSPZ_OK)
        return 0;
    const uint64_t *x = &a->statistics.target_positions, *y = &b->statistics.target_positions;
    static const char *const names[] = {
        "target_positions", "query_positions", "seeds",   "hits",     "batches",
        "chunks",           "gate_survivors",  "skipped", "accepted", "kept"};
    for (int i = 0; i < 10; i++)
        if (x[i] != y[i]) {
            printf("# seed %" PRIu64 ": %s %" PRIu64 " and %" PRIu64 "\n", seed, names[i], x[i], y[i]);
            return 1;
        }
    return 0;
}

/* ---- main */

static const hspz_plugin *load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const hspz_plugin *plugin = library != NULL ? dlsym(library, HSPZ_PLUGIN_SYMBOL) : NULL;
    if (plugin == NULL) {
        fprintf(stderr, "ab: %s\n", dlerror());
        exit(2);
    }
    return plugin;
}

/* The first usable device of a kind, or HSPZ_DEVICE_AUTO. */
static uint32_t find_device(const hspz_plugin *plugin, const char *kind)
{
    uint32_t count = 0;
    if (strcmp(kind, "any") == 0 || plugin->device_count(&count, NULL) != HSPZ_OK)
        return HSPZ_DEVICE_AUTO;
    for (uint32_t i = 0; i < count; i++) {
        hspz_device_info info = {.struct_size = sizeof info};
        const uint32_t wanted = strcmp(kind, "cuda") == 0 ? HSPZ_DEVICE_CUDA : HSPZ_DEVICE_CPU;
        if (plugin->device_info(i, &info, NULL) == HSPZ_OK && info.kind == wanted && info.score > 0)
            return i;
    }
    printf("1..0 # SKIP no %s device\n", kind);
    exit(0);
}

int main(int argc, char **argv)
{
    uint64_t cases = 100, first = 1, size = 4000;
    uint32_t max_bits = 24, dedup = HSPZ_DEDUP_COUNT, tight = 0;
    const char *kind = "any", *pattern = NULL, *index = NULL;
    if (argc < 3) {
        fprintf(stderr,
                "usage: ab ORACLE.so PLUGIN.so [--cases N] [--seed S] [--size BASES] [--device cuda|cpu|any] "
                "[--bits MOST] [--dedup N: only it, at level (a)] [--tight 1] "
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
        make_job(&j, seed, size, max_bits, pattern);
        if (dedup < HSPZ_DEDUP_COUNT) {
            j.params.dedup = dedup;
            j.level = 0;
        }
        if (tight && one_in(2))
            j.params.max_hits = HSPZ_MAX_HITS_DEFAULT;
        if (tight)
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
