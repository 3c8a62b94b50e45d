// SPDX-License-Identifier: MIT
// The configuration file: what options are where the command line does not say. $LATPUT_CONFIG, or
// latput/config below $XDG_CONFIG_HOME or ~/.config; none is fine. Lines are
//
//     db = ~/measured/latput.db     # of every command that has the option
//     query.format = csv            # of one command
//     run.quiet = yes               # an option without argument: yes or no
//
// LATPUT_DB in the environment comes before `db` here.
#ifndef LATPUT_CONFIG_H
#define LATPUT_CONFIG_H

#include "command.h"
#include "util/err.h"

// Tells it all commands, so that it can refuse lines that mean none of them; ends with NULL.
void config_set_commands(const struct command *const *all);

// The next option of the command that the file sets, behind line *line (0 at first), which becomes
// its line; *argument lives as long as the program. Its index; -1 where there is none any more; -2
// with a message where a line is wrong.
int config_next_option(const struct command *cmd, int *line, const char **argument,
                       struct err *err);

#endif
