// SPDX-License-Identifier: MIT
// Chooses the CPU to measure on: the one that is disturbed least during a short look.
#pragma once

#include "util/subproc.h"

#include <sched.h>

// Looks at one CPU: the time of work that fills a core, in units of a chain that does not. Neither
// depends on the core's frequency; another thread of the same core makes it more.
enum { QUIET_LOOKS_MAX = 2048 };
struct quiet_seen {
    int cpu;
    int n;
    struct subproc_ran ran; // meanwhile
    double ratios[QUIET_LOOKS_MAX];
};

// Returns the CPU whose work is undisturbed most often, by the least ratio that several looks on
// any of them share, or *least if that is less and not 0; among equally good ones the last. -1:
// there are none. *least becomes the ratio of undisturbed work; *share, the share of the CPU's time
// that is undisturbed for as long as a repeat takes, and can be had.
int cpu_quiet_best(const struct quiet_seen *seen, int nseen, double *least, double *share);

// Looks at up to eight of the CPUs for at most a fifth of a second: evenly spread, with the last
// one, and of the type of core of CPU `like` (-1: of the last one). Returns the best as
// cpu_quiet_best() does. The calling thread moves to each of them and comes back.
int cpu_quiet_choose(const cpu_set_t *allowed, int like, double *least, double *share);
