// SPDX-License-Identifier: MIT
// When to stop repeating a kernel. Some kernels have several steady states (which port a µop was
// bound to, how loads and stores met) and settle into one of them for a whole execution, so that
// two passes that agree prove little. The value wanted is the fastest state that comes back: passes
// go on until the fastest state seen was seen in two passes, and a little longer where the value is
// not one that instructions usually have, or where single samples were faster: a state that is rare
// is looked for in more passes. A kernel that has shown one state only is confirmed by shorter
// passes, and a chain of that kind by fewer.
#include "core_internal.h"

enum {
    PASSES_USUAL = 2, // enough where the value is a usual one
    PASSES_TIGHT = 3, // for an unusual value of a chain with one state only
    PASSES_ODD = 5,   // in all else
    // The first pass only has to show whether there are states: of 9,461 values 21 change by
    // more than 0.5 % if it has 6 samples and not 8, and of these only 2 not of store forwarding.
    FIRST_SAMPLES = 6,
    // Twice what makes a state: one of them may be disturbed. Of 19,000 chains, taken again from
    // their samples, one in 500 changes by more than 0.5 % by both savings; of throughput, which
    // a neighbour can hold at a wrong value for three passes, more would.
    CONFIRM_SAMPLES = 4,
};
static const double TIGHT_SHARE = 0.75; // share of a pass' samples that show one state
// Samples that agree within this share, or cycles, need no more of their pass. With three of them
// per pass one in 1,400 of 42,000 kernels changes by more than 0.5 %.
static const double AGREE = 0.003, AGREE_CLK = 0.0015;
// Distance from a usual value, as a share, that makes a value odd. Chains have whole values, so
// half a percent shows that a pass was off, as one in twenty is; a third pass shows which.
static const double GRID_TOLERANCE = 0.01;
static const double WHOLE_TOLERANCE = 0.004, WHOLE_TOLERANCE_CLK = 0.008;

// Returns the fastest value that CORE_STATE_SAMPLES samples of a pass share; 0: there is none.
static double pass_fastest(const double *values, uint32_t samples, double tolerance)
{
    for (uint32_t i = 0; i + CORE_STATE_SAMPLES <= samples; i++)
        if (values[i + CORE_STATE_SAMPLES - 1] <= values[i] * (1 + tolerance))
            return values[i];
    return 0;
}

static bool usual_value(double clk, uint32_t grid)
{
    if (grid == 0) // nothing is expected
        return true;
    double tolerance_clk = GRID_TOLERANCE * clk;
    if (grid == 1)
        tolerance_clk = clk * WHOLE_TOLERANCE > WHOLE_TOLERANCE_CLK ? clk * WHOLE_TOLERANCE
                                                                    : WHOLE_TOLERANCE_CLK;
    for (uint32_t n = 1; n <= grid; n++) {
        double multiple = clk * n;
        uint32_t nearest = (uint32_t)(multiple + 0.5);
        double off = multiple > nearest ? multiple - nearest : nearest - multiple;
        if (nearest && off / n <= tolerance_clk)
            return true;
    }
    return false;
}

// Returns the fastest state of all passes that is slower than `above`, 0: there is none; *seen: in
// how many of them.
static double steady_fastest(const struct kernel_run *run, double above, double tolerance,
                             uint32_t *seen)
{
    double fastest = 0;
    *seen = 0;
    for (uint32_t pass = 0; pass < run->nvalues; pass++) {
        double clk = pass_fastest(run->values[pass], run->nsamples[pass], tolerance);
        if (clk <= above)
            continue;
        if (fastest > 0 && clk <= fastest * (1 + tolerance) && fastest <= clk * (1 + tolerance)) {
            ++*seen;
            fastest = clk < fastest ? clk : fastest;
        } else if (fastest <= 0 || clk < fastest) {
            fastest = clk;
            *seen = 1;
        }
    }
    return fastest;
}

// Returns true if no pass shows another state than the fastest.
static bool steady_tight(const struct kernel_run *run, double fastest, double tolerance)
{
    for (uint32_t pass = 0; pass < run->nvalues; pass++) {
        uint32_t near = 0;
        for (uint32_t i = 0; i < run->nsamples[pass]; i++)
            near += run->values[pass][i] >= fastest * (1 - tolerance) &&
                    run->values[pass][i] <= fastest * (1 + tolerance);
        if (near < TIGHT_SHARE * run->nsamples[pass])
            return false;
    }
    return true;
}

// Returns true if there were passes and all show one state, which is *fastest.
static bool steady_one_state(const struct kernel_run *run, double tolerance, double *fastest)
{
    uint32_t seen;
    *fastest = steady_fastest(run, 0, tolerance, &seen);
    return seen > 0 && steady_tight(run, *fastest, tolerance);
}

// Returns the number of passes with enough samples in the width of a state from `from` on.
static uint32_t state_passes(const struct kernel_run *run, double from)
{
    double relative = from * (1 + CORE_STATE_WIDTH), absolute = from + CORE_STATE_WIDTH_CLK;
    double to = relative > absolute ? relative : absolute;
    uint32_t passes = 0;
    for (uint32_t pass = 0; pass < run->nvalues; pass++) {
        uint32_t near = 0;
        for (uint32_t i = 0; i < run->nsamples[pass]; i++)
            near += run->values[pass][i] >= from && run->values[pass][i] <= to;
        passes += near >= CORE_STATE_SAMPLES;
    }
    return passes;
}

// Returns true if the samples of all passes together have a state, as the estimate will look for
// one. The fastest values of two passes may be close without that: their calibrations differed, and
// a clock that ticks in steps may put each a step off.
static bool steady_comes_back(const struct kernel_run *run)
{
    for (uint32_t pass = 0; pass < run->nvalues; pass++)
        for (uint32_t i = 0; i < run->nsamples[pass]; i++)
            if (state_passes(run, run->values[pass][i]) >= CORE_STATE_PASSES)
                return true;
    return false;
}

// Returns the number of passes with a sample faster than all states.
static uint32_t faster_passes(const struct kernel_run *run, double fastest)
{
    uint32_t passes = 0;
    for (uint32_t pass = 0; pass < run->nvalues; pass++)
        passes += run->values[pass][0] < fastest * (1 - CORE_RARE_APART);
    return passes;
}

// Returns true if one pass alone is a little faster than all others, which share a usual value. The
// calibrations of such a pass were off: a neighbour that leaves kernel and dispatch alone can delay
// each by some 100 ticks for seconds, which is 1 % and passes the gate.
static bool steady_but_one(const struct kernel_run *run, double fastest, double tolerance)
{
    uint32_t seen;
    double next = steady_fastest(run, fastest * (1 + tolerance), tolerance, &seen);
    return seen >= CORE_STATE_PASSES && seen == run->nvalues - 1 &&
           fastest >= next * (1 - CORE_RARE_APART) && run->kernel->grid > 0 &&
           usual_value(next, run->kernel->grid);
}

bool steady_settled(const struct kernel_run *run, double tolerance)
{
    uint32_t seen, grid = run->kernel->grid;
    double fastest = steady_fastest(run, 0, tolerance, &seen);
    if (!steady_comes_back(run))
        return false;
    if (seen < CORE_STATE_PASSES)
        return steady_but_one(run, fastest, tolerance);
    uint32_t wanted = PASSES_ODD, faster = faster_passes(run, fastest);
    if (faster)
        wanted = faster > 1 ? CORE_PASSES_MAX : PASSES_ODD;
    else if (usual_value(fastest, grid))
        wanted = PASSES_USUAL;
    else if (grid == 1 && steady_tight(run, fastest, tolerance))
        wanted = PASSES_TIGHT;
    return run->nvalues >= wanted;
}

bool steady_agree(const struct kernel_run *run, const double *values, uint32_t samples,
                  double tolerance)
{
    double fastest, least = values[0], most = values[0];
    for (uint32_t i = 1; i < samples; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    if (most > least * (1 + AGREE) && most > least + AGREE_CLK)
        return false;
    if (run->nvalues == 0)
        return true;
    return steady_one_state(run, tolerance, &fastest) && most <= fastest * (1 + tolerance) &&
           fastest <= least * (1 + tolerance);
}

uint32_t steady_accept(const struct kernel_run *run, uint32_t accept, double tolerance)
{
    uint32_t least = accept;
    double fastest;
    if (run->nvalues == 0)
        least = FIRST_SAMPLES;
    else if (steady_one_state(run, tolerance, &fastest))
        least = CONFIRM_SAMPLES;
    return accept < least ? accept : least;
}
