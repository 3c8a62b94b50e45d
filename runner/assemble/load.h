// SPDX-License-Identifier: MIT
// A program of composed kernels alone, without assembler and linker: a core that was linked once
// with empty sections for a table and code, into which these are put.
#pragma once

#include "gen.h"
#include "util/err.h"

// Appends NASM's source of the sections.
void load_write_source(struct strbuf *out);
// Arguments that tell the linker where they lie.
extern const char load_table_start[], load_code_start[];
// Returns true if so many kernels with so much code fit in.
bool load_fits(const struct gen_kernel *kernels, int nkernels);
// Writes the program `to`: the linked core at `core` with all composed kernels. Returns 0, or -1
// with a message.
int load_write(const char *core, const struct gen_kernel *kernels, int nkernels, const char *to,
               struct err *err);
