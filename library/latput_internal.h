// SPDX-License-Identifier: MIT
// Declarations that the files of liblatput share.
#pragma once

#include "latput.h"

// Returns the TSC ticks per link of the calibration chain, measured now in some 5 µs.
double calibration_tsc_per_link(double overhead_tsc);

// Does what latput_summarise() does without other memory than sorted[n].
struct latput_summary summary_sort(const double *values, int n, double grain, double *sorted);
