// SPDX-License-Identifier: MIT
// The estimator on constructed samples: known cycle counts must come back, through overhead, loop
// µop, outliers and disturbed passes; passes that disagree must become unstable instead of a
// number.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "derive/derive.h"
#include "derive/form_throughput.h"

#include <math.h>

enum { SAMPLES = 8, OVERHEAD_TSC = 50, CALIB_CLK = 768 * 10, WIDTH = 6 };
static const double TSC_PER_CLK = 0.8;

// Samples of a kernel that takes `clk` cycles per instance; factors[i] disturbs sample i.
static struct timing make_timing(struct sample *samples, int pass, double clk, int instances,
                                 const double *factors)
{
    struct timing timing = {.pass = pass,
                            .outcome = OUTCOME_OK,
                            .accepted = SAMPLES,
                            .tried = SAMPLES,
                            .iterations = 40,
                            .copies = 32,
                            .calib_clk = CALIB_CLK,
                            .overhead_tsc = OVERHEAD_TSC,
                            .samples = samples,
                            .nsamples = SAMPLES};
    double total_clk = clk * instances * timing.copies * timing.iterations;
    uint32_t calib = (uint32_t)lround(CALIB_CLK * TSC_PER_CLK + OVERHEAD_TSC);
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = (struct sample){
            .kernel_tsc = (uint32_t)lround(total_clk * TSC_PER_CLK * (factors ? factors[i] : 1) +
                                           OVERHEAD_TSC),
            .before_tsc = calib,
            .after_tsc = calib};
    return timing;
}

static void latency_comes_back(void **state)
{
    (void)state;
    static const struct {
        double clk;
        int instances, instrs;
    } cases[] = {
        {3,    12, 12},
        {0.5,  12, 12},
        {1,    1,  1 },
        {4,    8,  64},
        {19.9, 4,  4 },
        {0.25, 24, 24}
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sample a[SAMPLES], b[SAMPLES];
        const struct timing timings[] = {make_timing(a, 1, cases[i].clk, cases[i].instances, NULL),
                                         make_timing(b, 2, cases[i].clk, cases[i].instances, NULL)};
        const struct kernel_facts facts = {"dense", cases[i].instances, cases[i].instrs, 0, false};
        struct estimate estimate = derive_kernel(&facts, WIDTH, timings, 2);
        assert_int_equal(estimate.outcome, OUTCOME_OK);
        assert_true(fabs(estimate.clk - cases[i].clk) < 0.001 * cases[i].clk);
        assert_true(estimate.spread_clk < 0.001 * cases[i].clk);
        assert_int_equal(estimate.accepted, 2 * SAMPLES);
    }
}

// 12 nops a body, 32 copies and the loop's own µop at six µops per cycle: 385 / 6 cycles a loop.
static void front_end_bound_loops_pay_no_own_uop(void **state)
{
    (void)state;
    struct sample a[SAMPLES];
    const double loop_clk = 385.0 / WIDTH;
    struct timing timing = make_timing(a, 1, loop_clk / 384, 12, NULL);
    const struct kernel_facts facts = {"n12", 12, 12, 0, false};
    struct estimate estimate = derive_kernel(&facts, WIDTH, &timing, 1);
    assert_true(fabs(estimate.clk - 1.0 / WIDTH) < 1e-4);
    // An unknown width takes nothing off.
    estimate = derive_kernel(&facts, 0, &timing, 1);
    assert_true(fabs(estimate.clk - loop_clk / 384) < 1e-4);
}

static void outliers_do_not_move_the_value(void **state)
{
    (void)state;
    static const double factors[SAMPLES] = {1, 1.0002, 1.3, 0.9999, 1, 1.08, 1.0001, 0.98};
    struct sample a[SAMPLES], b[SAMPLES];
    const struct timing timings[] = {make_timing(a, 1, 3, 12, factors),
                                     make_timing(b, 2, 3, 12, factors)};
    const struct kernel_facts facts = {"dense", 12, 12, 0, false};
    struct estimate estimate = derive_kernel(&facts, WIDTH, timings, 2);
    assert_int_equal(estimate.outcome, OUTCOME_OK);
    assert_true(fabs(estimate.clk - 3) < 0.002);
}

static void the_fastest_confirmed_state_counts(void **state)
{
    (void)state;
    static const struct {
        double clk[3];
        int npasses;
        enum outcome outcome;
        double expected;
    } cases[] = {
        {{3, 3.001, 0},     2, OUTCOME_OK,       3    },
        {{3.2, 3, 3.001},   3, OUTCOME_OK,       3    },
        {{3, 3.2, 3.2},     3, OUTCOME_OK,       3.2  }, // 3.0 stands alone: not confirmed
        {{3, 3.2, 3.4},     3, OUTCOME_UNSTABLE, 0    },
        {{3, 3.2, 0},       2, OUTCOME_UNSTABLE, 0    },
        {{0.166, 0.168, 0}, 2, OUTCOME_OK,       0.167}, // within three thousandths of a cycle
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sample samples[3][SAMPLES];
        struct timing timings[3];
        for (int p = 0; p < cases[i].npasses; p++)
            timings[p] = make_timing(samples[p], p + 1, cases[i].clk[p], 12, NULL);
        const struct kernel_facts facts = {"dense", 12, 12, 0, false};
        struct estimate estimate = derive_kernel(&facts, 0, timings, cases[i].npasses);
        assert_int_equal(estimate.outcome, cases[i].outcome);
        if (cases[i].outcome == OUTCOME_OK)
            assert_true(fabs(estimate.clk - cases[i].expected) < 0.001);
    }
}

// Two states in each pass: the faster one counts if both passes have it, and the share says how
// often.
static void states_within_a_pass(void **state)
{
    (void)state;
    static const double mixed[SAMPLES] = {1.3, 1, 1.3, 1.001, 1.3, 1.3, 1, 1.3};
    static const double single[SAMPLES] = {1.3, 1.3, 1.3, 1.3, 1, 1.3, 1.3, 1.3};
    struct sample a[SAMPLES], b[SAMPLES];
    const struct kernel_facts facts = {"dense", 12, 12, 0, false};
    const struct timing both[] = {make_timing(a, 1, 5, 12, mixed), make_timing(b, 2, 5, 12, mixed)};
    struct estimate estimate = derive_kernel(&facts, WIDTH, both, 2);
    assert_int_equal(estimate.outcome, OUTCOME_OK);
    assert_true(fabs(estimate.clk - 5) < 0.01);
    assert_true(fabs(estimate.share - 6.0 / 16) < 1e-9);
    assert_true(estimate.spread_clk > 1);
    // One fast sample a pass is chance.
    const struct timing rare[] = {make_timing(a, 1, 5, 12, single),
                                  make_timing(b, 2, 5, 12, single)};
    estimate = derive_kernel(&facts, WIDTH, rare, 2);
    assert_int_equal(estimate.outcome, OUTCOME_OK);
    assert_true(fabs(estimate.clk - 6.5) < 0.01);
}

// One sample a pass is a state where four passes have it, and it is so much faster that it cannot
// be a pass whose calibration was slow; if nearly all that is as fast agrees.
static void rare_states(void **state)
{
    (void)state;
    static const double slow[SAMPLES] = {1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2};
    static const double rare[SAMPLES] = {1.2, 1.2, 1.2, 1, 1.2, 1.2, 1.2, 1.2};
    static const double near[SAMPLES] = {1.2, 1.2, 1.2, 1.175, 1.2, 1.2, 1.2, 1.2};
    static const double tail[SAMPLES] = {1.2, 0.9, 1.2, 1, 1.2, 0.7, 1.2, 0.8};
    static const double tail_2[SAMPLES] = {1.2, 0.85, 1.2, 1, 1.2, 0.75, 1.2, 0.95};
    static const struct {
        const double *factors[5];
        double expected;
    } cases[] = {
        {{rare, rare, slow, rare, rare},   0.5},
        {{rare, rare, slow, rare, slow},   0.6},
        {{near, near, near, near, near},   0.6},
        {{tail, tail_2, slow, rare, rare}, 0.6},
    };
    for (int chain = 0; chain < 2; chain++) {
        const struct kernel_facts facts = {"n8", 12, 12, 0, chain};
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            struct sample samples[5][SAMPLES];
            struct timing timings[5];
            for (int p = 0; p < 5; p++)
                timings[p] = make_timing(samples[p], p + 1, 0.5, 12, cases[i].factors[p]);
            struct estimate estimate = derive_kernel(&facts, 0, timings, 5);
            assert_int_equal(estimate.outcome, OUTCOME_OK);
            assert_true(fabs(estimate.clk - cases[i].expected) < 0.002);
            assert_true(fabs(estimate.states[0].clk - estimate.clk) < 1e-9);
            for (int s = 0; s < estimate.nstates; s++)
                assert_in_range(estimate.states[s].passes, 1, 5);
        }
    }
}

// A state that scatters is where most of its samples are, not where its fastest ones are.
static void a_state_is_where_its_samples_are(void **state)
{
    (void)state;
    static const double wide[SAMPLES] = {0.995, 0.996, 1, 1, 1.001, 1.001, 1.002, 1.002};
    struct sample a[SAMPLES], b[SAMPLES];
    const struct kernel_facts facts = {"dense", 12, 12, 0, false};
    const struct timing timings[] = {make_timing(a, 1, 4, 12, wide),
                                     make_timing(b, 2, 4, 12, wide)};
    struct estimate estimate = derive_kernel(&facts, WIDTH, timings, 2);
    assert_int_equal(estimate.outcome, OUTCOME_OK);
    assert_true(fabs(estimate.clk - 4 * 1.001) < 0.002);
    assert_true(fabs(estimate.share - 12.0 / 16) < 1e-9);
}

// Executions that all differ have no value.
// Links of seven cycles with now more, now fewer of eight among them: measured twice, one value.
// The cases: of a Zen 5, `vpsubb x{k} x x` from the mask, two runs that had 7.05 and 7.08 to 7.18
// by where most of the samples were.
static void executions_that_differ_have_one_mean(void **state)
{
    (void)state;
    static const double runs[2][3][SAMPLES] = {
        {{7.074, 7.074, 7.096, 7.161, 7.182, 7.803, 7.825, 7.858},
         {7.062, 7.084, 7.161, 7.189, 7.200, 7.803, 7.825, 7.858},
         {7.093, 7.103, 7.125, 7.201, 7.207, 7.858, 7.879, 7.902}},
        {{7.058, 7.139, 7.178, 7.182, 7.185, 7.833, 7.914, 7.914},
         {7.134, 7.174, 7.178, 7.198, 7.101, 7.841, 7.902, 7.913},
         {7.085, 7.099, 7.180, 7.191, 7.233, 7.790, 7.837, 7.898}},
    };
    const struct kernel_facts facts = {"filled", 1, 12, 0, true};
    double clk[2];
    for (int r = 0; r < 2; r++) {
        struct sample samples[3][SAMPLES];
        struct timing timings[3];
        for (int pass = 0; pass < 3; pass++)
            timings[pass] = make_timing(samples[pass], pass + 1, 1, 1, runs[r][pass]);
        struct estimate estimate = derive_kernel(&facts, WIDTH, timings, 3);
        assert_int_equal(estimate.outcome, OUTCOME_OK);
        assert_true(estimate.nstates >= 2 && estimate.most_clk > 7.7);
        clk[r] = estimate.clk;
    }
    if (fabs(clk[0] - clk[1]) > 0.005 * clk[0])
        fail_msg("%.3f and %.3f", clk[0], clk[1]);
}

// The same core's chain without fillers has a state of whole cycles beside such means: that one is
// steady, and its value; and the pair's, though the other chain is faster on average. What is
// faster stays in the range. A mean that is faster by more than half a cycle is no other's value.
static void whole_cycles_say_more_than_means(void **state)
{
    (void)state;
    static const double dense[3][SAMPLES] = {
        {7.780, 7.835, 7.922, 7.961, 7.970, 7.973, 7.982, 7.995},
        {7.749, 7.822, 7.908, 7.950, 7.963, 7.972, 7.972, 7.980},
        {7.684, 7.720, 7.741, 7.916, 7.974, 7.979, 7.985, 8.004},
    };
    static const double filled[3][SAMPLES] = {
        {7.074, 7.074, 7.096, 7.161, 7.182, 7.803, 7.825, 7.858},
        {7.062, 7.084, 7.161, 7.189, 7.200, 7.803, 7.825, 7.858},
        {7.093, 7.103, 7.125, 7.201, 7.207, 7.858, 7.879, 7.902},
    };
    const struct kernel_facts facts[] = {
        {"dense",  1, 12, 0, true},
        {"filled", 1, 12, 0, true}
    };
    for (int faster = 0; faster < 2; faster++) {
        struct sample samples[2][3][SAMPLES];
        struct timing timings[2][3];
        double factors[2][SAMPLES];
        for (int pass = 0; pass < 3; pass++) {
            for (int i = 0; i < SAMPLES; i++) {
                factors[0][i] = dense[pass][i];
                factors[1][i] = filled[pass][i] - faster;
            }
            for (int k = 0; k < 2; k++)
                timings[k][pass] = make_timing(samples[k][pass], pass + 1, 1, 1, factors[k]);
        }
        const struct estimate estimates[] = {derive_kernel(&facts[0], WIDTH, timings[0], 3),
                                             derive_kernel(&facts[1], WIDTH, timings[1], 3)};
        assert_true(fabs(estimates[0].clk - 7.975) < 0.01);
        struct test_result result = derive_test(TEST_LATENCY, BOUND_EXACT, facts, estimates, 2);
        assert_int_equal(result.kernel, faster);
        assert_true(fabs(result.clk - (faster ? 6.13 : 7.975)) < 0.02);
        assert_int_equal(result.average, faster);
        assert_true(result.least_clk < 7.2 - faster && result.most_clk > 7.96);
    }
}

static void no_state_no_value(void **state)
{
    (void)state;
    static const double scattered[SAMPLES] = {1, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.35};
    struct sample a[SAMPLES], b[SAMPLES];
    const struct kernel_facts facts = {"dense", 12, 12, 0, false};
    const struct timing timings[] = {make_timing(a, 1, 7, 12, scattered),
                                     make_timing(b, 2, 7.15, 12, scattered)};
    struct estimate estimate = derive_kernel(&facts, WIDTH, timings, 2);
    assert_int_equal(estimate.outcome, OUTCOME_UNSTABLE);
}

// A chain through memory as it is: a fast and a slow state, and much between them, in all passes
// but one; what came back is what counts, however little it is. Of throughput the same is chance.
static void small_states_of_chains(void **state)
{
    (void)state;
    static const double mixed[SAMPLES] = {1, 1.002, 1.11, 1.09, 1.07, 1.13, 1.03, 1.05};
    static const double slow[SAMPLES] = {1.03, 1.05, 1.07, 1.09, 1.115, 1.15, 1.13, 1.17};
    static const struct {
        const double *factors[4];
        enum outcome outcome;
        double expected;
        int nstates;            // those of a sixth of the samples at the least
        enum outcome unchained; // of a throughput, whose state holds a quarter of the samples
    } cases[] = {
        {{mixed, mixed, mixed, mixed}, OUTCOME_OK,       7.007, 1, OUTCOME_OK      },
        {{mixed, slow, mixed, slow},   OUTCOME_OK,       7.007, 1, OUTCOME_UNSTABLE},
        {{mixed, slow, slow, slow},    OUTCOME_UNSTABLE, 0,     0, OUTCOME_UNSTABLE},
    };
    struct sample samples[4][SAMPLES];
    struct timing timings[4];
    struct kernel_facts facts = {"dense", 12, 12, 0, true};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int p = 0; p < 4; p++)
            timings[p] = make_timing(samples[p], p + 1, 7, 12, cases[i].factors[p]);
        facts.chain = true;
        struct estimate estimate = derive_kernel(&facts, WIDTH, timings, 4);
        assert_int_equal(estimate.outcome == OUTCOME_OK && !estimate.average,
                         cases[i].outcome == OUTCOME_OK);
        if (cases[i].outcome == OUTCOME_OK)
            assert_true(fabs(estimate.clk - cases[i].expected) < 0.005);
        assert_int_equal(estimate.nstates, cases[i].nstates);
        facts.chain = false;
        estimate = derive_kernel(&facts, WIDTH, timings, 4);
        assert_int_equal(estimate.outcome, cases[i].unchained);
    }
}

// Two and three states, all of which come back: the fastest is the value, all are named with their
// shares. A neighbour that takes one part in a hundred makes no state.
static void all_states_are_named(void **state)
{
    (void)state;
    static const double two[SAMPLES] = {1, 1.0005, 1, 1.15, 1.151, 1.15, 1.15, 1.1505};
    static const double three[SAMPLES] = {1.2, 1, 1.0005, 1.15, 1.151, 1.15, 1.2, 1.2003};
    static const double near[SAMPLES] = {1, 1.0005, 1, 1.01, 1.0105, 1.01, 1.01, 1};
    static const struct {
        const double *factors;
        int n;
        double clk[3], share[3];
    } cases[] = {
        {two,   2, {5, 5.75, 0},   {0.375, 0.625, 0}   },
        {three, 3, {5, 5.75, 6.0}, {0.25, 0.375, 0.375}},
        {near,  1, {5, 0, 0},      {0.5, 0, 0}         },
    };
    const struct kernel_facts facts = {"dense", 12, 12, 0, true};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sample a[SAMPLES], b[SAMPLES];
        const struct timing timings[] = {make_timing(a, 1, 5, 12, cases[i].factors),
                                         make_timing(b, 2, 5, 12, cases[i].factors)};
        struct estimate estimate = derive_kernel(&facts, WIDTH, timings, 2);
        assert_int_equal(estimate.outcome, OUTCOME_OK);
        assert_int_equal(estimate.nstates, cases[i].n);
        assert_true(estimate.clk == estimate.states[0].clk);
        assert_true(estimate.most_clk == estimate.states[cases[i].n - 1].clk);
        for (int s = 0; s < cases[i].n; s++) {
            assert_true(fabs(estimate.states[s].clk - cases[i].clk[s]) < 0.01);
            assert_true(fabs(estimate.states[s].share - cases[i].share[s]) < 1e-9);
            assert_int_equal(estimate.states[s].passes, 2);
        }
    }
}

// No two executions agree, but all passes scatter about one value: the core changes its speed
// within a timing. For a chain that is an average; passes that drift away from each other are
// nothing, and neither is scattered throughput, unless it is that of a stream to memory.
static void averages(void **state)
{
    (void)state;
    static const double scattered[SAMPLES] = {1, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07};
    static const struct {
        double clk[3];
        const char *shape;
        bool chain, average;
    } cases[] = {
        {{7, 7.02, 7.01}, "dense",     true,  true },
        {{7, 7.02, 7.01}, "n8",        false, false},
        {{7, 7.02, 7.01}, PLAN_STREAM, false, true },
        {{7, 8, 9},       PLAN_STREAM, false, false},
        {{7, 8, 9},       "dense",     true,  false}, // drift
        {{7, 7, 14},      "dense",     true,  false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sample samples[3][SAMPLES];
        struct timing timings[3];
        const struct kernel_facts facts = {cases[i].shape, 12, 12, 0, cases[i].chain};
        for (int p = 0; p < 3; p++)
            timings[p] = make_timing(samples[p], p + 1, cases[i].clk[p], 12, scattered);
        struct estimate estimate = derive_kernel(&facts, WIDTH, timings, 3);
        assert_int_equal(estimate.outcome, cases[i].average ? OUTCOME_OK : OUTCOME_UNSTABLE);
        assert_int_equal(estimate.average, cases[i].average);
        if (!cases[i].average)
            continue;
        assert_true(estimate.clk > 7.2 && estimate.clk < 7.3);
        assert_true(estimate.least_clk < 7.1 && estimate.most_clk > 7.4);
        assert_int_equal(estimate.nstates, 0);
    }
}

static void failed_timings_keep_their_outcome(void **state)
{
    (void)state;
    const struct timing timing = {.pass = 1, .outcome = OUTCOME_SIGNALLED, .tried = 1};
    const struct kernel_facts facts = {"dense", 1, 1, 0, false};
    struct estimate estimate = derive_kernel(&facts, WIDTH, &timing, 1);
    assert_int_equal(estimate.outcome, OUTCOME_SIGNALLED);
    estimate = derive_kernel(&facts, WIDTH, NULL, 0);
    assert_int_equal(estimate.outcome, OUTCOME_UNSTABLE);
}

static void tests_take_the_smallest_shape(void **state)
{
    (void)state;
    const struct kernel_facts latency[] = {
        {"dense",  12, 12, 1, false},
        {"filled", 12, 72, 1, false}
    };
    const struct estimate estimates[] = {
        {.outcome = OUTCOME_OK, .clk = 3,   .spread_clk = 0.01, .accepted = 8, .tried = 9},
        {.outcome = OUTCOME_OK, .clk = 2.1, .spread_clk = 0.02, .accepted = 8, .tried = 8},
    };
    struct test_result result = derive_test(TEST_LATENCY, BOUND_UPPER, latency, estimates, 2);
    assert_int_equal(result.outcome, OUTCOME_OK);
    assert_true(fabs(result.clk - 1.1) < 1e-9); // the bridge of one cycle is taken off
    assert_true(fabs(result.dense_clk - 2) < 1e-9 && fabs(result.filled_clk - 1.1) < 1e-9);
    assert_int_equal(result.kernel, 1);
    assert_int_equal(result.bound, BOUND_UPPER);
    assert_int_equal(result.accepted, 16);
    assert_int_equal(result.tried, 17);
}

// A chain must take at least a cycle more than its bridge; otherwise it does not run through the
// instruction.
static void a_chain_of_bridges_only_has_no_latency(void **state)
{
    (void)state;
    const struct kernel_facts facts[] = {
        {"dense",  8, 16, 1, false},
        {"filled", 8, 56, 1, false}
    };
    struct estimate estimates[] = {
        {.outcome = OUTCOME_OK, .clk = 1.02},
        {.outcome = OUTCOME_OK, .clk = 1.4 }
    };
    struct test_result result = derive_test(TEST_LATENCY, BOUND_UPPER, facts, estimates, 2);
    assert_int_equal(result.outcome, OUTCOME_NOT_MEASURABLE);
    assert_true(isnan(result.clk) && *result.detail);
    // Rounds of the loop that overlap, since only flags go from one to the next.
    estimates[0].clk = 1.8;
    estimates[1].clk = 1.506;
    result = derive_test(TEST_LATENCY, BOUND_EXACT, facts, estimates, 2);
    assert_int_equal(result.outcome, OUTCOME_NOT_MEASURABLE);
    // Without a bridge it is an eliminated move.
    const struct kernel_facts plain[] = {
        {"dense", 8, 8, 0, false}
    };
    const struct estimate eliminated[] = {
        {.outcome = OUTCOME_OK, .clk = 0.17}
    };
    result = derive_test(TEST_LATENCY, BOUND_EXACT, plain, eliminated, 1);
    assert_int_equal(result.outcome, OUTCOME_OK);
}

// A register may be renamed for nothing, but a flag is not handed on in less than a cycle.
static void a_chain_through_a_flag_takes_a_cycle(void **state)
{
    (void)state;
    static const struct {
        const char *src;
        double clk;
        enum outcome outcome;
    } cases[] = {
        {"cf",    0.34, OUTCOME_NOT_MEASURABLE},
        {"flags", 0.34, OUTCOME_NOT_MEASURABLE},
        {"cf",    1,    OUTCOME_OK            },
        {"op1",   0.34, OUTCOME_OK            },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sample a[SAMPLES], b[SAMPLES];
        const struct timing timings[] = {make_timing(a, 1, cases[i].clk, 8, NULL),
                                         make_timing(b, 2, cases[i].clk, 8, NULL)};
        const struct executed_kernel kernel = {
            {"dense", 8, 8, 0, true},
            OUTCOME_OK, "", timings, 2
        };
        const struct executed_test test = {.bound = BOUND_EXACT,
                                           .detail = "",
                                           .kernels = &kernel,
                                           .nkernels = 1,
                                           .variant = "",
                                           .src = cases[i].src};
        struct arena arena = {0};
        struct derived_test derived;
        derive_form(&test, 1, WIDTH, &arena, &derived);
        assert_int_equal(derived.result.outcome, cases[i].outcome);
        arena_free(&arena);
    }
}

// A latency between two whole numbers is the mean of executions that differ, if nothing else is in
// the chain; the shapes say how much they differ.
static void latencies_between_whole_cycles_are_averages(void **state)
{
    (void)state;
    static const struct {
        double clk, extra_clk;
        enum bound bound;
        bool average;
    } cases[] = {
        {3.47, 0, BOUND_EXACT, true },
        {3.14, 0, BOUND_EXACT, true },
        {3.02, 0, BOUND_EXACT, false},
        {4.24, 1, BOUND_EXACT, true }, // bridges of one cycle change nothing
        {4.24, 1, BOUND_UPPER, false}, // the bridge may be the cause
        {0.17, 0, BOUND_EXACT, false}, // at rename
        {0.98, 0, BOUND_EXACT, false},
        {80.2, 0, BOUND_EXACT, false},
        {80.5, 0, BOUND_EXACT, true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct kernel_facts facts = {"dense", 8, 8, cases[i].extra_clk, true};
        const struct estimate estimate = {
            .clk = cases[i].clk, .least_clk = cases[i].clk, .most_clk = cases[i].clk, .nstates = 1};
        struct test_result result = derive_test(TEST_LATENCY, cases[i].bound, &facts, &estimate, 1);
        assert_int_equal(result.average, cases[i].average);
        assert_true(isnan(result.least_clk) && isnan(result.most_clk));
        result = derive_test(TEST_THROUGHPUT, cases[i].bound, &facts, &estimate, 1);
        assert_false(result.average);
    }
}

// Both shapes of a chain say 3 cycles: then the one that is a hundredth below is no faster.
static void of_chains_that_agree_the_nearest_to_whole_cycles_counts(void **state)
{
    (void)state;
    static const struct {
        double dense_clk, filled_clk;
        int decides;
        bool chain;
    } cases[] = {
        {2.99,  2.96,  0, true },
        {3.04,  2.99,  1, true },
        {12.02, 11.99, 1, true },
        {3,     2,     1, true },
        {2,     3,     0, true },
        {0.25,  0.17,  1, true }, // at rename
        {2.99,  2.96,  1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct kernel_facts facts[] = {
            {"dense",  8, 8,  0, cases[i].chain},
            {"filled", 8, 64, 0, cases[i].chain}
        };
        const struct estimate estimates[] = {
            {.outcome = OUTCOME_OK, .clk = cases[i].dense_clk },
            {.outcome = OUTCOME_OK, .clk = cases[i].filled_clk}
        };
        struct test_result result = derive_test(TEST_LATENCY, BOUND_EXACT, facts, estimates, 2);
        if (result.kernel != cases[i].decides)
            fail_msg("case %zu: kernel %d decides", i, result.kernel);
    }
}

// A pair whose other operand is cut in several ways is as short as the shortest of them only if
// another one comes as near.
static void one_kind_of_breaker_is_a_bound(void **state)
{
    (void)state;
    static const struct {
        double clk[4]; // by a move, dense and filled; by a load; by a constant; 0: unstable
        double expected;
        enum bound bound;
    } cases[] = {
        {{3, 3, 3, 3},       3,  BOUND_EXACT},
        {{3, 3, 3, 2},       2,  BOUND_UPPER}, // a vpternlogd of a Zen 5
        {{3, 3, 2, 2},       2,  BOUND_EXACT},
        {{2, 3, 3, 3},       2,  BOUND_UPPER},
        {{3, 2, 3, 2.06},    2,  BOUND_EXACT},
        {{3, 2, 3, 3},       2,  BOUND_UPPER},
        {{3, 3, 0, 0},       3,  BOUND_UPPER},
        {{8, 8, 8.1, 9},     8,  BOUND_EXACT},
        {{90, 90, 90.5, 95}, 90, BOUND_EXACT},
    };
    const struct kernel_facts facts[] = {
        {"dense",           2, 4,  0, true},
        {"filled",          2, 14, 0, true},
        {PLAN_CUT_LOAD,     2, 4,  0, true},
        {PLAN_CUT_CONSTANT, 2, 4,  0, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct estimate estimates[4];
        for (int k = 0; k < 4; k++) {
            double clk = cases[i].clk[k];
            estimates[k] = (struct estimate){.outcome = clk > 0 ? OUTCOME_OK : OUTCOME_UNSTABLE,
                                             .clk = clk,
                                             .least_clk = clk,
                                             .most_clk = clk,
                                             .reached_clk = NAN,
                                             .nstates = 1};
        }
        struct test_result result = derive_test(TEST_LATENCY, BOUND_EXACT, facts, estimates, 4);
        if (fabs(result.clk - cases[i].expected) > 1e-9 || result.bound != cases[i].bound ||
            (result.bound == BOUND_UPPER && !*result.detail))
            fail_msg("case %zu: %.2f %s '%s'", i, result.clk, bound_name(result.bound),
                     result.detail);
    }
}

// A whole number in the dense chain, and less by up to a cycle in the filled one, are two states.
static void between_two_chains_there_are_two_states(void **state)
{
    (void)state;
    static const struct {
        double dense_clk, filled_clk, expected, most_clk; // 0: no range
        enum bound bound;
        bool average;
    } cases[] = {
        {2,   1.07, 1,    2,   BOUND_EXACT, false},
        {2,   1.44, 1,    2,   BOUND_EXACT, false},
        {4,   3.3,  3,    4,   BOUND_EXACT, false},
        {3,   1.5,  1.5,  3,   BOUND_EXACT, true }, // more than a cycle apart
        {2.5, 1.5,  1.5,  2.5, BOUND_EXACT, true },
        {2,   1.44, 1.44, 2,   BOUND_UPPER, false}, // a bridge may take part of it
        {1,   0.3,  0.3,  1,   BOUND_EXACT, false}, // done at rename
        {2,   1,    1,    2,   BOUND_EXACT, false},
    };
    const struct kernel_facts facts[] = {
        {"dense",  2, 2,  0, true},
        {"filled", 2, 16, 0, true}
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double clk[] = {cases[i].dense_clk, cases[i].filled_clk};
        struct estimate estimates[2];
        for (int k = 0; k < 2; k++)
            estimates[k] = (struct estimate){.outcome = OUTCOME_OK,
                                             .clk = clk[k],
                                             .least_clk = clk[k],
                                             .most_clk = clk[k],
                                             .nstates = 1};
        struct test_result result = derive_test(TEST_LATENCY, cases[i].bound, facts, estimates, 2);
        if (fabs(result.clk - cases[i].expected) > 1e-9 || result.average != cases[i].average ||
            fabs(result.most_clk - cases[i].most_clk) > 1e-9)
            fail_msg("case %zu: %.2f to %.2f%s", i, result.clk, result.most_clk,
                     result.average ? ", an average" : "");
        assert_true(fabs(result.filled_clk - cases[i].filled_clk) < 1e-9);
    }
}

static void ranges_are_of_all_shapes_and_states(void **state)
{
    (void)state;
    const struct kernel_facts facts[] = {
        {"dense",  12, 12, 1, true},
        {"filled", 12, 72, 1, true}
    };
    struct estimate estimates[] = {
        {.clk = 8.9, .least_clk = 8.2, .most_clk = 9.7, .average = true},
        {.clk = 9,   .least_clk = 9,   .most_clk = 10,  .nstates = 2   },
    };
    struct test_result result = derive_test(TEST_LATENCY, BOUND_UPPER, facts, estimates, 2);
    assert_true(fabs(result.clk - 8) < 1e-9); // what is steady says more than an average
    assert_false(result.average);
    assert_int_equal(result.nstates, 2);
    assert_true(fabs(result.least_clk - 7.2) < 1e-9 && fabs(result.most_clk - 9) < 1e-9);
    estimates[1].outcome = OUTCOME_UNSTABLE;
    result = derive_test(TEST_LATENCY, BOUND_UPPER, facts, estimates, 2);
    assert_int_equal(result.outcome, OUTCOME_OK);
    assert_true(fabs(result.clk - 7.9) < 1e-9 && result.average);
    assert_true(fabs(result.most_clk - 8.7) < 1e-9);
}

// A steady state says more than an average, but not if it is slower than all of that; whichever of
// the two comes first.
static void a_fast_average_decides(void **state)
{
    (void)state;
    const struct estimate average = {.clk = 3, .least_clk = 2.9, .most_clk = 3.1, .average = true};
    static const struct {
        double steady_clk, expected;
    } cases[] = {
        {3.05, 2.05},
        {4,    2   },
        {2.5,  1.5 },
    };
    const struct kernel_facts facts[] = {
        {"dense",  12, 12, 1, true},
        {"filled", 12, 72, 1, true}
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double clk = cases[i].steady_clk;
        struct estimate steady = {.clk = clk, .least_clk = clk, .most_clk = clk, .nstates = 1};
        const struct estimate both[2][2] = {
            {average, steady },
            {steady,  average}
        };
        for (int order = 0; order < 2; order++) {
            struct test_result result =
                derive_test(TEST_LATENCY, BOUND_UPPER, facts, both[order], 2);
            assert_true(fabs(result.clk - cases[i].expected) < 1e-9);
        }
    }
}

// Slots that fillers take from the front end are no latency of the instruction beside them.
static void the_front_end_is_in_no_range(void **state)
{
    (void)state;
    static const struct {
        double filled_clk;
        bool near; // 14 instructions for two links
    } cases[] = {
        {1.17, true },
        {1.23, true },
        {1.45, true },
        {1.6,  false},
        {2,    false}
    };
    const struct kernel_facts facts[] = {
        {"dense",  2, 4,  0, true},
        {"filled", 2, 14, 0, true}
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sample samples[2][2][SAMPLES];
        struct estimate estimates[2];
        for (int k = 0; k < 2; k++) {
            double clk = k ? cases[i].filled_clk : 1;
            const struct timing timings[] = {make_timing(samples[k][0], 1, clk, 2, NULL),
                                             make_timing(samples[k][1], 2, clk, 2, NULL)};
            estimates[k] = derive_kernel(&facts[k], WIDTH, timings, 2);
        }
        assert_false(estimates[0].front_end);
        assert_int_equal(estimates[1].front_end, cases[i].near);
        struct test_result result = derive_test(TEST_LATENCY, BOUND_EXACT, facts, estimates, 2);
        assert_true(fabs(result.clk - 1) < 0.001);
        assert_int_equal(isnan(result.most_clk), cases[i].near);
        assert_true(fabs(result.filled_clk - cases[i].filled_clk) < 0.005);
    }
}

// The minimum of the rest would be too large if the failed shape is the fastest.
static void a_throughput_needs_all_its_shapes(void **state)
{
    (void)state;
    static const enum outcome failures[] = {OUTCOME_UNSUPPORTED, OUTCOME_ASM_FAILED,
                                            OUTCOME_LINK_FAILED, OUTCOME_SIGNALLED,
                                            OUTCOME_TIMED_OUT,   OUTCOME_NOT_MEASURABLE};
    const struct kernel_facts facts[] = {
        {"n4", 4, 4, 0, false},
        {"n8", 8, 8, 0, false}
    };
    for (int failed = 0; failed < 2; failed++)
        for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
            struct estimate estimates[2] = {
                {.outcome = OUTCOME_OK, .clk = 1},
                {.outcome = OUTCOME_OK, .clk = 1}
            };
            estimates[failed].outcome = failures[i];
            struct test_result result =
                derive_test(TEST_THROUGHPUT, BOUND_EXACT, facts, estimates, 2);
            assert_int_equal(result.outcome, failures[i]);
            assert_int_equal(result.kernel, -1);
            assert_true(isnan(result.clk));
        }
}

// Nor is it the smallest if a shape without a steady state was seen to be faster, two samples in
// each of two passes; one that is slower in all that came back changes nothing.
static void an_unstable_shape_may_be_the_fastest(void **state)
{
    (void)state;
    static const struct {
        double clk, reached_clk;
        enum outcome outcome;
    } cases[] = {
        {0.5,  0.62,        OUTCOME_OK      },
        {0.5,  0.5,         OUTCOME_OK      },
        {0.5,  0.4975,      OUTCOME_OK      }, // the same state
        {0.5,  0.49,        OUTCOME_UNSTABLE},
        {0.5,  0.31,        OUTCOME_UNSTABLE},
        {0.17, 0.168,       OUTCOME_OK      }, // within three thousandths of a cycle
        {0.17, 0.165,       OUTCOME_UNSTABLE},
        {0.5,  (double)NAN, OUTCOME_UNSTABLE}  // hardly measured: nobody knows
    };
    const struct kernel_facts facts[] = {
        {"n4", 4, 4, 0, false},
        {"n8", 8, 8, 0, false}
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int unstable = 0; unstable < 2; unstable++) {
            struct estimate estimates[2] = {
                {.outcome = OUTCOME_OK, .clk = cases[i].clk},
                {.outcome = OUTCOME_OK, .clk = cases[i].clk}
            };
            estimates[unstable] =
                (struct estimate){.outcome = OUTCOME_UNSTABLE, .reached_clk = cases[i].reached_clk};
            struct test_result result =
                derive_test(TEST_THROUGHPUT, BOUND_EXACT, facts, estimates, 2);
            assert_int_equal(result.outcome, cases[i].outcome);
            assert_int_equal(result.kernel, cases[i].outcome == OUTCOME_OK ? !unstable : -1);
            assert_int_equal(isnan(result.clk), cases[i].outcome != OUTCOME_OK);
            assert_int_equal(*result.detail != 0, cases[i].outcome != OUTCOME_OK);
        }
}

// A shape that was measured in full and came to no state gives a bound: what it reached, if that is
// less than the others' values.
static void what_scatters_has_a_bound(void **state)
{
    (void)state;
    static const struct {
        double clk;            // of the first shape; NaN: it was timed out
        double reached_clk[2]; // of the other two
        bool scattered[2];
        double expected; // NaN: unstable or worse
        int kernel;
        bool upper;
    } cases[] = {
        {0.5,         {0.4, 0.45},  {true, true},  0.4,         1,  true },
        {0.5,         {0.45, 0.36}, {true, true},  0.36,        2,  true },
        {0.5,         {0.6, 0.36},  {true, true},  0.36,        2,  true },
        {0.5,         {0.6, 0.7},   {true, true},  0.5,         0,  false},
        {0.5,         {0.4, 0.36},  {true, false}, (double)NAN, -1, false},
        {0.5,         {0.4, 0.7},   {true, false}, 0.4,         1,  true }, // slower for certain
        {(double)NAN, {0.4, 0.36},  {true, true},  (double)NAN, -1, false},
    };
    const struct kernel_facts facts[] = {
        {"n4",  4,  4,  0, false},
        {"n8",  8,  8,  0, false},
        {"n12", 12, 12, 0, false}
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct estimate estimates[3] = {
            {.outcome = OUTCOME_OK, .clk = cases[i].clk, .nstates = 1}
        };
        if (isnan(cases[i].clk))
            estimates[0] = (struct estimate){.outcome = OUTCOME_TIMED_OUT, .reached_clk = NAN};
        for (int k = 0; k < 2; k++)
            estimates[k + 1] = (struct estimate){.outcome = OUTCOME_UNSTABLE,
                                                 .reached_clk = cases[i].reached_clk[k],
                                                 .scattered = cases[i].scattered[k]};
        struct test_result result = derive_test(TEST_THROUGHPUT, BOUND_EXACT, facts, estimates, 3);
        bool ok = !isnan(cases[i].expected);
        assert_int_equal(result.outcome == OUTCOME_OK, ok);
        assert_int_equal(result.kernel, cases[i].kernel);
        assert_true(ok ? result.clk == cases[i].expected : isnan(result.clk));
        assert_int_equal(result.bound, cases[i].upper ? BOUND_UPPER : BOUND_EXACT);
        assert_int_equal(derive_is_scattered(&result), cases[i].upper);
    }
    // No shape has a state.
    const struct estimate unstable[] = {
        {.outcome = OUTCOME_UNSTABLE, .reached_clk = 0.53, .scattered = true},
        {.outcome = OUTCOME_UNSTABLE, .reached_clk = 0.51, .scattered = true}
    };
    struct test_result result = derive_test(TEST_THROUGHPUT, BOUND_EXACT, facts, unstable, 2);
    assert_int_equal(result.outcome, OUTCOME_OK);
    assert_int_equal(result.kernel, 1);
    assert_true(result.clk == 0.51);
}

// Three passes at the least, all of them measured.
static void few_passes_do_not_scatter(void **state)
{
    (void)state;
    static const double factors[SAMPLES] = {1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7};
    struct sample samples[3][SAMPLES];
    struct timing timings[3];
    for (int p = 0; p < 3; p++)
        timings[p] = make_timing(samples[p], p + 1, 0.4 + 0.013 * p, 8, factors);
    const struct kernel_facts facts = {"n8", 8, 8, 0, false};
    assert_true(derive_kernel(&facts, 0, timings, 3).scattered);
    assert_false(derive_kernel(&facts, 0, timings, 2).scattered);
    timings[2].outcome = OUTCOME_UNSTABLE;
    timings[2].nsamples = 0;
    assert_false(derive_kernel(&facts, 0, timings, 3).scattered);
}

static void what_was_reached_is_reached_in_two_passes(void **state)
{
    (void)state;
    static const double factors[][SAMPLES] = {
        {1,    1.1,  1.2,  1.3,  1.4,  1.5,  1.6,  1.7 },
        {1.05, 1.15, 1.25, 1.35, 1.45, 1.55, 1.65, 1.75},
        {0.5,  1.15, 1.25, 1.35, 1.45, 1.55, 1.65, 1.75}, // one fast sample is chance
    };
    struct sample a[SAMPLES], b[SAMPLES], c[SAMPLES];
    const struct kernel_facts facts = {"n4", 4, 4, 0, false};
    const struct timing timings[] = {make_timing(a, 1, 3, 4, factors[0]),
                                     make_timing(b, 2, 3, 4, factors[1]),
                                     make_timing(c, 3, 3, 4, factors[2])};
    struct estimate estimate = derive_kernel(&facts, 0, timings, 2);
    assert_int_equal(estimate.outcome, OUTCOME_UNSTABLE);
    assert_true(fabs(estimate.reached_clk - 3 * 1.15) < 0.003);
    estimate = derive_kernel(&facts, 0, &timings[1], 2);
    assert_true(fabs(estimate.reached_clk - 3 * 1.15) < 0.003);
    estimate = derive_kernel(&facts, 0, &timings[0], 1); // all there is
    assert_true(fabs(estimate.reached_clk - 3 * 1.1) < 0.003);
    estimate = derive_kernel(&facts, 0, NULL, 0);
    assert_true(isnan(estimate.reached_clk));
}

static void one_failed_shape_does_not_hide_the_other(void **state)
{
    (void)state;
    const struct kernel_facts facts[] = {
        {"n4", 4, 4, 0, false},
        {"n8", 8, 8, 0, false}
    };
    struct estimate estimates[] = {
        {.outcome = OUTCOME_UNSTABLE, .reached_clk = 0.6},
        {.outcome = OUTCOME_OK,       .clk = 0.5        }
    };
    struct test_result result = derive_test(TEST_THROUGHPUT, BOUND_EXACT, facts, estimates, 2);
    assert_int_equal(result.outcome, OUTCOME_OK);
    assert_int_equal(result.kernel, 1);
    assert_true(isnan(result.dense_clk));
    estimates[1].outcome = OUTCOME_TIMED_OUT;
    result = derive_test(TEST_THROUGHPUT, BOUND_EXACT, facts, estimates, 2);
    assert_int_not_equal(result.outcome, OUTCOME_OK);
    assert_true(isnan(result.clk));
}

// The smaller of two chains, of which one came to nothing: at most that, unless the other was never
// as fast.
static void one_chain_is_a_bound(void **state)
{
    (void)state;
    static const struct {
        double reached_clk;
        enum bound bound;
    } cases[] = {
        {(double)NAN, BOUND_UPPER},
        {1.1,         BOUND_UPPER},
        {2.4,         BOUND_EXACT},
    };
    const struct kernel_facts facts[] = {
        {"dense",  1, 1, 0, true},
        {"filled", 1, 8, 0, true}
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct estimate estimates[] = {
            {.outcome = OUTCOME_OK, .clk = 2, .nstates = 1},
            {.outcome = OUTCOME_UNSTABLE,                     .reached_clk = cases[i].reached_clk  }
        };
        struct test_result result = derive_test(TEST_LATENCY, BOUND_EXACT, facts, estimates, 2);
        assert_int_equal(result.outcome, OUTCOME_OK);
        assert_true(result.clk == 2 && isnan(result.filled_clk));
        assert_int_equal(result.bound, cases[i].bound);
        assert_int_equal(*result.detail != 0, cases[i].bound == BOUND_UPPER);
    }
}

enum { OVERHEAD_CLK = 70 };

// Adds counted cycles to a timing of make_timing(): `clk` an instance.
static void make_counted(struct timing *timing, struct sample *samples, double clk, int instances)
{
    timing->counted = true;
    timing->overhead_counted_clk = OVERHEAD_CLK;
    for (int i = 0; i < SAMPLES; i++)
        samples[i].counted_clk =
            (uint32_t)lround(clk * instances * timing->copies * timing->iterations + OVERHEAD_CLK);
}

static void counted_cycles_replace_the_calibration(void **state)
{
    (void)state;
    struct sample a[SAMPLES], b[SAMPLES];
    struct timing timings[] = {make_timing(a, 1, 3.02, 12, NULL),
                               make_timing(b, 2, 3.02, 12, NULL)};
    const struct kernel_facts facts = {"dense", 12, 12, 0, false};
    struct estimate estimate = derive_kernel(&facts, WIDTH, timings, 2);
    assert_true(fabs(estimate.clk - 3.02) < 0.002);
    assert_true(isnan(estimate.calibrated_clk));
    // One timing without counts: a value is never made of both.
    make_counted(&timings[0], a, 3, 12);
    estimate = derive_kernel(&facts, WIDTH, timings, 2);
    assert_true(fabs(estimate.clk - 3.02) < 0.002);
    assert_true(isnan(estimate.calibrated_clk));
    assert_false(estimate.doubted);
    make_counted(&timings[1], b, 3, 12);
    estimate = derive_kernel(&facts, WIDTH, timings, 2);
    assert_int_equal(estimate.outcome, OUTCOME_OK);
    assert_true(fabs(estimate.clk - 3) < 0.0001);
    assert_true(fabs(estimate.calibrated_clk - 3.02) < 0.002);
    assert_int_equal(estimate.accepted, 2 * SAMPLES);
    assert_false(estimate.doubted);
}

// The loop's own µop is taken off whoever counts the cycles.
static void counted_loops_at_the_front_end_pay_no_own_uop(void **state)
{
    (void)state;
    struct sample a[SAMPLES];
    const double loop_clk = 385.0 / WIDTH;
    struct timing timing = make_timing(a, 1, loop_clk / 384, 12, NULL);
    make_counted(&timing, a, loop_clk / 384, 12);
    const struct kernel_facts facts = {"n12", 12, 12, 0, false};
    struct estimate estimate = derive_kernel(&facts, WIDTH, &timing, 1);
    assert_true(fabs(estimate.clk - 1.0 / WIDTH) < 1e-4);
    assert_true(fabs(estimate.calibrated_clk - 1.0 / WIDTH) < 1e-4);
}

// Counts that contradict the calibration, and counts of nothing: reference cycles, a counter that
// stood still.
static void counts_that_cannot_be_true_are_left_out(void **state)
{
    (void)state;
    static const double counted[] = {2.4, 3.6, 0};
    const struct kernel_facts facts = {"dense", 12, 12, 0, false};
    for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++) {
        struct sample a[SAMPLES], b[SAMPLES];
        struct timing timings[] = {make_timing(a, 1, 3, 12, NULL), make_timing(b, 2, 3, 12, NULL)};
        make_counted(&timings[0], a, counted[i], 12);
        make_counted(&timings[1], b, counted[i], 12);
        struct estimate estimate = derive_kernel(&facts, WIDTH, timings, 2);
        assert_int_equal(estimate.outcome, OUTCOME_OK);
        assert_true(estimate.doubted);
        assert_true(fabs(estimate.clk - 3) < 0.001);
        assert_true(isnan(estimate.calibrated_clk));
    }
}

// An interrupt is in the ticks of a sample, and not in its counted cycles.
static void counted_cycles_know_no_interrupts(void **state)
{
    (void)state;
    static const double factors[SAMPLES] = {1, 1.3, 1, 1.2, 1, 1.1, 1, 1};
    struct sample a[SAMPLES], b[SAMPLES];
    struct timing timings[] = {make_timing(a, 1, 3, 12, factors),
                               make_timing(b, 2, 3, 12, factors)};
    make_counted(&timings[0], a, 3, 12);
    make_counted(&timings[1], b, 3, 12);
    const struct kernel_facts facts = {"dense", 12, 12, 0, false};
    struct estimate estimate = derive_kernel(&facts, WIDTH, timings, 2);
    assert_false(estimate.doubted);
    assert_true(fabs(estimate.clk - 3) < 0.0001);
    assert_true(estimate.spread_clk < 0.0001);
}

// Instances that wait for each other are a shape of the throughput, too, if they take less time.
static void chains_are_shapes_of_the_throughput(void **state)
{
    (void)state;
    static const struct {
        double chain_clk, expected;
    } cases[] = {
        {6.2, 6.2},
        {7.4, 7.5}, // no more than noise
        {9,   7.5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sample samples[2][2][SAMPLES];
        struct timing timings[2][2];
        struct executed_kernel kernels[2];
        for (int k = 0; k < 2; k++) {
            for (int pass = 0; pass < 2; pass++)
                timings[k][pass] =
                    make_timing(samples[k][pass], pass + 1, k ? cases[i].chain_clk : 7.5, 8, NULL);
            kernels[k] = (struct executed_kernel){
                .facts = {k ? "dense" : "n8", 8, 8, 0, k == 1},
                .detail = "",
                .timings = timings[k],
                .ntimings = 2
            };
        }
        const struct executed_test tests[] = {
            {.kind = TEST_THROUGHPUT,
             .detail = "",
             .kernels = &kernels[0],
             .nkernels = 1,
             .variant = "",
             .src = ""},
            {.kind = TEST_LATENCY,
             .detail = "",
             .kernels = &kernels[1],
             .nkernels = 1,
             .variant = "",
             .src = ""},
        };
        struct arena arena = {0};
        struct derived_test derived[2];
        derive_form(tests, 2, WIDTH, &arena, derived);
        assert_true(fabs(derived[0].result.clk - cases[i].expected) < 0.01);
        assert_int_equal(derived[0].result.kernel, cases[i].expected < 7 ? -1 : 0);
        assert_int_equal(*derived[0].result.detail != '\0', cases[i].expected < 7);
        arena_free(&arena);
    }
}

static void one_throughput_stands_for_the_form(void **state)
{
    (void)state;
    static const struct {
        const char *variants[4];
        double clk[4], expected;
    } cases[] = {
        {{NULL},                               {0},          (double)NAN},
        {{""},                                 {2},          2          },
        {{"setting"},                          {0.5},        (double)NAN}, // not of the form
        {{"", "setting"},                      {3, 0.5},     3          },
        {{"fast", "slow"},                     {5, 7},       5          },
        {{"slow", "fast"},                     {4, 5},       5          }, // not the least
        {{"slow", "slow2", "slow3"},           {7, 9, 8},    9          }, // fast data gave none
        {{"slow2", "fast", "setting", "slow"}, {9, 5, 1, 7}, 5          },
        {{"", "again copies"},                 {3, 2},       3          },
        {{"", "i8=0"},                         {4, 2},       4          }, // not the usual value
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct form_throughput form = {0};
        for (int t = 0; t < 4 && cases[i].variants[t]; t++)
            form_throughput_add(&form, cases[i].variants[t], cases[i].clk[t]);
        double clk = form_throughput_clk(&form);
        assert_true(clk == cases[i].expected || (isnan(clk) && isnan(cases[i].expected)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latency_comes_back),
        cmocka_unit_test(front_end_bound_loops_pay_no_own_uop),
        cmocka_unit_test(outliers_do_not_move_the_value),
        cmocka_unit_test(the_fastest_confirmed_state_counts),
        cmocka_unit_test(states_within_a_pass),
        cmocka_unit_test(rare_states),
        cmocka_unit_test(a_state_is_where_its_samples_are),
        cmocka_unit_test(executions_that_differ_have_one_mean),
        cmocka_unit_test(whole_cycles_say_more_than_means),
        cmocka_unit_test(no_state_no_value),
        cmocka_unit_test(small_states_of_chains),
        cmocka_unit_test(all_states_are_named),
        cmocka_unit_test(averages),
        cmocka_unit_test(failed_timings_keep_their_outcome),
        cmocka_unit_test(tests_take_the_smallest_shape),
        cmocka_unit_test(a_chain_of_bridges_only_has_no_latency),
        cmocka_unit_test(a_chain_through_a_flag_takes_a_cycle),
        cmocka_unit_test(latencies_between_whole_cycles_are_averages),
        cmocka_unit_test(of_chains_that_agree_the_nearest_to_whole_cycles_counts),
        cmocka_unit_test(between_two_chains_there_are_two_states),
        cmocka_unit_test(one_kind_of_breaker_is_a_bound),
        cmocka_unit_test(ranges_are_of_all_shapes_and_states),
        cmocka_unit_test(a_fast_average_decides),
        cmocka_unit_test(the_front_end_is_in_no_range),
        cmocka_unit_test(a_throughput_needs_all_its_shapes),
        cmocka_unit_test(an_unstable_shape_may_be_the_fastest),
        cmocka_unit_test(what_scatters_has_a_bound),
        cmocka_unit_test(few_passes_do_not_scatter),
        cmocka_unit_test(what_was_reached_is_reached_in_two_passes),
        cmocka_unit_test(one_failed_shape_does_not_hide_the_other),
        cmocka_unit_test(one_chain_is_a_bound),
        cmocka_unit_test(counted_cycles_replace_the_calibration),
        cmocka_unit_test(counted_loops_at_the_front_end_pay_no_own_uop),
        cmocka_unit_test(counts_that_cannot_be_true_are_left_out),
        cmocka_unit_test(counted_cycles_know_no_interrupts),
        cmocka_unit_test(chains_are_shapes_of_the_throughput),
        cmocka_unit_test(one_throughput_stands_for_the_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
