// SPDX-License-Identifier: MIT
// The fit: from how long a form takes beside blockers to what it uses. Pure.
#ifndef LATPUT_PORTS_FIT_H
#define LATPUT_PORTS_FIT_H

#include "ports.h"

// One timing: m instances of the form beside k instances of a class's blocker.
struct port_trial {
    int class;
    int instances, blockers;
    double clk;
    double counted_uops; // of an instance, that were counted on the class's ports; NaN: no counts
};

struct port_trials {
    double alone_clk;      // an instance's share of several alone, chains included
    double best_clk;       // the throughput with chains broken; NaN: unknown
    double shared_clk;     // the least of a trial that is an instance's share: an upper bound
    double slots;          // NaN: unknown
    int uops_most;         // that its slots allow; 0: unknown
    double slots_mixed;    // the same in no particular order
    double slots_whole;    // among others that fill whole cycles of dispatch; NaN: unknown
    double front_clk;      // that an instance adds to what dispatch takes for others; NaN: unknown
    double front_many_clk; // the same beside so many that they hide what they can; NaN: unknown
    double beside_clk;     // that it took beside the fillers that were timed last; NaN: none
    double delivery_clk;   // and to what the front end takes to deliver them; NaN: unknown
    double counted_uops;   // of an instance alone, on all ports of the model; NaN: no counts
    double counted_total;  // the same by all counters, whichever ports they have
    uint32_t touched;      // the ports where they were counted, if that is one set; 0: unknown
    struct port_trial *trials;
    int n;
};

// µops that one instance binds to the class's set, as the trial shows it: size * clk - blockers.
double port_trial_uops(const struct port_model *model, const struct port_trial *trial);

// The non-negative integer counts that explain the trials best under the bottleneck model.
// Classes without a trial are taken to be unused if a class that contains them is.
struct port_usage port_fit(const struct port_model *model, const struct port_trials *trials);

// Whether both use the same sets as often.
bool port_uses_same(const struct port_usage *a, const struct port_usage *b);

#endif
