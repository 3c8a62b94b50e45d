// SPDX-License-Identifier: MIT
// Stage 3: from kernel specs to one NASM source file for a batch. Pure. The file holds, for each
// kernel, its init and body once, between labels, and the table of struct core_kernel
// (core/core_abi.h) that the measurement core walks. Kernels whose machine code is known already
// (compose.h) are included as bytes, code and entries alike.
#pragma once

#include "plan/plan.h"
#include "util/strbuf.h"

// Machine code composed for a kernel.
struct gen_code {
    uint32_t init_at, body_at; // offsets in the code of all composed kernels
    uint32_t init_bytes, body_bytes;
};

struct gen_kernel {
    const struct list_row *row;
    const struct test *test;
    const struct kernel_spec *spec;
    // set by gen_write(): source lines [first_line, last_line] of the kernel in the NASM file
    int first_line, last_line;
    bool left_out; // on input: do not emit (it failed to assemble); its index is kept
    const struct gen_code *composed; // on input: its code, or NULL: NASM gets its text
};

// Appends the lines before all code: the state of the assembler, the core's symbols. Returns their
// number.
int gen_head(int bits, struct strbuf *out);
// Appends the source of the kernels to `out`; the index in `kernels` is the id in the object's
// table. `bits` is 64 or 32. `stem`: NASM finds the code of composed kernels in STEM.code and their
// entries in STEM.table; NULL if no kernel is composed.
void gen_write(struct gen_kernel *kernels, int nkernels, int bits, const char *stem,
               struct strbuf *out);
// Appends the entries of the composed kernels, as bytes in their order.
void gen_write_table(const struct gen_kernel *kernels, int nkernels, struct strbuf *out);

// Place in a kernel's own text of line `line` of the source (as gen_write() counted): a line of its
// init or of its body, from 1; 0 if it is neither.
struct gen_place {
    bool in_init;
    int line;
};
struct gen_place gen_find_place(const struct gen_kernel *kernel, int line);
