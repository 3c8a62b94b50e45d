// SPDX-License-Identifier: MIT
// Loads of different lines that use the same bank of the first cache, as the property `banks`
// (lists/properties/memory.csv) has measured them. Pure.
#pragma once

#include "explain_block.h"
#include "store/store_property.h"

struct banks {
    double load_clk; // of a load beside one of another line and the same bank; NaN: none wait
};
// Reads points of the property; n 0: it was not measured.
void banks_read(const struct property_value *values, int n, struct banks *banks);

// Returns the cycles per copy that the fullest bank takes; 0: no two lines share one. *nloads: the
// number of its loads.
double banks_clk(const struct banks *banks, const struct block *block, int *nloads);
