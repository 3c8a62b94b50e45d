// SPDX-License-Identifier: MIT
#include "explain_front.h"

#include <math.h>

void front_read(const struct property_value *values, int n, struct front_density *density)
{
    *density = (struct front_density){.least = FRONT_SLOTS_MAX};
    for (int slots = 0; slots <= FRONT_SLOTS_MAX; slots++) {
        double sum = 0;
        int found = 0;
        for (int i = 0; i < n; i++) // whichever variant: how long instructions are is not looked at
            if ((int)lround(values[i].x) == slots) {
                sum += values[i].y;
                found++;
            }
        density->clk[slots] = found ? sum / found : (double)NAN;
        if (!found)
            continue;
        density->least = slots < density->least ? slots : density->least;
        density->most = slots;
    }
}

// Returns the time of a piece of code by its slots. Below the least measured density the time is
// proportional.
static double piece_clk(const struct front_density *density, double slots)
{
    if (slots <= density->least)
        return density->clk[density->least] * slots / density->least;
    if (slots >= density->most)
        return density->clk[density->most] * slots / density->most;
    int below = (int)slots;
    while (isnan(density->clk[below]))
        below--;
    int above = below + 1;
    while (isnan(density->clk[above]))
        above++;
    double part = (slots - below) / (above - below);
    return density->clk[below] * (1 - part) + density->clk[above] * part;
}

double front_clk(const struct front_density *density, const struct front_instr *instrs, int n)
{
    double clk = 0, slots = 0;
    long at = 0, piece = 0;
    if (density->most == 0)
        return NAN;
    // After so many copies pieces begin at the same places again.
    for (int copy = 0; copy < FRONT_PIECE_BYTES; copy++)
        for (int i = 0; i < n; i++) {
            if (at / FRONT_PIECE_BYTES != piece) {
                clk += piece_clk(density, slots);
                piece = at / FRONT_PIECE_BYTES;
                slots = 0;
            }
            slots += instrs[i].slots;
            at += instrs[i].bytes;
        }
    return (clk + piece_clk(density, slots)) / FRONT_PIECE_BYTES;
}
