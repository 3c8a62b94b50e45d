// SPDX-License-Identifier: MIT
// Which records the runner believes: everything that a core sends is taken, and each forgery of one
// record is refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "execute/exec_internal.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { KERNELS = 3, ACCEPT = 2 };

static struct exec_kernel kernels[KERNELS];
static const struct core_config config = {.accept = ACCEPT, .tsc_hz = 1e9};
static struct exec_order order;

static const char *say(uint32_t type, uint32_t kernel, uint32_t pass)
{
    struct core_record record = {.type = type, .kernel = kernel};
    if (type == CORE_REC_HELLO)
        record.hello.core_hz = 2e9;
    if (type == CORE_REC_BEGIN || type == CORE_REC_TIMING)
        record.begin.pass = pass;
    if (type == CORE_REC_TIMING) {
        record.timing.accepted = ACCEPT;
        record.timing.copies = record.timing.iterations = 1;
        record.timing.calib_clk = 1000;
    }
    return exec_order_refuses(&order, &record);
}

// Kernel 0 is finished, 1 is under way in its first pass, 2 is not selected.
static int begin(void **state)
{
    (void)state;
    memset(kernels, 0, sizeof kernels);
    kernels[0].selected = kernels[0].finished = kernels[1].selected = true;
    exec_order_begin(&order, kernels, KERNELS, &config);
    assert_null(say(CORE_REC_HELLO, 0, 0));
    assert_null(say(CORE_REC_CODE, 1, 0));
    assert_null(say(CORE_REC_BEGIN, 1, 0));
    assert_null(say(CORE_REC_BEGIN, 1, 1));
    return 0;
}

static void what_a_core_sends_is_taken(void **state)
{
    (void)state;
    assert_null(say(CORE_REC_WAIT, 0, 0));
    assert_null(say(CORE_REC_BEGIN, 1, 1)); // once more, after a disturbance
    assert_null(say(CORE_REC_COUNTS, 1, 1));
    assert_null(say(CORE_REC_TIMING, 1, 1));
    kernels[1].ntimings = 1;
    assert_null(say(CORE_REC_BEGIN, 1, 2));
    assert_null(say(CORE_REC_TIMING, 1, 2));
    assert_null(say(CORE_REC_END, 0, 0));
}

static void other_kernels_are_refused(void **state)
{
    (void)state;
    assert_non_null(say(CORE_REC_TIMING, 0, 1));
    assert_non_null(say(CORE_REC_TIMING, 2, 1));
    assert_non_null(say(CORE_REC_TIMING, KERNELS, 1));
    assert_non_null(say(CORE_REC_COUNTS, 0, 1));
    assert_non_null(say(CORE_REC_BEGIN, 0, 1)); // finished
    assert_non_null(say(CORE_REC_BEGIN, 2, 1)); // not selected
    assert_non_null(say(CORE_REC_CODE, 1, 0));
}

static void wrong_turns_are_refused(void **state)
{
    (void)state;
    assert_non_null(say(CORE_REC_HELLO, 0, 0));
    assert_non_null(say(CORE_REC_TIMING, 1, 2));
    assert_non_null(say(CORE_REC_BEGIN, 1, 2)); // the first pass is not over
    assert_non_null(say(CORE_REC_FLOOR, 0, 0));
    assert_non_null(say(99, 0, 0));
    assert_null(say(CORE_REC_END, 0, 0));
    assert_non_null(say(CORE_REC_TIMING, 1, 1));
}

static const char *say_timing(struct core_record record)
{
    record.type = CORE_REC_TIMING;
    record.kernel = record.timing.pass = 1;
    return exec_order_refuses(&order, &record);
}

static void implausible_timings_are_refused(void **state)
{
    (void)state;
    const struct core_record good = {
        .timing = {.accepted = ACCEPT, .copies = 1, .iterations = 1, .calib_clk = 1000}
    };
    assert_null(say_timing(good));
    struct core_record record = good;
    record.timing.accepted = CORE_SAMPLES_MAX + 1;
    assert_non_null(say_timing(record));
    record.timing.accepted = 0;
    assert_non_null(say_timing(record));
    record = good;
    record.timing.iterations = 0;
    assert_non_null(say_timing(record));
    record = good;
    record.timing.calib_clk = NAN;
    assert_non_null(say_timing(record));
    record = good;
    record.timing.outcome = OUTCOME_COUNT;
    assert_non_null(say_timing(record));
    record.timing.outcome = OUTCOME_SIGNALLED; // needs no samples
    assert_null(say_timing(record));
    record = good;
    record.timing.samples[0].kernel_tsc = 2000000000; // two seconds, of a process just begun
    assert_non_null(say_timing(record));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_a_core_sends_is_taken, begin),
        cmocka_unit_test_setup(other_kernels_are_refused, begin),
        cmocka_unit_test_setup(wrong_turns_are_refused, begin),
        cmocka_unit_test_setup(implausible_timings_are_refused, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
