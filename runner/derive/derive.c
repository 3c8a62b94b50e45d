// SPDX-License-Identifier: MIT
// From samples to results; see derive.h. The estimator: the samples of all passes together fall
// into states, of which the fastest that comes back gives the value; of the shapes the smallest.
#include "derive.h"

#include "core/core_abi.h"
#include "plausible.h"
#include "util/quantile.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const double STATE_SHARE = 0.15;       // of all samples: less may be a neighbour's doing
static const double STATE_SHARE_LEAST = 0.12; // for a chain; less is chance, not a state
// Closer than this to the value, relative and absolute, is no state of its own: a neighbour on the
// core makes chains of one cycle slower by as much.
static const double STATE_APART = 0.02, STATE_APART_CLK = 0.02;
static const double SCATTER = 0.1; // of an average's middle half, and of its passes' medians
// How far from a whole number of cycles a latency must be to be an average: what measuring again
// changes is far less, and so is what bridges of one cycle add.
static const double WHOLE_CLK = 0.05, WHOLE = 0.005;
static const double MIXED_CLK = 0.5; // as far as executions of different latency are taken together
static const double RENAME_CLK = 0.75;      // less is done at rename, in no whole number of cycles
static const double DEPENDENT_CLK = 0.95;   // no latency but 0 is smaller; bridges have at least 1
static const double FRONT_END_BOUND = 0.97; // share of the issue width from which on it limits
// And from which on it may: loops of six, twelve and fourteen instructions were 3 to 20 % slower
// than six a cycle.
static const double FRONT_END_NEAR = 0.8;

enum {
    SAMPLES_MAX = CORE_SAMPLES_MAX * CORE_PASSES_MAX,
    PASSES_MAX = CORE_PASSES_MAX,
    SCATTERED_PASSES = 3, // two that disagree may be a neighbour's doing
};

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
    double limit = fmax(samples->clk[from] * (1 + CORE_STATE_WIDTH),
                        samples->clk[from] + CORE_STATE_WIDTH_CLK);
    int end = from;
    while (end < samples->n && samples->clk[end] <= limit)
        end++;
    return end;
}

// How many passes have at least `least` of the samples [from, end). *pass: the timing that
// contributes most.
static int state_passes(const struct sorted_samples *samples, int from, int end, int least,
                        int *pass)
{
    int counts[PASSES_MAX] = {0};
    int confirmed = 0;
    *pass = samples->timing[from];
    for (int i = from; i < end; i++)
        confirmed += ++counts[samples->timing[i]] == least;
    for (int i = 0; i < PASSES_MAX; i++)
        if (counts[i] > counts[*pass])
            *pass = i;
    return confirmed;
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

// Where samples are looked for a state: [from, to), in a state of so many samples and passes.
struct state_search {
    int from, to;
    double share;
    int passes;
};

// The first state there. Returns where it starts, -1: there is none; *end: where it ends.
static int state_find(const struct sorted_samples *samples, struct state_search search, int *end)
{
    for (int from = search.from; from < search.to; from++) {
        int pass;
        *end = state_end(samples, from);
        *end = *end < search.to ? *end : search.to;
        if (*end - from >= search.share * samples->n &&
            state_passes(samples, from, *end, CORE_STATE_SAMPLES, &pass) >= search.passes)
            return from;
    }
    return -1;
}

// Of a state that starts at sample `*from` the densest part, if one is denser than its beginning:
// what is fastest by chance in a state that is wider than most is at its edge. *end: where it ends.
static void state_centre(const struct sorted_samples *samples, int to, int *from, int *end)
{
    int last = *end;
    for (int at = *from + 1; at < last; at++) {
        int then = state_end(samples, at);
        then = then < to ? then : to;
        if (then - at > *end - *from) {
            *from = at;
            *end = then;
        }
    }
}

static void add_state(struct estimate *estimate, const struct sorted_samples *samples, int from,
                      int end)
{
    int pass, passes = state_passes(samples, from, end, CORE_STATE_SAMPLES, &pass);
    if (passes < CORE_STATE_PASSES)
        passes = state_passes(samples, from, end, 1, &pass);
    if (estimate->nstates < STATES_MAX)
        estimate->states[estimate->nstates++] = (struct steady_state){
            state_mean(samples, from, end), (double)(end - from) / samples->n, passes};
}

// All states in a range, in order.
static void add_states(struct estimate *estimate, const struct sorted_samples *samples,
                       struct state_search search)
{
    int end;
    search.share = STATE_SHARE_LEAST;
    for (int from; (from = state_find(samples, search, &end)) >= 0; search.from = end)
        add_state(estimate, samples, from, end);
}

// How many samples are below a value.
static int samples_below(const struct sorted_samples *samples, double clk)
{
    int n = 0;
    while (n < samples->n && samples->clk[n] < clk)
        n++;
    return n;
}

// A faster state may be rare: two samples in each of two passes, or one in each of
// CORE_RARE_PASSES, and hardly anything faster; so far from the common one that the gate would have
// refused what makes a sample too fast by as much. Takes its place if there is one.
static void state_rare(const struct sorted_samples *samples, int *from, int *end)
{
    int to = samples_below(samples, samples->clk[*from] * (1 - CORE_RARE_APART)), pass;
    for (int at = 0; at < to; at++) {
        int then = state_end(samples, at);
        then = then < to ? then : to;
        if (then - at > at &&
            (state_passes(samples, at, then, CORE_STATE_SAMPLES, &pass) >= CORE_STATE_PASSES ||
             state_passes(samples, at, then, 1, &pass) >= CORE_RARE_PASSES)) {
            *from = at;
            *end = then;
            state_centre(samples, to, from, end);
            return;
        }
    }
}

// Every execution of an instruction takes a whole number of cycles; so where nothing else is in the
// chain, a value between two of these is the mean of several: an instruction that takes longer on
// one port than on another, or one that is eliminated now and then.
static bool between_cycles(double clk)
{
    return clk >= RENAME_CLK && fabs(clk - round(clk)) > fmax(WHOLE_CLK, WHOLE * clk);
}

// All that hangs together with a state: samples that are near each other, as far as half a cycle.
static void state_cluster(const struct sorted_samples *samples, int *from, int *end)
{
    const double *clk = samples->clk;
    double near = 2 * CORE_STATE_WIDTH * clk[*from];
    while (*from > 0 && clk[*from] - clk[*from - 1] <= near)
        --*from;
    while (*end < samples->n && clk[*end] - clk[*end - 1] <= near &&
           clk[*end] < clk[*from] + MIXED_CLK)
        ++*end;
}

// What a state stands for. Executions take whole cycles, so samples of a chain that lie between two
// of these are means of now more, now fewer of the slower executions. Where most of them lie is
// chance, and another place in each run; the mean of all is not.
static double state_value(const struct kernel_facts *facts, const struct sorted_samples *samples,
                          int from, int end)
{
    double clk = state_mean(samples, from, end);
    if (facts->chain && between_cycles(clk - facts->extra_clk))
        state_cluster(samples, &from, &end);
    return state_mean(samples, from, end);
}

// Where the fastest state is a mean of executions that differ, which is another one at another
// time, a state of whole cycles that is less than a cycle slower takes its place: that one is
// steady.
static void state_whole(const struct kernel_facts *facts, const struct sorted_samples *samples,
                        struct state_search search, int *from, int *end)
{
    double clk = state_mean(samples, *from, *end) - facts->extra_clk;
    int at, then;
    if (!between_cycles(clk))
        return;
    for (search.from = *end; (at = state_find(samples, search, &then)) >= 0; search.from = at + 1) {
        state_centre(samples, samples->n, &at, &then);
        double slower_clk = state_mean(samples, at, then) - facts->extra_clk;
        if (slower_clk > ceil(clk) + WHOLE_CLK)
            return;
        if (!between_cycles(slower_clk)) {
            *from = at;
            *end = then;
            return;
        }
    }
}

// The fastest state that comes back gives the value; the others are named. Where none has a share
// that is beyond doubt a smaller one will do for a chain: work beside it can scatter throughput,
// but hardly chains. false: there is none.
static bool estimate_state(struct estimate *estimate, const struct kernel_facts *facts,
                           const struct sorted_samples *samples, int npasses, int *timing)
{
    struct state_search search = {0, samples->n, STATE_SHARE, npasses > 1 ? CORE_STATE_PASSES : 1};
    int end, from = state_find(samples, search, &end);
    if (from < 0 && facts->chain) {
        search.share = STATE_SHARE_LEAST;
        from = state_find(samples, search, &end);
    }
    if (from < 0)
        return false;
    state_centre(samples, samples->n, &from, &end);
    if (npasses > 1)
        state_rare(samples, &from, &end);
    if (facts->chain)
        state_whole(facts, samples, search, &from, &end);
    state_passes(samples, from, end, CORE_STATE_SAMPLES, timing);
    double state_clk = state_mean(samples, from, end);
    double apart = fmax(STATE_APART * state_clk, STATE_APART_CLK);
    estimate->clk = state_value(facts, samples, from, end);
    estimate->share = (double)(end - from) / samples->n;
    search.from = 0;
    search.to = samples_below(samples, state_clk - apart);
    add_states(estimate, samples, search);
    add_state(estimate, samples, from, end);
    search.from = samples_below(samples, state_clk + apart);
    search.to = samples->n;
    add_states(estimate, samples, search);
    estimate->least_clk = estimate->states[0].clk;
    estimate->most_clk = estimate->states[estimate->nstates - 1].clk;
    return true;
}

// The median of the samples of one timing.
static double timing_median(const struct sorted_samples *samples, int timing)
{
    double clk[SAMPLES_MAX];
    int n = 0;
    for (int i = 0; i < samples->n; i++)
        if (samples->timing[i] == timing)
            clk[n++] = samples->clk[i];
    return n ? quantile_median(clk, n) : (double)NAN;
}

// Whether what has no steady state may be an average: of a chain, which work beside it hardly
// shows in; of a stream, which is as fast as memory is, and memory belongs to others as well.
static bool may_be_average(const struct kernel_facts *facts)
{
    return facts->chain || strcmp(facts->shape, PLAN_STREAM) == 0;
}

// Whether all passes scatter about the same value. One pass cannot tell.
static bool estimate_average(struct estimate *estimate, const struct sorted_samples *samples,
                             int npasses, int *timing)
{
    double median = quantile_median(samples->clk, samples->n);
    if (npasses < 2 || estimate->spread_clk > SCATTER * median)
        return false;
    for (int t = 0; t < npasses; t++)
        if (!(fabs(timing_median(samples, t) - median) <= SCATTER * median))
            return false;
    *timing = samples->timing[samples->n / 2];
    estimate->average = true;
    estimate->clk = median;
    estimate->share = 1;
    estimate->least_clk = quantile_of(samples->clk, samples->n, 0.1);
    estimate->most_clk = quantile_of(samples->clk, samples->n, 0.9);
    return true;
}

// The least value that two passes, or the only one, have reached with two samples each; NaN: there
// is none.
static double reached(const struct kernel_facts *facts, int issue_width,
                      const struct sorted_samples *samples, const struct timing *timings,
                      int ntimings)
{
    int pass;
    for (int end = 1; end <= samples->n; end++) {
        double clk = samples->clk[end - 1];
        if (state_passes(samples, 0, end, CORE_STATE_SAMPLES, &pass) >=
            (ntimings > 1 ? CORE_STATE_PASSES : 1))
            return clk * loop_share(facts, issue_width, &timings[samples->timing[end - 1]], clk);
    }
    return NAN;
}

static struct estimate derive_from(const struct kernel_facts *facts, sample_clk *clk_of,
                                   int issue_width, const struct timing *timings, int ntimings)
{
    struct estimate estimate = {
        .outcome = OUTCOME_UNSTABLE, .calibrated_clk = NAN, .reached_clk = NAN};
    struct sorted_samples samples = {.n = 0};
    int timing;
    bool complete = collect_samples(facts, clk_of, timings, ntimings, &samples, &estimate);
    estimate.reached_clk = reached(facts, issue_width, &samples, timings, ntimings);
    if (!complete)
        return estimate;
    estimate.spread_clk = quantile_spread(samples.clk, samples.n);
    if (!estimate_state(&estimate, facts, &samples, ntimings, &timing) &&
        !(may_be_average(facts) && estimate_average(&estimate, &samples, ntimings, &timing))) {
        estimate.scattered = ntimings >= SCATTERED_PASSES;
        return estimate;
    }
    double share = loop_share(facts, issue_width, &timings[timing], estimate.clk);
    estimate.outcome = OUTCOME_OK;
    estimate.clk *= share;
    estimate.least_clk *= share;
    estimate.most_clk *= share;
    for (int i = 0; i < estimate.nstates; i++)
        estimate.states[i].clk *= share;
    estimate.pass = timings[timing].pass;
    estimate.front_end = issue_width > 0 && facts->instrs >= FRONT_END_NEAR * issue_width *
                                                                 estimate.clk * facts->instances;
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
    return quantile_median(samples.clk, samples.n);
}

// A sample with an interrupt in it is longer by the clock than by a counter that leaves the kernel
// out; so the medians are compared.
static bool counts_true(const struct kernel_facts *facts, const struct timing *timings,
                        int ntimings)
{
    char text[160];
    double counted = samples_median(facts, derive_sample_counted_clk, timings, ntimings);
    double calibrated = samples_median(facts, derive_sample_clk, timings, ntimings);
    return !plausible_clk_check(counted, calibrated, text, sizeof text);
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

// What is left of a time without the bridges of its chain.
static double own_clk(const struct kernel_facts *facts, double clk)
{
    return fmax(clk - facts->extra_clk, 0);
}

static double shape_clk(const struct kernel_facts *facts, const struct estimate *estimates,
                        int nkernels, const char *shape)
{
    for (int i = 0; i < nkernels; i++)
        if (estimates[i].outcome == OUTCOME_OK && strcmp(facts[i].shape, shape) == 0)
            return own_clk(&facts[i], estimates[i].clk);
    return NAN;
}

// A chain that takes no whole cycle longer than its bridges does not run through the instruction,
// or not always: flags that it leaves undefined, a count that leaves them alone.
static void independent(struct test_result *result)
{
    result->outcome = OUTCOME_NOT_MEASURABLE;
    result->detail = "no dependency shows: the chain takes no longer than what closes it";
    result->kernel = -1;
    result->clk = result->dense_clk = result->filled_clk = result->spread_clk = NAN;
    result->least_clk = result->most_clk = NAN;
    result->average = false;
    result->nstates = 0;
}

// Whether an estimate is the mean of executions that differ.
static bool is_mixed(const struct kernel_facts *facts, const struct estimate *estimate)
{
    return estimate->average || (facts->chain && between_cycles(estimate->clk - facts->extra_clk));
}

// Whether two chains say the same whole number of cycles: then the nearer one does.
static bool same_whole(const struct kernel_facts *facts, double a_clk, double b_clk)
{
    return facts->chain && a_clk >= RENAME_CLK && round(a_clk) == round(b_clk) &&
           !between_cycles(a_clk) && !between_cycles(b_clk);
}

// A steady state says more than an average, unless all of that is smaller; of a mean between two
// whole cycles, smaller by half of one.
static bool decides(const struct kernel_facts *facts, const struct estimate *estimates, int i,
                    int best)
{
    double clk = own_clk(&facts[i], estimates[i].clk);
    if (best < 0)
        return true;
    double best_clk = own_clk(&facts[best], estimates[best].clk);
    bool mixed = is_mixed(&facts[i], &estimates[i]);
    if (mixed == is_mixed(&facts[best], &estimates[best]))
        return same_whole(&facts[best], clk, best_clk)
                   ? fabs(clk - round(clk)) < fabs(best_clk - round(best_clk))
                   : clk < best_clk;
    const struct estimate *average = &estimates[mixed ? i : best];
    double most_clk = (mixed ? clk : best_clk) + average->most_clk - average->clk;
    double margin_clk = average->average ? 0 : MIXED_CLK;
    return mixed == (most_clk < (mixed ? best_clk : clk) - margin_clk);
}

// The range of all states of all kernels; NaN where it is no wider than one. What the front end
// takes is no latency: of `add r64, r64` the filled chain gives 1.06 to 1.23.
static void latency_range(const struct kernel_facts *facts, const struct estimate *estimates,
                          int nkernels, struct test_result *result)
{
    double least = result->clk, most = result->clk;
    for (int i = 0; i < nkernels; i++) {
        if (estimates[i].outcome != OUTCOME_OK || (estimates[i].front_end && i != result->kernel))
            continue;
        least = fmin(least, own_clk(&facts[i], estimates[i].least_clk));
        most = fmax(most, own_clk(&facts[i], estimates[i].most_clk));
    }
    if (most > least * (1 + CORE_STATE_WIDTH) && most > least + WHOLE_CLK) {
        result->least_clk = least;
        result->most_clk = most;
    }
}

// The kernel that decides; the outcome is that of the first one where none has a value.
static void test_decide(const struct kernel_facts *facts, const struct estimate *estimates,
                        int nkernels, struct test_result *result)
{
    for (int i = 0; i < nkernels; i++) {
        result->accepted += estimates[i].accepted;
        result->tried += estimates[i].tried;
        if (estimates[i].outcome != OUTCOME_OK) {
            if (result->kernel < 0)
                result->outcome = estimates[i].outcome;
            continue;
        }
        if (!decides(facts, estimates, i, result->kernel))
            continue;
        result->kernel = i;
        result->clk = own_clk(&facts[i], estimates[i].clk);
        result->spread_clk = estimates[i].spread_clk;
        result->nstates = estimates[i].nstates;
        result->average = estimates[i].average;
        result->outcome = OUTCOME_OK;
    }
}

// Whether a shape without a value may be the fastest. One that was refused, or ended by a signal,
// always may. An unstable one was measured, and came to no state: what it reached again and again
// must not lie below the value. Where it was hardly measured at all, nobody knows.
static bool shape_may_decide(const struct kernel_facts *facts, const struct estimate *estimate,
                             double clk)
{
    if (estimate->outcome != OUTCOME_UNSTABLE)
        return estimate->outcome != OUTCOME_OK;
    double reached_clk = own_clk(facts, estimate->reached_clk);
    return isnan(clk) || isnan(estimate->reached_clk) ||
           (reached_clk * (1 + CORE_STATE_WIDTH) < clk && reached_clk + CORE_STATE_WIDTH_CLK < clk);
}

// No other value than what the fastest of the shapes without a state has reached again and again.
// The core is not slower than that; how fast it can be is not known.
static void scattered_bound(const struct kernel_facts *facts, const struct estimate *estimates,
                            int nkernels, struct test_result *result)
{
    for (int i = 0; i < nkernels; i++) {
        if (!estimates[i].scattered)
            continue;
        double clk = own_clk(&facts[i], estimates[i].reached_clk);
        if (result->kernel >= 0 && clk >= result->clk)
            continue;
        result->kernel = i;
        result->clk = clk;
        result->spread_clk = estimates[i].spread_clk;
    }
    result->outcome = OUTCOME_OK;
    result->bound = BOUND_UPPER;
    result->detail = "no steady state: what two passes reached; it may be less";
}

// The smallest of several shapes is only the smallest if no other can be smaller.
static void fail_with_shape(const struct kernel_facts *facts, const struct estimate *estimates,
                            int nkernels, struct test_result *result)
{
    int failed = -1;
    bool scattered = true;
    for (int i = 0; i < nkernels; i++) {
        if (!shape_may_decide(&facts[i], &estimates[i], result->clk))
            continue;
        scattered &= estimates[i].scattered;
        if (failed < 0 || estimates[failed].outcome == OUTCOME_UNSTABLE)
            failed = i;
    }
    if (failed < 0)
        return;
    if (estimates[failed].outcome == OUTCOME_UNSTABLE && result->kernel >= 0)
        result->detail = "the passes of a shape that may be the fastest disagree";
    result->outcome = estimates[failed].outcome;
    result->kernel = -1;
    result->clk = result->spread_clk = NAN;
    result->average = false;
    result->nstates = 0;
    if (scattered)
        scattered_bound(facts, estimates, nkernels, result);
}

// The least of two chains is only the least if the other cannot be less.
static void bound_by_chain(const struct kernel_facts *facts, const struct estimate *estimates,
                           int nkernels, struct test_result *result)
{
    for (int i = 0; i < nkernels; i++)
        if (estimates[i].outcome == OUTCOME_UNSTABLE &&
            shape_may_decide(&facts[i], &estimates[i], result->clk)) {
            result->bound = BOUND_UPPER;
            result->detail = "the other chain has no value, and may be faster";
        }
}

struct test_result derive_test(enum test_kind kind, enum bound bound,
                               const struct kernel_facts *facts, const struct estimate *estimates,
                               int nkernels)
{
    struct test_result result = {
        .outcome = OUTCOME_NOT_MEASURABLE, .detail = "", .kernel = -1, .bound = bound};
    result.dense_clk = result.filled_clk = result.clk = result.spread_clk = NAN;
    result.least_clk = result.most_clk = NAN;
    if (kind == TEST_LATENCY) {
        result.dense_clk = shape_clk(facts, estimates, nkernels, "dense");
        result.filled_clk = shape_clk(facts, estimates, nkernels, "filled");
    }
    test_decide(facts, estimates, nkernels, &result);
    if (kind == TEST_THROUGHPUT) {
        fail_with_shape(facts, estimates, nkernels, &result);
        result.average = false; // a stream's, which is one by its nature
    }
    if (result.kernel < 0)
        return result;
    if (kind == TEST_LATENCY) {
        bound_by_chain(facts, estimates, nkernels, &result);
        result.average |= result.bound == BOUND_EXACT && between_cycles(result.clk);
        latency_range(facts, estimates, nkernels, &result);
    }
    bool overwritten = strcmp(facts[result.kernel].shape, PLAN_FALSE) == 0;
    if (facts[result.kernel].extra_clk > 0 && result.clk < DEPENDENT_CLK && !overwritten)
        independent(&result);
    return result;
}

void derive_false(const struct kernel_facts *facts, double throughput_clk,
                  struct test_result *result)
{
    // What the chain is closed by takes at most that, one beside the other.
    static const double USER_CLK = 1, NEAR = 0.05;
    double together_clk = (throughput_clk + USER_CLK) * (1 + NEAR);
    if (result->outcome != OUTCOME_OK)
        return;
    bool chain = result->clk >= DEPENDENT_CLK;
    if (chain && isnan(throughput_clk))
        result->detail = "without the throughput nobody can tell a chain from slow instances";
    else if (!chain || result->clk + facts->extra_clk <= together_clk) {
        result->clk = result->spread_clk = 0;
        result->bound = BOUND_EXACT;
        result->least_clk = result->most_clk = NAN;
        result->average = false;
        result->nstates = 1;
    }
}
