// SPDX-License-Identifier: MIT
// Functions that the files of merge/ call of each other.
#pragma once

#include "merge.h"
#include "store/store_internal.h"

// merge_copy.c: a table whose rows belong to rows of another, which stands above it. A pass says
// nothing without its samples, but one of a sweep says which points were measured.
struct merge_level {
    const char *table, *parent;
    const char *above; // column with the id of the parent's row
    const char *id;    // its own, for rows below; NULL: there are none
    const char *order; // columns; NULL: there is one row
    unsigned notes;
};
// Notes on a table.
enum {
    MERGE_SAMPLES = 1, // it is copied with samples
    MERGE_KERNELS = 2, // it is copied with kernels or samples
    MERGE_ROUNDS = 4,  // numbers of runs kept without kernels are rounded
    MERGE_DERIVED = 8, // merging derives its rows again where there are samples
    MERGE_AGAIN = 16,  // merging derives its rows again
    MERGE_SAID = 32,   // remarks, which may come later or from a merge, and are not measured
    MERGE_LOCAL = 64,  // no file that is given away has it
};
enum { MERGE_CPU, MERGE_RUN = 3, MERGE_LEVELS = 46 };
extern const struct merge_level merge_levels[MERGE_LEVELS];
bool merge_keeps(enum merge_keep keep, unsigned notes);

// merge.c: the steps of a merge. Open: opens an untrusted file (a copy) that has our schema and
// sound content, and brings an older schema up to date. Content: the rows of a foreign database are
// sound, their keys fit, their values are clean. Runs: its runs, whose ids it returns, are
// finished, dated, measured, and no larger than may be. Copy: copies such a run and derives its
// results again; after an error a transaction may be open. Return 0, or -1 if it is refused.
int merge_open(const char *path, const char *label, struct store **out, struct err *err);
int merge_check_content(struct store *store, struct err *err);
int merge_check_runs(struct store *from, int64_t sources[MERGE_RUNS_MAX], int *nsources,
                     struct err *err);
int merge_copy_checked(struct store *from, int64_t source, struct store *store,
                       struct progress *progress, int64_t *run_id, struct err *err);

// merge_copy.c: copies runs with everything that belongs to them and is kept, all or nothing; no
// transaction may be open. The copies' ids follow *last_run_id.
int merge_copy_runs(struct store *from, const struct merge_extract *what, struct store *to,
                    int64_t *last_run_id, struct err *err);

// merge_hash.c: checks that the identity of a run's CPU is the hash of its columns, or rows of two
// CPUs could pass for one.
int merge_check_identity(struct store *store, int64_t run_id, char identity[65], struct err *err);
// merge_hash.c: hashes (sha256) the rows of a run that `keep` names. The hash does not depend on
// ids. Results are hashed only where samples are not.
int merge_hash_run(struct store *store, int64_t run_id, enum merge_keep keep, char hex[65],
                   struct err *err);

// merge_property_size.c: returns 0, or -1 if a property is larger than any conclusion needs.
int merge_check_properties(struct store *store, struct err *err);
// merge_work.c: returns 0, or -1 if the conclusions from all properties take longer than so many
// seconds of CPU time; all that `latput property` measures takes about a quarter of the maximum.
// Their sizes were checked.
enum { MERGE_WORK_SECONDS_MAX = 60 };
int merge_check_work(struct store *store, int most_seconds, struct err *err);

// merge_believe.c: returns 0, or -1 if a row of the file belongs to another that does not exist.
int merge_check_keys(struct store *store, struct err *err);
// merge_believe.c: returns 0, or -1 if a value is not finite, or a text has control characters or
// bad UTF-8.
int merge_check_values(struct store *store, struct err *err);
// merge_believe.c: derives all results of a copied foreign run again from its samples; marks it
// with a warning if it has none, or if they give other results. Returns -1, with a message that
// calls the file `label`, if its results are impossible.
int merge_believe(struct store *store, int64_t run_id, const char *label, struct progress *progress,
                  struct err *err);
// merge_believe.c: warns about a run that was timed and has no samples.
int merge_mark_bare(struct store *store, int64_t run_id, struct err *err);
