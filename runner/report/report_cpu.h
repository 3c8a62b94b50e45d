// SPDX-License-Identifier: MIT
// What `latput cpu` prints about a CPU and its machine, as text for people and as JSON for
// programs.
#ifndef LATPUT_REPORT_CPU_H
#define LATPUT_REPORT_CPU_H

#include "cpuinfo/environment.h"

#include <stdio.h>

// env is NULL for a CPU that was loaded from a dump; what only a live machine has is then left out.
void cpu_report_text(const struct cpu_info *cpu, const struct cpu_environment *env, FILE *out);
void cpu_report_json(const struct cpu_info *cpu, const struct cpu_environment *env, FILE *out);

#endif
