// SPDX-License-Identifier: MIT
// latput bench --sweep: one row per value of a number in the code.
#pragma once

#include "bench/bench.h"
#include "cli/command.h"
#include "cli/option_format.h"

struct bench_sweep_arguments {
    const char *sweep, *plot; // as on the command line; plot NULL: none
    enum report_format format;
};

// Measures and prints. Returns the exit status, after messages.
int bench_sweep_run(const struct command *cmd, const struct bench_spec *spec,
                    const struct bench_sweep_arguments *arguments);
