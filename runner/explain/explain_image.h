// SPDX-License-Identifier: MIT
// Loops of executables and shared libraries, as blocks to be explained.
#pragma once

#include "bench/bench_bytes.h"
#include "explain_loop.h"

#include <stddef.h>

struct image_loop {
    const char *function; // its name; NULL: none is known
    uint64_t address;     // of that
    struct code_loop loop;
};
struct image_loops {
    int bits;
    struct image_loop *loops; // by address
    size_t n;
    int others;                    // branches back that close no such loop
    struct code_function function; // with a symbol: that one
};
enum { IMAGE_LOOPS_MAX = 100000 };

// Finds the loops of the function `symbol` (NULL: of all code) in the file, on the way of a path
// (NULL: none is given). The arena owns them. Returns 0, or -1 with a message: the file cannot be
// read, or has no such function.
int explain_image_loops(const char *file, const char *symbol, struct code_path *path,
                        struct image_loops *loops, struct arena *arena, struct err *err);
