// SPDX-License-Identifier: MIT
// Where the arguments of options go that need no more than to be read and kept: a command names the
// place of each in a table, and says only of the others what they mean.
#ifndef LATPUT_OPTION_PLACE_H
#define LATPUT_OPTION_PLACE_H

#include "command.h"
#include "counters/count_choose.h"
#include "report/report.h"
#include "util/mem.h"

#include <stdint.h>

// Records whose commands name places have no ends of their own.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

// Made by the functions below, by what the argument is.
struct option_place {
    enum option_kind {
        OPTION_UNPLACED,
        OPTION_TEXT,
        OPTION_SWITCH,
        OPTION_NUMBER,
        OPTION_RUN,
        OPTION_FORMAT,
        OPTION_BACKEND,
        OPTION_UARCH
    } kind;
    void *to;
    bool value;       // of a switch that is there
    int least, most;  // of a number
    unsigned formats; // the bits of those that there are
};
struct option_place place_text(const char **to);
struct option_place place_switch(bool *to, bool value);
struct option_place place_number(int *to, int least, int most);
struct option_place place_run(int64_t *to); // by its number
struct option_place place_format(enum report_format *to, unsigned formats);
struct option_place place_backend(enum count_choice *to); // any
// What this CPU is taken for from now on.
struct option_place place_uarch(void);

// Puts the argument of an option where places[option] says. EXIT_DONE, or EXIT_USAGE after a
// message.
int option_put(const struct command *cmd, const struct option_place *places, size_t nplaces,
               int option, const char *argument);

#endif
