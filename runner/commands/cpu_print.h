// SPDX-License-Identifier: MIT
// The report of `latput cpu` on a CPU and its machine, as text for people and as JSON for programs.
#pragma once

#include "cpuinfo/cpu_kinds.h"
#include "cpuinfo/environment.h"
#include "output/output.h"

#include <stdio.h>

// Print the report. env is NULL for a CPU loaded from a dump; facts of a live machine are then left
// out. The text has the kinds of cores of its machine if there are several; NULL: not known.
void cpu_print_text(const struct cpu_info *cpu, const struct cpu_environment *env,
                    const struct cpu_kinds *kinds, FILE *out);
void cpu_print_json(const struct cpu_info *cpu, const struct cpu_environment *env, FILE *out);
extern const struct output_kind cpu_print_kind;

// Prints a row per kind of core, as a table or as JSON; width: most columns of its lines, 0: any.
// `live`: they are of this machine, which has speeds.
struct cpu_kinds_page {
    enum report_format format;
    int width;
    bool live;
};
void cpu_print_kinds(const struct cpu_kinds *kinds, const struct cpu_kinds_page *as, FILE *out);
extern const struct output_kind cpu_kinds_print_kind;
