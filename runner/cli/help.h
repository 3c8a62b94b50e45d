// SPDX-License-Identifier: MIT
// --help, the man page and the completion of shells, all printed from the command records, so that
// they cannot disagree.
#pragma once

#include "command.h"

#include <stdio.h>

void help_overview(FILE *out);                           // prints latput --help
void help_print(const struct command *cmd, FILE *out);   // prints latput COMMAND --help
void help_wrap(FILE *out, const char *text, int indent); // prints a paragraph of a help

int help_command(int argc, char **argv); // runs latput help [COMMAND | --man | --completion SHELL]
// Prints the completion of commands and options for bash or zsh. Returns EXIT_USAGE, after a
// message, for another shell.
int help_completion(const char *shell);
// Prints, after `before` and a colon, that there is no such command, and a similar one. Returns
// EXIT_USAGE.
int help_no_command(const char *before, const char *name);
// Prints that there is no such option before the command, and a similar one. Returns EXIT_USAGE.
int help_no_option(const char *name);
