// SPDX-License-Identifier: MIT
// Jumps. Macro-fusion: whether a conditional jump takes a slot of its own behind the instruction
// that makes its flags. What the property `macro_fusion` has measured of this CPU says it, pair by
// pair.
#ifndef LATPUT_EXPLAIN_FUSE_H
#define LATPUT_EXPLAIN_FUSE_H

#include "explain_block.h"
#include "store/store_property.h"

// Whether the two are one: 1, 0, or -1 where the property does not have this pair.
int fuse_pair(const struct property_values *measured, const struct block_instr *writer,
              const struct block_instr *jump);
// The shortest time between two taken jumps, of what the property `taken_branches` measured; NaN:
// nothing.
double fuse_taken_clk(const struct property_values *measured);

#endif
