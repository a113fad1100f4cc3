/* command_config.c -- hspz config: every setting with type, range, default, value and origin; a sample INI; the scores. */
#include "command.h"

#include <stdio.h>

int hspz_command_config(const hspz_context *context)
{
    if (context->options->config_sample)
        hspz_options_print_sample(stdout);
    if (context->options->config_matrix)
        hspz_options_print_matrix(stdout, context->options);
    if (!context->options->config_sample && !context->options->config_matrix)
        hspz_options_print_config(stdout, context->options);
    return hspz_finish_stdout(context);
}
