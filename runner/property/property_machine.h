// SPDX-License-Identifier: MIT
// Limits of this machine for the sweeps of properties: its caches, and memory that may be used.
#ifndef LATPUT_PROPERTY_MACHINE_H
#define LATPUT_PROPERTY_MACHINE_H

#include "cpuinfo/cpuinfo.h"
#include "property.h"

// `allowed`: the CPUs that may be used; `measuring`: the one that measures.
struct property_machine property_machine_find(const struct cpu_info *cpu, const cpu_set_t *allowed,
                                              int measuring);

// Bytes that may be used by the files of a system: /proc/meminfo, and what the control groups that
// /proc/self/cgroup names (of version 1 or 2) may take below /sys/fs/cgroup, all below `root` ("").
double property_memory_free(const char *root);

#endif
