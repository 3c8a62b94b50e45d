// SPDX-License-Identifier: MIT
// Pieces of code measured by `latput bench`.
#pragma once

#include "core/outcome.h"
#include "store.h"
#include "store_field.h"

#include <stdbool.h>
#include <stdint.h>

// A column or event of a piece of code. Missing numbers are NaN, missing texts "".
struct stored_bench_metric {
    const char *kind; // "event", or "column" for a computed one
    const char *name, *code, *backend, *table_version;
};
struct stored_bench_thread {
    int cpu;
    double instance_clk, median_clk, spread_clk;
    int accepted, tried, passes;
};
struct stored_bench_repetition {
    int thread, pass, repetition, tried;
    bool cold, accepted;
    double late_ns, elapsed_tsc, elapsed_clk;
    const double *values; // one per metric
};
struct stored_bench {
    const char *label, *source, *code, *file, *file_sha256, *symbol, *cflags, *compiler, *init;
    const char *mode, *breakers;
    int bits, instances, copies, iterations, pass;
    bool cold;
    enum outcome outcome;
    const char *detail;
    struct field_blob machine_code; // at most 64 bytes are kept
    int code_bytes;
    const struct stored_bench_thread *threads;
    int nthreads;
    const struct stored_bench_metric *metrics;
    int nmetrics;
    const struct stored_bench_repetition *repetitions;
    int nrepetitions;
};
// Adds a piece of code to a run, all of it or nothing. Refuses text that is not UTF-8 or has
// control characters other than tabs and line feeds: packs could not carry it.
int store_put_bench(struct store *store, int64_t run_id, const struct stored_bench *bench,
                    struct err *err);
