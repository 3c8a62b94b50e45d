// SPDX-License-Identifier: MIT
// The CPUs that may be used, and the core that each is a thread of, from the system.
#pragma once

#include "cpuinfo/cpu_kinds.h"

#include <sched.h>
#include <stdbool.h>

struct cpu_place {
    int cpu;
    int core; // the lowest CPU of the core that it is a thread of; -1: not known
    int type; // of core, for cpu_places_type_name(); -1: there is one
};
struct cpu_places {
    struct cpu_place usable[CPU_SETSIZE]; // ascending
    int n;
    cpu_set_t online, present;     // empty where that is not known
    const struct cpu_kinds *kinds; // which the types are; NULL: they are Linux's
};

// Reads /sys below `root` ("" or a directory of a test) for the CPUs of `allowed`.
void cpu_places_read(const char *root, const cpu_set_t *allowed, struct cpu_places *cpus);
// The same for the CPUs of all kinds. Several kinds are the types then, and must live as long as
// *cpus is used.
void cpu_places_read_kinds(const char *root, const struct cpu_kinds *kinds,
                           struct cpu_places *cpus);
// Returns the name of a type; NULL: types end before it.
const char *cpu_places_type_name(const struct cpu_places *cpus, int type);

int cpu_place_type(const char *root, int cpu); // as in struct cpu_place

// Takes a CPU out of the set, and those that share its core if any other is left then.
void cpu_places_leave_core(const struct cpu_places *cpus, int cpu, cpu_set_t *set);
bool cpu_places_share(const struct cpu_place *a, const struct cpu_place *b);
