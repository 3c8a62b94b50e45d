// SPDX-License-Identifier: MIT
// Completing a run: which rows of its lists it has no value for, by what it and the runs that
// complete it have stored.
#pragma once

#include "list/select.h"
#include "run.h"
#include "store/store_again.h"

struct run_again {
    struct stored_base base;
    struct stored_lack *lacks; // all forms of the run
    int n;
    bool calibration_off; // as in run_summary, of the base
    struct arena arena;
};
// Finds the run to be completed on this CPU and what its forms lack. Returns 0, or -1 with the
// reason, which says what to do: base.found tells what is wrong with the input, AGAIN_FOUND that
// the database could not be read.
int run_again_find(struct store *store, const struct cpu_info *cpu, struct run_again *again,
                   struct err *err);
void run_again_free(struct run_again *again);
// Returns the names of the run's lists, as select_rows() takes them, with NULL at the end; owned by
// the arena.
const char *const *run_again_lists(struct run_again *again);
// Leaves in the selection the rows that lack something, to be asked only for that and for what
// `tests` allows.
void run_again_narrow(const struct run_again *again, unsigned tests, struct selection *selection);

// Replaces the counts of the run that completed another one by the counts of the completed run,
// with its calibration's doubt, so that run_verdict() judges the whole.
int run_again_summary(struct store *store, const struct run_again *again,
                      struct run_summary *summary, struct err *err);
