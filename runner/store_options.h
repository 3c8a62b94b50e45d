// SPDX-License-Identifier: MIT
// Options that the commands on a database share, with their messages.
#ifndef LATPUT_STORE_OPTIONS_H
#define LATPUT_STORE_OPTIONS_H

#include "command.h"
#include "store.h"

// Opens the database of the option --db (NULL: the default one). EXIT_DONE, or another status after
// a message: EXIT_USAGE where the file is no latput database.
int store_option_open(const struct command *cmd, const char *db, enum store_mode mode,
                      struct store **store);

// A run's number from the command line. 0, or -1 after a message.
int store_option_run(const struct command *cmd, const char *text, int64_t *run_id);

// Whether the run (0: none asked for) and the uarch (NULL) exist. EXIT_DONE, or another status
// after a message.
int store_option_check(const struct command *cmd, struct store *store, int64_t run_id,
                       const char *uarch);

// The uarch of a run that exists, to be freed by the caller; NULL after an error.
char *store_option_uarch(struct store *store, int64_t run_id, struct err *err);

#endif
