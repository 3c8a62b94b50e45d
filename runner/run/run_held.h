// SPDX-License-Identifier: MIT
// Rows that are held back until the end of the run, since a test of theirs has no value: they are
// measured once more before they are stored.
#pragma once

#include "execute/exec.h"
#include "util/mem.h"

#include <stdbool.h>
#include <stddef.h>

struct run_held_row {
    int index;                         // of the row, among the run's
    const struct exec_kernel *kernels; // their results, in the order of the plan
    int nkernels;
};
struct run_held {
    struct arena arena;
    struct run_held_row *rows;
    int n;
    size_t capacity;
    int nkernels; // of all rows
};
// Copies the results of a row. Returns false, and holds nothing, if there are enough already: on a
// host that is always loud, nearly all rows lack something.
bool run_held_put(struct run_held *held, int index, const struct exec_kernel *kernels,
                  int nkernels);
void run_held_free(struct run_held *held);
