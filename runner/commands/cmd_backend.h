// SPDX-License-Identifier: MIT
// The option --backend of commands: of those that measure in core cycles, and of those that cannot
// use every backend.
#ifndef LATPUT_CMD_BACKEND_H
#define LATPUT_CMD_BACKEND_H

#include "command.h"
#include "counters/count_choose.h"
#include "measure/session.h"

// The option's help where it says who counts core cycles.
extern const char backend_of_cycles[];

// Reads the option's text. `usable`: bits of the choices that the command can carry out. Another
// one is tried on this machine, and refused either with the obstacle that it meets here or because
// the command cannot use it. Returns EXIT_DONE and *choice, or the status of a message.
int backend_option_read(const struct command *cmd, const char *text, unsigned usable,
                        enum count_choice *choice);

// Says on standard error what a session counts, and what it does not though the tables have it;
// nothing where it counts nothing.
void backend_say(const struct command *cmd, const struct session *session);

#endif
