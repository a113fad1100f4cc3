/* failure.c -- see failure.h */
#include "failure.h"

#include <stdarg.h>
#include <stdio.h>

int hspz_failed(hspz_failure *failure, int exit_code, const char *format, ...)
{
    if (failure != NULL) {
        va_list arguments;
        va_start(arguments, format);
        if (vsnprintf(failure->text, sizeof failure->text, format, arguments) < 0)
            failure->text[0] = '\0';
        va_end(arguments);
        failure->exit_code = exit_code;
    }
    return exit_code;
}

int hspz_failed_memory(hspz_failure *failure, const char *what, unsigned long long bytes)
{
    return hspz_failed(failure, HSPZ_EXIT_MEMORY, "out of memory: %llu bytes for %s", bytes, what);
}
