// SPDX-License-Identifier: MIT
// Passes over events that a backend really accepts: dealt by count_passes_plan(), each tried once,
// and dealt again for fewer counters while one is refused that fewer events at a time may help.
#pragma once

#include "count_passes.h"

// In place of an event's pass.
enum {
    COUNT_UNDEALT = -1, // count_deal() chooses it
    COUNT_APART = -2,   // no pass: count_deal() leaves it so
};

struct count_dealt { // events and the pass of each
    const struct count_event *events;
    int nevents;
    const int *pass;
};

struct count_deal {
    const struct count_event *events;
    int nevents; // at most COUNT_EVENTS_MAX of them undealt
    int *pass;   // by event
    int first;   // the first pass of those to be dealt
    int npasses; // out: first and all that were dealt
    // Tries the events whose pass is `pass`; the passes of all events are known by then.
    enum count_obstacle (*attempt)(void *user, int pass, struct err *err);
    void *user;
};

// COUNT_FINE, or the obstacle of the last attempt with its message. The machine's free counters are
// `capacity`.
enum count_obstacle count_deal(struct count_deal *deal, struct count_capacity capacity,
                               struct err *err);

struct count_pass {
    struct count_event events[COUNT_EVENTS_MAX];
    int index[COUNT_EVENTS_MAX]; // among all events
    int nevents;
};
// Fills in *chosen with the events whose pass is `which`. COUNT_TOO_MANY: there are more than
// `most` (at most COUNT_EVENTS_MAX).
enum count_obstacle count_pass_choose(const struct count_dealt *dealt, int which, int most,
                                      struct count_pass *chosen, struct err *err);
