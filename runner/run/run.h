// SPDX-License-Identifier: MIT
// A measuring run: all stages over a selection of rows. For `latput run` and the benchmark.
#pragma once

#include "cpuinfo/cpuinfo.h"
#include "execute/exec.h"
#include "list/select.h"
#include "measure/parallel.h"
#include "measure/session_count.h"
#include "ports/ports.h"
#include "store/store_run.h"

struct run_options {
    unsigned tests;                   // TESTS_*
    int cpu;                          // -1: choose one
    const char *kind;                 // of core; NULL: session_begin()'s
    bool resume;                      // continue an unfinished run of the same kind
    bool ahead;                       // assemble the next batch while one is measured
    bool keep;                        // keep the assembly files
    bool quiet;                       // no progress bar
    bool kernel;                      // interrupts are off while something is timed
    bool new_floor;                   // find the canary's floor again
    struct session_counters counters; // counts ports and slots in port tests
    int parallel;                     // cores that measure at once; 1: one does
    int give_up_s;                    // stop waiting after so long without an accepted repeat
    const char *label;                // struct run_info's
    const char *selection;            // options that chose the rows, as text, compared by --resume
    // Uuid and number of the run that is completed: its tests without a value are asked, and its
    // throughputs used; NULL: none. An unfinished run that completes it is always gone on with.
    const char *completes;
    int64_t completes_id;
};

// Kernels and ports of forms that were measured once more for want of a value (measure/retry.h).
struct run_retried {
    int64_t kernels, gained;     // those that have a value now
    int64_t forms, forms_gained; // whose ports were asked for
};

struct run_summary {
    int64_t run_id;
    int64_t forms_run, forms_had;  // measured now, and already in a resumed run
    int64_t counts[OUTCOME_COUNT]; // of tests, over the whole run
    int64_t scattered;             // valid throughputs without a steady state, which have a bound
    struct store_doubts doubts;    // over the whole run
    int64_t forms;                 // over the whole run
    int64_t kernels;               // timed now, with the accepted repeats of every pass
    int64_t passes;
    double seconds;
    double core_hz;
    int64_t port_ways[PORT_WAYS]; // of the forms whose ports were found now
    uint32_t port_seed;           // 0: no ports were searched
    int64_t mixes;                // random mixes timed now
    double mixes_mape_percent, mixes_within_10_percent;
    struct run_retried retried;
    struct parallel parallel; // drawn: 0 where one core has measured
    bool stopped;             // by a signal: the run can be resumed
    bool done;                // resumed although it is finished: nothing was measured
    int64_t doubted;          // kernels timed now whose counts are impossible and were left out
    bool floor_guessed;       // to the end: the core was never undisturbed, so nothing has a value
    bool calibration_off;     // all numbers may be wrong; a warning gives the reason
    bool ports_missing;       // their structure was not found; a warning gives the reason
    bool search_lost;         // stopped during the search for the structure of ports, which must be
                              // repeated
    bool claimed;             // another process is measuring the run to be resumed
};

// Returns true if this is the stored selection of a run with interrupts off.
bool run_is_kernel(const char *selection);

// Measures the rows into the database. Returns 0, or -1 with a message if the run could not begin
// or continue; committed results stay.
int run_rows(struct store *store, const struct selection *selection,
             const struct run_options *options, struct run_summary *summary, struct err *err);
