// SPDX-License-Identifier: MIT
// The kinds of cores of one machine: P and E cores of Intel's hybrid CPUs, AMD's cores and dense
// cores. CPUs are of one kind if CPUID says the same of their signature and type of core, and of
// whether they have an L3 cache; each kind should be a family of cpus.csv.
#pragma once

#include "cpuinfo.h"

#include <sched.h>

struct cpu_kind {
    char name[64];       // family of cpus.csv: "alderlake_p", or "unknown"; where several kinds
                         // claim it, with core type and native model: "unknown-20-1"
    cpu_set_t cpus;      // logical CPUs, at least one; of those that may be used
    struct cpu_info cpu; // of one of them
};
struct cpu_kinds {
    struct cpu_kind *kinds; // in the order of their first CPUs
    int n;                  // at least 1
};

// Finds the kinds of this machine, of the CPUs that the calling thread may use: it visits them all
// if CPUID says that there are several types. Of a machine of files, those of its `cpuid`. Returns
// 0, or -1 with a message; free with cpu_kinds_free() after 0.
int cpu_kinds_find(struct cpu_kinds *kinds, struct err *err);
void cpu_kinds_free(struct cpu_kinds *kinds);

// Returns the kind of a logical CPU, or of the last one (CPU_LAST); NULL: the CPU is not among
// them.
const struct cpu_kind *cpu_kinds_of(const struct cpu_kinds *kinds, int number);
// Returns the last CPU of a kind.
int cpu_kind_last(const struct cpu_kind *kind);
// Returns the kind that is called so (cpu_is_called()); NULL with a message if none is, or several.
const struct cpu_kind *cpu_kinds_called(const struct cpu_kinds *kinds, const char *said,
                                        struct err *err);
// Returns true if results of this kind would be filed under the name of another, later kind, which
// claims the same.
bool cpu_kind_is_hidden(const struct cpu_kinds *kinds, const struct cpu_kind *kind);

// Loads all kinds of a CPUID dump, or saves them; "-" is standard output. A dump of one CPU without
// numbers has the CPUs that the calling thread may use.
int cpu_kinds_load(const char *path, struct cpu_kinds *kinds, struct err *err);
int cpu_kinds_save(const struct cpu_kinds *kinds, const char *path, struct err *err);
