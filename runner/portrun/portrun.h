// SPDX-License-Identifier: MIT
// The port part of a run: finds the structure of the ports (portrun_model.h), then each row's use
// of it, in chunks that are stored when done.
#pragma once

#include "list/select.h"
#include "plan/refusals.h"
#include "portrun_mixes.h"
#include "portrun_model.h"
#include "store/store.h"

// The port part of a run, as it is asked for.
struct portrun {
    struct session *session;
    struct store *store;
    int64_t run_id, cpu_id;
    const struct selection *all;    // rows of all lists, from which blockers are chosen
    const struct refusals *refused; // features of which no row is measured
    // Throughputs of the rows in question and all others that this run has measured; NULL: the
    // database has them.
    const struct stored_throughputs *throughputs;
    bool resumed;     // rows may have earlier results
    bool reuse_model; // use the CPU's newest model, if there is one
    bool ahead, keep;
    struct retry *retry;       // measures what has no value once more; NULL: nothing does
    struct progress *progress; // progress display; NULL: none
    const char *skip_32;       // reason to skip rows with bits=32; NULL: they are measured
};
// Outcome of the port part.
struct portrun_result {
    int64_t kernels, passes;
    int64_t ways[PORT_WAYS]; // how the ports of forms were found
    uint32_t drawn_seed;
    bool stopped;      // by exec_stop(); what was stored stays
    bool not_measured; // no structure was found, a warning gives the reason
    bool search_lost;  // stopped before the structure was found
};
// Returns about how many kernels the rows' port tests take.
int64_t portrun_expected(const struct selected_row *rows, int nrows);
// Measures the rows that want port tests and have no port result in this run yet. *result is set
// also on failure.
int portrun_measure(const struct portrun *run, const struct selected_row *rows, int nrows,
                    struct portrun_result *result, struct err *err);
