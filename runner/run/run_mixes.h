// SPDX-License-Identifier: MIT
// The last part of a run: random mixes of its forms, timed and stored with it, by which later
// versions can tell whether they predict this core as well.
#pragma once

#include "list/select.h"
#include "measure/session.h"
#include "store/store.h"
#include "store/store_validation.h"
#include "util/progress.h"

struct run_mixes {
    struct session *session;
    struct store *store;
    int64_t run_id;
    struct progress *progress; // progress display; NULL: none
    bool ahead, keep;
    int64_t kernels, passes;                // out
    bool stopped;                           // out: by exec_stop(); nothing was stored
    int64_t mixes;                          // out: timed now, 0: none
    double mape_percent, within_10_percent; // out: of these
};
// Draws and times the mixes of those rows that the run has ports of, unless it has its mixes
// already, or too few such forms. What the core does not let happen is a warning of the run.
int run_mixes(struct run_mixes *run, const struct selected_row *rows, int nrows, struct err *err);
