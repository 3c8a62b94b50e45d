// SPDX-License-Identifier: MIT
// From the raw leaves of a CPU to what they mean. A pure function of leaves and tables, so that a
// dump recorded on one machine gives the same answer on every other.
#pragma once

#include "cpu_kinds.h"
#include "cpu_tables.h"

// Fills everything in cpu but `leaves` and `live` from the leaves. -1 when the tables are broken or
// leaf 0 is missing.
int cpu_decode(struct cpu_info *cpu, struct err *err);
void cpu_decode_caches(struct cpu_info *cpu);

// Reads the leaves of the CPU that executes this, without the frequency of its TSC where that takes
// a measurement.
void cpu_leaves_capture(struct cpu_info *cpu);
// Reads what CPUID alone says, without asking the system for the revision of the microcode.
void cpu_leaves_read(struct cpu_info *cpu);
void cpu_pseudo_add(struct cpu_info *cpu, uint32_t leaf, uint64_t value);

// Returns the kind of this CPU among those found so far, a new one without CPUs if it is the first
// of its kind. When all are there, cpu_kinds_name() names them.
struct cpu_kind *cpu_kinds_add(struct cpu_kinds *kinds, const struct cpu_info *cpu);
void cpu_kinds_name(struct cpu_kinds *kinds);

// Returns true if CPUID announces a feature, whether or not its register state is enabled.
bool cpu_feature_announced(const struct cpu_info *cpu, const struct feature_row *row);

// Adds a leaf, without the bits that identify a specimen (APIC ids, serial number). Ignored if the
// array is full.
void cpu_leaf_add(struct cpu_info *cpu, const struct cpuid_leaf *leaf);
