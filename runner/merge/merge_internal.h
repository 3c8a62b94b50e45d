// SPDX-License-Identifier: MIT
// Functions that the files of merge/ call of each other.
#pragma once

#include "merge.h"
#include "store/store_internal.h"

// merge_copy.c: copies a run with everything that belongs to it and is kept, all or nothing.
int merge_copy_run(struct store *from, int64_t run_id, enum merge_keep keep, struct store *to,
                   int64_t *new_id, struct err *err);
// merge_copy.c: hashes (sha256) the measurements of a run, as far as they are kept; the same in any
// file. Results count only without samples.
int merge_hash_run(struct store *store, int64_t run_id, enum merge_keep keep, char hex[65],
                   struct err *err);

// merge_property_size.c: returns 0, or -1 if a property is larger than any conclusion needs.
int merge_check_properties(struct store *store, struct err *err);

// merge_append.c: adds all runs of a database that only this process uses, all or none. Their run
// ids follow *last_run_id.
int merge_append(struct store *store, const char *path, int64_t *last_run_id, struct err *err);

// merge_believe.c: returns 0, or -1 if a row of the file belongs to another that does not exist.
int merge_check_keys(struct store *store, struct err *err);
// merge_believe.c: derives all results of a copied foreign run again from its samples; marks it
// with a warning if it has none, or if they give other results. Returns -1, with a message that
// calls the file `label`, if its results are impossible.
int merge_believe(struct store *store, int64_t run_id, const char *label, struct err *err);
// merge_believe.c: warns about a run that was timed and has no samples.
int merge_mark_bare(struct store *store, int64_t run_id, struct err *err);
