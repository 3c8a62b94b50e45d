// SPDX-License-Identifier: MIT
// From the samples of a form to its results; see derive.h.
#include "derive.h"

#include <math.h>
#include <string.h>

static const char DISAGREE[] = "the passes disagree";

static struct derived_kernel derive_executed(const struct executed_kernel *kernel, int issue_width)
{
    struct derived_kernel derived = {.outcome = kernel->outcome, .detail = kernel->detail};
    derived.estimate =
        derive_kernel(&kernel->facts, issue_width, kernel->timings, kernel->ntimings);
    if (kernel->outcome != OUTCOME_OK) {
        derived.estimate.outcome = kernel->outcome;
    } else if (derived.estimate.outcome != OUTCOME_OK) {
        derived.outcome = derived.estimate.outcome;
        derived.detail = DISAGREE;
    }
    return derived;
}

// Returns the reason that a test without a value gives: the reason of its first kernel with this
// outcome.
static const char *derive_reason(const struct derived_kernel *kernels, int nkernels,
                                 enum outcome outcome)
{
    for (int i = 0; i < nkernels; i++)
        if (kernels[i].outcome == outcome && kernels[i].detail && *kernels[i].detail)
            return kernels[i].detail;
    return "";
}

static bool derive_is_flag(const char *operand)
{
    static const char *const flags[] = {"flags", "cf", "zf", "sf", "pf", "af", "of"};
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (strcmp(operand, flags[i]) == 0)
            return true;
    return false;
}

static struct derived_test derive_executed_test(const struct executed_test *test, int issue_width,
                                                struct arena *arena)
{
    size_t n = (size_t)test->nkernels;
    struct derived_kernel *kernels = arena_alloc(arena, n * sizeof *kernels);
    struct kernel_facts *facts = arena_alloc(arena, n * sizeof *facts);
    struct estimate *estimates = arena_alloc(arena, n * sizeof *estimates);
    for (size_t i = 0; i < n; i++) {
        kernels[i] = derive_executed(&test->kernels[i], issue_width);
        facts[i] = test->kernels[i].facts;
        estimates[i] = kernels[i].estimate;
    }
    struct test_result result =
        derive_test(test->kind, test->bound, facts, estimates, test->nkernels);
    if (derive_is_flag(test->src))
        derive_flag(&result);
    if (n == 0) {
        result.outcome = test->planned;
        result.detail = test->detail;
    } else if (result.outcome != OUTCOME_OK && !*result.detail) {
        result.detail = derive_reason(kernels, test->nkernels, result.outcome);
    }
    return (struct derived_test){result, kernels};
}

// Returns the chain of these tests, of the same data, in which an instance takes the least time;
// NULL: none has a value.
static const struct estimate *derive_least_chain(const struct executed_test *tests, int ntests,
                                                 const struct derived_test *derived,
                                                 const char *variant)
{
    const struct estimate *least = NULL;
    for (int i = 0; i < ntests; i++) {
        bool chains = tests[i].kind == TEST_LATENCY && strcmp(tests[i].variant, variant) == 0;
        for (int k = 0; chains && k < tests[i].nkernels; k++) {
            const struct estimate *estimate = &derived[i].kernels[k].estimate;
            if (estimate->outcome == OUTCOME_OK && (!least || estimate->clk < least->clk))
                least = estimate;
        }
    }
    return least;
}

// Instances in a chain are not faster than instances beside each other. Where they are, as locked
// instructions with something between them, the chain is the best shape that the throughput has.
static void derive_chain_is_shape(const struct estimate *chain, struct test_result *result)
{
    static const double NEAR = 0.02, NEAR_CLK = 0.02;
    if (!chain || result->outcome != OUTCOME_OK || derive_is_scattered(result) ||
        chain->clk * (1 + NEAR) + NEAR_CLK >= result->clk)
        return;
    result->clk = chain->clk;
    result->spread_clk = chain->spread_clk;
    result->nstates = chain->nstates;
    result->kernel = -1;
    result->detail = "a chain of a latency contains it in less time than all shapes do";
}

void derive_form(const struct executed_test *tests, int ntests, int issue_width,
                 struct arena *arena, struct derived_test *derived)
{
    double throughput_clk = NAN;
    for (int i = 0; i < ntests; i++)
        derived[i] = derive_executed_test(&tests[i], issue_width, arena);
    for (int i = 0; i < ntests; i++) {
        if (tests[i].kind == TEST_THROUGHPUT)
            derive_chain_is_shape(derive_least_chain(tests, ntests, derived, tests[i].variant),
                                  &derived[i].result);
        const struct test_result *result = &derived[i].result;
        if (tests[i].kind == TEST_THROUGHPUT && result->outcome == OUTCOME_OK &&
            strcmp(tests[i].variant, PLAN_SETTING) != 0 && !plan_is_aside(tests[i].variant))
            throughput_clk = fmin(throughput_clk, result->clk);
    }
    for (int i = 0; i < ntests; i++)
        if (strcmp(tests[i].variant, PLAN_FALSE) == 0 && tests[i].nkernels == 1)
            derive_false(&tests[i].kernels[0].facts, throughput_clk, &derived[i].result);
}

void derive_take_back(struct executed_kernel *kernel)
{
    if (kernel->outcome != OUTCOME_UNSTABLE || kernel->ntimings == 0 ||
        (*kernel->detail && strcmp(kernel->detail, DISAGREE) != 0))
        return;
    kernel->outcome = OUTCOME_OK;
    kernel->detail = "";
}
