// SPDX-License-Identifier: MIT
// Jumps. Macro-fusion: a conditional jump and the instruction before it that sets its flags may
// share one slot. The property `macro_fusion` has measured this on the CPU for each pair.
#pragma once

#include "explain_block.h"
#include "store/store_property.h"

// Returns 1 if the two share a slot, 0 if not, -1 if the property does not have this pair.
int fuse_pair(const struct property_values *measured, const struct block_instr *writer,
              const struct block_instr *jump);
// Returns the shortest time between two taken jumps, of what the property `taken_branches`
// measured; NaN: nothing.
double fuse_taken_clk(const struct property_values *measured);
// Returns what a branch costs that was predicted wrong, by the property `misprediction`: the least,
// where other branches are far away; NaN: not measured.
double fuse_mispredicted_clk(const struct property_values *measured);
