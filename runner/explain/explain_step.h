// SPDX-License-Identifier: MIT
// The latency of a step of a chain in its block: that of the table, and the bypass delay after the
// producer of its input.
#pragma once

#include "explain.h"

// Returns the latency from touch `from` to touch `to` of an instruction, for struct chain_latency,
// with an explanation whose instructions are known as context.
double explain_step_clk(const void *explanation, int at, int from, int to);
// Returns the instruction that made the value of the touch `from`, after eliminated moves; NULL:
// none of the block did.
const struct explain_instr *explain_step_producer(const struct explanation *explanation, int at,
                                                  int from);
// Adds the µops and slots beyond the table's that instructions need for operands of certain
// producers.
void explain_step_uops(struct explanation *explanation);
