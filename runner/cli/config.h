// SPDX-License-Identifier: MIT
// The configuration file: values of options that the command line does not give. $LATPUT_CONFIG, or
// latput/config below $XDG_CONFIG_HOME or ~/.config; it need not exist. Lines are
//
//     db = ~/measured/latput.db     # of every command that has the option
//     query.format = csv            # of one command
//     run.quiet = yes               # an option without argument: yes or no
//
// LATPUT_DB in the environment has priority over `db` here.
#pragma once

#include "command.h"
#include "util/err.h"

// Registers all commands, so that lines that belong to none of them can be refused; ends with NULL.
void config_set_commands(const struct command *const *all);

// Finds the next option of the command that the file sets, after line *line (0 at first), which
// becomes its line; *argument is valid as long as the program runs. Returns its index; -1 after the
// last; -2 with a message if a line is wrong.
int config_next_option(const struct command *cmd, int *line, const char **argument,
                       struct err *err);
