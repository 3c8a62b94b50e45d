// SPDX-License-Identifier: MIT
// Counting by perf_event_open(2): one group a call of open, so that all of its events are on their
// counters at the same time or none is. Whether they were all the time is seen from time_enabled
// and time_running; if not, the figures are refused. What refusals mean: count_perf_explain.c.
#include "count_perf.h"

#include "util/mem.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct perf_group {
    int fds[COUNT_EVENTS_MAX];
    int nfds;
    struct perf_event_mmap_page *pages[COUNT_EVENTS_MAX]; // NULL: not mapped
    bool whole; // one read gives all values; not possible with events that children inherit
};

// The kernel's codes for events of fixed counters: the general events that have one.
static const uint64_t fixed_configs[] = {0x00c0, 0x003c, 0x0300, 0x0400, 0x0073, 0x019c, 0x02c2};

// Register that perf's config1 sets for Intel's events 0xc2 and 0xc6; the kernel chooses it by the
// event.
static const uint32_t MSR_PEBS_FRONTEND = 0x3f7;

static enum count_obstacle event_check(const struct count_event *event, struct err *err)
{
    bool switches = event->software == PERF_COUNT_SW_CONTEXT_SWITCHES ||
                    event->software == PERF_COUNT_SW_CPU_MIGRATIONS;
    if (event->kind == COUNT_SOFTWARE && switches && !(event->rings & COUNT_KERNEL)) {
        // The kernel would accept it and report 0.
        err_set(err,
                "'%s' happens in the kernel only and cannot be counted in user mode. Count it with "
                "--kernel or --both",
                event->name);
        return COUNT_NO_EVENT;
    }
    const struct counter_event *hardware = &event->hardware;
    if (event->kind == COUNT_SOFTWARE)
        return COUNT_FINE;
    if (hardware->kind == COUNTER_MSR || hardware->scheme == SCHEME_P5 ||
        hardware->scheme == SCHEME_NETBURST) {
        err_set(err, "'%s' cannot be counted through perf%s", event->name,
                hardware->kind == COUNTER_MSR
                    ? ": it is a register that counts by itself, for whoever runs on the CPU"
                    : ", which has other codes for it. latput counters start, as root, programs "
                      "the counter itself, for a program to read with RDPMC");
        return COUNT_NO_EVENT;
    }
    if (hardware->extra_msr && hardware->extra_msr != MSR_PEBS_FRONTEND) {
        err_set(err, "'%s' cannot be counted through perf: it needs the MSR 0x%x set", event->name,
                hardware->extra_msr);
        return COUNT_NO_EVENT;
    }
    if (hardware->kind == COUNTER_FIXED &&
        (hardware->fixed_index < 0 || hardware->fixed_index >= (int)ARRAY_LEN(fixed_configs))) {
        err_set(err, "'%s' cannot be counted: there is no fixed counter %d", event->name,
                hardware->fixed_index);
        return COUNT_NO_EVENT;
    }
    return COUNT_FINE;
}

static uint64_t config_make(const struct count_event *event)
{
    if (event->kind == COUNT_SOFTWARE)
        return event->software;
    if (event->hardware.kind == COUNTER_FIXED)
        return fixed_configs[event->hardware.fixed_index];
    return counter_event_code(&event->hardware);
}

static struct perf_event_attr attr_make(const struct count_event *event, uint32_t pmu_type,
                                        const struct count_target *target, bool leader)
{
    struct perf_event_attr attr = {
        .type = event->kind == COUNT_SOFTWARE ? PERF_TYPE_SOFTWARE : pmu_type,
        .size = sizeof attr,
        .config = config_make(event),
        .config1 = event->kind == COUNT_HARDWARE ? event->hardware.extra_value : 0,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        .disabled = leader,
        .exclude_user = !(event->rings & COUNT_USER),
        .exclude_kernel = !(event->rings & COUNT_KERNEL),
        .exclude_hv = 1,
    };
    if (target->what == COUNT_PROCESS) {
        attr.inherit = 1;
        attr.enable_on_exec = leader;
    } else {
        attr.read_format |= PERF_FORMAT_GROUP;
    }
    return attr;
}

enum count_obstacle count_perf_attr(const struct count_machine *machine,
                                    const struct count_event *event, struct perf_event_attr *attr,
                                    struct err *err)
{
    struct perf_pmu pmu = {0};
    enum count_obstacle obstacle = event_check(event, err);
    if (!obstacle && event->kind != COUNT_SOFTWARE)
        obstacle = perf_pmu_choose(machine, &pmu, err);
    const struct count_target self = {.what = COUNT_SELF};
    if (!obstacle)
        *attr = attr_make(event, pmu.type, &self, false);
    return obstacle;
}

static void perf_close(struct count_group *group)
{
    if (!group)
        return;
    struct perf_group *own = group->state;
    for (int i = 0; i < own->nfds; i++)
        if (own->pages[i])
            group->machine->calls->unmap(own->pages[i], (size_t)sysconf(_SC_PAGESIZE));
    for (int i = own->nfds - 1; i >= 0; i--)
        group->machine->calls->close(own->fds[i]);
    free(own);
    free(group);
}

static enum count_obstacle events_open(struct count_group *group, uint32_t pmu_type,
                                       struct err *err)
{
    struct perf_group *own = group->state;
    const struct count_target *target = &group->target;
    pid_t pid = target->what == COUNT_PROCESS ? target->pid : target->what == COUNT_SELF ? 0 : -1;
    int cpu = target->what == COUNT_CPU ? target->cpu : -1;
    for (int i = 0; i < group->nevents; i++) {
        enum count_obstacle obstacle = event_check(&group->events[i], err);
        if (obstacle)
            return obstacle;
        struct perf_event_attr attr = attr_make(&group->events[i], pmu_type, target, i == 0);
        int fd = group->machine->calls->perf_open(&attr, pid, cpu, i > 0 ? own->fds[0] : -1);
        if (fd < 0)
            return perf_open_explain(group->machine, target, group->events, i, errno, err);
        own->fds[own->nfds++] = fd;
    }
    return COUNT_FINE;
}

static enum count_obstacle perf_open(const struct count_machine *machine,
                                     const struct count_target *target,
                                     const struct count_event *events, int nevents,
                                     struct count_group **group_out, struct err *err)
{
    struct perf_pmu pmu = {0};
    enum count_obstacle obstacle = COUNT_FINE;
    bool hardware = false;
    *group_out = NULL;
    for (int i = 0; i < nevents; i++)
        hardware = hardware || events[i].kind != COUNT_SOFTWARE;
    if (hardware) {
        obstacle = perf_pmu_choose(machine, &pmu, err);
        if (!obstacle)
            obstacle = perf_pmu_covers(&pmu, target, err);
        if (obstacle)
            return obstacle;
    }
    struct perf_group *own = xcalloc(1, sizeof *own);
    struct count_group *group = count_group_new(&count_perf, machine, target, events, nevents, own);
    own->whole = target->what != COUNT_PROCESS;
    obstacle = events_open(group, pmu.type, err);
    if (obstacle) {
        perf_close(group);
        return obstacle;
    }
    *group_out = group;
    return COUNT_FINE;
}

static enum count_obstacle group_control(struct count_group *group, unsigned long request,
                                         struct err *err)
{
    struct perf_group *own = group->state;
    if (group->machine->calls->ioctl(own->fds[0], request, PERF_IOC_FLAG_GROUP) == 0)
        return COUNT_FINE;
    err_set(err, "the counters cannot be switched: %s", strerror(errno));
    return COUNT_FAILED;
}

static enum count_obstacle perf_start(struct count_group *group, struct err *err)
{
    enum count_obstacle obstacle = group_control(group, PERF_EVENT_IOC_RESET, err);
    return obstacle ? obstacle : group_control(group, PERF_EVENT_IOC_ENABLE, err);
}

static enum count_obstacle perf_stop(struct count_group *group, struct err *err)
{
    return group_control(group, PERF_EVENT_IOC_DISABLE, err);
}

static enum count_obstacle bytes_read(struct count_group *group, int fd, uint64_t *words,
                                      size_t nwords, struct err *err)
{
    ssize_t got = group->machine->calls->read(fd, words, nwords * sizeof words[0]);
    if (got == (ssize_t)(nwords * sizeof words[0]))
        return COUNT_FINE;
    err_set(err, "the counters cannot be read: %s", got < 0 ? strerror(errno) : "they are gone");
    return COUNT_FAILED;
}

static enum count_obstacle times_check(struct count_group *group, uint64_t enabled_ns,
                                       uint64_t running_ns, struct err *err)
{
    if (enabled_ns > 0 && running_ns == enabled_ns)
        return COUNT_FINE;
    return perf_times_explain(group->machine, group->nevents, enabled_ns, running_ns, err);
}

static enum count_obstacle perf_read(struct count_group *group, uint64_t *values, struct err *err)
{
    struct perf_group *own = group->state;
    enum count_obstacle obstacle = COUNT_FINE;
    if (own->whole) { // number, enabled, running, values
        uint64_t words[3 + COUNT_EVENTS_MAX];
        obstacle = bytes_read(group, own->fds[0], words, 3 + (size_t)group->nevents, err);
        if (!obstacle)
            obstacle = times_check(group, words[1], words[2], err);
        if (!obstacle)
            memcpy(values, words + 3, (size_t)group->nevents * sizeof values[0]);
        return obstacle;
    }
    for (int i = 0; i < group->nevents && !obstacle; i++) {
        uint64_t words[3] = {0}; // value, enabled, running
        obstacle = bytes_read(group, own->fds[i], words, 3, err);
        if (!obstacle)
            obstacle = times_check(group, words[1], words[2], err);
        values[i] = words[0];
    }
    return obstacle;
}

// Keeps a counter busy for a moment.
static void cycles_spend(void)
{
    for (volatile int i = 0; i < 100000; i++)
        ;
}

static enum count_obstacle perf_probe(const struct count_machine *machine, struct err *err)
{
    struct perf_pmu pmu;
    enum count_obstacle obstacle = perf_pmu_choose(machine, &pmu, err);
    if (obstacle)
        return obstacle;
    const struct count_target self = {.what = COUNT_SELF};
    const struct count_event cycles = {.name = "cpu-cycles", .rings = COUNT_USER};
    struct perf_event_attr attr = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_HW_CPU_CYCLES | (pmu.hybrid ? (uint64_t)pmu.type << 32 : 0),
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    int fd = machine->calls->perf_open(&attr, 0, -1, -1);
    if (fd < 0 && pmu.present && (errno == ENOENT || errno == EINVAL || errno == EOPNOTSUPP))
        return perf_empty_explain(machine, &pmu, errno, err);
    if (fd < 0)
        return perf_open_explain(machine, &self, &cycles, 0, errno, err);
    uint64_t count = 0;
    cycles_spend();
    bool counted = machine->calls->read(fd, &count, sizeof count) == sizeof count && count > 0;
    machine->calls->close(fd);
    return counted ? COUNT_FINE : perf_still_explain(machine, err);
}

const struct perf_event_mmap_page *count_perf_page(struct count_group *group, int index,
                                                   struct err *err)
{
    struct perf_group *own = group->state;
    if (group->backend != &count_perf || group->target.what != COUNT_SELF ||
        group->events[index].kind == COUNT_SOFTWARE) {
        err_set(err,
                "'%s' cannot be read with RDPMC: only hardware events of one's own process, "
                "counted through perf, can",
                group->events[index].name);
        return NULL;
    }
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    if (!own->pages[index]) {
        own->pages[index] = group->machine->calls->map(own->fds[index], bytes);
        if (!own->pages[index]) {
            err_set(err, "'%s' cannot be read with RDPMC: perf's page cannot be mapped: %s%s",
                    group->events[index].name, strerror(errno),
                    errno == EPERM ? ". More pages are allowed by, as root: sysctl -w "
                                     "kernel.perf_event_mlock_kb=2048"
                                   : "");
            return NULL;
        }
    }
    if (!own->pages[index]->cap_user_rdpmc) {
        perf_rdpmc_explain(group->machine, &group->events[index], err);
        return NULL;
    }
    return own->pages[index];
}

const struct count_backend count_perf = {
    .name = "perf",
    .probe = perf_probe,
    .open = perf_open,
    .start = perf_start,
    .stop = perf_stop,
    .read = perf_read,
    .close = perf_close,
};
