/* plugin.c -- a template: a whole hspz plugin in one file that passes `hspz conform`. Start here, then replace the parts.
 *
 *   cc -std=c11 -shared -fPIC -fvisibility=hidden -I.. plugin.c -lm -o my_plugin.so && hspz conform ./my_plugin.so
 *
 * It offers find_hsps with the dedup policy `none` and nothing else, and says so in its capabilities. The search is SPEC's
 * in its plainest form: chains of target positions by seed word, a scan to either side of each hit, a
 * threshold. Each part carries the rule of hspz_abi.h that it keeps; those are what a plugin must not get wrong.
 */
#include "hspz_abi.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOTS 16
#define NONE UINT32_MAX
#define ASK_EVERY 4096 /* query positions or hits between two questions to the host */

enum { LOWER = 4, UNKNOWN, AMBIGUOUS, SEPARATOR, LETTER_X, CLASSES };

struct hspz_engine {
    hspz_engine_params params;
    char pattern[33];
    uint32_t width, bits;
    int32_t score[CLASSES][CLASSES];
    hspz_host_services services;       /* a private copy: gaps stay NULL */
    uint8_t *target, *query[SLOTS][2]; /* classes; [slot][strand] */
    uint64_t target_length, query_length[SLOTS];
    uint32_t mask;         /* a word's chain is word & mask */
    uint32_t *head, *next; /* chain -> last target position, position -> the one before it in its chain */
    hspz_statistics statistics;
    uint64_t asked;
    char last_error[HSPZ_ERROR_TEXT];
};

/* Errors: a status, and one sentence in the caller's struct as far as that reaches. ------------------------------------- */

static hspz_status fail(hspz_engine *engine, hspz_error *error, hspz_status status, const char *format, ...)
{
    hspz_error own = {.status = status};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(own.text, sizeof own.text, format, arguments);
    va_end(arguments);
    if (engine != NULL)
        memcpy(engine->last_error, own.text, sizeof engine->last_error);
    if (error != NULL && error->struct_size > sizeof own.struct_size) {
        uint32_t size = error->struct_size < sizeof own ? error->struct_size : (uint32_t)sizeof own;
        own.struct_size = error->struct_size;
        memcpy(error, &own, size);
        if (size > offsetof(hspz_error, text))
            ((char *)error)[size - 1] = '\0';
    }
    return status;
}

/* A struct of the caller's into ours: start from defaults (zero here), copy what both sides know. */
static bool take(void *own, size_t own_size, const void *given)
{
    uint32_t size = 0;
    if (given != NULL)
        memcpy(&size, given, sizeof size);
    if (size < sizeof size)
        return false;
    memset(own, 0, own_size);
    memcpy(own, given, size < own_size ? size : own_size);
    return true;
}

/* And one of ours into the caller's: its struct_size stays, nothing is written behind it. */
static bool give(void *to, const void *own, size_t own_size)
{
    uint32_t size = 0;
    if (to != NULL)
        memcpy(&size, to, sizeof size);
    if (size < sizeof size)
        return false;
    memcpy((char *)to + sizeof size, (const char *)own + sizeof size,
           (size < own_size ? size : own_size) - sizeof size);
    return true;
}

/* Calls without an engine ------------------------------------------------------------------------------------------------ */

static hspz_status negotiate(uint32_t least, uint32_t most, uint32_t *agreed, hspz_error *error)
{
    const uint32_t mine = HSPZ_ABI_MINOR;
    if (agreed == NULL || least > most)
        return fail(NULL, error, HSPZ_E_ARGUMENT, "negotiate needs a range and a place for its answer");
    if (least > mine)
        return fail(NULL, error, HSPZ_E_VERSION, "the host needs ABI %u.%u, this plugin has %u.%u",
                    HSPZ_ABI_MAJOR, least, HSPZ_ABI_MAJOR, mine);
    *agreed = most < mine ? most : mine;
    return HSPZ_OK;
}

static const char *status_text(hspz_status status)
{
    switch (status) {
#define SENTENCE(name, number, cls, text)                                                                    \
    case number:                                                                                             \
        return text;
        HSPZ_STATUS_TABLE(SENTENCE)
#undef SENTENCE
    default:
        return "unknown status";
    }
}

static hspz_status device_count(uint32_t *count, hspz_error *error)
{
    if (count == NULL)
        return fail(NULL, error, HSPZ_E_ARGUMENT, "device_count needs a place for its answer");
    *count = 1;
    return HSPZ_OK;
}

static hspz_status device_info(uint32_t index, hspz_device_info *info, hspz_error *error)
{
    hspz_device_info own = {.kind = HSPZ_DEVICE_CPU, .score = 1, .units = 1, .name = "one CPU core"};
    own.memory_total = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    if (index != 0)
        return fail(NULL, error, HSPZ_E_NO_DEVICE, "device %u is not in the list of 1", index);
    return give(info, &own, sizeof own) ? HSPZ_OK
                                        : fail(NULL, error, HSPZ_E_ARGUMENT, "device_info needs a struct");
}

/* Parameters: every field is judged, for each changes results. ---------------------------------------------------------- */

static hspz_status judge(hspz_engine *e, hspz_error *error)
{
    const hspz_engine_params *p = &e->params;
#define DEMAND(condition, text)                                                                              \
    if (!(condition))                                                                                        \
    return fail(NULL, error, HSPZ_E_ARGUMENT, text)
    DEMAND(p->seed_pattern != NULL && strlen(p->seed_pattern) <= 32 &&
               strspn(p->seed_pattern, "10T") == strlen(p->seed_pattern),
           "a seed pattern is at most 32 of 1, 0 and T");
    strcpy(e->pattern, p->seed_pattern);
    e->width = (uint32_t)strlen(e->pattern);
    for (const char *c = e->pattern; *c != '\0'; c++)
        e->bits += *c == '1' ? 2 : *c == 'T';
    DEMAND(e->bits >= 8 && e->bits <= 30, "a seed word has 8 to 30 bits");
    DEMAND(p->device == 0 || p->device == HSPZ_DEVICE_AUTO, "there is one device, number 0");
    DEMAND(p->transitions <= 1 && p->entropy <= 1, "transitions and entropy are 0 or 1");
    DEMAND(p->step >= 1 && p->step <= INT32_MAX, "step is 1 to 2^31-1");
    DEMAND(p->xdrop > 0 && p->hspthresh > 0, "xdrop and hspthresh are positive");
    DEMAND(p->ambiguous <= HSPZ_AMBIGUOUS_IUPAC && p->ambiguous_reward >= 0 && p->ambiguous_penalty >= 0,
           "ambiguous is 0 to 2, its reward and penalty are not negative");
    DEMAND(p->query_slots >= 1 && p->query_slots <= SLOTS, "query_slots is 1 to 16");
    DEMAND(p->max_hits <= UINT32_MAX, "max_hits is less than 2^32");
    DEMAND(p->dedup < HSPZ_DEDUP_COUNT, "dedup is none of the policies");
#undef DEMAND
    if (p->dedup != HSPZ_DEDUP_NONE)
        return fail(NULL, error, HSPZ_E_UNSUPPORTED, "this plugin offers the dedup policy none only");
    return HSPZ_OK;
}

/* SPEC section 2: later rules overwrite earlier ones, in this order. */
static void set_pair(hspz_engine *e, int a, int b, int32_t score)
{
    e->score[a][b] = e->score[b][a] = score;
}

static void make_scores(hspz_engine *e)
{
    const hspz_engine_params *p = &e->params;
    const int32_t reward = p->ambiguous_reward, penalty = -p->ambiguous_penalty;
    const bool iupac = p->ambiguous == HSPZ_AMBIGUOUS_IUPAC;
    for (int i = 0; i < 16; i++)
        e->score[i / 4][i % 4] = p->scores[i];
    for (int c = 0; c <= LOWER; c++)
        set_pair(e, LOWER, c, p->bad_score);
    for (int c = 0; c <= UNKNOWN; c++)
        set_pair(e, UNKNOWN, c,
                 p->ambiguous == HSPZ_AMBIGUOUS_NONE ? p->bad_score
                 : c == UNKNOWN                      ? reward
                                                     : penalty);
    for (int c = 0; c <= AMBIGUOUS; c++)
        set_pair(e, AMBIGUOUS, c,
                 iupac                        ? (c == AMBIGUOUS ? reward : penalty)
                 : c == LOWER || c == UNKNOWN ? p->bad_score
                                              : p->fill_score);
    for (int c = 0; c < CLASSES; c++)
        set_pair(e, LETTER_X, c, p->bad_score);
    for (int c = 0; c < CLASSES; c++)
        set_pair(e, SEPARATOR, c, -10 * p->xdrop);
}

/* Memory comes from the host where it offers any. */
static void *allocate(hspz_engine *e, uint64_t size)
{
    return e->services.alloc ? e->services.alloc(e->services.ctx, size + !size, 64) : malloc(size + !size);
}

static void release(hspz_engine *e, void *memory)
{
    if (e->services.free)
        e->services.free(e->services.ctx, memory);
    else
        free(memory);
}

static void drop_target(hspz_engine *e)
{
    release(e, e->target);
    release(e, e->head);
    release(e, e->next);
    e->target = NULL;
    e->head = e->next = NULL;
}

static void drop_query(hspz_engine *e, uint32_t slot)
{
    for (int strand = 0; strand < 2; strand++) {
        release(e, e->query[slot][strand]);
        e->query[slot][strand] = NULL;
    }
}

static void engine_destroy(hspz_engine *e)
{
    if (e == NULL)
        return;
    drop_target(e);
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        drop_query(e, slot);
    free(e);
}

static hspz_status engine_create(const hspz_engine_params *params, const hspz_host_services *services,
                                 hspz_engine **out, hspz_error *error)
{
    if (out == NULL)
        return fail(NULL, error, HSPZ_E_ARGUMENT, "engine_create needs a place for its answer");
    *out = NULL;
    hspz_engine *e = calloc(1, sizeof *e);
    if (e == NULL)
        return fail(NULL, error, HSPZ_E_MEMORY, "out of memory for an engine");
    hspz_status status = HSPZ_OK;
    if (!take(&e->params, sizeof e->params, params))
        status = fail(NULL, error, HSPZ_E_ARGUMENT, "engine_create needs parameters");
    if (services != NULL)
        (void)take(&e->services, sizeof e->services, services);
    if (status == HSPZ_OK)
        status = judge(e, error);
    if (status != HSPZ_OK) {
        free(e);
        return status;
    }
    make_scores(e);
    *out = e;
    return HSPZ_OK;
}

static hspz_status engine_info(hspz_engine *e, hspz_engine_info *info, hspz_error *error)
{
    hspz_engine_info own = {.threads = 1, .backend = "template", .variant = "plain C"};
    own.max_hits = e->params.max_hits != 0 ? e->params.max_hits : HSPZ_MAX_HITS_DEFAULT;
    return give(info, &own, sizeof own) ? HSPZ_OK
                                        : fail(e, error, HSPZ_E_ARGUMENT, "engine_info needs a struct");
}

/* Sequences: copied before the call returns. ----------------------------------------------------------------------------- */

static int class_of(uint8_t letter)
{
    static const char upper[] = "ACGT";
    const char *at;
    if (letter == '&')
        return SEPARATOR;
    if (letter == 'U' || letter == 'u')
        letter--;
    if (letter != '\0' && (at = strchr(upper, letter)) != NULL)
        return (int)(at - upper);
    if (letter == '\0' || strchr("acgt", letter) != NULL)
        return letter == '\0' ? CLASSES : LOWER;
    if (letter == 'N' || letter == 'n')
        return UNKNOWN;
    if (letter == 'X' || letter == 'x')
        return LETTER_X;
    return strchr("RYSWKMBDHVryswkmbdhv", letter) != NULL ? AMBIGUOUS : CLASSES;
}

static hspz_status encode(hspz_engine *e, const uint8_t *bases, uint64_t length, uint8_t **out,
                          hspz_error *error)
{
    *out = NULL;
    if ((bases == NULL && length != 0) || length >= UINT32_MAX)
        return fail(e, error, HSPZ_E_ARGUMENT, "a block has bases, fewer than 2^32-1");
    uint8_t *classes = allocate(e, length);
    if (classes == NULL)
        return fail(e, error, HSPZ_E_MEMORY, "out of memory for a block of %llu bases",
                    (unsigned long long)length);
    for (uint64_t i = 0; i < length; i++)
        if ((classes[i] = (uint8_t)class_of(bases[i])) == CLASSES) {
            release(e, classes);
            return fail(e, error, HSPZ_E_ARGUMENT, "byte 0x%02x at %llu is no nucleotide code", bases[i],
                        (unsigned long long)i);
        }
    *out = classes;
    return HSPZ_OK;
}

/* SPEC section 3: the word of a window, or NONE when a base of it is no capital A, C, G, T. */
static uint32_t word_at(const hspz_engine *e, const uint8_t *window)
{
    uint32_t word = 0;
    for (uint32_t i = 0; i < e->width; i++) {
        if (window[i] >= 4)
            return NONE;
        if (e->pattern[i] == '1')
            word = word << 2 | window[i];
        else if (e->pattern[i] == 'T')
            word = word << 1 | (window[i] & 1);
    }
    return word;
}

/* A chain holds the words that agree in their low bits; there are about as many chains as bases. Chains grow at the front,
 * so that they run from the last position to the first: the order in which hits are listed. */
static hspz_status make_index(hspz_engine *e, hspz_error *error)
{
    const uint64_t length = e->target_length, step = e->params.step;
    uint64_t chains = 1;
    while (chains < length && chains < 1ull << e->bits)
        chains *= 2;
    e->mask = (uint32_t)(chains - 1);
    e->head = allocate(e, chains * sizeof *e->head);
    e->next = allocate(e, length * sizeof *e->next);
    if (e->head == NULL || e->next == NULL)
        return fail(e, error, HSPZ_E_MEMORY, "out of memory for the index");
    memset(e->head, 0xff, chains * sizeof *e->head);
    for (uint64_t p = step - (e->width + 1) % step; p + e->width <= length; p += step) {
        uint32_t word = word_at(e, e->target + p);
        if (word == NONE)
            continue;
        e->next[p] = e->head[word & e->mask];
        e->head[word & e->mask] = (uint32_t)p;
        e->statistics.target_positions++;
    }
    return HSPZ_OK;
}

static hspz_status set_target(hspz_engine *e, const hspz_target *target, hspz_error *error)
{
    hspz_target own;
    drop_target(e);
    if (!take(&own, sizeof own, target))
        return fail(e, error, HSPZ_E_ARGUMENT, "set_target needs a target");
    if (own.index_table != NULL || own.positions != NULL)
        return fail(e, error, HSPZ_E_UNSUPPORTED, "this plugin makes its own index");
    hspz_status status = encode(e, own.bases, own.length, &e->target, error);
    e->target_length = own.length;
    if (status == HSPZ_OK)
        status = make_index(e, error);
    if (status != HSPZ_OK)
        drop_target(e);
    return status;
}

static hspz_status clear_target(hspz_engine *e, hspz_error *error)
{
    (void)error;
    drop_target(e);
    return HSPZ_OK;
}

static hspz_status set_query(hspz_engine *e, uint32_t slot, const hspz_query *query, hspz_error *error)
{
    hspz_query own;
    if (slot >= e->params.query_slots)
        return fail(e, error, HSPZ_E_ARGUMENT, "slot %u of %u", slot, e->params.query_slots);
    drop_query(e, slot);
    if (!take(&own, sizeof own, query))
        return fail(e, error, HSPZ_E_ARGUMENT, "set_query needs a query");
    hspz_status status = encode(e, own.bases, own.length, &e->query[slot][0], error);
    uint8_t *plus = e->query[slot][0], *minus = NULL;
    if (status == HSPZ_OK && (minus = allocate(e, own.length)) == NULL)
        status = fail(e, error, HSPZ_E_MEMORY, "out of memory for the minus strand");
    if (status != HSPZ_OK || minus == NULL) {
        drop_query(e, slot);
        return status;
    }
    for (uint64_t i = 0; i < own.length; i++) {
        uint8_t c = plus[own.length - 1 - i];
        minus[i] = c < 4 ? 3 - c : c;
    }
    e->query[slot][1] = minus;
    e->query_length[slot] = own.length;
    return HSPZ_OK;
}

static hspz_status clear_query(hspz_engine *e, uint32_t slot, hspz_error *error)
{
    if (slot >= e->params.query_slots)
        return fail(e, error, HSPZ_E_ARGUMENT, "slot %u of %u", slot, e->params.query_slots);
    drop_query(e, slot);
    return HSPZ_OK;
}

/* Extension, SPEC section 6 ------------------------------------------------------------------------------------------------ */

typedef struct side {
    int32_t best;
    int64_t at; /* offset of the best prefix; -1 to the right, 0 to the left when there is none */
} side;

static side scan(const hspz_engine *e, const uint8_t *query, uint64_t query_length, int64_t r, int64_t q,
                 int direction)
{
    side s = {.at = direction > 0 ? -1 : 0};
    int64_t sum = 0;
    for (int64_t i = direction > 0 ? 0 : 1;; i++) {
        int64_t t = r + direction * i, u = q + direction * i;
        if (s.best - sum > e->params.xdrop || t < 0 || u < 0 || t >= (int64_t)e->target_length ||
            u >= (int64_t)query_length)
            return s;
        sum += e->score[e->target[t]][query[u]];
        if (sum > s.best) {
            s.best = (int32_t)sum;
            s.at = i;
        }
    }
}

/* The final score, or -1 when the segment is not accepted. */
static int32_t accept(const hspz_engine *e, const uint8_t *query, const hspz_hsp *h, int32_t total)
{
    const int64_t k = e->params.hspthresh;
    uint32_t count[4] = {0}, sum = 0;
    double entropy = 1, acc = 0;
    if ((float)total < (float)k)
        return -1;
    if (e->params.entropy && total >= k && total <= 3 * k) {
        for (uint64_t i = 0; i <= h->extent; i++) {
            uint8_t c = e->target[h->target_start + i];
            if (c < 4 && c == query[h->query_start + i]) {
                count[c]++;
                sum++;
            }
        }
        for (int c = 0; c < 4 && sum >= 20; c++)
            if (count[c] > 0) {
                double p = (double)count[c] / ((double)h->extent + 1);
                acc = fma(p, log(p), acc);
            }
        if (sum >= 20)
            entropy = -acc / (double)logf(4.0f);
    }
    return (int32_t)((double)(float)total * entropy) >= k ? (int32_t)(total * entropy) : -1;
}

/* One hit: `t` and `q` are window starts. */
static hspz_status extend(hspz_engine *e, const uint8_t *query, uint64_t query_length, uint32_t t, uint32_t q,
                          const hspz_sink *sink, hspz_error *error)
{
    int64_t r = (int64_t)t + e->width, u = (int64_t)q + e->width;
    side right = scan(e, query, query_length, r, u, 1), left = scan(e, query, query_length, r, u, -1);
    hspz_hsp h = {.target_start = (uint32_t)(r - left.at),
                  .query_start = (uint32_t)(u - left.at),
                  .extent = (uint32_t)(left.at + right.at)};
    if ((float)(left.best + right.best) >= (float)e->params.hspthresh)
        e->statistics.gate_survivors++;
    h.score = accept(e, query, &h, left.best + right.best);
    if (h.score < 0)
        return HSPZ_OK;
    e->statistics.accepted++;
    e->statistics.kept++;
    return sink->hsps(sink->ctx, &h, 1, sizeof h) == 0
               ? HSPZ_OK
               : fail(e, error, HSPZ_E_SINK, "the host's sink refused");
}

/* Asks the host now and then, at least twice a second, whether to go on. */
static bool cancelled(hspz_engine *e, uint64_t done, uint64_t total)
{
    return e->asked++ % ASK_EVERY == 0 && e->services.progress != NULL &&
           e->services.progress(e->services.ctx, done, total) != 0;
}

static hspz_status try_word(hspz_engine *e, uint32_t word, const uint8_t *query, uint64_t query_length,
                            uint64_t q, const hspz_find_request *f, const hspz_sink *sink, hspz_error *error)
{
    e->statistics.seeds++;
    for (uint32_t t = e->head[word & e->mask]; t != NONE; t = e->next[t]) {
        if (word_at(e, e->target + t) != word)
            continue; /* another word of the chain */
        e->statistics.hits++;
        if (cancelled(e, q - f->begin, f->end - f->begin + 1))
            return fail(e, error, HSPZ_E_CANCELLED, "cancelled by the host");
        hspz_status status = extend(e, query, query_length, t, (uint32_t)q, sink, error);
        if (status != HSPZ_OK)
            return status;
    }
    return HSPZ_OK;
}

/* SPEC section 4: the exact word, then each 1 of the pattern, last to first, changed by a transition. Without dedup,
 * batches and chunks do not show. */
static hspz_status try_position(hspz_engine *e, const uint8_t *query, uint64_t query_length, uint64_t q,
                                const hspz_find_request *f, const hspz_sink *sink, hspz_error *error)
{
    uint32_t word = word_at(e, query + q), shift = 0;
    if (word == NONE)
        return HSPZ_OK;
    e->statistics.query_positions++;
    hspz_status status = try_word(e, word, query, query_length, q, f, sink, error);
    for (uint32_t i = e->width; i-- > 0 && status == HSPZ_OK && e->params.transitions;) {
        if (e->pattern[i] == '1')
            status = try_word(e, word ^ 2u << shift, query, query_length, q, f, sink, error);
        shift += e->pattern[i] == '1' ? 2 : e->pattern[i] == 'T';
    }
    return status;
}

static hspz_status find_hsps(hspz_engine *e, const hspz_find_request *request, const hspz_sink *sink,
                             hspz_error *error)
{
    hspz_find_request f;
    hspz_sink s;
    if (!take(&f, sizeof f, request) || !take(&s, sizeof s, sink) || s.hsps == NULL)
        return fail(e, error, HSPZ_E_ARGUMENT, "find_hsps needs a request and a sink");
    if (f.slot >= e->params.query_slots || f.strand > HSPZ_STRAND_MINUS || f.batch_size == 0 ||
        f.begin > f.end)
        return fail(e, error, HSPZ_E_ARGUMENT,
                    "slot, strand, batch_size or range of the request is impossible");
    if (e->target == NULL || e->query[f.slot][0] == NULL)
        return fail(e, error, HSPZ_E_STATE, "find_hsps needs a target and a query in slot %u", f.slot);
    const uint8_t *query = e->query[f.slot][f.strand];
    const uint64_t length = e->query_length[f.slot];
    hspz_status status = HSPZ_OK;
    e->statistics.batches += (f.end - f.begin) / f.batch_size + 1;
    for (uint64_t q = f.begin; q <= f.end && q + e->width <= length && status == HSPZ_OK; q++)
        status = cancelled(e, q - f.begin, f.end - f.begin + 1)
                     ? fail(e, error, HSPZ_E_CANCELLED, "cancelled by the host")
                     : try_position(e, query, length, q, &f, &s, error);
    return status;
}

/* Statistics --------------------------------------------------------------------------------------------------------------- */

static hspz_status get_statistics(hspz_engine *e, hspz_statistics *statistics, hspz_error *error)
{
    return give(statistics, &e->statistics, sizeof e->statistics)
               ? HSPZ_OK
               : fail(e, error, HSPZ_E_ARGUMENT, "get_statistics needs a struct");
}

static hspz_status reset_statistics(hspz_engine *e, hspz_error *error)
{
    (void)error;
    memset(&e->statistics, 0, sizeof e->statistics);
    return HSPZ_OK;
}

static const char *last_error(hspz_engine *e)
{
    return e->last_error;
}

/* The one exported symbol: data that a host can judge before it calls any code. */
HSPZ_EXPORT const hspz_plugin hspz_plugin_v1 = {
    .magic = HSPZ_MAGIC,
    .struct_size = sizeof(hspz_plugin),
    .abi_major = HSPZ_ABI_MAJOR,
    .abi_minor = HSPZ_ABI_MINOR,
    .name = "hspz template",
    .version = "1.0",
    .build = "example",
    .capabilities = HSPZ_CAP_FIND | HSPZ_CAP_DEDUP(HSPZ_DEDUP_NONE),
    .negotiate = negotiate,
    .status_text = status_text,
    .device_count = device_count,
    .device_info = device_info,
    .engine_create = engine_create,
    .engine_destroy = engine_destroy,
    .engine_info = engine_info,
    .set_target = set_target,
    .clear_target = clear_target,
    .set_query = set_query,
    .clear_query = clear_query,
    .find_hsps = find_hsps,
    .get_statistics = get_statistics,
    .reset_statistics = reset_statistics,
    .last_error = last_error,
};
