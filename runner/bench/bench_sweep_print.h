// SPDX-License-Identifier: MIT
// The output of `latput bench --sweep`, point by point.
#pragma once

#include "bench_sweep.h"
#include "output/output.h"

struct sweep_line {
    struct sweep_point of;
    int cpu;
    const char *failed; // the outcome, unless it is ok
    struct output_more more;
};
enum { SWEEP_FIELDS = 8 };

struct sweep_print {
    const struct bench_spec *spec;
    const struct bench_sweep *sweep;
    enum report_format format;
    bool begun; // the first point has filled what follows
    struct look *looks;
    int nlooks; // number of quantities
    struct output_field fields[SWEEP_FIELDS];
    struct output_record record;
    struct strbuf out;
    struct output_page page;
    struct output_stream stream;
    struct arena arena;
};
extern const struct output_kind bench_sweep_kind;

// Prints one row per thread.
void sweep_print_point(struct sweep_print *print, const struct sweep_point *whole,
                       const struct bench_result *result);
void sweep_print_end(struct sweep_print *print); // prints what is left, and frees
