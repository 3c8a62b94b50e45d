// SPDX-License-Identifier: MIT
// A subcommand is one file cmd_<name>.c around one record of this type. main.c holds the table;
// --help, `latput help` and the man page are printed from it.
#pragma once

#include "util/exit_status.h"

#include <stdbool.h>
#include <stddef.h>

struct option_given;

// A command-line option: its spelling, its help, and the place of its argument.
struct command_option {
    char letter;          // 0: long form only
    const char *name;     // long form without dashes
    const char *argument; // placeholder, e.g. "FILE"; NULL: a switch
    const char *help;     // one or two sentences
    // Fields that the macros OPTION_* fill. `take` puts the argument into the structure of the
    // command's arguments, of which it gets the byte at `offset`. It returns EXIT_DONE, or the exit
    // status after a message.
    int (*take)(const struct option_given *given, void *to);
    size_t offset;
    int value;       // of a switch that is given; for formats, bits of the allowed ones
    int least, most; // range of a number
    // Names of other options, separated by |; NULL: any. An option of the command line that would
    // do nothing is refused (command_read_options()).
    const char *with;    // of which one must be given, too
    const char *without; // of which none may be given
    const char *beside;  // those that this one leaves a meaning to, besides the common ones
};

// One option on the command line or in the configuration file.
struct option_given {
    const struct command *cmd;
    const struct command_option *option;
    const char *argument; // undefined for a switch
};

// Offset of a field of `struct arguments`, the name of the structure of its arguments in each
// command's file. A field of another type does not compile.
#define OPTION_FIELD(type, field)                                                                  \
    _Generic(&((struct arguments *)0)->field, type * : offsetof(struct arguments, field))

// Ends of records, by the kind of argument, with the field that keeps it. More kinds are in
// option_format.h, option_backend.h, option_uarch.h, option_store.h and plan_select.h.
#define OPTION_TEXT(field) .take = option_take_text, .offset = OPTION_FIELD(const char *, field)
#define OPTION_SWITCH(field, set)                                                                  \
    .take = option_take_switch, .offset = OPTION_FIELD(bool, field), .value = (set)
#define OPTION_NUMBER(field, from, upto)                                                           \
    .take = option_take_number, .offset = OPTION_FIELD(int, field), .least = (from), .most = (upto)
// A number of seconds, 1 or more, kept in milliseconds.
#define OPTION_SECONDS(field, upto)                                                                \
    .take = option_take_seconds, .offset = OPTION_FIELD(int, field), .least = 1, .most = (upto)
// An option with a function of its own, which gets the whole structure.
#define OPTION_CALL(function) .take = (function)

// Records of common options, without the braces.
#define COMMON_DB(field) 0, "db", "FILE", "the database", OPTION_TEXT(field)
#define COMMON_DB_MADE(field) 0, "db", "FILE", "the database; made if missing", OPTION_TEXT(field)
#define COMMON_NEW_FLOOR(field)                                                                    \
    0, "new-floor", NULL, "find the floor of the canary again instead of using the stored one",    \
        OPTION_SWITCH(field, true)
#define COMMON_KEEP(field)                                                                         \
    0, "keep", NULL, "keep the generated assembly files and name their directory",                 \
        OPTION_SWITCH(field, true)
#define COMMON_WIDE(field)                                                                         \
    'w', "wide", NULL, "all columns, however narrow the terminal is", OPTION_SWITCH(field, true)
#define COMMON_CPU(field)                                                                          \
    0, "cpu", "N", "measure on CPU N (default: the quietest that may be used)",                    \
        OPTION_NUMBER(field, 0, COMMAND_CPU_MAX)

// Returns the i-th option of a command: its own, then those that all commands have; NULL after the
// last.
const struct command_option *command_option_at(const struct command *cmd, int i);
extern const struct command_option command_common[]; // ends with a zero record
// The options that main.c reads before a command; NULL ends them.
extern const char *const command_before[];
// Sets when colour is used. Returns EXIT_DONE, or EXIT_USAGE after a message.
int option_set_color(const struct command *cmd, const char *when);

int option_take_text(const struct option_given *given, void *to);
int option_take_switch(const struct option_given *given, void *to);
int option_take_number(const struct option_given *given, void *to);
int option_take_seconds(const struct option_given *given, void *to);

struct command {
    const char *name;
    const char *arguments;                // synopsis after the options, e.g. "[LIST...]"
    const char *summary;                  // one line
    const char *description;              // a paragraph or more for --help and the man page
    const struct command_option *options; // ends with a zero record; NULL: none. --help is implied
    bool options_first;                   // options end at the first operand, which may have its
                                          // own
    int (*run)(int argc, char **argv);    // argv[0] is the command's name; returns EXIT_*
};

// Reads the options of a command with getopt_long, built from its option records, into the
// structure of its arguments, which keeps the values of options that are not given. Returns
// EXIT_DONE and the index of the first operand, EXIT_USAGE after a wrong option or one that does
// nothing here, which is reported, or the status of a function that takes one. --help prints it and
// exits with 0. The configuration file is of many command lines, so what it gives may do nothing.
int command_read_options(const struct command *cmd, int argc, char **argv, void *arguments,
                         int *operand_index);
// Reads the options of a command without operands; the message about operands names the first.
int command_read_alone(const struct command *cmd, int argc, char **argv, void *arguments);

enum { COMMAND_CPU_MAX = 8191 }; // most CPUs of Linux

// Returns the exit status of the command `name` ("": the program itself) after its output:
// `status`, or a failure if standard output could not be written, so that a text on a full disk or
// a closed pipe does not look like success.
int command_end(const char *name, int status);

// Prints `latput COMMAND: message` (`latput: message` if cmd is NULL) on standard error; returns
// `status`.
int command_fail(const struct command *cmd, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Prints such a message that is no failure.
void command_note(const struct command *cmd, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

extern const struct command *const commands[];        // ends with NULL; in commands.c
const struct command *command_find(const char *name); // NULL: none
