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

// For this reason and no other.
static void refused(const char *why, const char *reason)
{
    if (!why || strcmp(why, reason) != 0)
        fail_msg("%s, instead of: %s", why ? why : "taken", reason);
}

static void other_kernels_are_refused(void **state)
{
    (void)state;
    static const char away[] = "it has a timing of a kernel that is not under way";
    refused(say(CORE_REC_TIMING, 0, 1), away);
    refused(say(CORE_REC_TIMING, 2, 1), away);
    refused(say(CORE_REC_TIMING, KERNELS, 1), "it names a kernel that there is not");
    refused(say(CORE_REC_COUNTS, 0, 1), "it counts a kernel that is not under way");
    refused(say(CORE_REC_COUNTS, UINT32_MAX, 1), "it names a kernel that there is not");
    refused(say(CORE_REC_BEGIN, 0, 1), "it begins a kernel that is not to be measured");
    refused(say(CORE_REC_BEGIN, 2, 1), "it begins a kernel that is not to be measured");
    refused(say(CORE_REC_BEGIN, KERNELS, 1), "it names a kernel that there is not");
    refused(say(CORE_REC_CODE, 1, 0), "it shows code out of turn");
}

static void wrong_turns_are_refused(void **state)
{
    (void)state;
    refused(say(CORE_REC_HELLO, 0, 0), "it says hello again");
    refused(say(CORE_REC_TIMING, 1, 2), "it has a timing of a kernel that is not under way");
    refused(say(CORE_REC_BEGIN, 1, 2), "it begins a pass out of order"); // the first is not over
    refused(say(CORE_REC_FLOOR, 0, 0), "it is of no known type");
    refused(say(99, 0, 0), "it is of no known type");
    kernels[1].finished = true;
    refused(say(CORE_REC_TIMING, 1, 1), "it has a timing of a kernel that is finished");
    kernels[1].finished = false;
    assert_null(say(CORE_REC_END, 0, 0));
    refused(say(CORE_REC_TIMING, 1, 1), "it speaks out of turn");
    refused(say(CORE_REC_WAIT, 0, 0), "it speaks out of turn");
}

// A core that has not said how fast it is says nothing else.
static void hello_comes_first(void **state)
{
    (void)state;
    const struct core_record none = {.type = CORE_REC_HELLO},
                             endless = {.type = CORE_REC_HELLO, .hello.core_hz = INFINITY};
    exec_order_begin(&order, kernels, KERNELS, &config);
    refused(say(CORE_REC_BEGIN, 1, 0), "it speaks out of turn");
    refused(say(CORE_REC_CODE, 1, 0), "it speaks out of turn");
    refused(exec_order_refuses(&order, &none), "it has no frequency");
    refused(exec_order_refuses(&order, &endless), "it has no frequency");
    assert_null(say(CORE_REC_HELLO, 0, 0));
    assert_null(say(CORE_REC_BEGIN, 1, 0));
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
    static const char incomplete[] = "its timing is incomplete",
                      no_scale[] = "its timing has no scale";
    const struct core_record good = {
        .timing = {.accepted = ACCEPT, .copies = 1, .iterations = 1, .calib_clk = 1000}
    };
    assert_null(say_timing(good));
    struct core_record record = good;
    record.timing.accepted = ACCEPT + 1; // more than were asked for
    refused(say_timing(record), incomplete);
    record.timing.accepted = 0;
    refused(say_timing(record), incomplete);
    record = good;
    record.timing.iterations = 0;
    refused(say_timing(record), incomplete);
    record = good;
    record.timing.copies = 0;
    refused(say_timing(record), incomplete);
    record = good;
    record.timing.calib_clk = NAN;
    refused(say_timing(record), no_scale);
    record.timing.calib_clk = INFINITY;
    refused(say_timing(record), no_scale);
    record = good;
    record.timing.overhead_tsc = NAN;
    refused(say_timing(record), no_scale);
    record = good;
    record.timing.outcome = OUTCOME_COUNT;
    refused(say_timing(record), "it has an unknown outcome");
    record.timing.outcome = OUTCOME_SIGNALLED; // needs no samples
    assert_null(say_timing(record));
    record = good;
    record.timing.samples[0].kernel_tsc = 2000000000; // two seconds, of a process just begun
    refused(say_timing(record), "it claims to have timed for longer than it exists");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_a_core_sends_is_taken, begin),
        cmocka_unit_test_setup(other_kernels_are_refused, begin),
        cmocka_unit_test_setup(wrong_turns_are_refused, begin),
        cmocka_unit_test_setup(hello_comes_first, begin),
        cmocka_unit_test_setup(implausible_timings_are_refused, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
