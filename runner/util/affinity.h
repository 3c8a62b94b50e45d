// SPDX-License-Identifier: MIT
// The CPUs that a thread may run on: pins a thread, or moves it to others and back.
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

// Pins a process (0: the calling thread) to one CPU. Returns 0, or -1 and errno: EINVAL for a
// number that no CPU can have, others for a CPU that the process may not use.
int affinity_pin(pid_t pid, int cpu);

// Restricts all threads of this process, as far as they are known, to these CPUs, and so what they
// start from then on.
void affinity_set_all(const cpu_set_t *cpus);

// A stay of the calling thread on other CPUs.
struct affinity_visit {
    cpu_set_t before;
    bool moved; // false: the CPUs may not be used, and the thread has stayed
};
// Moves the calling thread to these CPUs (0 <= cpu < CPU_SETSIZE) until affinity_return().
struct affinity_visit affinity_visit(const int *cpus, int ncpus);
void affinity_return(const struct affinity_visit *visit);
