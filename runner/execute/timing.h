// SPDX-License-Identifier: MIT
// One pass of a kernel by the measuring process: its raw samples, and the facts that turn them into
// cycles.
#pragma once

#include "core/outcome.h"

#include <stdbool.h>
#include <stdint.h>

// One accepted timing of a kernel: raw TSC ticks, overhead not yet subtracted.
struct sample {
    uint32_t kernel_tsc; // the kernel
    uint32_t before_tsc; // calibration chain before it
    uint32_t after_tsc;  // calibration chain after it
    uint32_t canary_tsc; // the worse of the canaries before and after
    // Core cycles of the kernel by a counter, with overhead, if struct timing says that they were
    // counted.
    uint32_t counted_clk;
};

// All that is needed to turn the samples of one (kernel, pass) into cycles.
struct timing {
    int pass;             // 1, 2, 3
    enum outcome outcome; // OK, or why there are no samples
    const char *detail;
    int cpu; // that it was measured on; -1: the system did not tell
    int accepted, tried;
    uint32_t iterations;         // rounds of the loop
    uint32_t copies;             // copies of the body in the loop
    double calib_clk;            // core cycles of the calibration chain (known latency times links)
    double overhead_tsc;         // of an empty timing
    bool counted;                // the samples have counted_clk
    double overhead_counted_clk; // of an empty timing, in counted cycles
    const struct sample *samples;
    int nsamples; // == accepted when OK
};
