// SPDX-License-Identifier: MIT
// What the files of merge/ call of each other.
#ifndef LATPUT_MERGE_INTERNAL_H
#define LATPUT_MERGE_INTERNAL_H

#include "merge.h"
#include "store/store_internal.h"

// merge_copy.c: copies a run with everything that belongs to it and is kept, all or nothing.
int merge_copy_run(struct store *from, int64_t run_id, enum merge_keep keep, struct store *to,
                   int64_t *new_id, struct err *err);
// The same file: sha256 over what was measured for a run, as far as that is kept; the same whatever
// file it is in. Results count where samples do not.
int merge_hash_run(struct store *store, int64_t run_id, enum merge_keep keep, char hex[65],
                   struct err *err);

// merge_property_size.c: 0, or -1 where a property is larger than what any conclusion is drawn
// from.
int merge_check_properties(struct store *store, struct err *err);

// merge_append.c: adds all runs of a database of ours, which nobody else uses, all or none. Their
// run ids become those behind *last_run_id.
int merge_append(struct store *store, const char *path, int64_t *last_run_id, struct err *err);

// merge_believe.c: 0, or -1 where a row of the file belongs to another that is not there.
int merge_check_keys(struct store *store, struct err *err);
// The same file: makes everything derived of a run that was copied from someone else's file again
// from its samples; marks it with a warning where there are none, or where they say something else.
// -1 with a message that calls the file `label` where what it says is impossible.
int merge_believe(struct store *store, int64_t run_id, const char *label, struct err *err);
// The same file: a warning of a run that was timed and has no samples says so.
int merge_mark_bare(struct store *store, int64_t run_id, struct err *err);

#endif
