// SPDX-License-Identifier: MIT
// Chooses the CPU to measure on: the one that is disturbed least during a short look.
#pragma once

#include <sched.h>

// Looks at one CPU: the time of work that fills a core, in units of a chain that does not. Neither
// depends on the core's frequency; another thread of the same core makes it more.
enum { QUIET_LOOKS_MAX = 2048 };
struct quiet_seen {
    int cpu;
    int n;
    double ratios[QUIET_LOOKS_MAX];
};

// Returns the CPU whose work is undisturbed most often, by the least ratio that several looks on
// any of them share; among equally good ones the last. -1: there are none. Sorts the ratios.
int cpu_quiet_best(struct quiet_seen *seen, int nseen);

// Looks at up to eight of the CPUs for at most a fifth of a second: evenly spread, with the last
// one, and of its type of core. Returns the best, which is the last one if only one may be used;
// -1: there is none. The calling thread moves to each of them and comes back.
int cpu_quiet_choose(const cpu_set_t *allowed);
