// SPDX-License-Identifier: MIT
// The database: opening, transactions, closing. Only this folder knows SQLite. Facts (cpu, run,
// form, test, kernel, timing, sample) are append-only; results and views can be rebuilt from them
// (store_rederive.h). What is in it has a header a topic: store_cpu.h, store_run.h, store_form.h,
// store_ports.h, store_validation.h, store_bench.h; store_read.h has the rows of the views,
// merge.h copies of runs. All functions of these that return int give 0, or -1 with a message
// that names the database file, if they do not say otherwise.
#ifndef LATPUT_STORE_H
#define LATPUT_STORE_H

#include "util/err.h"

#include <stdbool.h>

struct store; // an open database; used by one thread at a time

enum store_mode {
    STORE_READ,  // must exist; opened read-only, defensively
    STORE_WRITE, // created and migrated as needed
    STORE_UPDATE // migrated as needed, but must exist
};
// The file is something else than a latput database, or one of a newer latput.
enum { STORE_FOREIGN = -2 };
// 0, -1 or STORE_FOREIGN.
int store_open(const char *path, enum store_mode mode, struct store **store, struct err *err);
void store_close(struct store *store); // NULL is fine
// The same, but leaves no file behind if store_open() made it, it has no run and nobody else has it
// open.
void store_close_unused(struct store *store);
const char *store_path(const struct store *store);
// Whether something failed for lack of space or a sound disk, not for what was asked.
bool store_is_unable(const struct store *store);
// Where the database is without --db and LATPUT_DB: db/latput.db of the source tree, or, where that
// cannot be written (an installed latput), latput/latput.db below $XDG_DATA_HOME or ~/.local/share.
// The string lives as long as the program.
const char *store_own_path(void);
// The same, or what LATPUT_DB says; makes the directory of its own path.
const char *store_default_path(void);

// Everything between store_begin and store_commit becomes visible at once, or not at all. It is an
// error if the file has been deleted, moved or replaced meanwhile; what it holds is then copied to
// a file beside the old place, which the message names.
int store_begin(struct store *store, struct err *err);
int store_commit(struct store *store, struct err *err);
void store_rollback(struct store *store);

#endif
