// SPDX-License-Identifier: MIT
// The two ways of counting in the core: perf's events and the registers themselves; see struct
// count_source. A group is opened and read once by the runner itself, which can explain a refusal,
// while the core can only fail.
#include "session_count.h"

#include "counters/count_msr.h"

#include <linux/perf_event.h>

// Opens the group as the core will, and sees whether it counts and RDPMC may read it.
static enum count_obstacle perf_try(const struct session_counting *counting,
                                    const struct count_event *events, int nevents, struct err *err)
{
    const struct count_target self = {.what = COUNT_SELF};
    uint64_t values[COUNT_EVENTS_MAX];
    struct count_group *group;
    enum count_obstacle obstacle =
        count_perf.open(&counting->machine, &self, events, nevents, &group, err);
    if (obstacle)
        return obstacle;
    for (int i = 0; i < nevents && !obstacle; i++)
        if (!count_perf_page(group, i, err))
            obstacle = COUNT_FORBIDDEN;
    if (!obstacle)
        obstacle = count_perf.start(group, err);
    if (!obstacle)
        obstacle = count_perf.stop(group, err);
    if (!obstacle)
        obstacle = count_perf.read(group, values, err);
    count_perf.close(group);
    return obstacle;
}

static enum count_obstacle perf_source_open(struct session_counting *counting,
                                            const struct count_event *events, int nevents,
                                            struct core_counter *counters, struct err *err)
{
    enum count_obstacle obstacle = perf_try(counting, events, nevents, err);
    for (int i = 0; i < nevents && !obstacle; i++) {
        struct perf_event_attr attr;
        obstacle = count_perf_attr(&counting->machine, &events[i], &attr, err);
        if (!obstacle)
            counters[i] = (struct core_counter){.source = CORE_COUNTER_PERF,
                                                .config = attr.config,
                                                .config1 = attr.config1,
                                                .type = attr.type,
                                                .exclude_user = (uint16_t)attr.exclude_user,
                                                .exclude_kernel = (uint16_t)attr.exclude_kernel};
    }
    return obstacle;
}

static enum count_obstacle perf_source_close(struct session_counting *counting, struct err *err)
{
    (void)counting;
    (void)err;
    return COUNT_FINE; // the core's counters end with it
}

const struct count_source count_source_perf = {"perf", &count_perf, perf_source_open,
                                               perf_source_close};

static enum count_obstacle msr_source_open(struct session_counting *counting,
                                           const struct count_event *events, int nevents,
                                           struct core_counter *counters, struct err *err)
{
    const struct count_target there = {.what = COUNT_CPU, .cpu = counting->cpu};
    enum count_obstacle obstacle = COUNT_FINE;
    if (!counting->rdpmc.path[0])
        obstacle = count_rdpmc_allow(&counting->machine, &counting->rdpmc, err);
    if (obstacle) {
        err_prefix(err, "RDPMC would fault: ");
        return obstacle;
    }
    obstacle = count_msr.open(&counting->machine, &there, events, nevents, &counting->group, err);
    for (int i = 0; i < nevents && !obstacle; i++)
        obstacle = count_msr_counter(counting->group, i, &counters[i], err);
    if (!obstacle)
        obstacle = count_msr.start(counting->group, err);
    if (!obstacle)
        return COUNT_FINE;
    count_msr.close(counting->group);
    counting->group = NULL;
    return obstacle;
}

// Closes the source; a last read shows whether the registers are still ours.
static enum count_obstacle msr_source_close(struct session_counting *counting, struct err *err)
{
    uint64_t values[COUNT_EVENTS_MAX];
    enum count_obstacle obstacle = count_msr.read(counting->group, values, err);
    count_msr.close(counting->group);
    counting->group = NULL;
    return obstacle;
}

const struct count_source count_source_msr = {"msr", &count_msr, msr_source_open, msr_source_close};
