// SPDX-License-Identifier: MIT
// The world that targets of foreign packs and databases work on, made once.
#pragma once

#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fuzz_world {
    char *sound; // a database with a sound run: the newest of LATPUT_FUZZ_DB, and rows.sql
    char *empty; // one without a run
};
const struct fuzz_world *fuzz_world(void);

// A database in memory like the empty one, for what is merged.
struct rows;
struct fuzz_target {
    struct rows *rows; // empties it again
    struct store *store;
};
struct fuzz_target fuzz_target_open(const char *uri);
// Returns another connection to a database in memory, which is there already.
struct store *fuzz_connect(const char *uri);

// One database in so many is copied to its end: that takes some ten times as long as its check.
enum { COPIED = 16 };

// Reads what was merged as `latput query` does: the choice says which table, and how.
void fuzz_read_run(struct store *store, int64_t run, unsigned choice);
// Checks that there is no run: what is refused leaves nothing.
void fuzz_check_empty(struct store *store);
void fuzz_broken(const char *what); // ends the fuzzing
