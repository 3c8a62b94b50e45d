// SPDX-License-Identifier: MIT
// The body of a kernel as a core made of text sees it: decoded, with the name of each instruction's
// form, what it needs of dispatch and ports, and the time of its longest chain from round to round.
#pragma once

#include "text_script.h"

#include <stddef.h>

enum { TEXT_SETS = 16 }; // different sets of ports in one body
struct text_body {
    double slots; // of one round
    int nsets;    // of ports that its µops take, and how many of them
    uint32_t sets[TEXT_SETS];
    double uops[TEXT_SETS];
    double chain_clk;               // of one round, by what its results wait for
    double leave_clk;               // of one round, until its stores have left
    const struct text_state *state; // NULL: it has one only
    const struct text_fault *fault; // NULL: none
    bool high_registers;            // an instruction with the state names one from the eighth on
    bool upper_registers;           // an instruction with the state names one of r16 to r31
    bool long_nops;                 // there are nops of several bytes
    bool accesses;                  // memory
    int instructions;
    bool lacking; // the CPU does not have one of its instructions
};

// `bits`: mode, 64 or 32. load_clk: what a load takes from address to value.
void text_body_read(const struct text_script *script, const uint8_t *code, size_t bytes, int bits,
                    double load_clk, struct text_body *body);
// Cycles of one iteration of so many rounds and the loop around them, where a thread has this share
// of all slots and ports.
double text_body_clk(const struct text_script *script, const struct text_body *body,
                     uint32_t rounds, double share);
