// SPDX-License-Identifier: MIT
// Runs copied from one database into another.
#ifndef LATPUT_MERGE_H
#define LATPUT_MERGE_H

#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

// How much of what results follow from goes along.
enum merge_keep {
    MERGE_KEEP_RESULTS, // nothing: neither kernels nor what was timed for the ports; and results of
                        // instructions to thousandths
    MERGE_KEEP_KERNELS, // what was timed and what that says, but neither passes nor samples
    MERGE_KEEP_SAMPLES, // all
};

// Packing and merging. merge_extract_runs() writes a new database file that holds these runs only,
// in this order; what it does not keep a warning of each run says. The same runs give the same
// bytes.
struct merge_extract {
    const int64_t *run_ids;
    int nruns;
    enum merge_keep keep;
};
int merge_extract_runs(struct store *store, const struct merge_extract *extract, const char *path,
                       struct err *err);

// Copies the runs of such files, which are taken for untrusted, into a database open for writing.
// What is added is checked and made ready in a file of its own; only when all of it is there is the
// database locked, for as long as copying takes.
enum { MERGE_RUNS_MAX = 256 };
struct store_merged {
    int nruns; // of the file
    struct {
        int64_t run_id; // in the database, known at the end
        bool added;     // else it was there already
    } runs[MERGE_RUNS_MAX];
};
struct merge;
// NULL after an error.
struct merge *merge_begin(struct store *store, struct err *err);
// The runs of a file, which messages call `label`; 0, or -1: it is refused.
int merge_file(struct merge *merge, const char *path, const char *label,
               struct store_merged *merged, struct err *err);
// The end of a merge of n files, with status 0 if none was refused. How many runs were added, or
// -1: then none.
int merge_end(struct merge *merge, int status, struct store_merged *merged, int n, struct err *err);
// All three for one file.
int merge_runs(struct store *store, const char *path, const char *label,
               struct store_merged *merged, struct err *err);

#endif
