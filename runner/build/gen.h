// SPDX-License-Identifier: MIT
// Stage 3: from kernel specs to one NASM source file for a batch. Pure. The file holds, for each
// kernel, its init and body once, between labels, and the table of struct core_kernel
// (core/core_abi.h) that the measurement core walks.
#ifndef LATPUT_GEN_H
#define LATPUT_GEN_H

#include "plan/plan.h"
#include "util/strbuf.h"

struct gen_kernel {
    const struct list_row *row;
    const struct test *test;
    const struct kernel_spec *spec;
    // set by gen_write(): source lines [first_line, last_line] of the kernel in the NASM file
    int first_line, last_line;
    bool left_out; // on input: do not emit (it failed to assemble); its index is kept
};

// Appends the source of the kernels to `out`; the index in `kernels` is the id in the object's
// table. `bits` is 64 or 32.
void gen_write(struct gen_kernel *kernels, int nkernels, int bits, struct strbuf *out);

// Which line of a kernel's own text stands in line `line` of the source (as gen_write() counted):
// of its init or of its body, from 1; 0 if it is neither.
struct gen_place {
    bool in_init;
    int line;
};
struct gen_place gen_find_place(const struct gen_kernel *kernel, int line);

#endif
