// SPDX-License-Identifier: MIT
// Runs copied from one database into another.
#ifndef LATPUT_STORE_MERGE_H
#define LATPUT_STORE_MERGE_H

#include "store.h"

#include <stdbool.h>
#include <stdint.h>

// How much of what results follow from goes along.
enum store_keep {
    STORE_KEEP_RESULTS, // nothing: neither kernels nor what was timed for the ports; and results of
                        // instructions to thousandths
    STORE_KEEP_KERNELS, // what was timed and what that says, but neither passes nor samples
    STORE_KEEP_SAMPLES, // all
};

// Packing and merging. store_extract_runs() writes a new database file that holds these runs only,
// in this order; what it does not keep a warning of each run says. The same runs give the same
// bytes.
struct store_extract {
    const int64_t *run_ids;
    int nruns;
    enum store_keep keep;
};
int store_extract_runs(struct store *store, const struct store_extract *extract, const char *path,
                       struct err *err);

// Copies the runs of such a file, which is taken for untrusted, into a database open for writing;
// messages call it `label`. How many were added, or -1: refused; nothing is added then.
enum { STORE_MERGE_RUNS_MAX = 256 };
struct store_merged {
    int nruns; // of the file
    struct {
        int64_t run_id; // in the database
        bool added;     // else it was there already
    } runs[STORE_MERGE_RUNS_MAX];
};
int store_merge_runs(struct store *store, const char *path, const char *label,
                     struct store_merged *merged, struct err *err);

#endif
