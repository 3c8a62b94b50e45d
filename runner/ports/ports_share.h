// SPDX-License-Identifier: MIT
// Forms beside the blocker of a unit: what one of them costs the blocker is its share of the unit.
// Dividers, the sequencer of microcode (ports_units.c) and paths (ports_paths.c) are asked alike.
#pragma once

#include "ports_internal.h"

struct sharing {
    const struct port_question *question;
    struct port_model *model;
    struct port_usage *usages;
    const struct port_model *named; // its names live as long as the evidence
    bool *may;                      // by position in which: it may need the unit
    double *clk;                    // of an instance, by position
    unsigned *without;              // flags that its mixes are without, by position
    // The mixes of the last series, the positions of their forms, and the time that is explained.
    int n, *at;
    struct port_mix *mixes;
    struct port_timing *timings;
    double *enough_clk;
};
// sharing_begin() fills in the times of the forms. sharing_end() frees all arrays.
void sharing_begin(struct sharing *sharing);
void sharing_end(struct sharing *sharing);
// Makes may[] of a test of forms.
void sharing_choose(struct sharing *sharing, bool (*may)(const struct sharing *sharing, int i));
// Adds form i beside another one, each for as long alone; -1: alone.
void sharing_add(struct sharing *sharing, int i, int beside, double beside_clk);
// Times the mixes that were added. Orders that can gain nothing are left out.
int sharing_time(struct sharing *sharing, const char *what, struct err *err);
// Times each form that may need the unit beside a form that keeps it busy for `clk` an instance,
// and passes that on as evidence. Returns -1 if the oracle fails.
int sharing_ask(struct sharing *sharing, int unit, int blocker, double clk, struct err *err);
// Returns the cycles by which an instance of mix k makes the blocker of the unit wait; 0: no more
// than is explained without the unit.
double sharing_clk(const struct sharing *sharing, int unit, int k);
