// SPDX-License-Identifier: MIT
// The number and length of a kernel's passes: few and short ones if all samples agree, all of them
// if the core shows more than one speed. And the choice among several values.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/core_internal.h"

// The core is a program of its own; these files of it have no state and no dependencies.
#include "core/core_steady.c"
#include "core/core_values.c"

#include <string.h>

enum { SAMPLES = 8 };
static const double TOLERANCE = 0.005;

// Factors of the samples of a pass, ascending.
struct pass {
    double clk;
    const double *factors;
};
static const double tight[SAMPLES] = {1, 1, 1.001, 1.001, 1.001, 1.002, 1.002, 1.3};
static const double two[SAMPLES] = {1, 1, 1.001, 1.001, 1.1, 1.1, 1.1, 1.1};
static const double scattered[SAMPLES] = {1, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07};
static const double lone[SAMPLES] = {0.8, 1, 1, 1.001, 1.001, 1.002, 1.002, 1.002};

// Passes as the core takes them from what a kernel would show: *samples of them until it settles.
static uint32_t passes_taken(uint32_t grid, const struct pass passes[CORE_PASSES_MAX],
                             uint32_t *samples)
{
    struct core_kernel kernel = {.grid = grid};
    struct kernel_run run = {.kernel = &kernel};
    *samples = 0;
    while (run.nvalues < CORE_PASSES_MAX && !steady_settled(&run, TOLERANCE)) {
        uint32_t at = run.nvalues, accept = steady_accept(&run, SAMPLES, TOLERANCE);
        for (uint32_t i = 0; i < accept; i++)
            run.values[at][i] = passes[at].clk * passes[at].factors[i];
        run.nsamples[at] = accept;
        *samples += accept;
        run.nvalues++;
    }
    return run.nvalues;
}

static void kernels_that_agree_need_little(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        uint32_t grid;
        struct pass first, second, others;
        uint32_t passes, samples;
    } cases[] = {
        {"one state",          1, {3, tight},     {3, tight},     {3, tight},     2, 10},
        {"odd chain",          1, {3.47, tight},  {3.47, tight},  {3.47, tight},  3, 14},
        {"odd throughput",     6, {0.53, tight},  {0.53, tight},  {0.53, tight},  5, 22},
        {"nothing expected",   0, {0.53, tight},  {0.53, tight},  {0.53, tight},  2, 10},
        {"off by 0.4 %",       1, {2.987, tight}, {2.987, tight}, {2.987, tight}, 3, 14},
        {"off by 0.3 %",       1, {2.992, tight}, {3, tight},     {3, tight},     2, 10},
        {"one fast sample",    1, {3, lone},      {3, tight},     {3, tight},     5, 22},
        {"a fast sample each", 1, {3, lone},      {3, lone},      {3, lone},      8, 34},
        {"two states",         1, {3.47, two},    {3.47, two},    {3.47, two},    5, 38},
        {"slow at first",      1, {4, tight},     {3, tight},     {3, tight},     3, 18},
        {"slow in the second", 1, {3, tight},     {4, tight},     {3, tight},     3, 18},
        {"one pass off",       1, {2.967, tight}, {3, tight},     {3, tight},     3, 18},
        {"off, odd value",     1, {3.43, tight},  {3.47, tight},  {3.47, tight},  8, 58},
        {"much faster once",   1, {2.8, tight},   {3, tight},     {3, tight},     8, 58},
        {"no state",           1, {7, scattered}, {7, scattered}, {7, scattered}, 8, 62},
        {"scattered first",    1, {3, scattered}, {3, tight},     {3, tight},     3, 22},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pass passes[CORE_PASSES_MAX] = {cases[i].first, cases[i].second};
        for (int p = 2; p < CORE_PASSES_MAX; p++)
            passes[p] = cases[i].others;
        uint32_t samples, taken = passes_taken(cases[i].grid, passes, &samples);
        if (taken != cases[i].passes || samples != cases[i].samples)
            fail_msg("%s: %u passes of %u samples, not %u of %u", cases[i].what, taken, samples,
                     cases[i].passes, cases[i].samples);
    }
}

// With a clock in steps of 10 ns the fastest samples of two passes can be near each other without
// two of each within one state: a third pass is needed, or there would be no value.
static void steps_of_the_clock_are_no_state(void **state)
{
    (void)state;
    static const struct {
        double first[4], second[4];
        bool settled;
    } cases[] = {
        {{3, 3.001, 3.002, 3.003}, {3.012, 3.013, 3.02, 3.03}, true },
        {{3, 3.014, 3.022, 3.03},  {3.014, 3.019, 3.03, 3.04}, true }, // from 3.014 on
        {{3, 3.014, 3.033, 3.045}, {3.0, 3.02, 3.034, 3.046},  false},
        {{3, 3.003, 3.05, 3.06},   {3.014, 3.0199, 3.08, 3.1}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct core_kernel kernel = {.grid = 1};
        struct kernel_run run = {
            .kernel = &kernel, .nvalues = 2, .nsamples = {4, 4}
        };
        memcpy(run.values[0], cases[i].first, sizeof cases[i].first);
        memcpy(run.values[1], cases[i].second, sizeof cases[i].second);
        if (steady_settled(&run, TOLERANCE) != cases[i].settled)
            fail_msg("case %zu", i);
    }
}

// A request for few samples gets no fewer.
static void few_samples_stay(void **state)
{
    (void)state;
    struct core_kernel kernel = {.grid = 1};
    struct kernel_run run = {.kernel = &kernel, .nvalues = 1, .nsamples = {3}};
    for (int i = 0; i < 3; i++)
        run.values[0][i] = 3;
    assert_int_equal(steady_accept(&run, 3, TOLERANCE), 3);
}

// Three samples that agree end a pass, unless another state was seen before.
static void samples_that_agree_are_enough(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        double first[3], second[3];
        int passes; // before
        bool agree;
    } cases[] = {
        {"the first ones",    {0},               {3, 3.004, 3.006},     0, true },
        {"the first scatter", {0},               {3, 3.004, 3.02},      0, false},
        {"thousandths",       {0},               {0.167, 0.168, 0.168}, 0, true },
        {"the same again",    {3, 3.001, 3.002}, {3, 3.004, 3.006},     1, true },
        {"a slower state",    {3, 3.001, 3.002}, {3.1, 3.1, 3.1},       1, false},
        {"a faster state",    {3, 3.001, 3.002}, {2.9, 2.9, 2.9},       1, false},
        {"two states before", {3, 3, 3.2},       {3, 3, 3},             1, false},
        {"no state before",   {3, 3.1, 3.2},     {3, 3, 3},             1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct core_kernel kernel = {.grid = 1};
        struct kernel_run run = {
            .kernel = &kernel, .nvalues = (uint32_t)cases[i].passes, .nsamples = {3}};
        memcpy(run.values[0], cases[i].first, sizeof cases[i].first);
        if (steady_agree(&run, cases[i].second, 3, TOLERANCE) != cases[i].agree)
            fail_msg("%s", cases[i].what);
    }
}

// Nearly half of the rounds for the overhead may be disturbed: these are longer, by any amounts.
static void disturbed_rounds_do_not_count(void **state)
{
    (void)state;
    double values[100];
    for (int i = 0; i < 100; i++)
        values[i] = i % 9 < 4 ? 58 + i : 54 + i % 3;
    double densest = values_densest(values, 100);
    assert_true(densest > 53.9 && densest < 56.1);
    for (int i = 1; i < 100; i++)
        assert_true(values[i] >= values[i - 1]);
    double one = 7;
    assert_true(values_densest(&one, 1) == 7);
    double few[] = {9, 1, 2}; // the densest half of three is two of them
    assert_true(values_densest(few, 3) == 1.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_that_agree_need_little),
        cmocka_unit_test(steps_of_the_clock_are_no_state),
        cmocka_unit_test(few_samples_stay),
        cmocka_unit_test(samples_that_agree_are_enough),
        cmocka_unit_test(disturbed_rounds_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
