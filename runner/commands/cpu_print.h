// SPDX-License-Identifier: MIT
// The report of `latput cpu` on a CPU and its machine, as text for people and as JSON for programs.
#pragma once

#include "cpuinfo/environment.h"
#include "output/output.h"

#include <stdio.h>

// Print the report. env is NULL for a CPU loaded from a dump; facts of a live machine are then left
// out.
void cpu_print_text(const struct cpu_info *cpu, const struct cpu_environment *env, FILE *out);
void cpu_print_json(const struct cpu_info *cpu, const struct cpu_environment *env, FILE *out);
extern const struct output_kind cpu_print_kind;
