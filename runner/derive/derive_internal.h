// SPDX-License-Identifier: MIT
// Shared by the files that derive results: when a latency is a whole number of cycles.
#pragma once

#include "derive.h"

// The distance from a whole number of cycles at which a latency is an average: what measuring again
// changes is far less, and so is what bridges of one cycle add.
#define DERIVE_WHOLE_CLK 0.05
#define DERIVE_WHOLE 0.005
// Executions of different latency are taken together as far as this.
#define DERIVE_MIXED_CLK 0.5
// Less is done at rename, in no whole number of cycles.
#define DERIVE_RENAME_CLK 0.75

// Returns true if a value lies between two whole cycles. Executions take whole cycles, so if the
// chain has nothing else such a value is the mean of several: of an instruction that takes longer
// on one port than on another, or that is eliminated now and then.
bool derive_between_cycles(double clk);
