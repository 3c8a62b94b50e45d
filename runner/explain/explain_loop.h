// SPDX-License-Identifier: MIT
// The loops of a function that a block can stand for: the instructions from where a branch goes
// back to up to that branch, on one way, without calls and returns. Branches out of the loop are
// taken as not taken; which way the others go must be said by a path. By Zydis; pure.
#pragma once

#include "util/err.h"
#include "util/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CODE_LOOPS_MAX = 64, CODE_PATH_MAX = 64 };

// Branches that are taken; those of the loops that are not among them are not.
struct code_path {
    struct code_turn {
        uint64_t address; // as the code's, or as an offset in the function
        bool offset;
        bool is_branch, passed; // found out by code_loops_find(): some loop's way has it
        bool beyond;            // the way of one beyond the limit has it
    } turns[CODE_PATH_MAX];
    int n;
};
// Reads a path: addresses in hexadecimal digits, `+N` in the function, separated by commas, or
// `none`. Returns 0, or -1 with a message.
int code_path_parse(const char *text, struct code_path *path, struct err *err);
// Returns 0 if the path's branches are all on the way of a loop, or -1 with a message.
int code_path_check(const struct code_path *path, struct err *err);

// Executions of an instruction, as they add to rounds.
struct code_round {
    size_t offset; // in the function
    int sign;      // 1 or -1
};
struct code_loop {
    size_t offset, end; // bytes in the function: the first instruction, and after the branch back
    // The instructions in the order of the way. Where they do not stand so in the function,
    // distances are made to fit, a branch that is taken goes to the next instruction, and one that
    // is not leaves the block.
    const uint8_t *code;
    size_t len;
    const size_t *places; // offset of each instruction in the function
    int instrs;
    bool whole; // the code stands so in the function
    // Rounds are the sum of these: by code_loops_flow(); 0: executions of the first instruction.
    const struct code_round *rounds;
    int nrounds;
    bool entered; // at several places, so that nothing tells its rounds
};
struct code_loops {
    struct code_loop loops[CODE_LOOPS_MAX]; // in the order of their branches
    int n;
    int others; // branches back that close no such loop
};
struct code_function {
    const uint8_t *bytes;
    size_t len;
    uint64_t address;
    int bits;
};

// Finds the loops in a function. `path` NULL: none is given, and a loop with a branch inside is
// none. The arena owns what they point to. Returns 0, or -1 with a message if it cannot be decoded.
// Loops beyond the limit count as `others`.
int code_loops_find(const struct code_function *function, struct code_path *path,
                    struct code_loops *loops, struct arena *arena, struct err *err);
