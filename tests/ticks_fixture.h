// SPDX-License-Identifier: MIT
// A way of counting for tests of runs: every event counts ticks of the time-stamp counter, each in
// its own proportion, so that a test knows what is to be counted. It has as many counters as the
// test says, and refuses what the test says.
#ifndef LATPUT_TICKS_FIXTURE_H
#define LATPUT_TICKS_FIXTURE_H

#include "session.h"
#include "session_count.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { TICKS_ONE = 1 << 16 };

static struct {
    struct {
        const char *event;
        double per_tick;
    } events[8];         // what is not here counts nothing
    int counters;        // at the same time; 0: as many as the core has
    const char *refused; // event that cannot be counted
    int opened, closed;
} ticks;

static double ticks_of(const char *event)
{
    for (size_t i = 0; i < sizeof ticks.events / sizeof ticks.events[0]; i++)
        if (ticks.events[i].event && strcmp(ticks.events[i].event, event) == 0)
            return ticks.events[i].per_tick;
    return 0;
}

static enum count_obstacle ticks_open(struct session_counting *counting,
                                      const struct count_event *events, int nevents,
                                      struct core_counter *counters, struct err *err)
{
    (void)counting;
    if (ticks.counters && nevents > ticks.counters) {
        err_set(err, "%d events on %d counters", nevents, ticks.counters);
        return COUNT_TOO_MANY;
    }
    for (int i = 0; i < nevents; i++) {
        if (ticks.refused && strcmp(events[i].name, ticks.refused) == 0) {
            err_set(err, "'%s' is refused", events[i].name);
            return COUNT_NO_EVENT;
        }
        counters[i] =
            (struct core_counter){.source = CORE_COUNTER_TSC,
                                  .config = (uint64_t)lround(ticks_of(events[i].name) * TICKS_ONE)};
    }
    ticks.opened++;
    return COUNT_FINE;
}

static enum count_obstacle ticks_close(struct session_counting *counting, struct err *err)
{
    (void)counting;
    (void)err;
    ticks.closed++;
    return COUNT_FINE;
}

static const struct count_source ticks_source = {"ticks", NULL, ticks_open, ticks_close};

// Core cycles in a tick, now: the fixture's events may then count cycles.
static inline double ticks_calibrate(struct session *session)
{
    const struct core_counter one = {.source = CORE_COUNTER_TSC, .config = TICKS_ONE};
    struct exec_params params = session_params(session, 64);
    struct exec_kernel kernel = {.selected = true};
    struct exec_summary summary;
    struct arena arena = {0};
    struct program program = {0};
    struct err err = {""};
    params.counters = &one;
    params.ncounters = 1;
    params.config.canary = 1;
    params.config.floor_clk_per_instr = 1;
    params.config.canary_tolerance = params.config.calib_tolerance = 1e9;
    params.config.passes = 1;
    if (session_build_nop(session, "ticks", 64, &arena, &program, &err) != 0 ||
        exec_run(program.path, &params, &kernel, 1, NULL, &arena, &summary, &err) != 0)
        fail_msg("%s", err.text);
    unlink(program.path);
    arena_free(&arena);
    return summary.calib_link_clk / summary.link_counts[0];
}

#endif
