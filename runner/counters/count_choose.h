// SPDX-License-Identifier: MIT
// Which backend counts: what the user asked for with --backend, tried on this machine.
#ifndef LATPUT_COUNT_CHOOSE_H
#define LATPUT_COUNT_CHOOSE_H

#include "count.h"

enum count_choice { COUNT_CHOICE_AUTO, COUNT_CHOICE_PERF, COUNT_CHOICE_MSR, COUNT_CHOICE_TSC };
// -1 if there is no such backend.
int count_choice_parse(const char *name);

// Probes: perf or msr alone, or for auto perf and then msr. *backend is NULL for tsc, and for auto
// where no counter can be used: then err says why of each. The obstacle is that of the backend that
// was asked for; auto and tsc have none.
enum count_obstacle count_choose(enum count_choice choice, const struct count_machine *machine,
                                 const struct count_backend **backend, struct err *err);

#endif
