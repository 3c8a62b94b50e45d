// SPDX-License-Identifier: MIT
// Loads that use the same bank of the first cache, as the property `banks`
// (lists/properties/memory.csv) has measured them: loads of 4 bytes at so many bytes from each
// other. Pure.
#pragma once

#include "explain_block.h"
#include "store/store_property.h"

struct banks {
    double load_clk; // of a load in a bank that others use, too; NaN: none wait, or not measured
    bool one_line;   // loads of one line wait as well, those of one place among them
};
// Reads points of the property; n 0: it was not measured.
void banks_read(const struct property_value *values, int n, struct banks *banks);

// Returns the cycles per copy that the fullest bank takes; 0: none is known to make loads wait.
// *nloads: the number of its loads.
double banks_clk(const struct banks *banks, const struct block *block, int *nloads);
