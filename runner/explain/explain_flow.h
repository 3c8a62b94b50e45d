// SPDX-License-Identifier: MIT
// Limits that single bounds do not show: instructions of a chain wait if a port that they are
// already bound to does others' work. Copies of the block are followed through entry, ports and
// values.
#pragma once

#include "explain.h"

// Returns the cycles per copy of an out-of-order core: instructions enter in order, a copy in
// front_clk; each µop is bound on entry to the port with the least to do; each port serves the
// oldest ready µop. NaN: the block is too long. Units that are not pipelined and stores that retire
// are ignored.
double flow_clk(const struct explanation *explanation, double front_clk, bool wide);
