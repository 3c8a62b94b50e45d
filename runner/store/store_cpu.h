// SPDX-License-Identifier: MIT
// CPUs in the database, and what measuring has found out about them once and for all.
#ifndef LATPUT_STORE_CPU_H
#define LATPUT_STORE_CPU_H

#include "cpuinfo/cpuinfo.h"
#include "store.h"

#include <stdint.h>

// The row of this CPU (signature, microcode, brand, hypervisor, features, CPUID dump), added if
// new.
int store_put_cpu(struct store *store, const struct cpu_info *cpu, int64_t *cpu_id,
                  struct err *err);

// The canary of a machine, whatever its rows were taken for: which one, its floor, and the width
// that was measured with it. 1 found, 0 none stored, -1 error.
struct canary_floor {
    int canary;           // as in struct exec_floor
    double clk_per_instr; // its floor: time on an undisturbed core
    int issue_width;      // instructions that rename and dispatch take in a cycle
};
int store_get_floor(struct store *store, int64_t cpu_id, struct canary_floor *floor,
                    struct err *err);
int store_put_floor(struct store *store, int64_t cpu_id, const struct canary_floor *floor,
                    struct err *err);
// The width alone, the newest that was measured on a CPU like this one. 1 into *width, 0 none, -1
// error.
int store_width_here(struct store *store, const struct cpu_info *cpu, int *width, struct err *err);

// What properties have said of this CPU that is a witness of what it is (cpu_observes()): values of
// sure conclusions of runs that were measured here, each the median of the newest three runs that
// are sure of it and agree; the one of a run that does not agree with others is left out. Returns
// how many, or -1.
int store_get_observed(struct store *store, const struct cpu_info *cpu,
                       struct cpu_observed observed[CPU_OBSERVED_MAX], struct err *err);

// What this CPU was taken for by the newest run that measured it here, and was not told: measuring
// finds more than CPUID says. Where there is no such run, or cpu_override() decides, that is
// cpu->uarch. To be freed by the caller; NULL after an error.
char *store_uarch_here(struct store *store, const struct cpu_info *cpu, struct err *err);
// Whether any CPU of the database is of this uarch. 1, 0, -1.
int store_has_uarch(struct store *store, const char *uarch, struct err *err);

#endif
