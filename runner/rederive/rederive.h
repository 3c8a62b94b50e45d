// SPDX-License-Identifier: MIT
// Results derived again from the measurements.
#pragma once

#include "store/store.h"
#include "util/progress.h"

#include <stdint.h>

// Derives estimates and results from the stored samples of a run (0: of all) again, in one
// transaction. *results: their number; *changed: those with another value, outcome or reason. Timed
// runs that are kept without samples stay unchanged; rederive_count_bare(), afterwards, counts
// those among the wanted runs.
int rederive_results(struct store *store, int64_t run_id, int64_t *results, int64_t *changed,
                     struct err *err);
// The same; kernels are counted on the display, which may be NULL.
int rederive_shown(struct store *store, int64_t run_id, struct progress *progress, int64_t *results,
                   int64_t *changed, struct err *err);
int rederive_count_bare(struct store *store, int64_t run_id, int64_t *bare, struct err *err);
// Draws the conclusions of the run (0: all runs) again; adds to *made and *changed.
int rederive_properties(struct store *store, int64_t run_id, int64_t *made, int64_t *changed,
                        struct err *err);
