// SPDX-License-Identifier: MIT
// Where the code of a bench comes from: text, a NASM file with hooks, a C file or an object with a
// function. docs/BENCH.md has the contract of each.
#ifndef LATPUT_BENCH_SOURCE_H
#define LATPUT_BENCH_SOURCE_H

#include "bench_break.h"
#include "plan/plan.h"

struct bench_source {
    struct kernel_spec kernel;
    int bits, unroll, loop, repeat; // of the spec, else of the file's contract line, else 0
    const char *include;            // directory for %include, or NULL
    const char *object;             // to be linked, or NULL
    const char *text;               // of a .nasm or .c file, else NULL
    const char *file;               // of which the kernel's init begins with `file_lines` lines
    int file_lines;
    const char *testcode;           // what that macro of the file stands for, or NULL
    const char *function;           // that the kernel calls, or NULL
    int block_instances;            // of one `testcode`, or of one call of the function
    struct bench_breakers breakers; // of mode throughput; already in the kernel
};

// Reads what the spec names; compiles C into `directory`. 0, or -1 with a message; *refused then
// says whether the input is at fault (else the tools or the disk).
int bench_source_read(const struct bench_spec *spec, const char *directory,
                      struct bench_source *source, struct arena *arena, bool *refused,
                      struct err *err);

#endif
