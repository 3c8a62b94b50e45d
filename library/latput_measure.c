// SPDX-License-Identifier: MIT
// latput_measure(): a function again and again, each time between a baseline and two calibrations,
// so that every row of the vectors can be judged and turned into core cycles by itself.
#include "latput_internal.h"

#include "util/mem.h" // mem_explain

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    REPETITIONS_DEFAULT = 100,
    TRIES_PER_REPETITION = 10,
    COUNTERS_MAX = 32,
    CALLS_MAX = 100000000,
    WINDOW_TSC_STEPS = 1000, // a step of the TSC is then 0.1 % of it
};
static const double WINDOW_TSC = 25000, // about 10 µs: longer ones meet more interrupts
    CALIBRATION_TOLERANCE = 0.006;

// Result of one window: ticks, and the counters.
struct window {
    double tsc;
    double counts[COUNTERS_MAX];
};

struct measurement {
    const struct latput_test *test;
    struct latput_result *result;
    struct window *tests, *baselines; // one a repetition
    double *tsc_per_clk;              // likewise
    double *sorted;                   // room for as many values
    double overhead_tsc;
    int link_clk, calls, ncounters;
};

static void function_empty(void *data)
{
    LATPUT_KEEP(data);
}

// Times `calls` calls. Never inlined: test and baseline are to run through the same code.
static __attribute__((noinline)) double window_time(void (*function)(void *), void *data, int calls)
{
    uint64_t begin = latput_begin();
    for (int i = 0; i < calls; i++)
        function(data);
    return (double)(latput_end() - begin);
}

static int window_count(struct measurement *m, void (*function)(void *), struct window *window)
{
    struct latput_counters *counters = m->test->counters;
    uint64_t before[COUNTERS_MAX] = {0}, after[COUNTERS_MAX] = {0};
    if (latput_counters_read(counters, before) != 0)
        return -1;
    window->tsc = window_time(function, m->test->data, m->calls);
    if (latput_counters_read(counters, after) != 0)
        return -1;
    for (int i = 0; i < m->ncounters; i++)
        window->counts[i] = (double)(after[i] - before[i]);
    return 0;
}

static int window_take(struct measurement *m, void (*function)(void *), struct window *window)
{
    if (m->ncounters > 0)
        return window_count(m, function, window);
    window->tsc = window_time(function, m->test->data, m->calls);
    return 0;
}

// Takes one repetition into row `row`. Returns 1: accepted, 0: disturbed, -1: the counters failed.
static int repetition_take(struct measurement *m, int row)
{
    const struct latput_test *test = m->test;
    void (*baseline)(void *) = test->baseline ? test->baseline : function_empty;
    if (window_take(m, baseline, &m->baselines[row]) != 0)
        return -1;
    double before = calibration_tsc_per_link(m->overhead_tsc);
    if (window_take(m, test->test, &m->tests[row]) != 0)
        return -1;
    double after = calibration_tsc_per_link(m->overhead_tsc);
    m->tsc_per_clk[row] = m->link_clk ? (before + after) / 2 / m->link_clk : (double)NAN;
    return fabs(after - before) <= CALIBRATION_TOLERANCE * before;
}

// Calls that fill a window, from the fastest of a few of them.
static void calls_find(struct measurement *m)
{
    double wanted = fmax(WINDOW_TSC, WINDOW_TSC_STEPS * latput_tsc_step());
    m->calls = m->test->calls;
    for (int calls = 1; m->calls <= 0; calls *= 4) {
        double least = INFINITY;
        for (int i = 0; i < 3; i++)
            least = fmin(least, window_time(m->test->test, m->test->data, calls));
        if (least > wanted / 8 || calls > CALLS_MAX / 4)
            m->calls = (int)fmax(1, fmin(ceil(calls * wanted / least), CALLS_MAX));
    }
    m->result->calls = m->calls;
}

static int rows_take(struct measurement *m, int wanted)
{
    struct latput_result *result = m->result;
    if (repetition_take(m, 0) < 0) // to warm up
        return -1;
    while (result->repetitions < wanted && result->tried < TRIES_PER_REPETITION * wanted) {
        int accepted = repetition_take(m, result->repetitions);
        if (accepted < 0)
            return -1;
        result->tried++;
        result->repetitions += accepted;
    }
    return 0;
}

static double window_figure(const struct window *window, int column)
{
    return column <= LATPUT_CLK ? window->tsc : window->counts[column - LATPUT_COUNTERS];
}

// Fills a column. Returns 0, or -1: there is no memory for the values.
static int column_fill(struct measurement *m, int number)
{
    struct latput_result *result = m->result;
    struct latput_column *column = &result->columns[number];
    int rows = result->repetitions;
    double grain = number <= LATPUT_CLK ? latput_tsc_step() / m->calls : 0;
    column->name = number == LATPUT_TSC ? "tsc"
                   : number == LATPUT_CLK
                       ? "clk"
                       : latput_counters_name(m->test->counters, number - LATPUT_COUNTERS);
    column->values = calloc((size_t)rows + 1, sizeof *column->values);
    if (!column->values)
        return -1;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < rows; i++) {
            const struct window *window = pass ? &m->tests[i] : &m->baselines[i];
            double unit = number == LATPUT_CLK ? m->tsc_per_clk[i] : 1;
            column->values[i] = window_figure(window, number) / unit / m->calls - column->baseline;
        }
        // The mean rather than the median: of windows of a few steps of the TSC it has no steps.
        column->summary = summary_sort(column->values, rows, grain, m->sorted);
        if (pass == 0)
            column->baseline = column->summary.mean;
    }
    return 0;
}

static int columns_fill(struct measurement *m)
{
    struct latput_result *result = m->result;
    int n = LATPUT_COUNTERS + m->ncounters;
    result->columns = calloc((size_t)n, sizeof *result->columns);
    if (!result->columns)
        return -1;
    result->ncolumns = n;
    for (int i = 0; i < n; i++)
        if (column_fill(m, i) != 0)
            return -1;
    return 0;
}

// Frees the result and explains why there is none. Returns -1.
static int result_without_memory(struct latput_result *result)
{
    latput_result_free(result);
    *result = (struct latput_result){.tsc_per_clk = NAN};
    mem_explain(result->message, sizeof result->message);
    return -1;
}

static int result_finish(struct measurement *m, int wanted)
{
    struct latput_result *result = m->result;
    if (result->repetitions == 0) {
        snprintf(result->message, sizeof result->message,
                 "none of %d tries was undisturbed: other work uses this CPU", result->tried);
        return -1;
    }
    if (columns_fill(m) != 0)
        return result_without_memory(result);
    result->tsc_per_clk = summary_sort(m->tsc_per_clk, result->repetitions, 0, m->sorted).median;
    if (result->repetitions < wanted)
        snprintf(result->message, sizeof result->message,
                 "%d of %d repetitions: %d tries were disturbed by other work on this CPU",
                 result->repetitions, wanted, result->tried - result->repetitions);
    else if (!m->link_clk)
        snprintf(result->message, sizeof result->message,
                 "no core cycles: the calibration chain takes no whole number of them");
    return result->repetitions < wanted;
}

static int measurement_take(struct measurement *m, int wanted)
{
    struct latput_counters *counters = m->test->counters;
    int status = -1;
    m->ncounters = counters ? latput_counters_count(counters) : 0;
    m->link_clk = latput_calibration_link_clk();
    m->overhead_tsc = latput_overhead();
    calls_find(m);
    if ((counters && latput_counters_start(counters) != 0) || rows_take(m, wanted) < 0)
        snprintf(m->result->message, sizeof m->result->message,
                 "the counters did not count all the time: something else takes them, or they are "
                 "too many");
    else
        status = result_finish(m, wanted);
    if (counters)
        latput_counters_stop(counters);
    return status;
}

int latput_measure(const struct latput_test *test, struct latput_result *result)
{
    int wanted = test->repetitions > 0 ? test->repetitions : REPETITIONS_DEFAULT, status = -1;
    struct measurement m = {.test = test, .result = result};
    *result = (struct latput_result){.tsc_per_clk = NAN};
    if (!test->test || wanted > INT32_MAX / TRIES_PER_REPETITION) {
        snprintf(result->message, sizeof result->message,
                 test->test ? "too many repetitions" : "there is no function to test");
        return -1;
    }
    m.tests = calloc((size_t)wanted, sizeof *m.tests);
    m.baselines = calloc((size_t)wanted, sizeof *m.baselines);
    m.tsc_per_clk = calloc((size_t)wanted, sizeof *m.tsc_per_clk);
    m.sorted = calloc((size_t)wanted, sizeof *m.sorted);
    if (m.tests && m.baselines && m.tsc_per_clk && m.sorted)
        status = measurement_take(&m, wanted);
    else
        result_without_memory(result);
    free(m.tests);
    free(m.baselines);
    free(m.tsc_per_clk);
    free(m.sorted);
    return status;
}
void latput_result_free(struct latput_result *result)
{
    for (int i = 0; i < result->ncolumns; i++)
        free(result->columns[i].values);
    free(result->columns);
    result->columns = NULL;
    result->ncolumns = 0;
}
