// SPDX-License-Identifier: MIT
// The fit: from the times of a form beside blockers to its usage. Pure.
#pragma once

#include "ports.h"

// One timing: m instances of the form beside k instances of a class's blocker.
struct port_trial {
    int class;
    int instances, blockers;
    double clk;
    double counted_uops; // µops of an instance counted on the class's ports; NaN: no counts
};

// A control: the blocker of a class with this set beside blockers of `class`, whose ports are some
// of its own. It could use its others, and yet shows so many µops there. Members of the wider class
// show as many, and have none. (Golden Cove: loads have three ports, `movd mm m32` has two;
// `vlddqu x m128` beside many of them shows 0.7 µops.)
struct port_control {
    uint32_t set;
    int class;
    double uops;
};
struct port_controls {
    struct port_control *controls;
    int n;
};

struct port_trials {
    double alone_clk;      // an instance's share of several alone, chains included
    double best_clk;       // the throughput with chains broken; NaN: unknown
    double shared_clk;     // an instance's least share of a trial: an upper bound of its throughput
    double slots;          // of dispatch, in the best order; NaN: unknown
    int uops_most;         // µops that its slots allow; 0: unknown
    double slots_mixed;    // slots in no particular order
    double slots_whole;    // slots among others that fill whole cycles of dispatch; NaN: unknown
    double front_clk;      // cycles that it adds to the dispatch of few others; NaN: unknown
    double front_many_clk; // the same, of so many others that they hide all they can; NaN: unknown
    double beside_clk;     // cycles that it took beside the last number of fillers; NaN: none
    double delivery_clk;   // cycles that it adds to the delivery of few others; NaN: unknown
    double among_fillers;  // fewest fillers beside an instance, and
    double among_clk;      // its time among them, where this is longer than alone; NaN: it is not
    double counted_uops;   // µops of an instance alone, on the model's ports; NaN: no counts
    double counted_total;  // the same by all counters, also of ports outside the model
    uint32_t touched;      // ports where they were counted, if that is one set; 0: unknown
    uint32_t shares;       // classes whose trials show no µops of the form, a bit each
    uint32_t lost;         // classes with a trial that ran and has no value, a bit each
    bool slots_lost;       // a trial beside fillers ran and has no value
    const struct port_controls *controls; // NULL: none
    struct port_trial *trials;
    int n;
};

// Returns the µops that an instance binds to the class's set, as the trial shows them: size * clk -
// blockers, per instance.
double port_trial_uops(const struct port_model *model, const struct port_trial *trial);

// Returns the µops that controls show beside the class for a form of this usage.
double port_controls_uops(const struct port_controls *controls, const struct port_uses *uses,
                          int class);

// Returns true if the form takes as long beside as many fillers as in the trial: it waits for
// something else while others are about, and the trial shows no µops. (Zen 5: `vsqrtpd z z` takes
// 7.5 cycles alone, and 9.0 beside 32 nops or 40 `mov r32 i32`.) The front end is not what it waits
// for.
bool port_trial_waits(const struct port_model *model, const struct port_trials *trials,
                      const struct port_trial *trial);

// Returns the usage, of non-negative integer counts, that explains the trials best under the
// bottleneck model. Classes without a trial are taken to be unused if a class that contains them
// is.
struct port_usage port_fit(const struct port_model *model, const struct port_trials *trials);
