// SPDX-License-Identifier: MIT
// Passes over events that a backend accepts: what is dealt anew after a refusal, what is left
// alone, which refusals end it; with software events of perf, counted for real. And visits to other
// CPUs, on which such passes are tried.
#include "counters/count_deal.h"
#include "util/affinity.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { EVENTS = 6, TRIES_MAX = 32 };

// A machine that counts so many of these events at a time.
static struct {
    const struct count_event *events;
    const int *pass;
    int most;
    enum count_obstacle refusal; // of more than that
    int tried[TRIES_MAX], ntried;
} sim;

static enum count_obstacle sim_try(void *user, int pass, struct err *err)
{
    struct count_pass chosen;
    assert_ptr_equal(user, &sim);
    assert_true(sim.ntried < TRIES_MAX);
    sim.tried[sim.ntried++] = pass;
    const struct count_dealt dealt = {sim.events, EVENTS, sim.pass};
    if (!count_pass_choose(&dealt, pass, sim.most, &chosen, err))
        return COUNT_FINE;
    return sim.refusal;
}

static void events_make(struct count_event events[EVENTS])
{
    for (int i = 0; i < EVENTS; i++) {
        struct counter_event hardware = {
            .kind = COUNTER_GENERAL, .fixed_index = -1, .counters = 0xf};
        events[i] = count_event_make(&hardware, COUNT_USER);
        snprintf(events[i].name, sizeof events[i].name, "e%d", i);
    }
}

struct deal_test {
    const char *what;
    const char *before; // pass of each event: digits, u undealt, a apart
    int first, most;
    enum count_obstacle refusal, obstacle;
    const char *tried; // passes in turn
    const char *after;
    int npasses;
};

// The CPU has four counters.
// clang-format off
static const struct deal_test deal_tests[] = {
    {"all counters are free", "uuuuuu", 0, 9, COUNT_TOO_MANY, COUNT_FINE, "01", "000011", 2},
    {"one is taken", "uuuuuu", 0, 3, COUNT_TOO_MANY, COUNT_FINE, "001", "000111", 2},
    {"three are taken", "uuuuuu", 0, 1, COUNT_WATCHDOG, COUNT_FINE, "000012345", "012345", 6},
    {"one has a pass", "0uuuuu", 1, 2, COUNT_MULTIPLEXED, COUNT_FINE, "11123", "011223", 4},
    {"some are left apart", "uaauua", 0, 2, COUNT_TOO_MANY, COUNT_FINE, "0001", "0aa01a", 2},
    {"nothing to deal", "0aaaaa", 1, 0, COUNT_TOO_MANY, COUNT_FINE, "", "0aaaaa", 1},
    {"fewer do not help", "uuuuuu", 0, 3, COUNT_FORBIDDEN, COUNT_FORBIDDEN, "0", "000011", 2},
    {"there are no fewer", "uuuuuu", 0, 0, COUNT_TOO_MANY, COUNT_TOO_MANY, "0000", "012345", 6},
};
// clang-format on

static char pass_letter(int pass)
{
    return pass == COUNT_UNDEALT ? 'u' : pass == COUNT_APART ? 'a' : (char)('0' + pass);
}

static int letter_pass(char letter)
{
    return letter == 'u' ? COUNT_UNDEALT : letter == 'a' ? COUNT_APART : letter - '0';
}

static void test_deal(void **state)
{
    (void)state;
    struct count_event events[EVENTS];
    events_make(events);
    for (size_t t = 0; t < sizeof deal_tests / sizeof deal_tests[0]; t++) {
        const struct deal_test *test = &deal_tests[t];
        const struct count_capacity capacity = {.general = 4};
        char tried[TRIES_MAX + 1] = "", after[EVENTS + 1] = "";
        int pass[EVENTS];
        struct err err = {0};
        struct count_deal deal = {.events = events,
                                  .nevents = EVENTS,
                                  .pass = pass,
                                  .first = test->first,
                                  .attempt = sim_try,
                                  .user = &sim};
        memset(&sim, 0, sizeof sim);
        sim.events = events;
        sim.pass = pass;
        sim.most = test->most;
        sim.refusal = test->refusal;
        for (int i = 0; i < EVENTS; i++)
            pass[i] = letter_pass(test->before[i]);
        enum count_obstacle obstacle = count_deal(&deal, capacity, &err);
        for (int i = 0; i < sim.ntried; i++)
            tried[i] = pass_letter(sim.tried[i]);
        for (int i = 0; i < EVENTS; i++)
            after[i] = pass_letter(pass[i]);
        if (obstacle != test->obstacle || strcmp(tried, test->tried) != 0 ||
            strcmp(after, test->after) != 0 || deal.npasses != test->npasses)
            fail_msg("%s: %s, tried %s, then %s in %d passes", test->what,
                     count_obstacle_name(obstacle), tried, after, deal.npasses);
    }
}

static void test_choose(void **state)
{
    (void)state;
    static const int pass[EVENTS] = {1, 0, COUNT_APART, 1, COUNT_UNDEALT, 1};
    struct count_event events[EVENTS];
    struct count_pass chosen;
    struct err err = {0};
    const struct count_dealt dealt = {events, EVENTS, pass};
    events_make(events);
    assert_int_equal(count_pass_choose(&dealt, 1, 3, &chosen, &err), COUNT_FINE);
    assert_int_equal(chosen.nevents, 3);
    assert_int_equal(chosen.index[0], 0);
    assert_int_equal(chosen.index[1], 3);
    assert_string_equal(chosen.events[2].name, "e5");
    assert_int_equal(count_pass_choose(&dealt, 7, 0, &chosen, &err), COUNT_FINE);
    assert_int_equal(chosen.nevents, 0);
    assert_int_equal(count_pass_choose(&dealt, 1, 2, &chosen, &err), COUNT_TOO_MANY);
    assert_string_equal(err.text, "3 events at the same time; 2 are possible");
}

// Opens a pass with perf, on this CPU, and counts.
struct software {
    struct count_machine machine;
    struct count_event *events;
    int nevents, *pass, opened;
    uint64_t task_clock_ns;
};

static enum count_obstacle software_try(void *user, int pass, struct err *err)
{
    struct software *own = user;
    const struct count_target self = {.what = COUNT_SELF};
    uint64_t values[COUNT_EVENTS_MAX];
    struct count_pass chosen;
    struct count_group *group = NULL;
    const struct count_dealt dealt = {own->events, own->nevents, own->pass};
    enum count_obstacle obstacle = count_pass_choose(&dealt, pass, 16, &chosen, err);
    if (!obstacle)
        obstacle =
            count_perf.open(&own->machine, &self, chosen.events, chosen.nevents, &group, err);
    if (!obstacle)
        obstacle = count_perf.start(group, err);
    for (volatile int i = 0; i < 1000000; i++)
        continue;
    if (!obstacle)
        obstacle = count_perf.stop(group, err);
    if (!obstacle)
        obstacle = count_perf.read(group, values, err);
    own->opened += !obstacle;
    own->task_clock_ns = obstacle ? 0 : values[0];
    count_perf.close(group);
    return obstacle;
}

// Software events need no counters: all of them are one pass, however few the machine has.
static void test_software(void **state)
{
    (void)state;
    static struct cpu_info cpu;
    static const struct counter_table table = {.uarch = "unknown"};
    int pass[] = {COUNT_UNDEALT, COUNT_UNDEALT, COUNT_UNDEALT};
    struct err err = {0};
    struct software own = {.machine = count_machine_live(&cpu), .pass = pass};
    own.nevents = count_events_parse(&table, "task-clock,page-faults,context-switches", COUNT_USER,
                                     &own.events, &err);
    assert_int_equal(own.nevents, 3);
    struct count_deal deal = {.events = own.events,
                              .nevents = own.nevents,
                              .pass = pass,
                              .attempt = software_try,
                              .user = &own};
    enum count_obstacle obstacle = count_deal(&deal, (struct count_capacity){0, 0}, &err);
    free(own.events);
    if (obstacle) {
        print_message("skipped: no software events: %s\n", err.text);
        skip();
    }
    assert_int_equal(deal.npasses, 1);
    assert_int_equal(own.opened, 1);
    assert_true(own.task_clock_ns > 100000); // a million turns
}

static void test_visit(void **state)
{
    (void)state;
    cpu_set_t before, now;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        const struct affinity_visit visit = affinity_visit(&cpu, 1);
        assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
        if (visit.moved) {
            assert_int_equal(CPU_COUNT(&now), 1);
            assert_true(CPU_ISSET((size_t)cpu, &now));
        }
        affinity_return(&visit);
        assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
        assert_true(CPU_EQUAL(&before, &now));
    }
    assert_int_equal(affinity_pin(0, -1), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(affinity_pin(0, CPU_SETSIZE), -1);
    assert_int_equal(affinity_pin(0, CPU_SETSIZE - 1),
                     CPU_ISSET(CPU_SETSIZE - 1, &before) ? 0 : -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deal),
        cmocka_unit_test(test_choose),
        cmocka_unit_test(test_software),
        cmocka_unit_test(test_visit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
