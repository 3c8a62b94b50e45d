// SPDX-License-Identifier: MIT
// Bounds of mixes of forms by llvm-mca's model of a CPU: from its ports and its dispatch, without
// dependencies. Forms are given as machine code.
#pragma once

#include "known/known.h"

enum { MCA_PARTS_MAX = 96 };
struct mca_mix {
    struct {
        int form; // index in the data
        int count;
    } parts[MCA_PARTS_MAX];
    int nparts;
    double clk; // out: NaN if llvm-mca rejects a form, or did not end in time
};
struct mca_counts {
    int refused, late; // number of mixes
};
// Finds the bounds. `cpu`: LLVM's name of it. The data must have code. Returns 0, or -1 with the
// message.
int mca_bounds(struct known_cpu *data, const char *cpu, struct mca_mix *mixes, int n,
               struct mca_counts *counts, struct err *err);

// Returns true if the text can be LLVM's name of a CPU: it becomes part of a command line.
bool mca_cpu_is_name(const char *cpu);
// Returns LLVM's name of a family (cpuinfo/other_names.csv); NULL, with a message: it has none.
const char *mca_cpu_of(const char *uarch, struct err *err);
