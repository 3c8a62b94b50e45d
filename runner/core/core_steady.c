// SPDX-License-Identifier: MIT
// When to stop repeating a kernel. Some kernels have several steady states (which port a µop was
// bound to, how loads and stores met) and settle into one of them for a whole execution, so that
// two passes that agree prove little. The value wanted is that of the fastest state which comes
// back: passes go on until the fastest state seen was seen in two passes, and a little longer where
// the value is not one that instructions usually have.
#include "core_internal.h"

enum {
    STATE_SAMPLES = 2, // samples that make a state within a pass
    PASSES_USUAL = 2,  // enough where the value is a usual one
    PASSES_ODD = 5,    // where it is not
};
static const double GRID_TOLERANCE_CLK = 0.02, GRID_TOLERANCE = 0.01;

// The fastest value that STATE_SAMPLES samples of a pass share; 0 if there is none.
static double pass_fastest(const double *values, uint32_t samples, double tolerance)
{
    for (uint32_t i = 0; i + STATE_SAMPLES <= samples; i++)
        if (values[i + STATE_SAMPLES - 1] <= values[i] * (1 + tolerance))
            return values[i];
    return 0;
}

static bool usual_value(double clk, uint32_t grid)
{
    if (grid == 0) // nothing is expected
        return true;
    for (uint32_t n = 1; n <= grid; n++) {
        double multiple = clk * n;
        uint32_t nearest = (uint32_t)(multiple + 0.5);
        double off = multiple > nearest ? multiple - nearest : nearest - multiple;
        if (nearest &&
            (off / n <= GRID_TOLERANCE * clk || (grid == 1 && off <= GRID_TOLERANCE_CLK)))
            return true;
    }
    return false;
}

bool steady_settled(const struct kernel_run *run, uint32_t samples, double tolerance)
{
    double fastest = 0;
    uint32_t seen = 0; // passes in that state
    for (uint32_t pass = 0; pass < run->nvalues; pass++) {
        double clk = pass_fastest(run->values[pass], samples, tolerance);
        if (clk <= 0)
            continue;
        if (fastest > 0 && clk <= fastest * (1 + tolerance) && fastest <= clk * (1 + tolerance)) {
            seen++;
            fastest = clk < fastest ? clk : fastest;
        } else if (fastest <= 0 || clk < fastest) {
            fastest = clk;
            seen = 1;
        }
    }
    if (seen < 2)
        return false;
    uint32_t wanted = usual_value(fastest, run->kernel->grid) ? PASSES_USUAL : PASSES_ODD;
    return run->nvalues >= wanted;
}
