// SPDX-License-Identifier: MIT
// Properties into the database, as a run of its own, one by one: what is complete stays when the
// run is stopped.
#pragma once

#include "property.h"
#include "store/store.h"

struct property_run_options {
    int cpu;               // to measure on, -1: choose
    const char *kind;      // of core; NULL: session_begin()'s
    bool resume;           // go on with an unfinished run of the same properties
    bool keep;             // the assembly files
    bool quiet;            // no progress bar
    bool new_floor;        // find the canary's floor again
    const char *label;     // struct run_info's
    const char *selection; // the user's selection as text, which --resume compares
};

struct property_run_summary {
    int64_t run_id;
    int measured, had; // now; and those that a resumed run had already
    int64_t kernels;
    double seconds;
    bool stopped;       // by a signal: the run can be resumed
    bool floor_guessed; // the core was never seen undisturbed, so nothing has a value
    bool claimed;       // the run to be resumed is being measured by another process
};

// Measures the rows. -1 with a message when nothing can be measured here, or no more; what was
// stored stays.
int property_run(struct store *store, const struct properties *properties,
                 const struct property_run_options *options, struct property_run_summary *summary,
                 struct err *err);
