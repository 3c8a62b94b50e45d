// SPDX-License-Identifier: MIT
// liblatput as a program of a user's has it: linked with the archive alone. What depends on a quiet
// core is repeated until it is seen once.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <latput.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { QUIET_TRIES = 10 };

static void stamps_never_go_back(void **state)
{
    (void)state;
    latput_pin(-1);
    for (int i = 0; i < 10000; i++) {
        uint64_t begin = latput_begin();
        uint64_t end = latput_end();
        assert_true(end >= begin);
    }
}

// In steps of the TSC, or in 2 % of a pair of some 50 ticks where it has no steps to speak of.
static void overhead_is_stable_within_two_steps(void **state)
{
    (void)state;
    double step = latput_tsc_step(), spread = 0;
    assert_true(step >= 1);
    for (int try = 0; try < QUIET_TRIES; try++) {
        double least = INFINITY, most = 0;
        for (int i = 0; i < 50; i++) {
            double overhead = latput_overhead();
            assert_true(overhead > 0);
            least = fmin(least, overhead);
            most = fmax(most, overhead);
        }
        spread = most - least;
        if (spread <= 2 * step)
            return;
    }
    fail_msg("the overhead varies by %.1f ticks, the TSC has steps of %.0f", spread, step);
}

// ---- Linearity: n times the same instruction after 16 that all tests begin with.

#define IMULS(n)                                                                                   \
    static void imuls_##n(void *data)                                                              \
    {                                                                                              \
        __asm__ volatile(".rept 16 + " #n "\n\timul %0, %0\n\t.endr" : "+r"(data));                \
    }
IMULS(0)
IMULS(1)
IMULS(2)
IMULS(3)
IMULS(4)
IMULS(8)
IMULS(16)
IMULS(32)
static void (*const imuls[])(void *) = {imuls_0, imuls_1, imuls_2,  imuls_3,
                                        imuls_4, imuls_8, imuls_16, imuls_32};
static const double lengths[] = {0, 1, 2, 3, 4, 8, 16, 32};
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };

// In core cycles.
struct line {
    double slope, median_error;
};

static bool line_fit(struct line *line)
{
    double clk[LENGTHS], errors[LENGTHS], n = LENGTHS, sum_x = 0, sum_y = 0, above = 0, below = 0;
    for (int i = 0; i < LENGTHS; i++) {
        const struct latput_test test = {
            .test = imuls[i], .baseline = imuls_0, .repetitions = 1000, .calls = 1};
        struct latput_result result;
        int status = latput_measure(&test, &result);
        clk[i] = status < 0 ? (double)NAN : result.columns[LATPUT_CLK].summary.mean;
        latput_result_free(&result);
        if (isnan(clk[i]))
            return false;
        sum_x += lengths[i];
        sum_y += clk[i];
    }
    for (int i = 0; i < LENGTHS; i++) {
        above += (lengths[i] - sum_x / n) * (clk[i] - sum_y / n);
        below += (lengths[i] - sum_x / n) * (lengths[i] - sum_x / n);
    }
    line->slope = above / below;
    for (int i = 0; i < LENGTHS; i++)
        errors[i] = fabs(clk[i] - sum_y / n - line->slope * (lengths[i] - sum_x / n));
    line->median_error = latput_summarise(errors, LENGTHS, 0).median;
    return true;
}

// Largest error as a share of the longest chain's time: some cores (Zen 3) take a stamp only every
// 8 cycles.
static const double ERROR_MOST = 0.03;

static void times_are_linear(void **state)
{
    (void)state;
    struct line line = {NAN, NAN};
    latput_pin(-1);
    for (int try = 0; try < QUIET_TRIES; try++) {
        int link_clk = latput_calibration_link_clk();
        if (link_clk && line_fit(&line) && fabs(line.slope - link_clk) < 0.1 * link_clk &&
            line.median_error < ERROR_MOST * link_clk * lengths[LENGTHS - 1]) {
            printf("%.3f cycles an imul, median error %.2f\n", line.slope, line.median_error);
            return;
        }
    }
    fail_msg("%.3f cycles an imul, median error %.2f", line.slope, line.median_error);
}

// ---- Many calls a window.

static void chain_of_300_cycles(void *data)
{
    __asm__ volatile(".rept 100\n\timul %0, %0\n\t.endr\n\tlfence" : "+r"(data));
}

static void chain_of_600_cycles(void *data)
{
    __asm__ volatile(".rept 200\n\timul %0, %0\n\t.endr\n\tlfence" : "+r"(data));
}

static void calls_fill_a_window(void **state)
{
    (void)state;
    struct latput_test test = {.test = chain_of_600_cycles, .baseline = chain_of_300_cycles};
    struct latput_result result;
    double least_off = INFINITY;
    latput_pin(-1);
    for (int try = 0; try < QUIET_TRIES; try++) {
        int status = latput_measure(&test, &result);
        if (status == 0) {
            const struct latput_column *clk = &result.columns[LATPUT_CLK];
            double expected = 100.0 * latput_calibration_link_clk();
            assert_int_equal(result.repetitions, 100);
            assert_int_equal(result.ncolumns, LATPUT_COUNTERS);
            assert_string_equal(result.columns[LATPUT_TSC].name, "tsc");
            assert_string_equal(clk->name, "clk");
            assert_true(result.calls > 5 && result.tried >= 100);
            double off = fabs(clk->summary.median / expected - 1);
            bool right = off < 0.02;
            least_off = fmin(least_off, off);
            double tsc = result.columns[LATPUT_TSC].summary.median / result.tsc_per_clk;
            bool agree = fabs(tsc - clk->summary.median) < 0.02 * expected;
            latput_result_free(&result);
            if (right && agree)
                return;
        } else {
            assert_true(result.message[0]);
            latput_result_free(&result);
        }
    }
    fail_msg("300 cycles are off by %.0f %% at the least", 100 * least_off);
}

static void wrong_tests_are_refused(void **state)
{
    (void)state;
    const struct latput_test nothing = {.repetitions = 3},
                             many = {.test = imuls_0, .repetitions = INT32_MAX};
    struct latput_result result;
    assert_int_equal(latput_measure(&nothing, &result), -1);
    assert_true(result.message[0]);
    latput_result_free(&result);
    assert_int_equal(latput_measure(&many, &result), -1);
    latput_result_free(&result);
}

// ---- Counters.

static void touch_pages(void *data)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = *(size_t *)data;
    char *pages = mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < n; i++)
        pages[i * page] = 1;
    munmap(pages, n * page);
}

static void software_events_are_counted(void **state)
{
    (void)state;
    char error[512];
    struct latput_counters *counters = latput_counters_open("page-faults", error, sizeof error);
    if (!counters) {
        printf("%s\n", error);
        skip();
    }
    assert_int_equal(latput_counters_count(counters), 1);
    assert_string_equal(latput_counters_name(counters, 0), "page-faults");
    assert_string_equal(latput_counters_method(counters), "read");
    assert_non_null(strstr(latput_counters_obstacle(counters), "RDPMC"));
    assert_int_equal(latput_counters_index(counters, 0), -1);
    int counted = 0;
    for (size_t pages = 0; pages <= 64; pages += 16) {
        const struct latput_test test = {.test = touch_pages,
                                         .baseline = chain_of_300_cycles,
                                         .data = &pages,
                                         .counters = counters,
                                         .repetitions = 20,
                                         .calls = 2};
        struct latput_result result;
        int status = latput_measure(&test, &result);
        if (status >= 0) {
            assert_int_equal(result.ncolumns, LATPUT_COUNTERS + 1);
            assert_string_equal(result.columns[LATPUT_COUNTERS].name, "page-faults");
            assert_true(result.columns[LATPUT_COUNTERS].summary.median == (double)pages);
            counted++;
        }
        latput_result_free(&result);
    }
    latput_counters_close(counters);
    assert_true(counted > 0);
}

static void hardware_counters_agree_with_the_calibration(void **state)
{
    (void)state;
    char error[512];
    struct latput_counters *counters =
        latput_counters_open("core_clk,instructions", error, sizeof error);
    if (!counters) {
        printf("%s\n", error);
        assert_true(error[0]);
        skip();
    }
    printf("read by %s %s\n", latput_counters_method(counters), latput_counters_obstacle(counters));
    const struct latput_test test = {
        .test = chain_of_600_cycles, .baseline = chain_of_300_cycles, .counters = counters};
    struct latput_result result;
    latput_pin(-1);
    if (latput_measure(&test, &result) == 0) {
        double clk = result.columns[LATPUT_COUNTERS].summary.median;
        double expected = 100.0 * latput_calibration_link_clk();
        assert_true(fabs(clk - expected) < 0.02 * expected);
        assert_true(fabs(result.columns[LATPUT_COUNTERS + 1].summary.median - 100) < 0.5);
    }
    latput_result_free(&result);
    latput_counters_close(counters);
}

static void unknown_events_are_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {"", "no_such_event", "page-faults,no_such_event"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char error[512] = "";
        assert_null(latput_counters_open(cases[i], error, sizeof error));
        assert_true(error[0]);
    }
    assert_null(latput_counters_open("no_such_event", NULL, 0));
    latput_counters_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stamps_never_go_back),
        cmocka_unit_test(overhead_is_stable_within_two_steps),
        cmocka_unit_test(times_are_linear),
        cmocka_unit_test(calls_fill_a_window),
        cmocka_unit_test(wrong_tests_are_refused),
        cmocka_unit_test(software_events_are_counted),
        cmocka_unit_test(hardware_counters_agree_with_the_calibration),
        cmocka_unit_test(unknown_events_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
