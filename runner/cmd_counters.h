// SPDX-License-Identifier: MIT
// What the actions of `latput counters` share: cmd_counters.c reads the command line, each action
// has a function and a file of its own.
#ifndef LATPUT_CMD_COUNTERS_H
#define LATPUT_CMD_COUNTERS_H

#include "../cpuinfo/counters.h"
#include "command.h"
#include "report.h"

extern const struct command cmd_counters;

struct counters_request {
    const char *uarch; // a family other than that of this machine; NULL
    enum report_format format;
    bool sets;          // list the named sets
    int cpu;            // the logical CPU that is meant; -1: the one this runs on
    const char *dump;   // a CPUID dump instead of this machine; NULL
    char *const *globs; // operands after the action; ends with NULL
};

// Prints the events, or the sets, of a family: cmd_counters_list.c. Returns EXIT_*, like every
// action.
int counters_list(const struct counters_request *request);

#endif
