// SPDX-License-Identifier: MIT
// A program without assembler and linker: a core that was linked once with empty sections for a
// table and for code, into which these are put. It knows their addresses.
#pragma once

#include "gen.h"
#include "util/err.h"

// Addresses of the sections, between the core, below 8 MiB, and the memory of corunners
// (core_layout.inc). The linker is told the same (Makefile).
#define LOAD_TABLE 0x00800000
#define LOAD_USER 0x01400000 // what a snippet may write
#define LOAD_CODE 0x02000000
#define LOAD_END 0x5e000000
enum { LOAD_HEAD = 16 }; // bytes in front of the table, with the number of its entries

// Returns the linked core of a mode.
const char *load_core(int bits);
// Returns true if so many kernels with so much code fit in.
bool load_fits(const struct gen_kernel *kernels, int nkernels);
// Writes the program `to`: the linked core with all composed kernels. Returns 0, or -1 with a
// message.
int load_write(const char *core, const struct gen_kernel *kernels, int nkernels, const char *to,
               struct err *err);
// Bytes for the sections of the linked core.
struct load_bytes {
    struct strbuf table, code, user;
};
// Writes the program `to`: the linked core with these bytes in its sections.
int load_write_bytes(const char *core, const struct load_bytes *bytes, const char *to,
                     struct err *err);
