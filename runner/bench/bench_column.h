// SPDX-License-Identifier: MIT
// Computed columns: `ipc=instructions/core_clk`. An expression has numbers, names, + - * / and
// parentheses. Pure.
#pragma once

#include "util/err.h"
#include "util/mem.h"

struct bench_step; // step of the compiled expression
struct bench_column {
    const char *name;
    const struct bench_step *steps; // in reverse Polish order; owned by the arena
    int nsteps;
};

// Reads `name=expression`; without `name=` the expression is its own name. Names are looked for in
// `names`, where `_` also stands for `-` and letter case does not matter; the first that fits is
// taken. -1 with a message, the text, and a caret under the fault.
int bench_column_parse(const char *text, const char *const *names, int nnames, struct arena *arena,
                       struct bench_column *column, struct err *err);

// Returns the value of the column. `values` are parallel to `names`. NaN: a value is NaN, or
// divided by 0.
double bench_column_value(const struct bench_column *column, const double *values);
