// SPDX-License-Identifier: MIT
// The CPUs that a thread runs on: being put on one, and visiting some to come back.
#ifndef LATPUT_AFFINITY_H
#define LATPUT_AFFINITY_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

// Puts a process (0: the calling thread) on one CPU. 0, or -1 and errno: no number of a CPU
// (EINVAL), or one that it may not use.
int affinity_pin(pid_t pid, int cpu);

// The calling thread's stay on other CPUs.
struct affinity_visit {
    cpu_set_t before;
    bool moved; // false: the CPUs may not be used, and the thread is where it was
};
// Goes to these CPUs (0 <= cpu < CPU_SETSIZE). Ended by affinity_return().
struct affinity_visit affinity_visit(const int *cpus, int ncpus);
void affinity_return(const struct affinity_visit *visit);

#endif
