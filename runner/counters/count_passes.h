// SPDX-License-Identifier: MIT
// Which events can be counted at the same time: passes over a list of events that need more
// counters than a core has. Pure functions; what a backend then really accepts may be less.
#ifndef LATPUT_COUNT_PASSES_H
#define LATPUT_COUNT_PASSES_H

#include "count.h"

struct count_capacity {
    int general, fixed; // counters of a core that are free
};

// What CPUID announces, or else what cpus.csv says of the uarch; 0, 0 where neither knows.
struct count_capacity count_capacity_of(const struct cpu_info *cpu);

// One counter less (a general one, then the fixed ones), after a backend refused a full pass.
// Returns false if there was nothing left to take away.
bool count_capacity_reduce(struct count_capacity *capacity);

// The same if the obstacle is one that fewer events at a time may remove; else false.
bool count_capacity_yield(struct count_capacity *capacity, enum count_obstacle obstacle);

// Deals events into passes, each event into the first pass where all have a counter that can count
// them; software events need none, and events that can happen more than 15 times a cycle need two.
// An event that no counter is for gets a pass of its own, which the backend will refuse. Writes the
// pass of each event, from 0, into pass[nevents]; returns the number of passes.
int count_passes_plan(const struct count_event *events, int nevents, struct count_capacity capacity,
                      int *pass);

// A counter for each event out of the free ones (general counter i is bit i, fixed counter j bit
// 32 + j): its bit number, fixed ones first. An event that needs two counters gets an even one and
// the next. Registers that count by themselves need none and get 0. Returns -1, or the index of an
// event that finds none.
int count_passes_place(const struct count_event *events, int nevents, uint64_t free, int *places);

#endif
