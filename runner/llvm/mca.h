// SPDX-License-Identifier: MIT
// What llvm-mca's model of a CPU says of mixes of forms: the bound that its ports and its dispatch
// set, whatever waits for whatever. Forms are handed over as machine code.
#ifndef LATPUT_MCA_H
#define LATPUT_MCA_H

#include "known/known.h"

enum { MCA_PARTS_MAX = 96 };
struct mca_mix {
    struct {
        int form; // index in the data
        int count;
    } parts[MCA_PARTS_MAX];
    int nparts;
    double clk; // out: NaN where llvm-mca does not take a form of it, or did not end in time
};
struct mca_counts {
    int refused, late; // mixes
};
// `cpu`: LLVM's name of it. The data must have code. 0, or -1 with the message.
int mca_bounds(struct known_cpu *data, const char *cpu, struct mca_mix *mixes, int n,
               struct mca_counts *counts, struct err *err);

// Whether it is a word that can be LLVM's name of a CPU: it goes into a command line.
bool mca_cpu_is_name(const char *cpu);

#endif
