// SPDX-License-Identifier: MIT
// A measuring run: all stages over a selection of rows. Used by `latput run` and by the benchmark.
#ifndef LATPUT_RUN_H
#define LATPUT_RUN_H

#include "cpuinfo/cpuinfo.h"
#include "execute/exec.h"
#include "list/select.h"
#include "measure/session_count.h"
#include "ports/ports.h"
#include "store/store_run.h"

struct run_options {
    unsigned tests;                   // TESTS_*
    int cpu;                          // to measure on, -1: choose
    bool resume;                      // go on with an unfinished run of the same kind
    bool ahead;                       // assemble the next batch while one is measured
    bool keep;                        // keep the assembly files
    bool quiet;                       // no progress bar
    bool new_floor;                   // find the canary's floor again
    struct session_counters counters; // ports and slots are counted where they are tested
    int give_up_s;                    // nothing accepted for so long: stop waiting
    const char *selection; // the options that chose the rows, as text: what --resume compares
};

struct run_summary {
    int64_t run_id;
    int64_t forms_run, forms_had;  // measured now, and those that a resumed run had already
    int64_t counts[OUTCOME_COUNT]; // of tests, over the whole run
    int64_t scattered; // of those that are ok: throughputs without a steady state, with a bound
    struct store_doubts doubts; // over the whole run
    int64_t forms;              // over the whole run
    int64_t kernels;            // timed now, with their accepted repeats in every pass
    int64_t passes;
    double seconds;
    double core_hz;
    int64_t port_ways[PORT_WAYS]; // of the forms whose ports were found now
    uint32_t port_seed;           // 0: none were
    bool stopped;                 // by a signal: the run can be resumed
    int64_t doubted;              // kernels timed now whose counts cannot be true and were left out
    bool floor_guessed;   // to the end: the core was never seen undisturbed, so nothing has a value
    bool calibration_off; // all numbers may be wrong; a warning says why
    bool ports_missing;   // their structure could not be found; a warning says why
    bool search_lost;     // stopped while the structure of the ports was searched: begins anew
    bool claimed;         // the run to be resumed is being measured by another process
};

// Measures the rows into the database. -1 with a message when the run could not begin or go on;
// what was committed until then stays.
int run_rows(struct store *store, const struct selection *selection,
             const struct run_options *options, struct run_summary *summary, struct err *err);

#endif
