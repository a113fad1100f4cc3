/* text.h -- a growing text: lines of a segments file, JSON, commands are put together here before they are written.
 * A failed allocation is remembered; callers add without checks and look at `failed` once. One thread at a time. */
#ifndef HSPZ__HOST_TEXT_H
#define HSPZ__HOST_TEXT_H

#include "failure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hspz__text {
    char *data; /* not NUL-terminated */
    size_t length;
    size_t capacity;
    bool failed;
} hspz__text;

void hspz__text_free(hspz__text *text);
void hspz__text_bytes(hspz__text *text, const char *bytes, size_t size);
void hspz__text_string(hspz__text *text, const char *string);
void hspz__text_format(hspz__text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* `size` more bytes may be written at the answer, then text->length be raised; NULL when memory is short. */
char *hspz__text_room(hspz__text *text, size_t size);

/* Writes all bytes; `name` is for the sentence. 0 or HSPZ_EXIT_DATA. [any] */
int hspz__write_all(int file, const char *bytes, size_t size, const char *name, hspz_failure *failure);

#endif
