// SPDX-License-Identifier: MIT
// Counters of the ports, if the oracle has them: the ports of the model in each counter, and the
// counts of a port set in a timing.
#pragma once

#include "ports.h"

// The model's ports in each of the oracle's groups.
struct port_groups {
    int n; // 0: no counters, or they do not fit to the model
    uint32_t sets[PORT_GROUPS_MAX];
};

// Times the model's blockers alone to find the ports of each counter. Returns -1 if the oracle
// fails.
int port_groups_find(const struct port_oracle *oracle, const struct port_model *model,
                     struct port_groups *groups, struct err *err);

// Returns the µops of the mix that were counted on the ports of `set`; 0 for all the model's ports.
// NaN without counts, or if a counter includes other ports.
double port_groups_uops(const struct port_groups *groups, const struct port_model *model,
                        const struct port_timing *timing, uint32_t set);
// Returns the µops of the mix in all counters; NaN: no counts.
double port_groups_total(const struct port_groups *groups, const struct port_timing *timing);
// Returns the ports where any were counted; 0 if some have more than others, as µops of several
// kinds do, or if they are not the model's.
uint32_t port_groups_touched(const struct port_groups *groups, const struct port_timing *timing);
