// SPDX-License-Identifier: MIT
// Observations of a CPU by properties, by which its family is judged.
#pragma once

#include "cpuinfo/cpuinfo.h"
#include "store/store.h"

// Gathers what properties tell about this CPU's family (cpu_observes()): values of sure conclusions
// of runs measured on this machine, each the median of the newest three runs that are sure of it
// and agree; one run that disagrees with the others is left out. Returns their number, or -1.
int observed_read(struct store *store, const struct cpu_info *cpu,
                  struct cpu_observed observed[CPU_OBSERVED_MAX], struct err *err);
