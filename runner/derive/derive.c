// SPDX-License-Identifier: MIT
// From the samples of a kernel to an estimate; see derive.h. The samples of all passes together
// fall into states, of which the fastest that comes back gives the value.
#include "derive_internal.h"

#include "core/core_abi.h"
#include "plausible.h"
#include "util/quantile.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const double STATE_SHARE = 0.15; // least share of all samples; less may be a neighbour's
static const double STATE_SHARE_LEAST = 0.12; // for a chain; less is chance, not a state
// Closer than this to the value, relative and absolute, is no state of its own: a neighbour on the
// core makes chains of one cycle slower by as much.
static const double STATE_APART = 0.02, STATE_APART_CLK = 0.02;
// relative width of an average's middle half, and of its passes' medians
static const double SCATTER = 0.1;
static const double FRONT_END_BOUND = 0.97; // share of the issue width from which on it limits
// Share from which on it may limit: loops of 6, 12 and 14 instructions were 3 to 20 % slower than
// six per cycle.
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

// Returns the share of the time that the body takes. The loop's own µop (decrement and branch,
// fused) takes the rest if the front end limits the loop; else it is hidden.
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

// Returns the end of the state that starts at sample `from`: samples this close are one state.
static int state_end(const struct sorted_samples *samples, int from)
{
    double limit = fmax(samples->clk[from] * (1 + CORE_STATE_WIDTH),
                        samples->clk[from] + CORE_STATE_WIDTH_CLK);
    int end = from;
    while (end < samples->n && samples->clk[end] <= limit)
        end++;
    return end;
}

// Returns the number of passes with at least `least` of the samples [from, end). *pass: the timing
// that contributes most.
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

// Conversion of a sample to cycles.
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

// A search for a state among the samples [from, to), with a least share of all samples and a least
// number of passes.
struct state_search {
    int from, to;
    double share;
    int passes;
};

// Returns the begin of the first state in the search range, -1: there is none; *end: its end.
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

// Moves [*from, *end) to the densest part of its state. The fastest samples of a wide state are at
// its edge by chance.
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

// Adds all states of a range, in order.
static void add_states(struct estimate *estimate, const struct sorted_samples *samples,
                       struct state_search search)
{
    int end;
    search.share = STATE_SHARE_LEAST;
    for (int from; (from = state_find(samples, search, &end)) >= 0; search.from = end)
        add_state(estimate, samples, from, end);
}

// Returns the number of samples below a value.
static int samples_below(const struct sorted_samples *samples, double clk)
{
    int n = 0;
    while (n < samples->n && samples->clk[n] < clk)
        n++;
    return n;
}

// Moves [*from, *end) to a faster but rare state, if there is one: two samples in each of two
// passes, or one in each of CORE_RARE_PASSES, and hardly anything faster. It is so far from the
// common state that the gate would have refused whatever makes a sample as much too fast.
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

// Widens [*from, *end) to the whole cluster around the state: neighbours closer than twice the
// state's width, at most half a cycle from the first.
static void state_cluster(const struct sorted_samples *samples, int *from, int *end)
{
    const double *clk = samples->clk;
    double near = 2 * CORE_STATE_WIDTH * clk[*from];
    while (*from > 0 && clk[*from] - clk[*from - 1] <= near)
        --*from;
    while (*end < samples->n && clk[*end] - clk[*end - 1] <= near &&
           clk[*end] < clk[*from] + DERIVE_MIXED_CLK)
        ++*end;
}

// Returns the value of a state. Executions take whole cycles, so samples of a chain between two of
// these are means of a varying share of slower executions. The place of most of them is chance and
// changes from run to run; the mean of the whole cluster does not.
static double state_value(const struct kernel_facts *facts, const struct sorted_samples *samples,
                          int from, int end)
{
    double clk = state_mean(samples, from, end);
    if (facts->chain && derive_between_cycles(clk - facts->extra_clk))
        state_cluster(samples, &from, &end);
    return state_mean(samples, from, end);
}

// Replaces the fastest state, if it is a mean of different executions, by a state of whole cycles
// that is less than a cycle slower. The mean changes from time to time; that state does not.
static void state_whole(const struct kernel_facts *facts, const struct sorted_samples *samples,
                        struct state_search search, int *from, int *end)
{
    double clk = state_mean(samples, *from, *end) - facts->extra_clk;
    int at, then;
    if (!derive_between_cycles(clk))
        return;
    for (search.from = *end; (at = state_find(samples, search, &then)) >= 0; search.from = at + 1) {
        state_centre(samples, samples->n, &at, &then);
        double slower_clk = state_mean(samples, at, then) - facts->extra_clk;
        if (slower_clk > ceil(clk) + DERIVE_WHOLE_CLK)
            return;
        if (!derive_between_cycles(slower_clk)) {
            *from = at;
            *end = then;
            return;
        }
    }
}

// Sets the value from the fastest state that comes back, and names the other states. For a chain, a
// state with a smaller share will do if there is no other: work beside it can scatter throughput,
// but hardly chains. Returns false if there is none.
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

static double timing_median(const struct sorted_samples *samples, int timing)
{
    double clk[SAMPLES_MAX];
    int n = 0;
    for (int i = 0; i < samples->n; i++)
        if (samples->timing[i] == timing)
            clk[n++] = samples->clk[i];
    return n ? quantile_median(clk, n) : (double)NAN;
}

// Returns true if a kernel without a steady state may have an average: a chain, which work beside
// it hardly slows, or a stream, whose speed shared memory decides.
static bool may_be_average(const struct kernel_facts *facts)
{
    return facts->chain || strcmp(facts->shape, PLAN_STREAM) == 0;
}

// Sets the average if all passes scatter about the same value. Returns false if not, or if there is
// one pass only.
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

// Returns the least value that two passes, or the only one, have reached with two samples each;
// NaN: there is none.
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

// Returns the median of all samples, in one way of making cycles of them.
static double samples_median(const struct kernel_facts *facts, sample_clk *clk_of,
                             const struct timing *timings, int ntimings)
{
    struct sorted_samples samples = {.n = 0};
    struct estimate ignored = {.accepted = 0};
    if (!collect_samples(facts, clk_of, timings, ntimings, &samples, &ignored))
        return NAN;
    return quantile_median(samples.clk, samples.n);
}

// Returns true if counted and calibrated cycles agree. Medians are compared, since the clock
// includes interrupts and a counter leaves the kernel out.
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
