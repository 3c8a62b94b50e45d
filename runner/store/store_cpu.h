// SPDX-License-Identifier: MIT
// CPUs in the database, and facts that measuring has found out about them once and for all.
#pragma once

#include "cpuinfo/cpuinfo.h"
#include "store.h"
#include "util/mem.h"

#include <stdint.h>

// Finds the row of this CPU (signature, microcode, brand, hypervisor, features, CPUID dump), or
// adds it.
int store_put_cpu(struct store *store, const struct cpu_info *cpu, int64_t *cpu_id,
                  struct err *err);

// A cache of which CPUID says the size.
struct stored_cache {
    int level;
    const char *type; // "d", "i", "u"
    double size_bytes;
};
// Reads the caches of a run's CPU; they are the arena's.
int store_get_caches(struct store *store, int64_t run_id, struct stored_cache **caches,
                     int *ncaches, struct arena *arena, struct err *err);

// The canary of a machine, whatever family its rows were taken for: its kind, its floor, and the
// width that was measured with it.
struct canary_floor {
    int canary;           // as in struct exec_floor
    double clk_per_instr; // its floor: time on an undisturbed core
    int issue_width;      // instructions that rename and dispatch take per cycle
};
int store_get_floor(struct store *store, int64_t cpu_id, struct canary_floor *floor,
                    struct err *err);
int store_put_floor(struct store *store, int64_t cpu_id, const struct canary_floor *floor,
                    struct err *err);
// Finds the newest width measured on a CPU like this one. Returns 1 with *width, 0 if there is
// none, -1.
int store_width_here(struct store *store, const struct cpu_info *cpu, int *width, struct err *err);

// Returns the family that this machine's newest run found for this CPU: measuring knows more than
// CPUID. Runs that were told the family do not count. Without such a run, or if cpu_override()
// decides, it is cpu->uarch. The caller frees it; NULL after an error.
char *store_uarch_here(struct store *store, const struct cpu_info *cpu, struct err *err);
