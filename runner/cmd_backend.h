// SPDX-License-Identifier: MIT
// The option --backend of commands that cannot use every backend.
#ifndef LATPUT_CMD_BACKEND_H
#define LATPUT_CMD_BACKEND_H

#include "command.h"
#include "count_choose.h"

// Reads the option's text. `usable`: bits of the choices that the command can carry out. Another
// one is tried on this machine, and refused either with the obstacle that it meets here or because
// the command cannot use it. Returns EXIT_DONE and *choice, or the status of a message.
int backend_option_read(const struct command *cmd, const char *text, unsigned usable,
                        enum count_choice *choice);

#endif
