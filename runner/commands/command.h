// SPDX-License-Identifier: MIT
// A subcommand is one file cmd_<name>.c around one record of this type. main.c holds the table;
// --help, `latput help` and the man page are printed from it.
#ifndef LATPUT_COMMAND_H
#define LATPUT_COMMAND_H

#include "util/exit_status.h"

#include <stdbool.h>

struct command_option {
    char letter;          // 0: long form only
    const char *name;     // long form without dashes
    const char *argument; // placeholder, e.g. "FILE"; NULL: a switch
    const char *help;     // one or two sentences
};

struct command {
    const char *name;
    const char *arguments;                // synopsis after the options, e.g. "[LIST...]"
    const char *summary;                  // one line
    const char *description;              // a paragraph or more for --help and the man page
    const struct command_option *options; // ends with a zero record; NULL: none. --help is implied
    bool options_first;                   // they end at the first operand, which may have its own
    int (*run)(int argc, char **argv);    // argv[0] is the command's name; returns EXIT_*
};

// Steps through the options of a command with getopt_long, built from its option records: `take`
// gets the index of each in cmd->options and its argument, and returns EXIT_DONE or the status to
// end with. Returns that, EXIT_USAGE after a wrong option, which is reported, or EXIT_DONE and
// where the operands begin. --help prints it and exits with 0.
int command_each_option(const struct command *cmd, int argc, char **argv,
                        int (*take)(void *context, int option, const char *argument), void *context,
                        int *operand_index);
// For a command that takes no operands. EXIT_DONE, or EXIT_USAGE after a message that names one.
int command_no_operands(const struct command *cmd, int argc, char **argv, int operand_index);
// The argument of option `option` as a whole number of this range. EXIT_DONE, or EXIT_USAGE after a
// message.
int command_option_number(const struct command *cmd, int option, const char *text, int least,
                          int most, int *number);
enum { COMMAND_CPU_MAX = 8191 }; // as many CPUs as Linux can have

// The exit status of the command `name`, "" for the program itself, which has printed all that it
// prints: `status`, or that of a failure where standard output could not be written, so that a text
// on a full disk or a closed pipe does not look like success.
int command_end(const char *name, int status);

// `latput COMMAND: message` on standard error; returns `status`.
int command_fail(const struct command *cmd, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// The same for what is no failure.
void command_note(const struct command *cmd, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

extern const struct command *const commands[];        // ends with NULL; in commands.c
const struct command *command_find(const char *name); // NULL if there is none

#endif
