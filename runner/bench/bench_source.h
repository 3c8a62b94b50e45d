// SPDX-License-Identifier: MIT
// Sources of the code of a bench: text, a NASM file with hooks, a C file or an object with a
// function. docs/BENCH.md has the contract of each.
#pragma once

#include "bench_break.h"
#include "plan/plan.h"

struct bench_source {
    struct kernel_spec kernel;
    int bits, unroll, loop, repeat; // from the spec, else the file's contract line, else 0
    const char *include;            // directory for %include, or NULL
    const char *object;             // to be linked, or NULL
    const char *text;               // contents of a .nasm or .c file, else NULL
    const char *file;               // its first `file_lines` lines begin the kernel's init
    int file_lines;
    bool bytes;                     // machine code from outside; `text` is what it became
    bool looped;                    // its time has the loop's own µop: that is one of the code
    bool invents;                   // addresses: pages are mapped where it faults
    const char *testcode;           // body of that macro of the file, or NULL
    const char *function;           // function that the kernel calls, or NULL
    int block_instances;            // per `testcode`, or per call of the function
    struct bench_breakers breakers; // for mode throughput; already in the kernel
};

// Reads the input that the spec names; compiles C into `directory`. Returns 0, or -1 with a
// message; *refused: the input is at fault, else the tools or the disk.
int bench_source_read(const struct bench_spec *spec, const char *directory,
                      struct bench_source *source, struct arena *arena, bool *refused,
                      struct err *err);

// Returns the issue width for derive_kernel(), which takes the loop's own µop off where the front
// end limits: 0, by which nothing is taken off, where that µop is one of the code.
int bench_source_width(const struct bench_source *source, int issue_width);

// NASM's text of a call of spec->symbol, which is latput_function. r14 or ebp has the address of
// the data area.
struct bench_call {
    const char *init; // the user's, and what keeps the registers that it sets
    const char *call; // sets arguments and those registers, and calls
};
// Makes the text; init is assembled in `directory` to see what it sets. Returns 0, or -1 with a
// message: an argument is none of those that there are.
int bench_call_make(const struct bench_spec *spec, int bits, const char *directory,
                    struct bench_call *call, struct arena *arena, struct err *err);
