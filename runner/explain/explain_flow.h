// SPDX-License-Identifier: MIT
// The flow of control in a function: what is executed once in each round of a loop, whichever way
// the round goes. By Zydis; pure.
#pragma once

#include "explain_loop.h"

// Fills what counts the rounds of each loop: code_loop.rounds. The arena owns that. Returns 0, or
// -1 with a message if the function cannot be decoded.
int code_loops_flow(const struct code_function *function, struct code_loops *loops,
                    struct arena *arena, struct err *err);
