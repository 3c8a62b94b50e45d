// SPDX-License-Identifier: MIT
// The rounds of a function's loop in a call: counted in a copy of the loop, by a program of its own
// in which nothing is timed (macros/rounds.asm).
#pragma once

#include "explain_block.h"
#include "explain_shape.h"

// Counts the rounds of the block, a loop of the function in place->object, after the user's init
// (NULL: none). Returns their number; 0 if they cannot be counted, *why says why; -1 with a message
// if the tools do not work. Texts are the arena's.
long explain_count_rounds(const struct block *block, const struct explain_place *place,
                          const char *init, const char **why, struct arena *arena, struct err *err);
