// SPDX-License-Identifier: MIT
// Stage 3: from kernel specs to one NASM source file for a batch. Pure. The file holds, for each
// kernel, its init and body once, between labels, and the table of struct core_kernel
// (core/core_abi.h) that the measurement core walks. Kernels whose machine code is known already
// (compose.h) are included as bytes, code and entries alike.
#pragma once

#include "plan/plan.h"
#include "util/strbuf.h"

#include <stdio.h>

// Parts of a kernel: they are copied to other places before they run, each for itself.
enum gen_part { GEN_INIT, GEN_BODY, GEN_FINI, GEN_CORUNNER_INIT, GEN_CORUNNER, GEN_PARTS };
// Returns NASM's text of a part; NULL: the kernel has none.
const char *gen_part_text(const struct kernel_spec *spec, enum gen_part part);
// Returns the alignment that the core gives the part: its padding counts on that.
int gen_part_align(const struct kernel_spec *spec, enum gen_part part);

// Machine code composed for a kernel: its parts, each of pieces that follow one another.
struct gen_piece {
    const uint8_t *bytes;
    size_t len;
    uint64_t times; // so often in a row
};
struct gen_code {
    const struct gen_piece *pieces;
    size_t ends[GEN_PARTS]; // number of the piece after the part's last one
};

struct gen_kernel {
    const struct list_row *row;
    const struct test *test;
    const struct kernel_spec *spec;
    // set by gen_write(): source lines [first_line, last_line] of the kernel in the NASM file
    int first_line, last_line;
    bool left_out; // on input: do not emit (it failed to assemble); its index is kept
    const struct gen_code *composed; // on input: its code, or NULL: NASM gets its text
    // The text of its parts after the preprocessor (gen_take_expanded()), or NULL.
    const char **expanded;
};

// Section of the table of kernels, with their number before it and their data after it.
#define GEN_TABLE "latput_table"

// Appends the lines before all code: the state of the assembler, the core's symbols. Returns their
// number.
int gen_head(int bits, struct strbuf *out);
// Appends the source of the kernels to `out`; the index in `kernels` is the id in the object's
// table. `bits` is 64 or 32. `stem`: NASM finds the code of composed kernels in STEM.code and their
// entries in STEM.table; NULL if no kernel is composed.
void gen_write(struct gen_kernel *kernels, int nkernels, int bits, const char *stem,
               struct strbuf *out);
// Returns true if the kernel has more than an init and a body.
bool gen_has_extras(const struct kernel_spec *spec);
// Appends the entries of the composed kernels, as bytes in their order. Init and body are offsets
// in their code, as gen_put_code() writes it. With table_at, the address of the first entry, and
// code_at, the address of the code, kernels may have extras, whose addresses follow; their data
// stand after the entries.
struct gen_addresses {
    uint64_t table_at, code_at;
};
void gen_write_table(const struct gen_kernel *kernels, int nkernels,
                     const struct gen_addresses *addresses, struct strbuf *out);
// Writes the code of the composed kernels. Returns false if the file cannot be written.
bool gen_put_code(const struct gen_kernel *kernels, int nkernels, FILE *file);

// Appends what the preprocessor shall expand: the parts of all kernels that are not composed.
void gen_write_unexpanded(const struct gen_kernel *kernels, int nkernels, struct strbuf *out);
// Sets `expanded` of these kernels from the output of the preprocessor, without empty lines and
// without blanks at the begin of a line. Returns false if a part is missing.
bool gen_take_expanded(struct gen_kernel *kernels, int nkernels, const char *text,
                       struct arena *arena);

// Place in a kernel's own text of line `line` of the source (as gen_write() counted): a line of its
// init or of its body, from 1; 0 if it is neither.
struct gen_place {
    bool in_init;
    int line;
};
struct gen_place gen_find_place(const struct gen_kernel *kernel, int line);
