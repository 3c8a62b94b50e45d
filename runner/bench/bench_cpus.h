// SPDX-License-Identifier: MIT
// Which CPUs the threads of a bench run on, out of what the system says of its CPUs.
#ifndef LATPUT_BENCH_CPUS_H
#define LATPUT_BENCH_CPUS_H

#include "bench.h"
#include "measure/cpu_places.h"

// Fills chosen[spec->threads]: those that the spec names, or: the first two on one core where that
// is possible, the next ones on cores of their own, then the siblings of those; so that three
// threads show both what siblings share and what cores share. All of one type of core. -1 with a
// message that says what is in the way.
int bench_cpus_choose(const struct cpu_places *cpus, const struct bench_spec *spec, int *chosen,
                      struct err *err);

// "3+1 on one core; 2 on a core of its own". Owned by the arena.
const char *bench_cpus_describe(const struct cpu_places *cpus, const int *chosen, int n,
                                struct arena *arena);

#endif
