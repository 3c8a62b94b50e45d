// SPDX-License-Identifier: MIT
// Front-end time by the density of code. The front end delivers lines of a few instructions; code
// with slightly more instructions than fit into a line is delivered at less than full width.
// Numbers come from the property `code_density` of the CPU (lists/properties/front_end.csv). Pure.
#pragma once

#include "store/store_property.h"

enum { FRONT_PIECE_BYTES = 61, FRONT_SLOTS_MAX = 64 };

struct front_density {
    int least, most;                 // slots in a piece that were measured; most 0: nothing was
    double clk[FRONT_SLOTS_MAX + 1]; // per piece, by its slots; NaN: not measured
};
void front_read(const struct property_value *values, int n, struct front_density *density);

// One instruction of code that is repeated without a jump.
struct front_instr {
    int bytes;
    double slots;
};
// Returns the cycles per copy; NaN: the density was not measured.
double front_clk(const struct front_density *density, const struct front_instr *instrs, int n);
