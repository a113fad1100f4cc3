/* text.c -- see text.h */
#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void hspz__text_free(hspz__text *text)
{
    free(text->data);
    memset(text, 0, sizeof *text);
}

char *hspz__text_room(hspz__text *text, size_t size)
{
    if (text->failed)
        return NULL;
    if (size > text->capacity - text->length) {
        size_t capacity = text->capacity + text->capacity / 2 + 4096;
        if (size > SIZE_MAX / 4 || text->length > SIZE_MAX / 4) {
            text->failed = true;
            return NULL;
        }
        if (capacity < text->length + size)
            capacity = text->length + size;
        char *grown = realloc(text->data, capacity);
        if (grown == NULL) {
            text->failed = true;
            return NULL;
        }
        text->data = grown;
        text->capacity = capacity;
    }
    return text->data + text->length;
}

void hspz__text_bytes(hspz__text *text, const char *bytes, size_t size)
{
    char *room = hspz__text_room(text, size);
    if (room != NULL && size != 0)
        memcpy(room, bytes, size);
    if (room != NULL)
        text->length += size;
}

void hspz__text_string(hspz__text *text, const char *string)
{
    hspz__text_bytes(text, string, strlen(string));
}

void hspz__text_format(hspz__text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *room = size >= 0 ? hspz__text_room(text, (size_t)size + 1) : NULL;
    if (room == NULL) {
        text->failed = true;
        return;
    }
    va_start(arguments, format);
    vsnprintf(room, (size_t)size + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)size;
}

int hspz__write_all(int file, const char *bytes, size_t size, const char *name, hspz_failure *failure)
{
    while (size > 0) {
        ssize_t wrote = write(file, bytes, size < (1u << 30) ? size : (1u << 30));
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return hspz_failed(failure, HSPZ_EXIT_DATA, "%s cannot be written: %s", name, strerror(errno));
        bytes += wrote;
        size -= (size_t)wrote;
    }
    return 0;
}
