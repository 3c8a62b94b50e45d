// SPDX-License-Identifier: MIT
// What the files of liblatput share.
#ifndef LATPUT_INTERNAL_H
#define LATPUT_INTERNAL_H

#include "latput.h"

// TSC ticks a link of the calibration chain, measured now in some 5 µs.
double calibration_tsc_per_link(double overhead_tsc);

#endif
