// SPDX-License-Identifier: MIT
// Runs copied from one database into another.
#ifndef LATPUT_STORE_MERGE_H
#define LATPUT_STORE_MERGE_H

#include "store.h"

#include <stdint.h>

// Packing and merging. store_extract_run() writes a new database file that holds this run only; the
// same run gives the same bytes. store_merge_run() copies the run of such a file, which is taken
// for untrusted, into a database open for writing; messages call it `label`. 1: added as *run_id,
// 0: this run is there already (as *run_id), -1: refused, with nothing added.
int store_extract_run(struct store *store, int64_t run_id, const char *path, struct err *err);
int store_merge_run(struct store *store, const char *path, const char *label, int64_t *run_id,
                    struct err *err);

#endif
