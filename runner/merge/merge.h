// SPDX-License-Identifier: MIT
// Runs copied from one database into another.
#pragma once

#include "store/store.h"
#include "util/progress.h"

#include <stdbool.h>
#include <stdint.h>

// Amount of evidence that is kept beside the results.
enum merge_keep {
    MERGE_KEEP_RESULTS, // none: neither kernels nor timings for the ports; results of instructions
                        // are rounded to thousandths
    MERGE_KEEP_KERNELS, // timings and what follows from them, but neither passes nor samples
    MERGE_KEEP_SAMPLES, // all
    MERGE_KEEP_ALL,     // and what belongs to a database: no file that is given away has it
};

// Packing: merge_extract_runs() writes a new database file that holds only these runs, in this
// order; a warning of each run names what is not kept. The same runs give the same bytes.
struct merge_extract {
    const int64_t *run_ids;
    int nruns;
    enum merge_keep keep;
};
int merge_extract_runs(struct store *store, const struct merge_extract *extract, const char *path,
                       struct err *err);

// Merging: copies the runs of such files, which are not trusted, into a database open for writing.
// Added runs are checked and prepared in a file of their own; only then is the database locked, for
// as long as copying takes.
enum { MERGE_RUNS_MAX = 256 };
struct store_merged {
    int nruns; // number of runs in the file
    struct {
        int64_t run_id; // id in the database, known at the end
        bool added;     // false: the database had it already
    } runs[MERGE_RUNS_MAX];
};
struct merge;
// Begins a merge, whose kernels are counted on the display while their results are made again
// (NULL: on none); NULL after an error.
struct merge *merge_begin(struct store *store, struct progress *progress, struct err *err);
// Adds the runs of a file, which messages call `label`. Returns 0, or -1 if it is refused.
int merge_file(struct merge *merge, const char *path, const char *label,
               struct store_merged *merged, struct err *err);
// Ends a merge of n files, with status 0 if none was refused. Returns how many runs were added, or
// -1: then none.
int merge_end(struct merge *merge, int status, struct store_merged *merged, int n, struct err *err);
