// SPDX-License-Identifier: MIT
// The output of `latput bench --sweep`, point by point.
#pragma once

#include "bench_sweep.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/text_table.h"

struct sweep_print {
    const struct bench_spec *spec;
    const struct bench_sweep *sweep;
    enum report_format format;
    bool begun;
    int nquantities; // number that fits into the heading, found at the first point
    struct strbuf out;
    struct json json;
    struct text_table *table; // of formats to be pasted, which appear at the end
    struct arena arena;       // of its headings
};

// Prints one row per thread.
void sweep_print_point(struct sweep_print *print, const struct sweep_point *whole,
                       const struct bench_result *result);
void sweep_print_end(struct sweep_print *print); // prints what is left, and frees
