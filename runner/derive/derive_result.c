// SPDX-License-Identifier: MIT
// From the estimates of a test's kernels to its result; see derive.h. Of a throughput's shapes the
// smallest counts, of a latency's chains the smaller, as far as no other may be smaller still.
#include "derive_internal.h"

#include "core/core_abi.h"

#include <math.h>
#include <string.h>

static const double DEPENDENT_CLK = 0.95; // no latency but 0 is smaller; bridges have at least 1

bool derive_between_cycles(double clk)
{
    return clk >= DERIVE_RENAME_CLK &&
           fabs(clk - round(clk)) > fmax(DERIVE_WHOLE_CLK, DERIVE_WHOLE * clk);
}

// Returns the time without the bridges of the chain.
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

// Makes the latency 0 or a bound if the chain takes less than a cycle more than its bridges: it
// does not always run through the instruction, as with flags that are left undefined or kept by a
// count of 0.
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

// Returns true if an estimate is the mean of different executions.
static bool is_mixed(const struct kernel_facts *facts, const struct estimate *estimate)
{
    return estimate->average ||
           (facts->chain && derive_between_cycles(estimate->clk - facts->extra_clk));
}

// Returns true if two chains have the same whole number of cycles; then the nearer one decides.
static bool same_whole(const struct kernel_facts *facts, double a_clk, double b_clk)
{
    return facts->chain && a_clk >= DERIVE_RENAME_CLK && round(a_clk) == round(b_clk) &&
           !derive_between_cycles(a_clk) && !derive_between_cycles(b_clk);
}

// Returns true if estimate i decides against `best`. A steady state beats an average, unless all of
// the average is smaller; of a mean between two whole cycles, smaller by half a cycle.
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
    double margin_clk = average->average ? 0 : DERIVE_MIXED_CLK;
    return mixed == (most_clk < (mixed ? best_clk : clk) - margin_clk);
}

// Sets the range of all states of all kernels; NaN: one state only. The front end's share is no
// latency: the filled chain gives 1.06 to 1.23 for `add r64, r64`.
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
    if (most > least * (1 + CORE_STATE_WIDTH) && most > least + DERIVE_WHOLE_CLK) {
        result->least_clk = least;
        result->most_clk = most;
    }
}

// Chooses the kernel that decides. A test without a value has the outcome of its first kernel.
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

// Returns true if a shape without a value may be the fastest: it was refused or ended by a signal,
// or hardly measured, or is unstable and reached values below `clk` again and again.
static bool shape_may_decide(const struct kernel_facts *facts, const struct estimate *estimate,
                             double clk)
{
    if (estimate->outcome != OUTCOME_UNSTABLE)
        return estimate->outcome != OUTCOME_OK;
    double reached_clk = own_clk(facts, estimate->reached_clk);
    return isnan(clk) || isnan(estimate->reached_clk) ||
           (reached_clk * (1 + CORE_STATE_WIDTH) < clk && reached_clk + CORE_STATE_WIDTH_CLK < clk);
}

// Sets an upper bound from the fastest value that shapes without a state have reached again and
// again: the core is not slower, but may be faster.
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

// Removes the value if a shape without one may be smaller.
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

// Turns the value into a bound if a chain without a value may be shorter.
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

// Returns the reason of a bound that only the breaker of this shape gives.
static const char *cut_by(const char *shape)
{
    if (strcmp(shape, PLAN_CUT_LOAD) == 0)
        return "only as short where a load cuts what is not asked for; it may be less";
    if (strcmp(shape, PLAN_CUT_CONSTANT) == 0)
        return "only as short where a constant cuts what is not asked for; it may be less";
    return "only as short where a move cuts what is not asked for; it may be less";
}

static bool cut_otherwise(const char *shape)
{
    return strcmp(shape, PLAN_CUT_LOAD) == 0 || strcmp(shape, PLAN_CUT_CONSTANT) == 0;
}

// Turns a latency that only one kind of breaker shows into a bound, unless another kind agrees: the
// breaker may be the cause. (On a Zen 5 vpternlogd takes 2 cycles after a zero idiom and 3 after a
// move or a load.)
static void bound_by_breaker(const struct kernel_facts *facts, const struct estimate *estimates,
                             int nkernels, struct test_result *result)
{
    const char *shape = facts[result->kernel].shape;
    bool others = false;
    for (int i = 0; i < nkernels; i++) {
        bool same = strcmp(facts[i].shape, shape) == 0 ||
                    (!cut_otherwise(facts[i].shape) && !cut_otherwise(shape));
        if (same || estimates[i].outcome != OUTCOME_OK)
            continue;
        others = true;
        if (own_clk(&facts[i], estimates[i].clk) <=
            result->clk * (1 + DERIVE_WHOLE) + 2 * DERIVE_WHOLE_CLK)
            return;
    }
    if (!others)
        return;
    result->bound = BOUND_UPPER;
    result->detail = cut_by(shape);
}

// Marks a latency as two states if it is a whole number in the dense chain and up to a cycle less
// in the filled one. It is no mean then: an execution takes one whole number of cycles or the next.
static void result_mark_two_states(struct test_result *result)
{
    double most_clk = result->dense_clk, least_clk = most_clk - 1;
    if (result->bound != BOUND_EXACT || !(least_clk >= DERIVE_RENAME_CLK) ||
        derive_between_cycles(most_clk) || !derive_between_cycles(result->clk) ||
        result->clk > most_clk || result->clk < least_clk)
        return;
    result->clk = round(least_clk);
    result->least_clk = round(least_clk);
    result->most_clk = fmax(round(most_clk), result->most_clk);
    result->average = false;
    result->nstates = 2;
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
        bound_by_breaker(facts, estimates, nkernels, &result);
        result.average |= result.bound == BOUND_EXACT && derive_between_cycles(result.clk);
        latency_range(facts, estimates, nkernels, &result);
        result_mark_two_states(&result);
    }
    bool overwritten = strcmp(facts[result.kernel].shape, PLAN_FALSE) == 0;
    if (facts[result.kernel].extra_clk > 0 && result.clk < DEPENDENT_CLK && !overwritten)
        independent(&result);
    return result;
}

void derive_flag(struct test_result *result)
{
    if (result->outcome == OUTCOME_OK && result->clk < DEPENDENT_CLK)
        independent(result);
}

void derive_false(const struct kernel_facts *facts, double throughput_clk,
                  struct test_result *result)
{
    // Most cycles that the instruction closing the chain takes, next to another.
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
