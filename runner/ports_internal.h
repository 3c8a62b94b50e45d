// SPDX-License-Identifier: MIT
// What the files of the port inference share.
#ifndef LATPUT_PORTS_INTERNAL_H
#define LATPUT_PORTS_INTERNAL_H

#include "plan.h"
#include "ports.h"
#include "util/mem.h"

// Asks the oracle and tells the progress.
int ports_time(const struct port_oracle *oracle, const char *what, const struct port_mix *mixes,
               int n, struct port_timing *timings, struct err *err);

// Two forms side by side, each for about `clk` alone, in orders that schedulers like.
struct port_mix ports_pair(int a, double a_clk, int b, double b_clk, double clk);
// What the model says of it.
double ports_pair_clk(const struct port_model *model, const struct port_usage *a,
                      const struct port_usage *b, const struct port_mix *pair);

// Finds out how much of the shared path `unit` the forms need that keep no unit busy yet.
int ports_assign_path(const struct port_oracle *oracle, const struct port_form *forms,
                      const int *which, int n, const struct port_model *model, int unit,
                      struct port_usage *usages, struct err *err);

// Gives every class a systematic name: a letter for each group of sets that are connected by
// inclusion or overlap, and the size; sets of the same size in a group by a further letter.
void ports_name(struct port_model *model);

#endif
