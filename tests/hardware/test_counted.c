// SPDX-License-Identifier: MIT
// Counters that kernels read by themselves. No counter of this machine is needed: the core can read
// the time-stamp counter in the place of one, through the same stubs, records and stages, and what
// it must give then is known from the clock. test_counted_hardware is of real counters.
#include "counters/count.h"
#include "derive/derive.h"
#include "execute/exec.h"
#include "measure/session.h"
#include "util/quantile.h"

#include <linux/perf_event.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { ONE = 1 << 16, TAKE_ALL = 1000000000, TRIES = 6 }; // ONE: of the TSC as a counter

struct bodies {
    struct session session;
    struct arena arena;
    struct program program;
};

static const char *const bodies_text[] = {"imul eax, eax\n", "nop\nnop\nnop\nnop\n",
                                          "mov ecx, 1\nmov edx, 1\nmov eax, 1\n"};
enum { BODIES = sizeof bodies_text / sizeof bodies_text[0] };

// A program with a chain, nops, and a body that changes the registers in which counters are read.
// False if it cannot be built or run in that mode.
static bool bodies_build(struct bodies *bodies, int bits)
{
    static struct kernel_spec specs[BODIES];
    static const struct list_row row = {.form = "test", .mnemonic = "test"};
    static const struct test test = {.kind = TEST_THROUGHPUT};
    struct gen_kernel kernels[BODIES];
    struct err err = {0};
    *bodies = (struct bodies){.arena = {0}};
    if (session_begin(-1, NULL, &bodies->session, &err) != 0 ||
        session_make_directory(&bodies->session, &err) != 0)
        fail_msg("%s", err.text);
    for (int i = 0; i < BODIES; i++) {
        specs[i] = (struct kernel_spec){
            .shape = "n1", .body = bodies_text[i], .init = "", .instances = 1, .instrs = 4};
        kernels[i] = (struct gen_kernel){.row = &row, .test = &test, .spec = &specs[i]};
    }
    const struct assemble_options build = {
        .directory = bodies->session.directory, .stem = "bodies", .bits = bits};
    if (assemble_program(kernels, BODIES, &build, &bodies->arena, &bodies->program, &err) != 0) {
        print_message("%d bits: %s\n", bits, err.text);
        return false;
    }
    struct core_config *config = &bodies->session.params.config;
    config->canary = 1;
    config->floor_clk_per_instr = 1;
    config->canary_tolerance = TAKE_ALL; // the test is about counts, not about a quiet machine
    config->calib_tolerance = TAKE_ALL;
    config->passes = 2;
    config->pass_gap_ms = 0;
    if (bits == 32 && session_probe_32(&bodies->session, &err) != 0) {
        print_message("%s\n", err.text);
        return false;
    }
    return true;
}

static void bodies_free(struct bodies *bodies)
{
    if (bodies->program.path)
        unlink(bodies->program.path);
    arena_free(&bodies->arena);
    session_end(&bodies->session, false);
}

static void bodies_run(struct bodies *bodies, int bits, const struct core_counter *counters, int n,
                       struct exec_kernel kernels[BODIES], struct exec_summary *summary)
{
    struct err err = {0};
    struct exec_params params = session_params(&bodies->session, bits);
    params.counters = counters;
    params.ncounters = n;
    params.config.counts_clk = n > 0;
    for (int i = 0; i < BODIES; i++)
        kernels[i] = (struct exec_kernel){.selected = true};
    const struct exec_job job = {bodies->program.path, &params, kernels, BODIES, NULL, NULL};
    if (exec_run(&job, &bodies->arena, summary, &err) != 0)
        fail_msg("%s", err.text);
}

static double median(const struct timing *timing, bool counted)
{
    double values[CORE_SAMPLES_MAX];
    for (int i = 0; i < timing->nsamples; i++) {
        const struct sample *sample = &timing->samples[i];
        double value = counted ? sample->counted_clk - timing->overhead_counted_clk
                               : sample->kernel_tsc - timing->overhead_tsc;
        values[i] = value;
    }
    quantile_sort(values, timing->nsamples);
    return quantile_median(values, timing->nsamples);
}

// Half, twice and as much as the clock. An interrupt may come between two readings, so that single
// samples may be off; half of them must not be.
static int samples_wrong(const struct timing *timing, const struct exec_counts *counts)
{
    int off = 0;
    assert_non_null(counts);
    assert_int_equal(counts->ncounters, 3);
    for (int i = 0; i < timing->nsamples; i++) {
        const uint32_t *sample = counts->samples[i];
        assert_int_equal(sample[0], timing->samples[i].counted_clk);
        // One is read as long after the other at the end as at the beginning.
        off += fabs(sample[1] / 2.0 - sample[0]) > 150 || fabs(sample[2] * 4.0 - sample[0]) > 150;
    }
    return off > timing->nsamples / 2;
}

// Returns how many comparisons with the clock are wrong.
static int counts_wrong(struct bodies *bodies, int bits)
{
    const struct core_counter ticks[] = {
        {.source = CORE_COUNTER_TSC, .config = ONE    },
        {.source = CORE_COUNTER_TSC, .config = 2 * ONE},
        {.source = CORE_COUNTER_TSC, .config = ONE / 4}
    };
    struct exec_kernel kernels[BODIES];
    struct exec_summary summary;
    bodies_run(bodies, bits, ticks, 3, kernels, &summary);
    double link_tsc = summary.link_counts[0];
    print_message("%d bits: a link takes %.3f ticks, by the clock %.3f\n", bits, link_tsc,
                  summary.calib_link_clk *
                      (bodies->session.params.config.tsc_hz / summary.core_hz));
    int wrong = fabs(summary.link_counts[1] / link_tsc - 2) > 0.02;
    wrong += fabs(summary.link_counts[2] / link_tsc - 0.25) > 0.01;
    for (int k = 0; k < BODIES; k++) {
        assert_int_equal(kernels[k].outcome, OUTCOME_OK);
        assert_true(kernels[k].ntimings >= 2);
        for (int t = 0; t < kernels[k].ntimings; t++) {
            const struct timing *timing = &kernels[k].timings[t];
            double by_clock = median(timing, false), by_counter = median(timing, true);
            print_message("kernel %d pass %d: %.1f ticks by the clock, %.1f by the counter\n", k,
                          timing->pass, by_clock, by_counter);
            assert_true(timing->counted);
            wrong += fabs(by_counter / by_clock - 1) > 0.01;
            wrong += samples_wrong(timing, kernels[k].counts[t]);
        }
    }
    return wrong;
}

static void check_counts(int bits)
{
    struct bodies bodies;
    if (!bodies_build(&bodies, bits)) {
        bodies_free(&bodies);
        skip();
    }
    int wrong = 1;
    for (int tries = 0; tries < TRIES && wrong; tries++) // the machine may be busy
        wrong = counts_wrong(&bodies, bits);
    assert_int_equal(wrong, 0);
    bodies_free(&bodies);
}

static void a_counter_that_is_the_clock_gives_the_clock(void **state)
{
    (void)state;
    check_counts(64);
}

static void the_same_in_32_bit_mode(void **state)
{
    (void)state;
    check_counts(32);
}

static void without_counters_nothing_is_counted(void **state)
{
    (void)state;
    struct bodies bodies;
    struct exec_kernel kernels[BODIES];
    struct exec_summary summary;
    assert_true(bodies_build(&bodies, 64));
    bodies_run(&bodies, 64, NULL, 0, kernels, &summary);
    for (int k = 0; k < BODIES; k++)
        for (int t = 0; t < kernels[k].ntimings; t++) {
            assert_false(kernels[k].timings[t].counted);
            assert_null(kernels[k].counts[t]);
            assert_int_equal(kernels[k].timings[t].samples[0].counted_clk, 0);
        }
    bodies_free(&bodies);
}

// Finds the core's message about a counter that it cannot read.
static void counter_refused(const struct core_counter *counter, struct err *err)
{
    struct bodies bodies;
    struct exec_summary summary;
    assert_true(bodies_build(&bodies, 64));
    struct exec_params params = session_params(&bodies.session, 64);
    struct exec_kernel kernels[BODIES] = {{.selected = true}};
    params.counters = counter;
    params.ncounters = 1;
    const struct exec_job job = {bodies.program.path, &params, kernels, BODIES, NULL, NULL};
    assert_int_equal(exec_run(&job, &bodies.arena, &summary, err), -1);
    print_message("%s\n", err->text);
    bodies_free(&bodies);
}

// RDPMC that the system keeps from user code faults; the core says so instead of measuring nothing.
static void a_counter_that_faults_is_an_error(void **state)
{
    (void)state;
    const struct core_counter wrong = {
        .source = CORE_COUNTER_RDPMC, .rdpmc = 0x7ffffff0, .bits = 48};
    struct err err = {0};
    counter_refused(&wrong, &err);
    assert_non_null(strstr(err.text, "RDPMC faults"));
}

// The core reads counters of perf to which the kernel gives a number for RDPMC; software events
// have none.
static void a_counter_without_a_number_is_an_error(void **state)
{
    (void)state;
    const struct core_counter software = {.source = CORE_COUNTER_PERF,
                                          .type = PERF_TYPE_SOFTWARE,
                                          .config = PERF_COUNT_SW_TASK_CLOCK,
                                          .exclude_kernel = 1};
    struct err err = {0};
    counter_refused(&software, &err);
    assert_true(strstr(err.text, "keeps it from user code") ||
                strstr(err.text, "cannot be opened"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counter_that_is_the_clock_gives_the_clock),
        cmocka_unit_test(the_same_in_32_bit_mode),
        cmocka_unit_test(without_counters_nothing_is_counted),
        cmocka_unit_test(a_counter_that_faults_is_an_error),
        cmocka_unit_test(a_counter_without_a_number_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
