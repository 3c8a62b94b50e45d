// SPDX-License-Identifier: MIT
// When a measuring process looks for another CPU: while it is disturbed or kept from running, more
// rarely where no other is better, and never more than once a second.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "execute/exec_move.h"

struct host {
    int best;     // CPU that a look finds
    double share; // of the last look
    int looks;
};

static int look(void *context, int cpu, double share)
{
    struct host *host = context;
    (void)cpu;
    host->looks++;
    host->share = share;
    return host->best;
}

// Lets a process run from `from_ms` on for so many steps of 100 ms, each of which accepts and is
// disturbed so often, waits for quiet and is kept from running for a part of it. Returns its CPU in
// the end.
static int run(struct exec_mover *mover, int64_t from_ms, int steps, const struct exec_fare *step)
{
    struct exec_fare fare = {0};
    int cpu = 1;
    exec_move_begin(mover, from_ms);
    for (int i = 1; i <= steps; i++) {
        fare.accepted += step->accepted;
        fare.disturbed += step->disturbed;
        fare.waited_ms += step->waited_ms;
        fare.at_ms = from_ms + 100 * i;
        fare.ran.ran_ns += step->ran.ran_ns;
        fare.ran.waited_ns += step->ran.waited_ns;
        if (exec_move_due(mover, from_ms + 100 * i))
            cpu = exec_move_consider(mover, &fare, cpu);
    }
    return cpu;
}

static void a_quiet_process_never_looks(void **state)
{
    (void)state;
    struct host host = {.best = 0};
    struct exec_mover mover = {.look = look, .context = &host};
    assert_int_equal(run(&mover, 0, 1000,
                         &(struct exec_fare){
                             .accepted = 90, .disturbed = 10, .ran = {99, 1}
    }),
                     1);
    assert_int_equal(run(&mover, 100000, 1000,
                         &(struct exec_fare){
                             .accepted = 90, .disturbed = 10, .ran = {0, 0}
    }),
                     1);
    assert_int_equal(host.looks, 0);
}

static void a_disturbed_one_moves_after_a_second(void **state)
{
    (void)state;
    struct host host = {.best = 3};
    struct exec_mover mover = {.look = look, .context = &host};
    assert_int_equal(run(&mover, 5000, 9,
                         &(struct exec_fare){
                             .accepted = 20, .disturbed = 80, .ran = {100, 0}
    }),
                     1);
    assert_int_equal(run(&mover, 6000, 10,
                         &(struct exec_fare){
                             .accepted = 20, .disturbed = 80, .ran = {100, 0}
    }),
                     3);
    assert_true(host.share > 0.199 && host.share < 0.201);
    assert_int_equal(host.looks, 1);
}

// Another program on the same CPU disturbs few repeats, and takes half of the time.
static void one_that_is_kept_from_running_moves(void **state)
{
    (void)state;
    struct host host = {.best = 3};
    struct exec_mover mover = {.look = look, .context = &host};
    assert_int_equal(run(&mover, 0, 10,
                         &(struct exec_fare){
                             .accepted = 100, .disturbed = 0, .ran = {50, 50}
    }),
                     3);
    assert_true(host.share > 0.499 && host.share < 0.501);
    assert_int_equal(run(&mover, 2000, 10,
                         &(struct exec_fare){
                             .accepted = 0, .disturbed = 0, .ran = {50, 50}
    }),
                     3); // waits
    assert_true(host.share == 0);
}

// A process waits as long as a neighbour stays, and tries little meanwhile.
static void one_that_waits_for_quiet_moves(void **state)
{
    (void)state;
    struct host host = {.best = 3};
    struct exec_mover mover = {.look = look, .context = &host};
    const struct exec_fare step = {.accepted = 90, .disturbed = 10, .waited_ms = 70};
    assert_int_equal(run(&mover, 0, 10, &step), 3);
    assert_true(host.share > 0.269 && host.share < 0.271);
}

// Looks of a minute and a half, where no CPU is better: after 1, 2, 4, ... seconds, over processes.
static void a_host_that_is_loud_everywhere_is_looked_at_rarely(void **state)
{
    (void)state;
    struct host host = {.best = 1};
    struct exec_mover mover = {.look = look, .context = &host};
    for (int process = 0; process < 10; process++)
        assert_int_equal(run(&mover, process * 9000, 90,
                             &(struct exec_fare){
                                 .accepted = 1, .disturbed = 99, .ran = {100, 0}
        }),
                         1);
    assert_true(host.looks >= 5 && host.looks <= 7);
    host.best = 0;
    assert_int_equal(run(&mover, 200000, 700,
                         &(struct exec_fare){
                             .accepted = 1, .disturbed = 99, .ran = {100, 0}
    }),
                     0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quiet_process_never_looks),
        cmocka_unit_test(a_disturbed_one_moves_after_a_second),
        cmocka_unit_test(one_that_is_kept_from_running_moves),
        cmocka_unit_test(one_that_waits_for_quiet_moves),
        cmocka_unit_test(a_host_that_is_loud_everywhere_is_looked_at_rarely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
