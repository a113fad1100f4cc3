/* stream.h -- the bytes of an input file, decompressed, in pieces.
 *
 * Idea: parsers pull pieces and never see where they come from: a file, standard input, memory, or a gzip layer over any
 * of these. Compression is judged by the first two bytes. A gzip file is a sequence of members (BGZF is one with a
 * size field and an empty last member); each member's CRC and length are checked by zlib, and every way to end early
 * is an error: inside a member, with bytes between members that are no member, or without BGZF's last member.
 * An uncompressed regular file can also be read at offsets, which 2bit needs; everything else is read into memory
 * for that (hspz__stream_rewindable). A stream belongs to one thread.
 */
#ifndef HSPZ__HOST_STREAM_H
#define HSPZ__HOST_STREAM_H

#include "failure.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hspz__stream hspz__stream;

/* `path` "-" is standard input. Refuses what is missing, unreadable, a directory or empty. Once *stop (borrowed, may be NULL) is not
 * zero every read ends with HSPZ_RUN_CANCELLED. *stream is NULL on failure. */
int hspz__stream_open(const char *path, const volatile sig_atomic_t *stop, hspz__stream **stream,
                      hspz_failure *failure) __attribute__((warn_unused_result));
/* The bytes are borrowed until close. */
int hspz__stream_open_memory(const void *bytes, size_t size, const char *label, hspz__stream **stream,
                             hspz_failure *failure) __attribute__((warn_unused_result));
void hspz__stream_close(hspz__stream *stream);

const char *hspz__stream_label(const hspz__stream *stream);   /* the path, "stdin", or the label */
const char *hspz__stream_packing(const hspz__stream *stream); /* "plain", "gzip", "BGZF" */
uint64_t hspz__stream_bytes_read(const hspz__stream *stream); /* of the file itself */
/* A guess at the number of decompressed bytes, to size a buffer by; 0 when nothing is known. */
uint64_t hspz__stream_size_hint(const hspz__stream *stream);

/* The next piece; *size is 0 at the end. Valid until the next call. */
int hspz__stream_next(hspz__stream *stream, const uint8_t **piece, size_t *size, hspz_failure *failure)
    __attribute__((warn_unused_result));
/* The first piece, which the next hspz__stream_next returns again; at least 16 bytes unless the file is shorter. */
int hspz__stream_peek(hspz__stream *stream, const uint8_t **piece, size_t *size, hspz_failure *failure)
    __attribute__((warn_unused_result));

/* Makes the whole stream readable at offsets, before any piece was consumed; *size is its length in bytes. */
int hspz__stream_rewindable(hspz__stream *stream, uint64_t *size, hspz_failure *failure)
    __attribute__((warn_unused_result));
/* Exactly `size` bytes from `offset`, which the caller has checked against the length. */
int hspz__stream_read_at(hspz__stream *stream, uint64_t offset, void *buffer, size_t size,
                         hspz_failure *failure) __attribute__((warn_unused_result));

/* gunzip.c: the gzip layer. `refill` gives the next raw piece, *size 0 at the end. */
typedef struct hspz__gunzip hspz__gunzip;
typedef int hspz__refill(void *source, const uint8_t **piece, size_t *size, hspz_failure *failure);
int hspz__gunzip_open(hspz__refill *refill, void *source, const char *label, hspz__gunzip **gunzip,
                      hspz_failure *failure) __attribute__((warn_unused_result));
void hspz__gunzip_close(hspz__gunzip *gunzip);
/* Fills `buffer` as far as the file goes. */
int hspz__gunzip_read(hspz__gunzip *gunzip, uint8_t *buffer, size_t capacity, size_t *size,
                      hspz_failure *failure) __attribute__((warn_unused_result));
bool hspz__gunzip_is_bgzf(const hspz__gunzip *gunzip); /* judged by the first member, after the first read */

#endif
