// SPDX-License-Identifier: MIT
// What bounds do not say one by one: instructions of a chain wait where a port that they may not
// choose again does others' work. Copies of the block are followed through entry, ports and values.
#ifndef LATPUT_EXPLAIN_FLOW_H
#define LATPUT_EXPLAIN_FLOW_H

#include "explain.h"

// Cycles a copy takes where instructions enter in order, so fast that a copy takes front_clk, are
// bound then to the ports that have least to do, and each port serves the oldest that is ready;
// NaN: too long a block. Units that are not pipelined, and stores that leave, are not looked at.
double flow_clk(const struct explanation *explanation, double front_clk, bool wide);

#endif
