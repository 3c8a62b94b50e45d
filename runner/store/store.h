// SPDX-License-Identifier: MIT
// The database: opening, transactions, closing. Only this folder knows SQLite. Facts (cpu, run,
// form, test, kernel, timing, sample) are append-only; results and views can be rebuilt from them
// (rederive/rederive.h). There is a header per topic: store_cpu.h, store_run.h, store_form.h,
// store_ports.h, store_property.h, store_validation.h, store_bench.h; store_read.h has the rows of
// the views, store_machines.h machines of one family apart, store_whose.h the names of a run,
// merge/merge.h copies of runs. All their functions that return int give 0, or -1 with a message
// that names the database file, unless they say otherwise.
#pragma once

#include "util/err.h"

#include <stdbool.h>

struct store; // an open database; for one thread at a time

enum store_mode {
    STORE_READ,  // must exist; opened read-only, defensively
    STORE_WRITE, // created and migrated as needed
    STORE_UPDATE // migrated as needed, but must exist
};
// Result for a file that is no latput database, or one of a newer latput.
enum { STORE_FOREIGN = -2 };
// Opens a database. Returns 0, -1 or STORE_FOREIGN.
int store_open(const char *path, enum store_mode mode, struct store **store, struct err *err);
void store_close(struct store *store); // NULL is fine
// Closes it, and removes the file if store_open() made it, it has no run and nobody else has it
// open.
void store_close_unused(struct store *store);
const char *store_path(const struct store *store);
// Returns true if something failed for lack of space or a sound disk, whatever was asked.
bool store_is_unable(const struct store *store);
void store_set_unable(struct store *store); // what is read beside it failed so
// Returns the path of the database without --db and LATPUT_DB: db/latput.db of the source tree or,
// if that cannot be written (an installed latput), latput/latput.db below $XDG_DATA_HOME or
// ~/.local/share. Valid as long as the program runs.
const char *store_own_path(void);
// Returns LATPUT_DB, or store_own_path(), whose directory it makes.
const char *store_default_path(void);

// Begins a transaction: everything until store_commit() becomes visible at once, or not at all.
// Fails if the file has been deleted, moved or replaced meanwhile; its content is then copied to a
// file beside the old place, which the message names.
int store_begin(struct store *store, struct err *err);
int store_commit(struct store *store, struct err *err);
void store_rollback(struct store *store);
