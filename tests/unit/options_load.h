/* options_load.h -- loads options in a test as the command does, without the machine's own files. */
#ifndef HSPZ_TESTS_OPTIONS_LOAD_H
#define HSPZ_TESTS_OPTIONS_LOAD_H

#include "option_table.h"

/* Runs hspz_options_load for `line`, words separated by '|', the subcommand first: "align|a|b|-o|out". `environment` is a
 * list of NAME=VALUE separated by '|', or NULL. */
int load_line(hspz_options *options, const char *line, const char *environment, hspz_failure *failure);

/* The same; fails the test unless it succeeds. */
void load_or_fail(hspz_options *options, const char *line, const char *environment);

/* Writes `text` of `length` bytes to a fresh file of the test's directory and returns its path. */
const char *write_file(const char *name, const char *text, size_t length);

/* What a print function writes, in memory; free it. */
typedef void print_options(FILE *out, const hspz_options *options);
char *printed(print_options *print, const hspz_options *options);

#endif
