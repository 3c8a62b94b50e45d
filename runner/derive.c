// SPDX-License-Identifier: MIT
// From samples to results; see derive.h. The estimator: of each pass the median of the ratios
// kernel to calibration, then the mean of what lies within 0.4 % of it; of the passes that agree
// within 0.5 % the smallest; of the shapes the smallest.
#include "derive.h"

#include "count_check.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const double STATE_WIDTH = 0.006;     // samples of one steady state differ by less: relative
static const double STATE_WIDTH_CLK = 0.003; // absolute, for kernels of hundredths of a cycle
static const double STATE_SHARE = 0.25;      // of all samples: less is chance, not a state
static const double DEPENDENT_CLK = 0.5;     // no latency but 0 is smaller; bridges have at least 1
static const double FRONT_END_BOUND = 0.97;  // share of the issue width from which on it limits

enum { SAMPLES_MAX = 128, PASSES_MAX = 8, STATE_SAMPLES_PER_PASS = 2 };

double derive_quantile(const double *sorted, int n, double q)
{
    double at = q * (n - 1);
    int low = (int)at;
    int high = low + 1 < n ? low + 1 : low;
    return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}

double derive_sample_clk(const struct kernel_facts *facts, const struct timing *timing,
                         const struct sample *sample)
{
    double kernel_tsc = sample->kernel_tsc - timing->overhead_tsc;
    double calib_tsc = ((double)sample->before_tsc + sample->after_tsc) / 2 - timing->overhead_tsc;
    double loops = (double)timing->iterations;
    return kernel_tsc / calib_tsc * timing->calib_clk / loops /
           ((double)timing->copies * facts->instances);
}

double derive_sample_counted_clk(const struct kernel_facts *facts, const struct timing *timing,
                                 const struct sample *sample)
{
    double loops = (double)timing->iterations;
    return (sample->counted_clk - timing->overhead_counted_clk) / loops /
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

// All samples of a kernel, ascending, each with the index of its timing.
struct sorted_samples {
    double clk[SAMPLES_MAX];
    int timing[SAMPLES_MAX];
    int n;
};

static void add_sample(struct sorted_samples *samples, double clk, int timing)
{
    if (samples->n == SAMPLES_MAX)
        return;
    int at = samples->n++;
    for (; at > 0 && samples->clk[at - 1] > clk; at--) {
        samples->clk[at] = samples->clk[at - 1];
        samples->timing[at] = samples->timing[at - 1];
    }
    samples->clk[at] = clk;
    samples->timing[at] = timing;
}

// Where the state that starts at sample `from` ends: samples this close are of one state.
static int state_end(const struct sorted_samples *samples, int from)
{
    double limit =
        fmax(samples->clk[from] * (1 + STATE_WIDTH), samples->clk[from] + STATE_WIDTH_CLK);
    int end = from;
    while (end < samples->n && samples->clk[end] <= limit)
        end++;
    return end;
}

// Whether the samples [from, end) are of enough passes to be a state that comes back. *pass: the
// timing that contributes most.
static bool state_confirmed(const struct sorted_samples *samples, int from, int end, int npasses,
                            int *pass)
{
    int counts[PASSES_MAX] = {0};
    int confirmed = 0;
    *pass = samples->timing[from];
    for (int i = from; i < end; i++)
        confirmed += ++counts[samples->timing[i]] == STATE_SAMPLES_PER_PASS;
    for (int i = 0; i < PASSES_MAX; i++)
        if (counts[i] > counts[*pass])
            *pass = i;
    return confirmed >= (npasses > 1 ? 2 : 1);
}

static double state_mean(const struct sorted_samples *samples, int from, int end)
{
    double sum = 0;
    for (int i = from; i < end; i++)
        sum += samples->clk[i];
    return sum / (end - from);
}

// How a sample becomes cycles.
typedef double sample_clk(const struct kernel_facts *facts, const struct timing *timing,
                          const struct sample *sample);

// Takes in all timings; false if one of them has no samples.
static bool collect_samples(const struct kernel_facts *facts, sample_clk *clk_of,
                            const struct timing *timings, int ntimings,
                            struct sorted_samples *samples, struct estimate *estimate)
{
    bool complete = ntimings > 0;
    for (int t = 0; t < ntimings; t++) {
        estimate->accepted += timings[t].accepted;
        estimate->tried += timings[t].tried;
        if (timings[t].outcome != OUTCOME_OK)
            estimate->outcome = timings[t].outcome;
        complete &= timings[t].outcome == OUTCOME_OK && timings[t].nsamples > 0;
        for (int i = 0; i < timings[t].nsamples; i++)
            add_sample(samples, clk_of(facts, &timings[t], &timings[t].samples[i]), t);
    }
    return complete && samples->n > 0 && samples->clk[0] > 0;
}

static struct estimate derive_from(const struct kernel_facts *facts, sample_clk *clk_of,
                                   int issue_width, const struct timing *timings, int ntimings)
{
    struct estimate estimate = {.outcome = OUTCOME_UNSTABLE, .calibrated_clk = NAN};
    struct sorted_samples samples = {.n = 0};
    if (!collect_samples(facts, clk_of, timings, ntimings, &samples, &estimate))
        return estimate;
    estimate.spread_clk = derive_quantile(samples.clk, samples.n, 0.75) -
                          derive_quantile(samples.clk, samples.n, 0.25);
    for (int from = 0; from < samples.n; from++) {
        int end = state_end(&samples, from), pass;
        if (end - from < STATE_SHARE * samples.n ||
            !state_confirmed(&samples, from, end, ntimings, &pass))
            continue;
        double clk = state_mean(&samples, from, end);
        estimate.outcome = OUTCOME_OK;
        estimate.clk = clk * loop_share(facts, issue_width, &timings[pass], clk);
        estimate.pass = timings[pass].pass;
        estimate.share = (double)(end - from) / samples.n;
        break;
    }
    return estimate;
}

// The median of all samples, in one way of making cycles of them.
static double samples_median(const struct kernel_facts *facts, sample_clk *clk_of,
                             const struct timing *timings, int ntimings)
{
    struct sorted_samples samples = {.n = 0};
    struct estimate ignored = {.accepted = 0};
    if (!collect_samples(facts, clk_of, timings, ntimings, &samples, &ignored))
        return NAN;
    return derive_quantile(samples.clk, samples.n, 0.5);
}

// A sample with an interrupt in it is longer by the clock than by a counter that leaves the kernel
// out; so the medians are compared.
static bool counts_true(const struct kernel_facts *facts, const struct timing *timings,
                        int ntimings)
{
    char text[160];
    double counted = samples_median(facts, derive_sample_counted_clk, timings, ntimings);
    double calibrated = samples_median(facts, derive_sample_clk, timings, ntimings);
    return !count_clk_check(counted, calibrated, text, sizeof text);
}

struct estimate derive_kernel(const struct kernel_facts *facts, int issue_width,
                              const struct timing *timings, int ntimings)
{
    if (ntimings > PASSES_MAX)
        ntimings = PASSES_MAX;
    struct estimate calibrated =
        derive_from(facts, derive_sample_clk, issue_width, timings, ntimings);
    bool counted = ntimings > 0;
    for (int t = 0; t < ntimings; t++)
        counted &= timings[t].counted && timings[t].outcome == OUTCOME_OK;
    if (!counted)
        return calibrated;
    if (!counts_true(facts, timings, ntimings)) {
        calibrated.doubted = true;
        return calibrated;
    }
    struct estimate estimate =
        derive_from(facts, derive_sample_counted_clk, issue_width, timings, ntimings);
    if (calibrated.outcome == OUTCOME_OK)
        estimate.calibrated_clk = calibrated.clk;
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

// A chain that takes no longer than its bridges does not run through the instruction: flags that it
// leaves undefined, a count that leaves them alone.
static void independent(struct test_result *result)
{
    result->outcome = OUTCOME_NOT_MEASURABLE;
    result->detail = "no dependency shows: the chain takes no longer than what closes it";
    result->kernel = -1;
    result->clk = result->dense_clk = result->filled_clk = result->spread_clk = NAN;
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
    if (result.kernel >= 0 && facts[result.kernel].extra_clk > 0 && result.clk < DEPENDENT_CLK)
        independent(&result);
    return result;
}
