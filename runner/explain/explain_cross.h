// SPDX-License-Identifier: MIT
// Latencies between kinds of registers. A chain from a general register to a vector register needs
// a way back, so that only both together are measured; the table has an upper bound, for a way back
// of one cycle per instruction (macros/bridges.csv). Here the moves of these ways get halves of
// what they take there and back, and other instructions what is left of theirs. Each half may be
// wrong, but a chain that comes back to where it began has as many of one kind as of the other.
#pragma once

#include "explain_block.h"
#include "known/known.h"

// Latencies of the instructions of ways back, in cycles; NaN: not known.
struct cross {
    double vec_clk, vex_vec_clk;       // between general and vector registers, without and with VEX
    double mask_clk, mmx_clk;          // between general registers and masks, and mm
    double vec_mask_clk, mask_vec_clk; // from vectors to masks, and from these
};

// Mnemonics of the forms that cross_read() needs.
enum { CROSS_MNEMONICS = 5 };
extern const char *const cross_mnemonics[CROSS_MNEMONICS];
// Sets the latencies from the forms of a CPU; n 0: none is known.
void cross_read(const struct known_form *forms, int n, struct cross *cross);
// Returns by how much the way back takes longer than was subtracted for it, of an instruction of a
// row with this `isa`, from one place to another; 0: they are of one kind, or it is not known.
double cross_excess_clk(const struct cross *cross, const struct block_instr *instr, const char *isa,
                        int from, int to);
