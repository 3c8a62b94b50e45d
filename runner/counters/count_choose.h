// SPDX-License-Identifier: MIT
// The choice of a backend: the one that the user requested with --backend, tried on this machine.
#pragma once

#include "count.h"

enum count_choice { COUNT_CHOICE_AUTO, COUNT_CHOICE_PERF, COUNT_CHOICE_MSR, COUNT_CHOICE_TSC };
// Returns the choice of this name, or -1.
int count_choice_parse(const char *name);

// Probes perf or msr alone; for auto perf, then msr. *backend is NULL for tsc, and for auto if no
// counter can be used: then err has the reason for each. The obstacle is the requested backend's;
// auto and tsc have none.
enum count_obstacle count_choose(enum count_choice choice, const struct count_machine *machine,
                                 const struct count_backend **backend, struct err *err);
