// SPDX-License-Identifier: MIT
// The kinds of cores of this machine, for commands that measure: which of them are measured, one
// after the other, and on which a command is.
#pragma once

#include "command.h"
#include "cpuinfo/cpu_kinds.h"

struct store;

// The option's record; see command.h. `does`: what the command does with the kind.
#define COMMON_KIND(field, does)                                                                   \
    0, "kind", "NAME",                                                                             \
        "the kind of core to " does ", where the machine has several, as alderlake_p "             \
        "(latput cpu --kinds names them)",                                                         \
        OPTION_TEXT(field)

// A command that measures kinds: it is called for each with the kind's name (NULL: the only one)
// and the directory of its results, in which each of several kinds has one of its own. Returns an
// exit status.
struct kind_work {
    const struct command *cmd;
    int cpu;             // of --cpu, -1: none
    const char *kind;    // of --kind; NULL: all of them
    const char *results; // "none", or NULL: there are no results to be written
    int (*measure)(const char *kind, const char *results, void *data);
    void *data;
    bool one; // what it prints has room for one kind only
};
// Measures the kinds until one of them could not be measured, or a signal came. Returns the worst
// exit status.
int kinds_measure(const struct kind_work *work);

// Identifies the kind that is called so, on its last CPU; NULL: on `cpu`, -1: the last one. Returns
// 0 or -1.
int kind_identify(const char *called, int cpu, struct cpu_info *info, struct err *err);

// Finds the newest run that was measured here on this kind (NULL: any run) where *run_id is 0.
// Returns an exit status, after a message unless it is EXIT_DONE.
int kind_newest_run(const struct command *cmd, struct store *store, const char *called,
                    int64_t *run_id);

// Lists the newest run that was measured here on each kind, where the machine has several: *runs,
// to be freed by the caller. Returns their number, -1.
int kinds_runs(struct store *store, int64_t **runs, struct err *err);

// Says on standard error that the process cannot run on a CPU, as errno has it. Returns an exit
// status.
int kind_cannot_run(const struct command *cmd, int cpu);

// Says on standard error of which kind a CPU is (-1: the one that is chosen without --cpu), if the
// machine has several.
void kind_say(const struct command *cmd, int cpu);
