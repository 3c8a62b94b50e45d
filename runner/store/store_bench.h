// SPDX-License-Identifier: MIT
// Pieces of code measured by `latput bench`.
#pragma once

#include "core/outcome.h"
#include "store.h"
#include "store_field.h"

#include <stdbool.h>
#include <stdint.h>

// An event that was counted, or a computed column. Missing texts are "".
struct bench_metric {
    const char *kind;    // "event" or "column"
    const char *name;    // as the user wrote it
    const char *code;    // counter setting: "event=0xc0,umask=0x00", or "software"; expression
    const char *backend; // of an event: "perf" or "msr"
    const char *table_version; // of the event table
};
// Summary of a thread's accepted warm repetitions; of cold ones if all are cold.
struct bench_summary {
    int cpu;
    double clk;        // core cycles per instance: fastest steady state that two passes confirm, of
                       // cold repetitions the median; NaN unless the outcome is ok
    double median_clk; // over all passes; NaN: nothing was accepted
    double spread_clk; // interquartile range; NaN likewise
    int accepted, tried, passes;
};
struct bench_row {
    int thread;     // from 0
    int pass;       // from 1; every pass is a process of its own and begins with a cold repetition
    int repetition; // from 0
    bool cold;
    bool accepted;  // passed the gate; if not, something else used the core
    int tried;      // times, until it passed
    double late_ns; // after the start that the threads had agreed on
    double tsc;     // TSC ticks of the whole repetition, the overhead of timing taken off
    double clk;     // core cycles of the whole repetition
    double per_clk; // core cycles per instance; not stored
    // One per metric. Events: counts of the whole repetition, in user mode, without the overhead of
    // counting; NaN: not counted in this pass. Columns: computed from the values of the whole
    // repetition.
    double *values;
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
    const struct bench_summary *threads;
    int nthreads;
    const struct bench_metric *metrics; // events, then columns
    int nmetrics;
    const struct bench_row *repetitions;
    int nrepetitions;
};
extern const struct store_record store_bench_metric, store_bench_thread;
// Adds a piece of code to a run, all of it or nothing. Refuses text that is not UTF-8 or has
// control characters other than tabs and line feeds: packs could not carry it.
int store_put_bench(struct store *store, int64_t run_id, const struct stored_bench *bench,
                    struct err *err);
