// SPDX-License-Identifier: MIT
// Instructions of a function are counted as they begin in a call: by breakpoints, in a program of
// its own in which nothing is timed (macros/rounds.asm).
#pragma once

#include "explain_loop.h"
#include "explain_shape.h"

struct explain_count {
    size_t offset;   // of the instruction in the function
    int rounds;      // that an execution adds to those of the loop: 0, 1 or -1
    bool on_way;     // each round of the way that is explained has it
    long n;          // per call; -1: not counted, `why`
    const char *why; // reason; NULL
};
enum { EXPLAIN_COUNTS_MAX = 2048 };

// The rounds of a loop in a call.
struct explain_rounds {
    long n;          // 0: not counted, or there is none, `why`
    long this_way;   // at most so many go the way that is explained; -1: not counted
    const char *why; // reason; NULL
};
// Makes them of the counts of a loop; n 0: it has none.
struct explain_rounds explain_rounds_of(const struct code_loop *loop,
                                        const struct explain_count *counts, int n);

// Counts instructions of the function in place->object, of 64-bit code, for n counts of up to
// EXPLAIN_COUNTS_MAX. Returns 0, also if they cannot be counted; -1 with a message if the tools do
// not work. Texts are the arena's.
int explain_count_rounds(const struct explain_place *place, int bits, struct explain_count *counts,
                         int n, struct arena *arena, struct err *err);
