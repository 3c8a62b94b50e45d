// SPDX-License-Identifier: MIT
// Stage 4: assembles a batch and links it with the measurement core. Kernels that NASM refuses are
// reported one by one and left out; the rest is built.
#pragma once

#include "gen.h"
#include "util/err.h"

struct assemble_options {
    const char *directory; // for the .asm, .o and program files; must exist
    const char *stem;      // file names without extension
    int bits;              // mode of all kernels, as a program has only one: 32 or 64
    bool keep;             // leave .asm and .o
    bool compose;          // assemble each line once: for many kernels, whose .asm nobody reads
    const char *include;   // a further directory for NASM's %include; may be NULL
    const char *object;    // a further object to be linked, for a program of one kernel; or NULL
};

struct assemble_failure {
    int kernel;             // index
    enum outcome outcome;   // ASM_FAILED or LINK_FAILED
    const char *detail;     // NASM's message without file and line
    struct gen_place place; // ASM_FAILED: place in the kernel's text
};

struct program {
    const char *path; // of the executable; NULL if no kernel was left
    struct assemble_failure *failures;
    int nfailures;
};

// Assembles and links the kernels. Returns 0 (failures of single kernels are in program->failures),
// or -1 if the tools themselves do not work (no NASM, wrong version, no linker, disk full). Strings
// are owned by the arena.
int assemble_program(struct gen_kernel *kernels, int nkernels,
                     const struct assemble_options *options, struct arena *arena,
                     struct program *program, struct err *err);

// Composes the kernels whose lines mean the same everywhere (compose.h), and sets `composed`, which
// is the arena's. Returns 0, also if NASM refuses some, or -1 if it does not work.
int assemble_lines(struct gen_kernel *kernels, int nkernels, const struct assemble_options *options,
                   struct arena *arena, struct err *err);

// Writes NASM's version line, e.g. "NASM version 2.16.01". Returns 0, or -1 if there is no NASM or
// it is older than 2.15.
int assemble_nasm_version(char *text, size_t size, struct err *err);
