// SPDX-License-Identifier: MIT
// Passes over a list of events that need more counters than a core has. Pure functions; a backend
// may accept less.
#pragma once

#include "count.h"

struct count_capacity {
    int general, fixed; // counters of a core that are free
};

// Returns the capacity that CPUID announces, or else cpus.csv has for the uarch; 0, 0: unknown.
struct count_capacity count_capacity_of(const struct cpu_info *cpu);

// Removes one counter (a general one, then the fixed ones), after a backend refused a full pass.
// Returns false if there was nothing left to remove.
bool count_capacity_reduce(struct count_capacity *capacity);

// Does the same if fewer events at a time may remove the obstacle; else returns false.
bool count_capacity_yield(struct count_capacity *capacity, enum count_obstacle obstacle);

// Deals events into passes, each event into the first pass where all have a counter that can count
// them. Software events need none, and events that can happen more than 15 times per cycle need
// two. An event without any counter gets a pass of its own, which the backend will refuse. Writes
// the pass of each event, from 0, into pass[nevents]; returns the number of passes.
int count_passes_plan(const struct count_event *events, int nevents, struct count_capacity capacity,
                      int *pass);

// A counter for each event out of the free ones (general counter i is bit i, fixed counter j bit
// 32 + j): its bit number, fixed ones first. An event that needs two counters gets an even one and
// the next. Registers that count by themselves need none and get 0. Returns -1, or the index of an
// event that finds none.
int count_passes_place(const struct count_event *events, int nevents, uint64_t free, int *places);
