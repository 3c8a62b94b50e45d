// SPDX-License-Identifier: MIT
// The port part of a run: finds the structure of the ports, then what each row uses of it, in
// chunks that are stored as they are done. The structure itself is found by run_port_model.h.
#ifndef LATPUT_RUN_PORTS_H
#define LATPUT_RUN_PORTS_H

#include "list/select.h"
#include "measure/measure_mixes.h"
#include "run_port_model.h"
#include "store/store.h"

struct run_ports {
    const struct session *session;
    struct store *store;
    int64_t run_id, cpu_id;
    const struct selection *all; // the rows of all lists: blockers are chosen from them
    // Of the rows in question and of all others, as far as this run has measured them; NULL: those
    // that the database has.
    const struct stored_throughputs *throughputs;
    bool resumed;     // rows may have results from before
    bool reuse_model; // take the CPU's newest, if there is one
    bool ahead, keep;
    struct progress *progress;   // shows it; NULL: nothing does
    const char *skip_32;         // why rows with bits=32 are not measured; NULL: they are
    int64_t kernels, passes;     // out
    int64_t ways[PORT_WAYS];     // out: how the ports of forms were found
    uint32_t drawn_seed;         // out
    bool stopped;                // out: by exec_stop(); what was stored stays
    bool not_measured;           // out: no structure was found, a warning says why
    bool search_lost;            // out: stopped before the structure was found
    const bool *measure_stopped; // while it measures
};
// Measures those of the rows that want port tests and have no port result in this run yet.
// How many kernels that takes, as far as can be told before.
int64_t run_ports_expected(const struct selected_row *rows, int nrows);
int run_ports(struct run_ports *run, const struct selected_row *rows, int nrows, struct err *err);

#endif
