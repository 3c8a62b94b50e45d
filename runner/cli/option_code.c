// SPDX-License-Identifier: MIT
#include "option_code.h"

#include <string.h>

int option_take_syntax(const struct option_given *given, void *to)
{
    if (bench_syntax_parse(given->argument, to) == 0)
        return EXIT_DONE;
    return command_fail(given->cmd, EXIT_USAGE, "--syntax cannot be '%s': nasm, att or intel",
                        given->argument);
}

int option_take_bits(const struct option_given *given, void *to)
{
    if (strcmp(given->argument, "16") == 0)
        return command_fail(given->cmd, EXIT_USAGE,
                            "16-bit code cannot be measured here: only 64 and 32 are possible");
    if (strcmp(given->argument, "32") != 0 && strcmp(given->argument, "64") != 0)
        return command_fail(given->cmd, EXIT_USAGE, "--bits cannot be '%s': 64 or 32",
                            given->argument);
    *(int *)to = *given->argument == '3' ? 32 : 64;
    return EXIT_DONE;
}
