// SPDX-License-Identifier: MIT
// A piece of code measured for many values of a number in it: {N} in its texts stands for each of
// them in turn.
#pragma once

#include "bench.h"
#include "util/strbuf.h"

enum { SWEEP_POINTS_MAX = 1000, SWEEP_NAME_MAX = 32 };

struct bench_sweep {
    char name[SWEEP_NAME_MAX];
    int64_t first, step;
    int npoints;
};

// Parses "N=0..32" or "N=0..32:4". -1 with a message.
int bench_sweep_parse(const char *text, struct bench_sweep *sweep, struct err *err);

// Puts the values of a point into the texts of a spec in place of {N}; the arena owns them. Returns
// the number of places.
int bench_sweep_point(const struct bench_sweep *sweep, int point, const struct bench_spec *spec,
                      struct arena *arena, struct bench_spec *filled);

struct sweep_point {
    int64_t value;
    enum outcome outcome;
    double clk, spread_clk; // core cycles per instance; NaN where there is none
    const char *detail;     // reason, unless ok
};

// Draws the points by gnuplot into a file, .svg or .png by its name; "-": in characters, appended
// to `text`. Returns 0, or -1 with a message.
int bench_sweep_plot(const struct bench_sweep *sweep, const struct sweep_point *points,
                     const char *path, struct strbuf *text, struct err *err);
