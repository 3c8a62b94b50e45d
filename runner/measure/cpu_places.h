// SPDX-License-Identifier: MIT
// The CPUs that may be used, and the core that each is a thread of, from the system.
#pragma once

#include <sched.h>
#include <stdbool.h>

enum { CPU_TYPES = 3 };
extern const char *const cpu_type_names[CPU_TYPES]; // Linux's names

struct cpu_place {
    int cpu;
    int core; // the lowest CPU of the core that it is a thread of; -1: not known
    int type; // type of core, an index into cpu_type_names; -1: there is one type
};
struct cpu_places {
    struct cpu_place usable[CPU_SETSIZE]; // ascending
    int n;
    cpu_set_t online, present; // empty where that is not known
};

// Reads /sys below `root` ("" or a directory of a test) for the CPUs of `allowed`.
void cpu_places_read(const char *root, const cpu_set_t *allowed, struct cpu_places *cpus);

int cpu_place_type(const char *root, int cpu); // as in struct cpu_place

// Takes a CPU out of the set, and those that share its core if any other is left then.
void cpu_places_leave_core(const struct cpu_places *cpus, int cpu, cpu_set_t *set);
bool cpu_places_share(const struct cpu_place *a, const struct cpu_place *b);
