// SPDX-License-Identifier: MIT
// The longest chain that one copy of a block hands to the next: through registers, flags and
// memory. Pure.
#ifndef LATPUT_EXPLAIN_CHAIN_H
#define LATPUT_EXPLAIN_CHAIN_H

#include "explain_block.h"

// How long it takes from a value that instruction `instr` reads (touch `from`) to one that it
// writes (touch `to`), in cycles; NaN: the one does not wait for the other.
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
    int copies;    // that the chain goes through before it is where it began
    struct chain_step *steps;
    int nsteps;
};

// The chain that takes longest a copy; its steps are owned by the arena.
struct chain chain_longest(const struct block *block, const struct chain_latency *latency,
                           struct arena *arena);

#endif
