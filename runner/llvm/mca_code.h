// SPDX-License-Identifier: MIT
// Predictions of llvm-mca's model of a CPU for blocks of machine code, which run again and again.
#pragma once

#include "mca.h"

struct mca_code {
    const uint8_t *bytes;
    size_t len;
    int instructions;
    double clk; // out: a round; NaN: llvm-mca takes an instruction for none, or did not end in time
};
// Predicts them. `cpu`: LLVM's name of it. Returns 0, or -1 with the message.
int mca_code_predict(const char *cpu, struct mca_code *codes, int n, struct mca_counts *counts,
                     struct err *err);
