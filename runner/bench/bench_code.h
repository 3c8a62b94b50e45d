// SPDX-License-Identifier: MIT
// The machine code of what a bench measures a file for: of a NASM file what `testcode` stands for,
// of a C file or an object the whole function.
#pragma once

#include "bench.h"

#include <stddef.h>

#define BENCH_FUNCTION "latput_function"

struct bench_code {
    const uint8_t *bytes; // before relocation; the arena's
    size_t len;
    int bits;             // 64 or 32
    int instances;        // divisor of bench_measure()'s results for one run through these bytes
    bool function;        // else `testcode`
    const char *testcode; // text of the macro, or NULL
    const char *object;   // in the directory, with the function under BENCH_FUNCTION; else NULL
};

// Returns the machine code of spec->file, with its intermediate files in `directory`. Returns 0, or
// -1 with a message; *refused: the file is at fault, else the tools or the disk.
int bench_file_code(const struct bench_spec *spec, const char *directory, struct bench_code *code,
                    struct arena *arena, bool *refused, struct err *err);
