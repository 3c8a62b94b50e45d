// SPDX-License-Identifier: MIT
// The longest chain that one copy of a block hands to the next: through registers, flags and
// memory. Pure.
#pragma once

#include "explain_block.h"

// clk() returns the latency from a value that instruction `instr` reads (touch `from`) to one that
// it writes (touch `to`), in cycles; NaN: the second does not wait for the first.
struct chain_latency {
    double (*clk)(const void *context, int instr, int from, int to);
    const void *context;
};

struct chain_step {
    int instr, from, to; // touches
    double clk;
};
struct chain {
    double clk;    // a copy of the block; 0: nothing is handed on
    double length; // over `copies`
    int copies;    // copies until the chain is back at its first place
    struct chain_step *steps;
    int nsteps;
};

// Finds the chain that takes longest per copy; the arena owns its steps.
struct chain chain_longest(const struct block *block, const struct chain_latency *latency,
                           struct arena *arena);
