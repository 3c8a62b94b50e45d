// SPDX-License-Identifier: MIT
// A backend that counts a model: conditions that hold with a given distribution of events per cycle
// and begin a given number of times. What thresholds, inversion and edges of it are is computed, so
// that a test can ask for the model back. It has as many counters as the test says, and can lose
// one to a watchdog or share them out for a while.
#ifndef LATPUT_COUNT_FAKE_H
#define LATPUT_COUNT_FAKE_H

#include "count_passes.h"
#include "util/mem.h"

#include <stdlib.h>

enum { FAKE_PER_CYCLE = 9 };

struct fake_event {
    uint32_t event, umask;
    uint64_t clk[FAKE_PER_CYCLE]; // cycles with 0, 1, ... events
    uint64_t begins;              // edges of "at least one"
};

static struct {
    const struct fake_event *events;
    int nevents;
    struct count_capacity capacity;     // what open accepts
    int taken;                          // general counters that something else has, seen at read
    int shared_reads;                   // so many reads find their counters shared out
    uint32_t refused;                   // code of an event that open does not know; 0: none
    enum count_obstacle probe;          // what probe says
    int opened, closed, reads, largest; // largest: most events in a group
} fake;

static const struct count_backend count_fake;

static uint64_t fake_count(const struct counter_event *wanted)
{
    for (int i = 0; i < fake.nevents; i++) {
        const struct fake_event *e = &fake.events[i];
        uint64_t count = 0;
        if (e->event != wanted->event || e->umask != wanted->umask)
            continue;
        if (wanted->edge)
            return e->begins;
        for (unsigned k = 0; k < FAKE_PER_CYCLE; k++)
            if (wanted->cmask == 0)
                count += k * e->clk[k];
            else
                count += (k >= wanted->cmask) != wanted->inv ? e->clk[k] : 0;
        return count;
    }
    return 7; // of what the model does not have
}

static enum count_obstacle fake_probe(const struct count_machine *machine, struct err *err)
{
    (void)machine;
    if (fake.probe)
        err_set(err, "the fake has no counters. Invent some");
    return fake.probe;
}

static bool fake_fits(const struct count_event *events, int nevents, struct count_capacity capacity)
{
    int pass[COUNT_EVENTS_MAX];
    return count_passes_plan(events, nevents, capacity, pass) == 1;
}

static enum count_obstacle fake_open(const struct count_machine *machine,
                                     const struct count_target *target,
                                     const struct count_event *events, int nevents,
                                     struct count_group **group, struct err *err)
{
    *group = NULL;
    for (int i = 0; i < nevents; i++)
        if (fake.refused && events[i].hardware.event == fake.refused) {
            err_set(err, "'%s' is refused", events[i].name);
            return COUNT_NO_EVENT;
        }
    if (!fake_fits(events, nevents, fake.capacity)) {
        err_set(err, "too many events");
        return COUNT_TOO_MANY;
    }
    *group = count_group_new(&count_fake, machine, target, events, nevents, NULL);
    fake.opened++;
    fake.largest = nevents > fake.largest ? nevents : fake.largest;
    return COUNT_FINE;
}

static enum count_obstacle fake_switch(struct count_group *group, struct err *err)
{
    (void)group;
    (void)err;
    return COUNT_FINE;
}

static enum count_obstacle fake_read(struct count_group *group, uint64_t *values, struct err *err)
{
    struct count_capacity left = fake.capacity;
    left.general -= fake.taken;
    fake.reads++;
    if (!fake_fits(group->events, group->nevents, left)) {
        err_set(err, "the watchdog has one");
        return COUNT_WATCHDOG;
    }
    if (fake.shared_reads > 0) {
        fake.shared_reads--;
        err_set(err, "shared out");
        return COUNT_MULTIPLEXED;
    }
    for (int i = 0; i < group->nevents; i++)
        values[i] = fake_count(&group->events[i].hardware);
    return COUNT_FINE;
}

static void fake_close(struct count_group *group)
{
    fake.closed += group != NULL;
    free(group);
}

static const struct count_backend count_fake = {
    .name = "fake",
    .probe = fake_probe,
    .open = fake_open,
    .start = fake_switch,
    .stop = fake_switch,
    .read = fake_read,
    .close = fake_close,
};

#endif
