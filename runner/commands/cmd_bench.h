// SPDX-License-Identifier: MIT
// Parts of latput bench in files of other commands: --sweep and --explain.
#pragma once

#include "bench/bench.h"
#include "cli/command.h"
#include "cli/option_format.h"

struct bench_sweep_arguments {
    const char *sweep, *plot; // as on the command line; plot NULL: none
    enum report_format format;
};
// Measures and prints one row per value. Returns the exit status, after messages.
int bench_sweep_run(const struct command *cmd, const struct bench_spec *spec,
                    const struct bench_sweep_arguments *arguments);
// Explains on standard output the code that bench has measured. Returns EXIT_*, after a message of
// latput explain unless EXIT_DONE.
int explain_bench(const struct bench_spec *spec);
