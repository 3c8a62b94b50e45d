// SPDX-License-Identifier: MIT
// Options that the commands on a database share, with their messages.
#ifndef LATPUT_STORE_OPTIONS_H
#define LATPUT_STORE_OPTIONS_H

#include "command.h"
#include "store.h"

// A run's number from the command line. 0, or -1 after a message.
int store_option_run(const struct command *cmd, const char *text, int64_t *run_id);

// Whether the run (0: none asked for) and the uarch (NULL) exist. EXIT_DONE, or another status
// after a message.
int store_option_check(const struct command *cmd, struct store *store, int64_t run_id,
                       const char *uarch);

#endif
