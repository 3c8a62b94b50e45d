// SPDX-License-Identifier: MIT
// Counting cycles in which at least, or fewer than, so many events happened, and what follows from
// a series of such counts: a histogram of events per cycle; from cycles and beginnings of the same
// condition: its mean duration. Pure functions; the method is from Heller's rabbit.
#pragma once

#include "counters/count.h"

enum { STAT_THRESHOLDS_MAX = 64, STAT_BUCKETS_MAX = 33 };

struct stat_threshold {
    unsigned cmask; // 1 or more
    bool inv;       // fewer than cmask instead of at least
    char text[16];  // "gt2", as in names of events
};

// Reads "gt2,le1,3": lt le gt ge with a number, or a number (at least so many; fewer if `invert`,
// a list of 0 and 1 in the same order, has a 1 there). invert may be NULL. Returns how many of
// thresholds[STAT_THRESHOLDS_MAX] are filled, or -1 with a message.
int stat_thresholds_parse(const char *compare, const char *invert,
                          struct stat_threshold *thresholds, struct err *err);
// Makes the thresholds ge1 ... geN.
int stat_thresholds_series(int n, struct stat_threshold *thresholds);

// An event to count and where it comes from.
struct stat_event {
    struct count_event event;
    int base;          // index of the event that it is a variant of; its own otherwise
    unsigned at_least; // cycles with at least so many of base; 0: not such a variant
    unsigned fewer;    // cycles with fewer than so many; 0: not such a variant
};

struct stat_variants {
    const struct stat_threshold *thresholds;
    int nthresholds;
    bool durations;
};
// Lists the requested events, each followed by its variants: one per threshold, and with
// `durations` its cycles and its beginnings. Clocks, software events, free-running registers and
// events with a threshold of their own have none. With thresholds, core_clk of the table is added
// if it is missing. The caller frees *out.
int stat_events_expand(const struct counter_table *table, const struct count_event *events,
                       int nevents, const struct stat_variants *variants, struct stat_event **out,
                       struct err *err);

// Events per cycle. Cycles in bucket i had i events; in the last one that many or more.
struct stat_histogram {
    int nbuckets;
    double clk[STAT_BUCKETS_MAX];
    double total_clk;
    double mean; // events per cycle, that the buckets give; the last one counts as its lower end
};
// Makes a histogram from the mean counts of the events (NaN: not counted). Returns true if
// events[base] has cycles of at least 1, 2, ... events without a gap and the total is known: from
// cycles with at least and with fewer than the same number, else from core_clk.
bool stat_histogram_make(const struct stat_event *events, const double *means, int nevents,
                         int base, struct stat_histogram *histogram);

// Finds the event that counts beginnings (edges) of the condition whose cycles events[cycles]
// counts. Returns its index, or -1.
int stat_duration_find(const struct stat_event *events, int nevents, int cycles);
