// SPDX-License-Identifier: MIT
// The canary's floor: which nop sequence this CPU runs at its full width, and how long one nop
// takes on an undisturbed core. Found once a CPU and kept in the database, because a floor taken
// while something else uses the core would let every disturbed repeat pass.
#ifndef LATPUT_FLOOR_H
#define LATPUT_FLOOR_H

#include "exec.h"
#include "store.h"

// Chooses among the candidates. With a known issue width the floor is what that width gives, if the
// best candidate comes near; returns 1. Else the best mode: 1 if the width is unknown, 0 (a guess
// that must not be kept) if the core seems never to have been undisturbed. -1: no usable candidate.
int floor_choose(const struct exec_floor *floors, int nfloors, int issue_width,
                 struct canary_floor *floor);

// Measures the floor with the core of `program`: until it can be trusted, or, if `quick`, for at
// most two seconds, with a guess in the end. Sets *keep to whether it may be stored.
int floor_measure(const char *program, const struct exec_params *params, bool quick,
                  struct canary_floor *floor, bool *keep, struct err *err);

#endif
