// SPDX-License-Identifier: MIT
// Turns of ports that bring nothing: a scheduler may choose an instruction before what it waits for
// is done, and must choose it once more. It costs where the ports are full. Numbers come from the
// property `dependent_groups` of the CPU (lists/properties/core.csv). Pure.
#pragma once

#include "store/store_property.h"

enum { AGAIN_DISTANCES = 4 };

// Cycles that a group takes longer; NaN: not measured.
struct again {
    double after_clk[AGAIN_DISTANCES]; // one uses a result so many before: again_distances
    double two_clk;                    // one uses the results of both directly before it
    double chain_clk;                  // of three in a row each uses the result of the one before
};
void again_read(const struct property_value *values, int n, struct again *again);

struct explanation;
// Ports that are full with what must be chosen again.
struct again_limit {
    uint32_t set; // 0: there is none
    double clk, uops, again_uops;
};
struct again_limit again_find(const struct explanation *explanation, const struct again *again,
                              struct arena *arena);
