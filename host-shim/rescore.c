/* rescore.c -- windows around segments become matrices and get their soft scores; see rescore.h.
 *
 * Idea: windows are cut in batches that fit a fixed budget of memory; a batch is one call of the plugin. With a CUDA device the
 * matrices are copied there; `auto` takes the device if there is one and falls back to the CPU with a warning.
 */
#include "rescore.h"

#include "device_memory.h"
#include "engine_host.h"
#include "hspz_soft_sw.h"
#include "scores.h"

#include <stdlib.h>
#include <string.h>

#define BATCH_BYTES (64u << 20) /* of matrices */
#define OUTSIDE (-1e9f)         /* similarity beyond a record's end: no path goes there */
#define NOWHERE HSPZ__SCORE_CLASSES

/* Everything the batches share. */
typedef struct rescorer {
    const hspz_soft_sw *soft;
    const hspz_library *library;
    const hspz_inputs *inputs;
    uint32_t window;
    uint64_t batch; /* windows at a time */
    uint8_t class_of[256];
    float score[HSPZ__SCORE_CLASSES + 1][HSPZ__SCORE_CLASSES + 1];
    hspz_soft_sw_request request; /* pointers and batch set per call */
    float *matrices;
    float *scores;
    void *scratch;
    hspz__device_memory *device; /* NULL on the CPU */
    void *device_matrices;
    void *device_scores;
} rescorer;

static void fill_classes(rescorer *r, const hspz_options *options)
{
    static const char letters[] = "ACGT";
    int64_t scores[HSPZ__SCORE_CLASSES][HSPZ__SCORE_CLASSES];
    hspz__scores_effective(options, scores);
    for (uint32_t a = 0; a <= HSPZ__SCORE_CLASSES; a++)
        for (uint32_t b = 0; b <= HSPZ__SCORE_CLASSES; b++)
            r->score[a][b] = a == NOWHERE || b == NOWHERE ? OUTSIDE : (float)scores[a][b];
    memset(r->class_of, 6, sizeof r->class_of); /* other IUPAC codes */
    for (uint8_t i = 0; i < 4; i++) {
        r->class_of[(uint8_t)letters[i]] = i;
        r->class_of[(uint8_t)letters[i] | 0x20] = 4;
    }
    r->class_of['N'] = r->class_of['n'] = 5;
    r->class_of['X'] = r->class_of['x'] = 8;
}

/* Classes of `window` bases of a record around 0-based position `middle` of its `strand`. */
static void cut_window(const rescorer *r, const hspz_genome *genome, uint32_t record, uint64_t middle,
                       char strand, uint8_t *classes)
{
    const hspz_record *of = &genome->records[record];
    int64_t first = (int64_t)middle - r->window / 2, length = (int64_t)of->length;
    for (uint32_t i = 0; i < r->window; i++) {
        int64_t at = first + i;
        classes[i] = NOWHERE;
        if (at < 0 || at >= length)
            continue;
        classes[i] =
            r->class_of[genome->bases[of->offset + (uint64_t)(strand == '-' ? length - 1 - at : at)]];
        if (strand == '-' && classes[i] < 4)
            classes[i] = (uint8_t)(3 - classes[i]);
    }
}

static void fill_matrix(const rescorer *r, const hspz__rescored *s, uint8_t *classes, float *matrix)
{
    uint8_t *target = classes, *query = classes + r->window;
    cut_window(r, &r->inputs->target.genome, s->target, (s->target_start - 1 + s->target_end) / 2, '+',
               target);
    cut_window(r, &r->inputs->query.genome, s->query, (s->query_start - 1 + s->query_end) / 2, s->strand,
               query);
    for (uint32_t i = 0; i < r->window; i++)
        for (uint32_t j = 0; j < r->window; j++)
            matrix[(size_t)i * r->window + j] = r->score[target[i]][query[j]];
}

/* One call of the plugin for `count` matrices. */
static int score_batch(rescorer *r, uint64_t count, hspz_failure *failure)
{
    hspz_error error = {.struct_size = sizeof error};
    hspz_soft_sw_request request = r->request;
    uint64_t bytes = count * r->window * r->window * sizeof(float);
    int code = 0;
    request.batch = count;
    request.similarity = r->device != NULL ? r->device_matrices : r->matrices;
    request.scores = r->device != NULL ? r->device_scores : r->scores;
    request.scratch = r->scratch;
    if (r->device != NULL)
        code = hspz__device_upload(r->device, r->device_matrices, r->matrices, bytes, failure);
    if (code != 0)
        return code;
    hspz_status status = r->soft->forward(&request, &error);
    if (status != HSPZ_OK)
        return hspz_plugin_failed(r->library, status, &error, "soft scores", failure);
    if (r->device != NULL)
        code = hspz__device_download(r->device, r->scores, r->device_scores, count * sizeof(float), failure);
    return code;
}

/* Host and device buffers for a batch. */
static int open_buffers(rescorer *r, hspz_failure *failure)
{
    uint64_t matrix = (uint64_t)r->window * r->window * sizeof(float), scratch = r->request.scratch_size;
    r->matrices = malloc(r->batch * matrix);
    r->scores = malloc(r->batch * sizeof *r->scores);
    if (r->matrices == NULL || r->scores == NULL)
        return hspz_failed_memory(failure, "windows", r->batch * matrix);
    if (r->device == NULL) {
        r->scratch = aligned_alloc(64, (scratch + 127) / 64 * 64);
        return r->scratch != NULL ? 0 : hspz_failed_memory(failure, "the soft score", scratch);
    }
    int code = hspz__device_alloc(r->device, r->batch * matrix, &r->device_matrices, failure);
    if (code == 0)
        code = hspz__device_alloc(r->device, r->batch * sizeof(float), &r->device_scores, failure);
    if (code == 0)
        code = hspz__device_alloc(r->device, scratch, &r->scratch, failure);
    return code;
}

static void close_buffers(rescorer *r)
{
    free(r->matrices);
    free(r->scores);
    if (r->device == NULL) {
        free(r->scratch);
        return;
    }
    hspz__device_free(r->device, r->device_matrices);
    hspz__device_free(r->device, r->device_scores);
    hspz__device_free(r->device, r->scratch);
    hspz__device_memory_close(r->device);
}

static int score_all(rescorer *r, hspz__rescored_list *list, hspz_failure *failure)
{
    uint64_t one = (uint64_t)r->window * r->window;
    uint8_t *classes = malloc(2 * (size_t)r->window);
    if (classes == NULL)
        return hspz_failed_memory(failure, "a window", 2 * (size_t)r->window);
    int code = 0;
    for (uint64_t first = 0; first < list->count && code == 0; first += r->batch) {
        uint64_t count = list->count - first < r->batch ? list->count - first : r->batch;
        for (uint64_t i = 0; i < count; i++)
            fill_matrix(r, &list->items[first + i], classes, r->matrices + i * one);
        code = score_batch(r, count, failure);
        for (uint64_t i = 0; i < count && code == 0; i++)
            list->items[first + i].soft = r->scores[i];
    }
    free(classes);
    return code;
}

/* Row of the device list that rescoring takes: the options' choice, or any usable CUDA device under auto. */
static const hspz_device_info *choose_cuda(const hspz_options *options, const hspz_device_info *devices,
                                           uint32_t count)
{
    if (options->device == HSPZ_BACKEND_CPU)
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        if (devices[i].kind == HSPZ_DEVICE_CUDA && devices[i].score > 0 &&
            (options->device_index < 0 || devices[i].ordinal == (uint64_t)options->device_index))
            return &devices[i];
    return NULL;
}

static int choose_device(rescorer *r, const hspz_options *options, char *name, size_t size, hspz_log *log,
                         hspz_failure *failure)
{
    hspz_device_info *devices = NULL;
    uint32_t count = 0;
    int code = hspz_devices_list(r->library, &devices, &count, failure);
    if (code != 0)
        return code;
    const hspz_device_info *cuda = choose_cuda(options, devices, count);
    r->request.device = HSPZ_DEVICE_CPU;
    snprintf(name, size, "cpu");
    if (cuda == NULL && options->device == HSPZ_BACKEND_CUDA)
        code = hspz_failed(failure, HSPZ_EXIT_PLUGIN, "%s has no usable CUDA device for soft scores",
                           r->library->path);
    if (cuda != NULL) {
        code = hspz__device_memory_open(cuda->ordinal, &r->device, failure);
        if (code != 0 && options->device == HSPZ_BACKEND_AUTO) {
            hspz_log_say(log, HSPZ_LOG_WARN, "%s; soft scores are computed on the CPU", failure->text);
            code = 0;
        } else if (code == 0) {
            r->request.device = HSPZ_DEVICE_CUDA;
            hspz_device_label(cuda, name, size);
        }
    }
    free(devices);
    return code;
}

int hspz__rescore(const hspz_library *library, const hspz_options *options, const hspz_inputs *inputs,
                  hspz__rescored_list *list, char *device, size_t device_size, hspz_log *log,
                  hspz_failure *failure)
{
    rescorer r = {.library = library, .inputs = inputs, .window = (uint32_t)options->rescore_window};
    r.soft = library->table.get_extension == NULL ? NULL : library->table.get_extension(HSPZ_SOFT_SW_ID);
    if (r.soft == NULL)
        return hspz_failed(failure, HSPZ_EXIT_PLUGIN, "%s does not offer %s", library->path, HSPZ_SOFT_SW_ID);
    fill_classes(&r, options);
    uint64_t fit = BATCH_BYTES / ((uint64_t)r.window * r.window * sizeof(float));
    r.batch = fit < 16 ? 16 : fit;
    if (r.batch > list->count)
        r.batch = list->count > 0 ? list->count : 1;
    r.request = (hspz_soft_sw_request){.struct_size = sizeof r.request,
                                       .batch = r.batch,
                                       .rows = r.window,
                                       .columns = r.window,
                                       .gap = -(double)options->rescore_gap,
                                       .temperature = (double)options->rescore_temperature,
                                       .threads = (uint32_t)options->threads};
    int code = choose_device(&r, options, device, device_size, log, failure);
    if (code != 0)
        return code;
    r.request.scratch_size = r.soft->forward_scratch_size(&r.request);
    code = open_buffers(&r, failure);
    if (code == 0)
        code = score_all(&r, list, failure);
    close_buffers(&r);
    return code;
}
