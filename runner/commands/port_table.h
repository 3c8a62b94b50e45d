// SPDX-License-Identifier: MIT
// The ports of a run, to draw mixes from and time them on the machine that they were measured on:
// the first step of `latput validate` and `latput record`.
#pragma once

#include "cli/command.h"
#include "measure/session.h"
#include "measure/session_count.h"
#include "portrun/portrun_mixes.h"
#include "store/store.h"
#include "validate/validate.h"

struct port_table {
    bool anywhere;  // set beforehand: nothing is timed, so the run may be of another CPU
    int cpu;        // set beforehand: of which the family is meant; -1: the last one
    int64_t run_id; // run with these ports
    struct stored_port_model model;
    struct selection rows;
    struct validate_forms forms;
    const struct list_row **by_form;
};

// Reads the ports of the run, or with run_id 0 of the newest of this machine's family; `glob` as in
// select_rows(). The arena owns all but the selection. Returns EXIT_DONE, or another status after a
// message: EXIT_USAGE if the run is of another family and table->anywhere is not set. The caller
// frees the table only after EXIT_DONE.
int port_table_open(const struct command *cmd, struct store *store, int64_t run_id,
                    const char *glob, struct port_table *table, struct arena *arena);
void port_table_free(struct port_table *table);

// Begins a session on the CPU (-1: choose one), finds its floor, and prints where cycles come from.
// The caller ends the session, also after -1.
int port_table_session(const struct command *cmd, struct store *store, int cpu,
                       enum count_choice backend, struct session *session, struct err *err);

// Returns the oracle's context for the table in the session.
struct portrun_mixes port_table_measure(const struct port_table *table, struct session *session);
