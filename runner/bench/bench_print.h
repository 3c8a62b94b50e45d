// SPDX-License-Identifier: MIT
// The output of `latput bench`. Pure.
#pragma once

#include "bench.h"
#include "output/output.h"
#include "report/report.h"

#include <stdio.h>

// Repetitions and summary. Where the outcome has neither (the code was refused or crashed at once),
// the table and CSV formats print nothing; JSON always has the outcome.
void bench_print(const struct bench_spec *spec, const struct bench_result *result,
                 enum report_format format, FILE *out);

extern const struct output_kind bench_kind;

// Counted and computed quantities beside the times, for tables of another kind: their number, the
// name of one in CSV and JSON, and its median over a thread's repetitions; NaN: unknown.
enum { BENCH_MEMBER_BYTES = 32 };
int bench_quantities(const struct bench_result *result);
const char *bench_quantity_name(const struct bench_result *result, int quantity,
                                char text[BENCH_MEMBER_BYTES]);
double bench_quantity(const struct bench_spec *spec, const struct bench_result *result, int thread,
                      int quantity);
