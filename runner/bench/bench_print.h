// SPDX-License-Identifier: MIT
// What `latput bench` prints. Pure.
#ifndef LATPUT_BENCH_PRINT_H
#define LATPUT_BENCH_PRINT_H

#include "bench.h"
#include "report/report.h"

#include <stdio.h>

// Repetitions and summary. Where the outcome has neither (the code was refused or crashed at once),
// the table and CSV formats print nothing; JSON always has the outcome.
void bench_print(const struct bench_spec *spec, const struct bench_result *result,
                 enum report_format format, FILE *out);

#endif
