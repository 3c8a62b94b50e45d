// SPDX-License-Identifier: MIT
// What the files of bench share.
#ifndef LATPUT_BENCH_INTERNAL_H
#define LATPUT_BENCH_INTERNAL_H

#include "bench.h"
#include "bench_source.h"
#include "session.h"

// One measurement while it lasts.
struct bench {
    const struct bench_spec *spec;
    struct bench_result *result;
    struct arena *arena;
    struct session session;
    struct bench_source source;
    struct program program;
    struct exec_params params;
    struct kernel_facts facts;
};

// bench_pass.c: times the built program in passes; fills rows, summaries and outcome.
int bench_measure_passes(struct bench *bench, struct err *err);

// bench_cpus.c: fills result->cpus and nthreads. -1: there are not so many CPUs.
int bench_choose_cpus(const struct bench_spec *spec, struct bench_result *result,
                      struct arena *arena, struct err *err);

#endif
