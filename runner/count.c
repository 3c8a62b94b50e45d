// SPDX-License-Identifier: MIT
// What all backends share: the encoding of events, the names of software events and obstacles.
#include "count.h"

#include "util/mem.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

uint64_t count_event_select(const struct count_event *event)
{
    return (uint64_t)(event->event & 0xff) | (uint64_t)(event->umask & 0xff) << 8 |
           (uint64_t)event->edge << 18 | (uint64_t)event->any << 21 | (uint64_t)event->inv << 23 |
           (uint64_t)event->cmask << 24 | (uint64_t)(event->event >> 8 & 0xf) << 32 |
           (uint64_t)(event->umask >> 8 & 0xff) << 40;
}

static const struct {
    const char *name;
    uint64_t config;
} software_events[] = {
    {"task-clock",       PERF_COUNT_SW_TASK_CLOCK      },
    {"cpu-clock",        PERF_COUNT_SW_CPU_CLOCK       },
    {"page-faults",      PERF_COUNT_SW_PAGE_FAULTS     },
    {"minor-faults",     PERF_COUNT_SW_PAGE_FAULTS_MIN },
    {"major-faults",     PERF_COUNT_SW_PAGE_FAULTS_MAJ },
    {"context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cpu-migrations",   PERF_COUNT_SW_CPU_MIGRATIONS  },
    {"alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS},
    {"emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS},
};

const char *count_software_name(size_t index)
{
    return index < ARRAY_LEN(software_events) ? software_events[index].name : NULL;
}

int count_software_find(const char *name, struct count_event *event)
{
    for (size_t i = 0; i < ARRAY_LEN(software_events); i++)
        if (strcmp(software_events[i].name, name) == 0) {
            *event = (struct count_event){
                .kind = COUNT_SOFTWARE,
                .rings = COUNT_BOTH,
                .fixed = -1,
                .software = software_events[i].config,
            };
            snprintf(event->name, sizeof event->name, "%s", name);
            return 0;
        }
    return -1;
}

const char *count_obstacle_name(enum count_obstacle obstacle)
{
    static const char *const names[] = {
        [COUNT_FINE] = "fine",
        [COUNT_NO_CALL] = "no_call",
        [COUNT_FORBIDDEN] = "forbidden",
        [COUNT_NO_PMU] = "no_pmu",
        [COUNT_STILL] = "still",
        [COUNT_NO_EVENT] = "no_event",
        [COUNT_TOO_MANY] = "too_many",
        [COUNT_WATCHDOG] = "watchdog",
        [COUNT_MULTIPLEXED] = "multiplexed",
        [COUNT_HYBRID] = "hybrid",
        [COUNT_GONE] = "gone",
        [COUNT_FAILED] = "failed",
    };
    return names[obstacle];
}

static int perf_open_real(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd)
{
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, PERF_FLAG_FD_CLOEXEC);
}

static int ioctl_real(int fd, unsigned long request, unsigned long argument)
{
    return ioctl(fd, request, argument);
}

const struct count_calls count_calls_real = {
    .perf_open = perf_open_real,
    .read = read,
    .ioctl = ioctl_real,
    .close = close,
};

struct count_machine count_machine_live(const struct cpu_info *cpu)
{
    return (struct count_machine){.cpu = cpu, .root = "", .calls = &count_calls_real};
}
