// SPDX-License-Identifier: MIT
// The port part of a run: finds the structure of the ports (run_port_model.h), then each row's use
// of it, in chunks that are stored when done.
#pragma once

#include "list/select.h"
#include "measure/measure_mixes.h"
#include "run_port_model.h"
#include "store/store.h"

struct run_ports {
    struct session *session;
    struct store *store;
    int64_t run_id, cpu_id;
    const struct selection *all; // rows of all lists, from which blockers are chosen
    // Throughputs of the rows in question and all others that this run has measured; NULL: the
    // database has them.
    const struct stored_throughputs *throughputs;
    bool resumed;     // rows may have earlier results
    bool reuse_model; // use the CPU's newest model, if there is one
    bool ahead, keep;
    struct retry *retry;         // measures what has no value once more; NULL: nothing does
    struct progress *progress;   // progress display; NULL: none
    const char *skip_32;         // reason to skip rows with bits=32; NULL: they are measured
    int64_t kernels, passes;     // out
    int64_t ways[PORT_WAYS];     // out: how the ports of forms were found
    uint32_t drawn_seed;         // out
    bool stopped;                // out: by exec_stop(); what was stored stays
    bool not_measured;           // out: no structure was found, a warning gives the reason
    bool search_lost;            // out: stopped before the structure was found
    const bool *measure_stopped; // while it measures
};
// Returns about how many kernels the rows' port tests take.
int64_t run_ports_expected(const struct selected_row *rows, int nrows);
// Measures those of the rows that want port tests and have no port result in this run yet.
int run_ports(struct run_ports *run, const struct selected_row *rows, int nrows, struct err *err);
