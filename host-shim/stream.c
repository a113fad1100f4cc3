/* stream.c -- see stream.h */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RAW_BYTES ((size_t)1 << 18)    /* of one read: stays in the second-level cache */
#define OUT_BYTES ((size_t)1 << 18)    /* of one piece behind gzip: stays in the second-level cache */
#define READ_AT_MOST ((size_t)1 << 26) /* between two looks at `stop` */
#define POLL_MILLISECONDS 100
#define MEMORY_PIECE ((size_t)1 << 30)
#define GZIP_RATIO 4 /* what DNA text usually shrinks by */

struct hspz__stream {
    char *label;
    int fd; /* -1: memory */
    bool regular;
    const volatile sig_atomic_t *stop;
    uint64_t file_size; /* of a regular file, or of the memory */
    const uint8_t *memory;
    uint8_t *slurped;  /* memory that the stream owns */
    uint64_t position; /* raw bytes taken so far */
    uint8_t *raw;      /* RAW_BYTES, for a file */
    const uint8_t *raw_kept;
    size_t raw_kept_size; /* the first raw piece, taken to judge the compression */
    hspz__gunzip *gunzip;
    uint8_t *out; /* OUT_BYTES, with gunzip */
    const uint8_t *peeked;
    size_t peeked_size;
};

static int io_failed(const hspz__stream *stream, const char *verb, hspz_failure *failure)
{
    return hspz_failed(failure, HSPZ_EXIT_DATA, "%s: cannot %s: %s", stream->label, verb, strerror(errno));
}

/* Raw bytes ----------------------------------------------------------------------------------------------- */

static bool stopped(const hspz__stream *stream)
{
    return stream->stop != NULL && *stream->stop != 0;
}

/* Until a pipe has something to say. A signal may have gone to another thread, so that it does not end the wait. */
static void wait_for_bytes(const hspz__stream *stream)
{
    struct pollfd waiting = {.fd = stream->fd, .events = POLLIN};
    while (stream->stop != NULL && !stopped(stream) && poll(&waiting, 1, POLL_MILLISECONDS) == 0)
        ;
}

/* Reads until the buffer is full or the file ends: pipes give what they have. */
static int read_file(hspz__stream *stream, size_t *size, hspz_failure *failure)
{
    *size = 0;
    while (*size < RAW_BYTES) {
        if (!stream->regular)
            wait_for_bytes(stream);
        if (stopped(stream))
            return hspz_failed(failure, HSPZ_RUN_CANCELLED, "cancelled");
        ssize_t got = read(stream->fd, stream->raw + *size, RAW_BYTES - *size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return io_failed(stream, "read", failure);
        if (got == 0)
            break;
        *size += (size_t)got;
    }
    if (*size == 0 && stream->regular && stream->position < stream->file_size)
        return hspz_failed(failure, HSPZ_EXIT_DATA,
                           "%s: ended at byte %llu of %llu: something shortened it while it was read",
                           stream->label, (unsigned long long)stream->position,
                           (unsigned long long)stream->file_size);
    return 0;
}

static int next_raw(void *source, const uint8_t **piece, size_t *size, hspz_failure *failure)
{
    hspz__stream *stream = source;
    if (stream->raw_kept != NULL) {
        *piece = stream->raw_kept;
        *size = stream->raw_kept_size;
        stream->raw_kept = NULL;
        return 0;
    }
    if (stream->fd < 0) {
        uint64_t left = stream->file_size - stream->position;
        *piece = stream->memory + stream->position;
        *size = left < MEMORY_PIECE ? (size_t)left : MEMORY_PIECE;
    } else {
        int code = read_file(stream, size, failure);
        if (code != 0)
            return code;
        *piece = stream->raw;
    }
    stream->position += *size;
    return 0;
}

/* Opening ------------------------------------------------------------------------------------------------- */

static int attach_file(hspz__stream *stream, const char *path, hspz_failure *failure)
{
    struct stat status;
    bool is_stdin = strcmp(path, "-") == 0;
    stream->fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
    if (stream->fd < 0)
        return io_failed(stream, "open", failure);
    if (fstat(stream->fd, &status) != 0)
        return io_failed(stream, "examine", failure);
    if (S_ISDIR(status.st_mode))
        return hspz_failed(failure, HSPZ_EXIT_DATA, "%s: is a directory, expected a FASTA or 2bit file",
                           stream->label);
    /* Standard input may stand anywhere in a regular file, so it is never read at offsets. */
    stream->regular = !is_stdin && S_ISREG(status.st_mode);
    stream->file_size = stream->regular && status.st_size > 0 ? (uint64_t)status.st_size : 0;
    (void)posix_fadvise(stream->fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* only advice */
    stream->raw = malloc(RAW_BYTES);
    if (stream->raw == NULL)
        return hspz_failed_memory(failure, "an input buffer", RAW_BYTES);
    return 0;
}

/* Takes the first piece and puts the gzip layer on if the first two bytes ask for it. */
static int judge_packing(hspz__stream *stream, hspz_failure *failure)
{
    const uint8_t *piece = NULL;
    size_t size = 0;
    int code = next_raw(stream, &piece, &size, failure);
    if (code != 0)
        return code;
    if (size == 0)
        return hspz_failed(failure, HSPZ_EXIT_DATA, "%s: is empty, expected a FASTA or 2bit file",
                           stream->label);
    stream->raw_kept = piece;
    stream->raw_kept_size = size;
    if (size < 2 || piece[0] != 0x1f || piece[1] != 0x8b)
        return 0;
    stream->out = malloc(OUT_BYTES);
    if (stream->out == NULL)
        return hspz_failed_memory(failure, "an input buffer", OUT_BYTES);
    return hspz__gunzip_open(next_raw, stream, stream->label, &stream->gunzip, failure);
}

static hspz__stream *new_stream(const char *label)
{
    hspz__stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        return NULL;
    stream->fd = -1;
    stream->label = strdup(label);
    if (stream->label == NULL) {
        free(stream);
        return NULL;
    }
    return stream;
}

int hspz__stream_open(const char *path, const volatile sig_atomic_t *stop, hspz__stream **stream,
                      hspz_failure *failure)
{
    hspz__stream *made = new_stream(strcmp(path, "-") == 0 ? "stdin" : path);
    *stream = NULL;
    if (made == NULL)
        return hspz_failed_memory(failure, "an input stream", sizeof *made);
    made->stop = stop;
    int code = attach_file(made, path, failure);
    if (code == 0)
        code = judge_packing(made, failure);
    if (code != 0)
        hspz__stream_close(made);
    else
        *stream = made;
    return code;
}

int hspz__stream_open_memory(const void *bytes, size_t size, const char *label, hspz__stream **stream,
                             hspz_failure *failure)
{
    hspz__stream *made = new_stream(label);
    *stream = NULL;
    if (made == NULL)
        return hspz_failed_memory(failure, "an input stream", sizeof *made);
    made->memory = bytes;
    made->file_size = size;
    int code = judge_packing(made, failure);
    if (code != 0)
        hspz__stream_close(made);
    else
        *stream = made;
    return code;
}

void hspz__stream_close(hspz__stream *stream)
{
    if (stream == NULL)
        return;
    hspz__gunzip_close(stream->gunzip);
    if (stream->fd >= 0)
        (void)close(stream->fd); /* opened for reading: nothing can be lost */
    free(stream->raw);
    free(stream->out);
    free(stream->slurped);
    free(stream->label);
    free(stream);
}

/* Pieces -------------------------------------------------------------------------------------------------- */

int hspz__stream_next(hspz__stream *stream, const uint8_t **piece, size_t *size, hspz_failure *failure)
{
    if (stream->peeked != NULL) {
        *piece = stream->peeked;
        *size = stream->peeked_size;
        stream->peeked = NULL;
        return 0;
    }
    if (stream->gunzip == NULL)
        return next_raw(stream, piece, size, failure);
    *piece = stream->out;
    return hspz__gunzip_read(stream->gunzip, stream->out, OUT_BYTES, size, failure);
}

int hspz__stream_peek(hspz__stream *stream, const uint8_t **piece, size_t *size, hspz_failure *failure)
{
    int code = hspz__stream_next(stream, piece, size, failure);
    if (code != 0)
        return code;
    stream->peeked = *piece;
    stream->peeked_size = *size;
    return 0;
}

/* Offsets ------------------------------------------------------------------------------------------------- */

/* Reads all that is left into memory that grows by half. */
static int slurp(hspz__stream *stream, uint8_t **bytes, size_t *total, hspz_failure *failure)
{
    size_t capacity = 0;
    *bytes = NULL;
    *total = 0;
    for (;;) {
        const uint8_t *piece = NULL;
        size_t size = 0;
        int code = hspz__stream_next(stream, &piece, &size, failure);
        if (code != 0 || size == 0)
            return code;
        if (size > capacity - *total) {
            size_t wanted = capacity + capacity / 2;
            if (size > SIZE_MAX / 2 - *total)
                return hspz_failed_memory(failure, "an input file", (unsigned long long)size);
            if (wanted < *total + size)
                wanted = *total + size;
            uint8_t *grown = realloc(*bytes, wanted);
            if (grown == NULL)
                return hspz_failed_memory(failure, "an input file", wanted);
            *bytes = grown;
            capacity = wanted;
        }
        memcpy(*bytes + *total, piece, size);
        *total += size;
    }
}

int hspz__stream_rewindable(hspz__stream *stream, uint64_t *size, hspz_failure *failure)
{
    bool in_place = stream->gunzip == NULL && (stream->fd < 0 || stream->regular);
    if (!in_place) {
        uint8_t *bytes = NULL;
        size_t total = 0;
        int code = slurp(stream, &bytes, &total, failure);
        if (code != 0) {
            free(bytes);
            return code;
        }
        free(stream->slurped);
        stream->slurped = bytes;
        stream->memory = bytes;
        *size = total;
        return 0;
    }
    *size = stream->file_size;
    return 0;
}

int hspz__stream_read_at(hspz__stream *stream, uint64_t offset, void *buffer, size_t size,
                         hspz_failure *failure)
{
    if (stream->memory != NULL) {
        if (size > 0)
            memcpy(buffer, stream->memory + offset, size);
        return 0;
    }
    size_t done = 0;
    while (done < size) {
        const size_t piece = size - done < READ_AT_MOST ? size - done : READ_AT_MOST;
        if (stopped(stream))
            return hspz_failed(failure, HSPZ_RUN_CANCELLED, "cancelled");
        ssize_t got = pread(stream->fd, (uint8_t *)buffer + done, piece, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return io_failed(stream, "read", failure);
        if (got == 0)
            return hspz_failed(failure, HSPZ_EXIT_DATA,
                               "%s: ended at byte %llu: something shortened it while it was read",
                               stream->label, (unsigned long long)(offset + done));
        done += (size_t)got;
    }
    return 0;
}

const char *hspz__stream_label(const hspz__stream *stream)
{
    return stream->label;
}

const char *hspz__stream_packing(const hspz__stream *stream)
{
    if (stream->gunzip == NULL)
        return "plain";
    return hspz__gunzip_is_bgzf(stream->gunzip) ? "BGZF" : "gzip";
}

uint64_t hspz__stream_bytes_read(const hspz__stream *stream)
{
    bool in_place = stream->gunzip == NULL && (stream->fd < 0 || stream->regular);
    return in_place ? stream->file_size : stream->position;
}

uint64_t hspz__stream_size_hint(const hspz__stream *stream)
{
    if (stream->gunzip == NULL)
        return stream->file_size;
    return stream->file_size < UINT64_MAX / GZIP_RATIO ? stream->file_size * GZIP_RATIO : 0;
}
