// SPDX-License-Identifier: MIT
// Declarations for the actions of `latput counters`: cmd_counters.c reads the command line, each
// action has a function and a file of its own.
#pragma once

#include "cli/command.h"
#include "cpuinfo/counters.h"
#include "report/report.h"

extern const struct command cmd_counters;

struct counters_request {
    const struct command *command; // for messages
    const char *uarch;             // a family other than this machine's; NULL
    enum report_format format;
    bool sets;          // list the named sets
    bool wide;          // tables with all columns
    const char *cpus;   // a logical CPU, or for start several ("0-3,8", "all"); NULL: not given
    const char *dump;   // a CPUID dump instead of this machine; NULL
    char *const *globs; // operands after the action; ends with NULL
};

// Identifies the selected CPU: the dump's, or this machine's number `cpu`, to which the caller is
// then pinned; -1: the current one. Returns EXIT_*.
int counters_cpu_find(const struct counters_request *request, int cpu, struct cpu_info *info);

// Prints the events, or the sets, of a family: cmd_counters_list.c. Returns EXIT_*, like every
// action.
int counters_list(const struct counters_request *request);
// cmd_counters_start.c: programs counters that continue after this command.
int counters_start(const struct counters_request *request);
// cmd_counters_stop.c: undoes start; shows the counts.
int counters_stop(const struct counters_request *request);
int counters_status(const struct counters_request *request);
