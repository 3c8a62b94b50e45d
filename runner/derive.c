// SPDX-License-Identifier: MIT
// From samples to results; see derive.h. The estimator: of each pass the median of the ratios
// kernel to calibration, then the mean of what lies within 0.4 % of it; of the passes that agree
// within 0.5 % the smallest; of the shapes the smallest.
#include "derive.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const double TRIM = 0.004;         // samples farther than this from the median are left out
static const double PASSES_AGREE = 0.005; // relative
static const double PASSES_AGREE_CLK = 0.005; // absolute, for kernels of hundredths of a cycle
static const double FRONT_END_BOUND = 0.97;   // share of the issue width from which on it limits

enum { SAMPLES_MAX = 64, PASSES_MAX = 8 };

static void sort_values(double *values, int n)
{
    for (int i = 1; i < n; i++) {
        double value = values[i];
        int at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

static double quantile(const double *sorted, int n, double q)
{
    double at = q * (n - 1);
    int low = (int)at;
    int high = low + 1 < n ? low + 1 : low;
    return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}

struct pass_value {
    bool ok;
    double clk, spread_clk; // per instance
};

// Cycles per instance of one sample.
static double sample_clk(const struct kernel_facts *facts, const struct timing *timing,
                         const struct sample *sample)
{
    double kernel_tsc = sample->kernel_tsc - timing->overhead_tsc;
    double calib_tsc = ((double)sample->before_tsc + sample->after_tsc) / 2 - timing->overhead_tsc;
    double loops = (double)timing->iterations;
    return kernel_tsc / calib_tsc * timing->calib_clk / loops /
           ((double)timing->copies * facts->instances);
}

// A loop that is bound by the front end pays for its own µop (decrement and branch, fused) as well;
// elsewhere that µop hides.
static double loop_share(const struct kernel_facts *facts, int issue_width,
                         const struct timing *timing, double clk)
{
    double instrs = (double)facts->instrs * timing->copies;
    double loop_clk = clk * facts->instances * timing->copies;
    if (issue_width <= 0 || loop_clk <= 0 ||
        (instrs + 1) / loop_clk < FRONT_END_BOUND * issue_width)
        return 1;
    return instrs / (instrs + 1);
}

static struct pass_value derive_pass(const struct kernel_facts *facts, int issue_width,
                                     const struct timing *timing)
{
    struct pass_value pass = {.ok = false};
    double values[SAMPLES_MAX];
    int n = timing->nsamples < SAMPLES_MAX ? timing->nsamples : SAMPLES_MAX;
    if (timing->outcome != OUTCOME_OK || n == 0)
        return pass;
    for (int i = 0; i < n; i++)
        values[i] = sample_clk(facts, timing, &timing->samples[i]);
    sort_values(values, n);
    double median = quantile(values, n, 0.5);
    double sum = 0;
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (fabs(values[i] - median) <= TRIM * median) {
            sum += values[i];
            kept++;
        }
    double clk = kept ? sum / kept : median;
    pass.ok = clk > 0;
    pass.clk = clk * loop_share(facts, issue_width, timing, clk);
    pass.spread_clk = quantile(values, n, 0.75) - quantile(values, n, 0.25);
    return pass;
}

static bool values_agree(double a, double b)
{
    double smaller = a < b ? a : b;
    return fabs(a - b) <= PASSES_AGREE * smaller || fabs(a - b) <= PASSES_AGREE_CLK;
}

struct estimate derive_kernel(const struct kernel_facts *facts, int issue_width,
                              const struct timing *timings, int ntimings)
{
    struct estimate estimate = {.outcome = OUTCOME_UNSTABLE};
    struct pass_value passes[PASSES_MAX] = {{0}};
    int nok = 0;
    if (ntimings > PASSES_MAX)
        ntimings = PASSES_MAX;
    for (int i = 0; i < ntimings; i++) {
        estimate.accepted += timings[i].accepted;
        estimate.tried += timings[i].tried;
        if (timings[i].outcome != OUTCOME_OK)
            estimate.outcome = timings[i].outcome;
        passes[i] = derive_pass(facts, issue_width, &timings[i]);
        nok += passes[i].ok;
    }
    if (nok < ntimings || nok == 0)
        return estimate;
    // The smallest pass that another one confirms; passes that all differ are unstable.
    double closest = INFINITY;
    int best = -1;
    for (int i = 0; i < ntimings; i++)
        for (int j = 0; j < ntimings; j++) {
            if (i == j && ntimings > 1)
                continue;
            double differ =
                fabs(passes[i].clk - passes[j].clk) / fmin(passes[i].clk, passes[j].clk);
            closest = fmin(closest, differ);
            if (values_agree(passes[i].clk, passes[j].clk) &&
                (best < 0 || passes[i].clk < passes[best].clk))
                best = i;
        }
    estimate.passes_differ = closest;
    if (best < 0)
        return estimate;
    estimate.outcome = OUTCOME_OK;
    estimate.clk = passes[best].clk;
    estimate.spread_clk = passes[best].spread_clk;
    estimate.pass = timings[best].pass;
    return estimate;
}

static double shape_clk(const struct kernel_facts *facts, const struct estimate *estimates,
                        int nkernels, const char *shape)
{
    for (int i = 0; i < nkernels; i++)
        if (estimates[i].outcome == OUTCOME_OK && strcmp(facts[i].shape, shape) == 0)
            return fmax(estimates[i].clk - facts[i].extra_clk, 0);
    return NAN;
}

struct test_result derive_test(enum test_kind kind, enum bound bound,
                               const struct kernel_facts *facts, const struct estimate *estimates,
                               int nkernels)
{
    struct test_result result = {
        .outcome = OUTCOME_NOT_MEASURABLE, .detail = "", .kernel = -1, .bound = bound};
    result.dense_clk = result.filled_clk = result.clk = result.spread_clk = NAN;
    if (kind == TEST_LATENCY) {
        result.dense_clk = shape_clk(facts, estimates, nkernels, "dense");
        result.filled_clk = shape_clk(facts, estimates, nkernels, "filled");
    }
    for (int i = 0; i < nkernels; i++) {
        result.accepted += estimates[i].accepted;
        result.tried += estimates[i].tried;
        if (estimates[i].outcome != OUTCOME_OK) {
            if (result.kernel < 0)
                result.outcome = estimates[i].outcome;
            continue;
        }
        double clk = fmax(estimates[i].clk - facts[i].extra_clk, 0);
        if (result.kernel >= 0 && clk >= result.clk)
            continue;
        result.kernel = i;
        result.clk = clk;
        result.spread_clk = estimates[i].spread_clk;
        result.outcome = OUTCOME_OK;
    }
    return result;
}
