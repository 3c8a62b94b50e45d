// SPDX-License-Identifier: MIT
// A measuring process moves to another CPU while something disturbs its own. All its kernels may
// have passes on both: the CPUs are of one kind, and each timing says which it is from.
#pragma once

#include "util/subproc.h"

#include <stdbool.h>
#include <stdint.h>

// Counts of a process since its begin.
struct exec_fare {
    uint64_t accepted, disturbed; // repeats
    int64_t waited_ms, at_ms;     // time that it waited for quiet; clock_now_ms()
    struct subproc_ran ran;
};

// The way to a better CPU, and the time of the next look. It outlives processes: a host that is
// loud everywhere is looked at ever more rarely.
struct exec_mover {
    // Returns the CPU to measure on from now on, which all else of this program has left then: a
    // better one than `cpu`, of whose time such a share is undisturbed (0 to 1), or `cpu`.
    int (*look)(void *context, int cpu, double share);
    void *context;
    int64_t next_ms, pause_ms; // of clock_now_ms(): time of the next look; then until another
    struct exec_fare last;     // of the process under way, at the last look
};

// Begins a process.
void exec_move_begin(struct exec_mover *mover, int64_t now_ms);
bool exec_move_due(const struct exec_mover *mover, int64_t now_ms);
// Considers a move of a process that runs on `cpu`. Returns the CPU to go to.
int exec_move_consider(struct exec_mover *mover, const struct exec_fare *fare, int cpu);
