// SPDX-License-Identifier: MIT
// --help, the man page and the completion of shells, all printed from the command records, so that
// they cannot disagree.
#ifndef LATPUT_HELP_H
#define LATPUT_HELP_H

#include "command.h"

#include <stdio.h>

void help_overview(FILE *out);                           // latput --help
void help_print(const struct command *cmd, FILE *out);   // latput COMMAND --help
void help_wrap(FILE *out, const char *text, int indent); // a paragraph of a help

int help_command(int argc, char **argv); // latput help [COMMAND | --man | --completion SHELL]
// Prints what a shell, bash or zsh, reads to complete commands and options. EXIT_USAGE, after a
// message, for another one.
int help_completion(const char *shell);
// Says, after `before` and a colon, that there is no such command, and which may be meant.
// EXIT_USAGE.
int help_no_command(const char *before, const char *name);
// The same for an option in front of it.
int help_no_option(const char *name);

#endif
