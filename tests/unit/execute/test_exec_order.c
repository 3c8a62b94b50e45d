// SPDX-License-Identifier: MIT
// The runner accepts everything that a core sends, and refuses each forgery of one record.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "execute/exec_internal.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { KERNELS = 3, ACCEPT = 2 };

static struct exec_kernel kernels[KERNELS];
static const struct core_config config = {.accept = ACCEPT, .tsc_hz = 1e9};
static struct exec_order order;
static struct exec_secrets secrets;
static struct core_secret now; // the core's

static const char *signed_refused(struct core_record record)
{
    record.number = now.number;
    record.token = now.token;
    return exec_order_refuses(&order, &record);
}

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
    return signed_refused(record);
}

// Kernel 0 is finished, 1 is under way in its first pass, 2 is not selected.
static int begin(void **state)
{
    (void)state;
    memset(kernels, 0, sizeof kernels);
    kernels[0].selected = kernels[0].finished = kernels[1].selected = true;
    exec_secrets_begin(&secrets, &now);
    exec_order_begin(&order, kernels, KERNELS, &config, &secrets);
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

// Kernels that other processes measure at the same time are none of this one's.
static void kernels_of_others_are_refused(void **state)
{
    (void)state;
    order.share = (struct exec_share){0, 2};
    refused(say(CORE_REC_BEGIN, 1, 1), "it names a kernel that there is not");
    refused(say(CORE_REC_TIMING, 1, 1), "it names a kernel that there is not");
    kernels[2].selected = true;
    assert_null(say(CORE_REC_BEGIN, 2, 1));
    assert_null(say(CORE_REC_TIMING, 2, 1));
}

// A core that has not said how fast it is says nothing else.
static void hello_comes_first(void **state)
{
    (void)state;
    const struct core_record none = {.type = CORE_REC_HELLO},
                             endless = {.type = CORE_REC_HELLO, .hello.core_hz = INFINITY};
    exec_secrets_begin(&secrets, &now);
    exec_order_begin(&order, kernels, KERNELS, &config, &secrets);
    refused(say(CORE_REC_BEGIN, 1, 0), "it speaks out of turn");
    refused(say(CORE_REC_CODE, 1, 0), "it speaks out of turn");
    refused(signed_refused(none), "it has no frequency");
    refused(signed_refused(endless), "it has no frequency");
    assert_null(say(CORE_REC_HELLO, 0, 0));
    assert_null(say(CORE_REC_BEGIN, 1, 0));
}

// The next secret, as the core reads it.
static void next_secret(int fd)
{
    struct core_secret next;
    assert_int_equal(read(fd, &next, sizeof next), sizeof next);
    assert_int_equal(next.number, now.number + 1);
    assert_memory_equal(next.before, now.after, sizeof next.before);
    assert_memory_equal(next.tags, now.tags, sizeof next.tags);
    assert_memory_not_equal(next.after, now.after, sizeof next.after);
    assert_true(next.token != now.token);
    now = next;
}

// A record without the token is none of the core's, nor is one with the token of a secret before
// the last, nor of one that the core cannot have read yet. More secrets come as they are used up.
static void words_have_their_secret(void **state)
{
    (void)state;
    static const char forged[] = "it does not speak for the core";
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    secrets.fd = fds[0];
    for (int i = 0; i < 3 * EXEC_SECRETS_AHEAD; i++) {
        const struct core_secret last = now;
        exec_secrets_feed(&secrets);
        next_secret(fds[1]);
        const struct core_secret true_ = now;
        assert_null(say(CORE_REC_WAIT, 0, 0));
        now = last;
        refused(say(CORE_REC_WAIT, 0, 0), forged);
        now = (struct core_secret){.number = true_.number};
        refused(say(CORE_REC_BEGIN, 1, 1), forged);
        refused(say(CORE_REC_FATAL, 1, 1), forged);
        now = (struct core_secret){.number = secrets.last.number + 1};
        refused(say(CORE_REC_BEGIN, 1, 1), forged);
        now = true_;
    }
    close(fds[0]);
    close(fds[1]);
}

static const char *say_timing(struct core_record record)
{
    record.type = CORE_REC_TIMING;
    record.kernel = record.timing.pass = 1;
    return signed_refused(record);
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
    record.timing.tried = EXEC_TRIED_MAX + 1;
    refused(say_timing(record), "its timing has more repeats than there can be");
    record.timing.outcome = OUTCOME_UNSTABLE;
    refused(say_timing(record), "its timing has more repeats than there can be");
    record = good;
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
        cmocka_unit_test_setup(words_have_their_secret, begin),
        cmocka_unit_test_setup(other_kernels_are_refused, begin),
        cmocka_unit_test_setup(kernels_of_others_are_refused, begin),
        cmocka_unit_test_setup(wrong_turns_are_refused, begin),
        cmocka_unit_test_setup(hello_comes_first, begin),
        cmocka_unit_test_setup(implausible_timings_are_refused, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
