// SPDX-License-Identifier: MIT
// Stage 6: from samples to results. Pure, so that stored samples can enter again (`latput
// rederive`). Method: docs/MEASUREMENT.md.
#pragma once

#include "core/outcome.h"
#include "execute/timing.h"
#include "plan/plan.h"
#include "util/mem.h"

#include <stdbool.h>

// Facts of a kernel that its value depends on; a subset of struct kernel_spec that the database
// keeps.
struct kernel_facts {
    const char *shape;
    int instances, instrs;
    double extra_clk;
    bool chain; // each instance waits for the one before: a neighbour's work hardly shows
};

// Samples of one speed that came back: in two passes at the least, two samples in each.
struct steady_state {
    double clk;   // core cycles per instance
    double share; // share of all samples
    int passes;   // passes that have it
};
enum { STATES_MAX = 6 };

struct estimate {
    enum outcome outcome; // OK or UNSTABLE (or the timing's)
    double clk;           // core cycles per instance (bridges not subtracted)
    double spread_clk;    // interquartile range of all samples
    int accepted, tried;  // sums over the passes
    int pass;             // the one that contributes most
    double share;         // share of the samples in the state that gives the value
    // clk by the calibration if clk is by a counter; else NaN.
    double calibrated_clk;
    bool doubted; // there were counts, but they cannot be true, and were left out
    // No two samples need agree, but all passes scatter about one value: the core changes its speed
    // within a timing. clk is then the median; only of chains and streams.
    bool average;
    // The fastest and the slowest of the states, or what one and nine of ten samples are below
    // where clk is an average.
    double least_clk, most_clk;
    // So near to what the issue width allows that the front end may be what takes the time: fillers
    // beside a link of one cycle. Then clk is no less than the latency, but may be more.
    bool front_end;
    // Fastest value that came as often as a state asks for, two samples in each of two passes,
    // whether or not these agree. A kernel without a value may be as fast. NaN: there are too few
    // samples.
    double reached_clk;
    // All passes were measured, three at least, and came to no state: not for want of samples.
    bool scattered;
    int nstates;                            // 0 where clk is an average
    struct steady_state states[STATES_MAX]; // ascending
};

// Returns the core cycles per instance of one sample; nothing is taken off but the overhead of
// timing.
double derive_sample_clk(const struct kernel_facts *facts, const struct timing *timing,
                         const struct sample *sample);
// Returns the same by the counter of a counted timing.
double derive_sample_counted_clk(const struct kernel_facts *facts, const struct timing *timing,
                                 const struct sample *sample);

// Derives the value of a kernel: the mean of its fastest steady state that two passes confirm. A
// chain's state between whole cycles gives way to a state of whole cycles less than a cycle slower,
// or else stands for its whole cluster. A chain or stream without a state has the median if its
// passes agree. Values are in cycles of a counter if all timings have these and they are plausible
// (plausible_clk_check), else of the calibration. `issue_width` is as in struct plan_params: from a
// body that the front end limits the loop's own µop is subtracted.
struct estimate derive_kernel(const struct kernel_facts *facts, int issue_width,
                              const struct timing *timings, int ntimings);

// Result of a test over its kernels' estimates: the kernel that decides, value, spread and bound. A
// throughput is the smallest of several shapes. It has no value if a shape without one may be the
// smallest: one that failed, or an unstable one that was seen to be faster than the rest. If all
// were measured in full and none has a steady state, the fastest value that came again and again is
// an upper bound, without states, and the detail says so. A latency is the smaller of two chains;
// it is an upper bound if the other chain has no value and may be faster.
struct test_result {
    enum outcome outcome;
    const char *detail; // reason, unless ok
    double clk;         // latency or reciprocal throughput in core cycles
    double dense_clk;   // latency: the dense chain; else NaN
    double filled_clk;  // latency: the filled chain; else NaN
    // The value is the mean of executions of different latency: it is no whole number of cycles
    // though the chain has nothing else, or the core changed its speed all the time.
    bool average;
    double least_clk, most_clk; // latency: of all states of all kernels; NaN: there is one only
    int nstates;                // steady states of the deciding kernel
    double spread_clk;
    int accepted, tried;
    enum bound bound;
    int kernel; // index of the deciding kernel, -1 if none
};
struct test_result derive_test(enum test_kind kind, enum bound bound,
                               const struct kernel_facts *facts, const struct estimate *estimates,
                               int nkernels);

// Returns true if a throughput has no steady state and only a bound. The database has no states of
// it (`states` = 0).
static inline bool derive_is_scattered(const struct test_result *result)
{
    return result->outcome == OUTCOME_OK && result->bound == BOUND_UPPER && result->nstates == 0;
}

// A test of the variant PLAN_FALSE, beside the form's throughput (NaN: not known): the chain
// through what the instruction overwrites is one only if it takes longer than its instructions one
// beside the other. Without one the value is exact, and 0.
void derive_false(const struct kernel_facts *facts, double throughput_clk,
                  struct test_result *result);

// Removes a latency of less than a cycle from a chain that begins with a flag and has no bridges:
// no CPU passes a flag on without executing something.
void derive_flag(struct test_result *result);

// Facts of a form's execution, as they are measured and as the database keeps them. Texts and
// arrays are the caller's.
struct executed_kernel {
    struct kernel_facts facts;
    enum outcome outcome;
    const char *detail; // reason, unless ok
    const struct timing *timings;
    int ntimings;
};
struct executed_test {
    enum test_kind kind;
    enum bound bound;
    enum outcome planned; // outcome without kernels, with its reason in `detail`
    const char *detail;
    const struct executed_kernel *kernels;
    int nkernels;
    const char *variant;
    const char *src; // latency: the operand that its chain begins with; else ""
};

// Results that follow from the facts. A kernel that was executed well is unstable if its passes
// disagree.
struct derived_kernel {
    enum outcome outcome;
    const char *detail;
    struct estimate estimate;
};
struct derived_test {
    struct test_result result;
    const struct derived_kernel *kernels; // one per kernel of the executed test
};

// Derives the results of all tests of a form, one of `derived` each; the one way from samples to
// results. The arena owns the results; texts are the caller's or literals.
void derive_form(const struct executed_test *tests, int ntests, int issue_width,
                 struct arena *arena, struct derived_test *derived);

// Removes the conclusion that passes disagree from a kernel of the database, so that it can be
// drawn again; all other outcomes stay.
void derive_take_back(struct executed_kernel *kernel);
