// SPDX-License-Identifier: MIT
// Chooses the CPUs for the threads of a bench, from the system's list.
#pragma once

#include "bench.h"
#include "measure/cpu_places.h"

// Fills chosen[spec->threads]: the CPUs that the spec names; else the first two on one core if
// possible, the next ones on cores of their own, then siblings of those, so that three threads show
// both what siblings share and what cores share. All are of one type of core. Returns -1 with a
// message if that is not possible.
int bench_cpus_choose(const struct cpu_places *cpus, const struct bench_spec *spec, int *chosen,
                      struct err *err);

// Returns "3+1 on one core; 2 on a core of its own", owned by the arena.
const char *bench_cpus_describe(const struct cpu_places *cpus, const int *chosen, int n,
                                struct arena *arena);
