// SPDX-License-Identifier: MIT
// Limits of this machine for the sweeps of properties: its caches, and memory that may be used.
#pragma once

#include "cpuinfo/cpu_kinds.h"
#include "property.h"

// Returns the machine. `kinds`: of the CPUs that may be used; `measuring`: the one that measures;
// `root`: where the cores of the CPUs are read ("" or a directory of a test).
struct property_machine property_machine_find(const char *root, const struct cpu_info *cpu,
                                              const struct cpu_kinds *kinds, int measuring);

// Returns the bytes that may be used, by /proc/meminfo and the limits below /sys/fs/cgroup of the
// control groups in /proc/self/cgroup (version 1 or 2), all below `root` (""); where there are none
// of these, what sysconf() says.
double property_memory_free(const char *root);
