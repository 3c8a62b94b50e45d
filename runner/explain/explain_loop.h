// SPDX-License-Identifier: MIT
// The loops of a function that a block can stand for: machine code from where a branch goes back to
// up to that branch, with no call or return in it, no other branch but those that leave it on a
// condition, and none that goes into the middle of it. By Zydis; pure.
#pragma once

#include "util/err.h"

#include <stddef.h>
#include <stdint.h>

enum { CODE_LOOPS_MAX = 64 };
struct code_loop {
    size_t offset, len; // bytes, in the function; the branch is the last instruction
    int instrs;
};
struct code_loops {
    struct code_loop loops[CODE_LOOPS_MAX]; // in the order of the code
    int n;
    int others; // branches back that close no such loop
};

// Finds the loops in code[0..len). Returns 0, or -1 with a message if it cannot be decoded. Loops
// beyond the limit count as `others`.
int code_loops_find(const uint8_t *code, size_t len, int bits, struct code_loops *loops,
                    struct err *err);
